//! A persistent map keyed by object: changing it makes a new map that shares the unchanged parts.
//!
//! A hash trie with full leaves: with a hundred thousand objects it takes about thirty bytes per object, where a trie
//! with single entries takes a hundred and more.

use std::slice;
use std::sync::Arc;

use crate::model::ids::ObjectKey;

/// Bits of the hash per branch.
const BITS: u32 = 4;
/// Children of a branch.
const WIDTH: usize = 1 << BITS;
/// Entries of a leaf, unless the hash has no more bits.
const MAX_LEAF_ENTRIES: usize = 32;
/// Branches with no more entries than this become a leaf again.
const MAX_MERGED_ENTRIES: usize = MAX_LEAF_ENTRIES / 2;

/// A persistent map keyed by object.
#[derive(Clone, Debug)]
pub(super) struct ObjectMap<V> {
    root: TrieNode<V>,
    len: usize,
}

#[derive(Clone, Debug)]
enum TrieNode<V> {
    Leaf(Arc<[Entry<V>]>),
    Branch(Arc<[Self; WIDTH]>),
}

#[derive(Clone, Debug)]
struct Entry<V> {
    /// The hash of the key: it excludes most entries without comparing keys.
    hash: u64,
    key: ObjectKey,
    value: V,
}

/// Iterates over entries in no particular order.
struct Entries<'a, V> {
    above: Vec<slice::Iter<'a, TrieNode<V>>>,
    leaf: slice::Iter<'a, Entry<V>>,
}

// === impl ObjectMap ===

impl<V> ObjectMap<V> {
    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&V> {
        let (mut node, mut bits) = (&self.root, key.hashed());
        loop {
            match node {
                TrieNode::Branch(nodes) => node = nodes.get(branch(bits))?,
                TrieNode::Leaf(entries) => {
                    let mut entries = entries.iter();
                    let entry = entries.find(|entry| entry.is_of(key))?;
                    return Some(&entry.value);
                }
            }
            bits >>= BITS;
        }
    }

    /// Keys, in no particular order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.entries().map(|entry| &entry.key)
    }

    /// Values, in no particular order.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries().map(|entry| &entry.value)
    }

    fn entries(&self) -> Entries<'_, V> {
        let mut entries = Entries {
            above: Vec::new(),
            leaf: [].iter(),
        };
        entries.enter(&self.root);
        entries
    }
}

impl<V: Clone> ObjectMap<V> {
    /// The value of a key, mutable.
    pub(super) fn get_mut(&mut self, key: &ObjectKey) -> Option<&mut V> {
        // Copies nothing if the key is absent.
        self.get(key)?;
        let (mut node, mut bits) = (&mut self.root, key.hashed());
        loop {
            match node {
                TrieNode::Branch(nodes) => node = Arc::make_mut(nodes).get_mut(branch(bits))?,
                TrieNode::Leaf(entries) => {
                    let mut entries = Arc::make_mut(entries).iter_mut();
                    let entry = entries.find(|entry| entry.is_of(key))?;
                    return Some(&mut entry.value);
                }
            }
            bits >>= BITS;
        }
    }

    /// Sets the value of a key and returns the previous one. Replaces the key itself as well.
    pub(super) fn insert(&mut self, key: ObjectKey, value: V) -> Option<V> {
        let hash = key.hashed();
        let before = self.root.insert(0, Entry { hash, key, value });
        self.len += usize::from(before.is_none());
        before
    }

    /// Removes a key and returns its value.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<V> {
        self.get(key)?;
        let removed = self.root.remove(key.hashed(), key);
        self.len -= usize::from(removed.is_some());
        removed
    }
}

impl<V> Default for ObjectMap<V> {
    fn default() -> Self {
        Self {
            root: TrieNode::default(),
            len: 0,
        }
    }
}

// === impl TrieNode ===

impl<V> Default for TrieNode<V> {
    fn default() -> Self {
        Self::Leaf(Arc::default())
    }
}

impl<V: Clone> TrieNode<V> {
    /// Inserts into a node that `used` bits of the hash lead to.
    fn insert(&mut self, used: u32, new: Entry<V>) -> Option<V> {
        match self {
            Self::Branch(nodes) => {
                let at = branch(new.hash >> used);
                let node = Arc::make_mut(nodes).get_mut(at)?;
                node.insert(used + BITS, new)
            }
            Self::Leaf(entries) => {
                if let Some(at) = entries.iter().position(|entry| entry.is_of(&new.key)) {
                    let entry = Arc::make_mut(entries).get_mut(at)?;
                    return Some(std::mem::replace(entry, new).value);
                }
                if entries.len() < MAX_LEAF_ENTRIES || used + BITS > u64::BITS {
                    *entries = entries.iter().cloned().chain([new]).collect();
                    return None;
                }
                let mut leaves = [(); WIDTH].map(|()| Vec::new());
                for entry in entries.iter().cloned().chain([new]) {
                    if let Some(leaf) = leaves.get_mut(branch(entry.hash >> used)) {
                        leaf.push(entry);
                    }
                }
                *self = Self::Branch(Arc::new(leaves.map(|leaf| Self::Leaf(leaf.into()))));
                None
            }
        }
    }

