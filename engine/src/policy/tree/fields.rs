//! The fields of a map.

use std::sync::Arc;

use super::Tree;

/// Sorted by key. Most maps have few fields, and iteration is far more common than look-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(Arc<str>, Tree)>);

// === impl Fields ===

impl Fields {
    /// Keys must be unique.
    pub(super) fn from_entries(fields: impl Iterator<Item = (Arc<str>, Tree)>) -> Self {
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self(fields)
    }

    /// The same keys with other trees.
    pub(super) fn map(self, mut other: impl FnMut(&str, Tree) -> Tree) -> Self {
        let fields = self.0.into_iter();
        Self(
            fields
                .map(|(key, tree)| {
                    let tree = other(&key, tree);
                    (key, tree)
                })
                .collect(),
        )
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, (Arc<str>, Tree)> {
        self.0.iter()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Tree> {
        let at = self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        self.0.get(at).map(|(_, tree)| tree)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        let at = self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        self.0.get_mut(at).map(|(_, tree)| tree)
    }

    /// Removes a field.
    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(known, _)| **known != *key);
    }

    /// Adds a field with a new key.
    pub(super) fn insert(&mut self, key: Arc<str>, tree: Tree) {
        let at = self.0.partition_point(|(known, _)| *known < key);
        self.0.insert(at, (key, tree));
    }

    /// Visits the fields of another map, each with the field of the same key here. Adds fields that are missing here.
    pub(super) fn join<'a>(
        &mut self,
        over: &'a Self,
        mut both: impl FnMut(&'a Arc<str>, &mut Tree, &'a Tree),
    ) {
        let mut added = Vec::new();
        let mut from = 0;
        for (key, over) in &over.0 {
            let remaining = self.0.get_mut(from..).unwrap_or_default();
            let at = remaining.partition_point(|(k, _)| k < key);
            match remaining.get_mut(at) {
                Some((k, under)) if k == key => both(key, under, over),
                _ => added.push((key.clone(), over.clone())),
            }
            from += at;
        }
        if !added.is_empty() {
            self.0.append(&mut added);
            // Merges two sorted runs.
            self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
    }
}
