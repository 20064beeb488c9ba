//! Settings that are copied unchanged from the less specific level, and settings that are removed.

use super::{Fields, Tree};

// === impl Tree ===

impl Tree {
    /// The subtree at a path.
    pub(crate) fn at(&self, path: &[String]) -> Option<&Self> {
        match (self, path.split_first()) {
            (Self::Replacement(tree), _) => tree.at(path),
            (Self::Leaf(setting), None) => (!setting.value.is_null()).then_some(self),
            (_, None) => Some(self),
            (Self::Map(map), Some((key, rest))) => map.get(key)?.at(rest),
            (_, Some(_)) => None,
        }
    }

    /// Replaces the subtree at a path with another tree, and also a leaf above the path.
    pub(crate) fn copy_from(&mut self, other: &Self, path: &[String]) {
        match (self, path) {
            (Self::Replacement(tree), path) => tree.copy_from(other, path),
            (tree, []) => *tree = other.clone(),
            (Self::Map(map), [key, rest @ ..]) => match map.get_mut(key) {
                Some(tree) => tree.copy_from(other, rest),
                None => map.insert(key.as_str().into(), Self::nested(other, rest)),
            },
            (Self::List(entries), [key, rest @ ..]) => {
                let mut entries = entries.iter_mut();
                if let Some((_, tree)) = entries.find(|(name, _)| **name == **key) {
                    tree.copy_from(other, rest);
                }
            }
            (Self::SideBySide(trees), path) => {
                for tree in trees {
                    tree.copy_from(other, path);
                }
            }
            (tree @ Self::Leaf(_), path) => *tree = Self::nested(other, path),
        }
    }

    /// Removes the subtree at a path.
    pub(crate) fn remove(&mut self, path: &[String]) {
        match (self, path) {
            (Self::Replacement(tree), path) => tree.remove(path),
            (Self::Map(map), [key]) => map.remove(key),
            (Self::Map(map), [key, rest @ ..]) => {
                if let Some(tree) = map.get_mut(key) {
                    tree.remove(rest);
                }
            }
            _ => {}
        }
    }

    /// A tree at a path, and nothing else.
    pub(super) fn nested(tree: &Self, path: &[String]) -> Self {
        path.iter().rev().fold(tree.clone(), |tree, key| {
            let mut map = Fields::default();
            map.insert(key.as_str().into(), tree);
            Self::Map(map)
        })
    }
}
