//! Sorted sets that mostly have one element, which then takes no extra memory.

use std::sync::Arc;

use imbl::OrdSet;

/// A non-empty set.
#[derive(Clone, Debug)]
pub(super) enum SmallSet<T: Ord> {
    /// One element.
    One(T),
    /// Any number of elements.
    Many(Arc<OrdSet<T>>),
}

// === impl SmallSet ===

impl<T: Clone + Ord> SmallSet<T> {
    /// Inserts an element, or replaces an equal one.
    pub(super) fn insert(&mut self, new: T) {
        match self {
            Self::One(known) if *known == new => *known = new,
            Self::One(known) => {
                *self = Self::Many(Arc::new(OrdSet::from_iter([known.clone(), new])));
            }
            Self::Many(known) => drop(Arc::make_mut(known).insert(new)),
        }
    }

    /// Removes an element; returns `false` if the set is then empty.
    #[must_use]
    pub(super) fn remove(&mut self, element: &T) -> bool {
        match self {
            Self::One(known) => *known != *element,
            Self::Many(known) => {
                Arc::make_mut(known).remove(element);
                !known.is_empty()
            }
        }
    }

    /// The first element that is not less than `least`.
    pub(super) fn from(&self, least: &T) -> Option<&T> {
        match self {
            Self::One(element) => (element >= least).then_some(element),
            Self::Many(elements) => elements.range::<_, T>(least..).next(),
        }
    }

    /// The elements, sorted.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        let (one, many) = match self {
            Self::One(element) => (Some(element), None),
            Self::Many(elements) => (None, Some(elements.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::SmallSet;

    #[test]
    fn elements_are_sorted_and_there_once() {
        let mut set = SmallSet::One(2);
        let listed = |set: &SmallSet<u8>| set.iter().copied().collect::<Vec<_>>();
        set.insert(2);
        assert_eq!(listed(&set), [2]);
        assert!(set.remove(&1), "2 is left");
        for new in [3, 1, 3] {
            set.insert(new);
        }
        let before = set.clone();
        assert!(set.remove(&2) && set.remove(&1) && set.remove(&4));
        assert_eq!((listed(&before), listed(&set)), (vec![1, 2, 3], vec![3]));
        assert_eq!((before.from(&2), before.from(&4)), (Some(&2), None));
        assert_eq!((set.from(&2), set.from(&4)), (Some(&3), None));
        assert!(!set.remove(&3));
        assert!(!SmallSet::One(7).remove(&7));
    }
}
