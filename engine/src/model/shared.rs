//! Values that are compared by their ids: many paths share a few values, and comparing ids is cheaper.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// Gives each value an id. Clones continue the same sequence, so values from any of them can be compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids(Rc<Cell<u64>>);

/// A shared value. It is equal to those with the same id and to no others, whatever they contain; all default values have
/// one id.
#[derive(Debug, Default)]
pub struct Shared<T>(Rc<Identified<T>>);

#[derive(Debug, Default)]
struct Identified<T> {
    /// Counts from 1; 0 for the default value.
    id: u64,
    value: T,
}

// === impl Ids ===

impl Ids {
    /// Gives a value an id.
    pub(crate) fn share<T>(&self, value: T) -> Shared<T> {
        let id = self.0.get() + 1;
        self.0.set(id);
        Shared(Rc::new(Identified { id, value }))
    }
}

// === impl Shared ===

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = self.0.id == other.0.id;
        debug_assert!(
            !is_same || self.0.id == 0 || Rc::ptr_eq(&self.0, &other.0),
            "ids of different sequences are not comparable"
        );
        is_same
    }
}

impl<T> Eq for Shared<T> {}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.id);
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, Shared};

    #[test]
    fn a_value_is_equal_to_its_clones_alone() {
        let ids = Ids::default();
        let (one, other) = (ids.share("same"), ids.clone().share("same"));
        assert_eq!(one, one.clone());
        assert_ne!(one, other);
        assert_eq!(*one, *other);
        assert_ne!(one, Shared::default());
        assert_eq!(Shared::<&str>::default(), Shared::default());
    }
}