    fn remove(&mut self, bits: u64, key: &ObjectKey) -> Option<V> {
        let removed = match self {
            Self::Leaf(entries) => {
                let removed = entries.iter().find(|entry| entry.is_of(key))?.value.clone();
                let left = entries.iter().filter(|entry| !entry.is_of(key));
                *entries = left.cloned().collect();
                return Some(removed);
            }
            Self::Branch(nodes) => {
                let node = Arc::make_mut(nodes).get_mut(branch(bits))?;
                node.remove(bits >> BITS, key)
            }
        };
        if let Some(few) = self.few() {
            *self = Self::Leaf(few.into());
        }
        removed
    }

    /// The entries of a branch, if they are few.
    fn few(&self) -> Option<Vec<Entry<V>>> {
        let Self::Branch(nodes) = self else {
            return None;
        };
        let leaf = |node: &Self| match node {
            Self::Leaf(entries) => Some(entries.len()),
            Self::Branch(_) => None,
        };
        let all = nodes.iter().map(leaf).sum::<Option<usize>>()?;
        let leaves = nodes.iter().flat_map(|node| match node {
            Self::Leaf(entries) => &**entries,
            Self::Branch(_) => &[],
        });
        (all <= MAX_MERGED_ENTRIES).then(|| leaves.cloned().collect())
    }
}

// === impl Entry ===

impl<V> Entry<V> {
    fn is_of(&self, key: &ObjectKey) -> bool {
        self.hash == key.hashed() && self.key == *key
    }
}

// === impl Entries ===

impl<'a, V> Entries<'a, V> {
    fn enter(&mut self, node: &'a TrieNode<V>) {
        match node {
            TrieNode::Leaf(entries) => self.leaf = entries.iter(),
            TrieNode::Branch(nodes) => self.above.push(nodes.iter()),
        }
    }
}

impl<'a, V> Iterator for Entries<'a, V> {
    type Item = &'a Entry<V>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.leaf.next() {
                return Some(entry);
            }
            match self.above.last_mut()?.next() {
                Some(node) => self.enter(node),
                None => drop(self.above.pop()),
            }
        }
    }
}

/// The child that the lowest bits select.
fn branch(bits: u64) -> usize {
    usize::from(bits.to_le_bytes()[0]) & (WIDTH - 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::ObjectMap;
    use crate::model::ids::{GroupKind, ObjectKey};

    fn key(n: usize) -> ObjectKey {
        ObjectKey::new(GroupKind::core("Service"), "shop", n.to_string())
    }

    fn listed(map: &ObjectMap<usize>) -> BTreeMap<ObjectKey, usize> {
        let keys = map.keys().cloned();
        let listed: BTreeMap<_, _> = keys.zip(map.values().copied()).collect();
        assert_eq!(listed.len(), map.len(), "each once");
        listed
    }

    #[test]
    fn it_is_like_any_other_map_and_the_one_before_stays() {
        let (mut map, mut like) = (ObjectMap::default(), BTreeMap::new());
        let mut before = Vec::new();
        // Grows to some thousands and shrinks to nothing; some keys are set twice, some values changed in place.
        for step in 0..20_000_usize {
            let n = step.wrapping_mul(7919) % 6_000;
            if step < 8_000 || step % 3 == 0 && step < 12_000 {
                assert_eq!(map.insert(key(n), step), like.insert(key(n), step));
            } else {
                assert_eq!(map.remove(&key(n)), like.remove(&key(n)));
            }
            if let Some(value) = map.get_mut(&key(n / 2)) {
                *value += 1;
                *like.get_mut(&key(n / 2)).unwrap() += 1;
            }
            assert_eq!(map.get(&key(n)), like.get(&key(n)));
            if step % 2_500 == 0 {
                before.push((map.clone(), like.clone()));
            }
        }
        before.push((map, like));
        for (map, like) in &before {
            assert_eq!(listed(map), *like);
        }
        let sizes: Vec<usize> = before.iter().map(|(map, _)| map.len()).collect();
        assert!(sizes.iter().max() > Some(&4_000), "{sizes:?}");
        let mut expected = before.pop().unwrap().0;
        for n in 0..6_000 {
            expected.remove(&key(n));
        }
        assert!(expected.len() == 0 && expected.keys().next().is_none());
    }
}
