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

    /// The elements that are not less than `least`, sorted.
    pub(super) fn from<'a>(&'a self, least: &T) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let (one, many) = match self {
            Self::One(element) => (Some(element).filter(|element| *element >= least), None),
            Self::Many(elements) => (None, Some(elements.range::<_, T>(least..))),
        };
        one.into_iter().chain(many.into_iter().flatten())
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
        let from = |set: &SmallSet<u8>, least| set.from(&least).copied().collect::<Vec<_>>();
        assert_eq!((from(&before, 2), from(&before, 4)), (vec![2, 3], vec![]));
        assert_eq!((from(&set, 2), from(&set, 4)), (vec![3], vec![]));
        assert!(!set.remove(&3));
        assert!(!SmallSet::One(7).remove(&7));
    }
}
