//! Interns strings and keys, so that values which occur in many objects are in memory once.
//!
//! Each thread caches some recent values. An evicted value may be in memory twice; nothing else depends on the cache.

use std::cell::RefCell;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::model::ids::{GroupKind, ObjectKey};

/// The number of cached values of each type.
const MOST: usize = 4096;
/// Longer strings are not interned: names have at most 63 bytes, and longer strings are rarely repeated.
const LONGEST: usize = 64;
/// The maximum length of the parts of keys.
const LONGEST_OF_KEY: usize = 253;

/// A collision of hashes only evicts a cached value.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);

thread_local! {
    static TEXTS: RefCell<Vec<Option<Arc<str>>>> = const { RefCell::new(Vec::new()) };
    static KEYS: RefCell<Vec<Option<ObjectKey>>> = const { RefCell::new(Vec::new()) };
    static NUMBERS: RefCell<Vec<Option<Arc<[u64]>>>> = const { RefCell::new(Vec::new()) };
    static KINDS: RefCell<Vec<Option<GroupKind>>> = const { RefCell::new(Vec::new()) };
}

/// A string that is deserialized with [`text`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interned(pub Arc<str>);

/// The interned form of a string.
pub fn text(text: &str) -> Arc<str> {
    if text.len() > LONGEST {
        return text.into();
    }
    let hash = SEED.hash_one(text);
    TEXTS.with_borrow_mut(|known| seen(known, hash, |known| **known == *text, || text.into()))
}

/// The interned form of a list of numbers.
pub fn numbers(numbers: &[u64]) -> Arc<[u64]> {
    if numbers.len() > LONGEST {
        return numbers.into();
    }
    let hash = SEED.hash_one(numbers);
    NUMBERS
        .with_borrow_mut(|known| seen(known, hash, |known| **known == *numbers, || numbers.into()))
}

/// The interned form of a kind.
pub fn kind(group: &Arc<str>, kind: &Arc<str>) -> GroupKind {
    let made = || GroupKind::new(group.clone(), kind.clone());
    if group.len().max(kind.len()) > LONGEST_OF_KEY {
        return made();
    }
    let hash = SEED.hash_one((group, kind));
    let is = |known: &GroupKind| known.group == *group && known.kind == *kind;
    KINDS.with_borrow_mut(|known| seen(known, hash, is, made))
}

/// The interned form of the key of an object.
pub fn key(gk: &GroupKind, namespace: &Arc<str>, name: &Arc<str>) -> ObjectKey {
    let hash = ObjectKey::hash_of(gk, namespace, name);
    let made = || ObjectKey::with_hash(gk.clone(), namespace.clone(), name.clone(), hash);
    if [&gk.group, &gk.kind, namespace, name]
        .iter()
        .any(|part| part.len() > LONGEST_OF_KEY)
    {
        return made();
    }
    let is = |known: &ObjectKey| known.is(gk, namespace, name, hash);
    KEYS.with_borrow_mut(|known| seen(known, hash, is, made))
}

/// The cached value with this hash if `is_meant` accepts it; otherwise a new one, which replaces it.
fn seen<T: Clone>(
    known: &mut Vec<Option<T>>,
    hash: u64,
    is_meant: impl FnOnce(&T) -> bool,
    made: impl FnOnce() -> T,
) -> T {
    if known.is_empty() {
        known.resize_with(MOST, || None);
    }
    let at = usize::try_from(hash % MOST as u64).ok();
    match at.and_then(|at| known.get_mut(at)) {
        Some(Some(known)) if is_meant(known) => known.clone(),
        Some(slot) => slot.insert(made()).clone(),
        None => made(),
    }
}

// === impl Interned ===

impl<'de> Deserialize<'de> for Interned {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct One;
        impl Visitor<'_> for One {
            type Value = Interned;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: Error>(self, read: &str) -> Result<Interned, E> {
                Ok(Interned(text(read)))
            }
        }
        from.deserialize_str(One)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{LONGEST, key, text};
    use crate::model::ids::GroupKind;

    #[test]
    fn equal_texts_share_memory() {
        assert!(Arc::ptr_eq(&text("https"), &text("https")));
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(text(&long), text(&long));
        let gk = GroupKind::core("Service");
        let service = || key(&gk, &text("shop"), &text("cart"));
        let (one, other) = (service(), service());
        assert_eq!((&one, "Service shop/cart"), (&other, &*one.to_string()));
        assert!(Arc::ptr_eq(&one.name, &other.name));
        assert_ne!(one, key(&gk, &text("cart"), &text("shop")));
    }

    #[test]
    fn as_many_as_there_are_they_stay_themselves() {
        for i in 0..100_000 {
            let name = (i % 7_000).to_string();
            assert_eq!(*text(&name), *name);
        }
    }
}
