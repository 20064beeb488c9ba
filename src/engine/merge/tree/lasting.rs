//! Settings taken unchanged from the level above.

use super::Tree;

// === impl Tree ===

impl Tree {
    /// The subtree at a path.
    pub(in crate::engine::merge) fn at(&self, path: &[String]) -> Option<&Self> {
        match (self, path.split_first()) {
            (Self::Instead(tree), _) => tree.at(path),
            (Self::Leaf(leaf), None) => (!leaf.value.is_null()).then_some(self),
            (_, None) => Some(self),
            (Self::Map(map), Some((key, rest))) => map.get(key)?.at(rest),
            (_, Some(_)) => None,
        }
    }

    /// Replaces the subtree at a path with that of another tree.
    pub(in crate::engine::merge) fn take_over(&mut self, other: &Self, path: &[String]) {
        match (self, path) {
            (Self::Instead(tree), path) => tree.take_over(other, path),
            (Self::Map(map), [key, rest @ ..]) => {
                if let Some(tree) = map.get_mut(key) {
                    tree.take_over(other, rest);
                }
            }
            (tree, _) => *tree = other.clone(),
        }
    }
}
