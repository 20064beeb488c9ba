//! A trie of setting paths, to find the prefixes and extensions of a path.

use std::sync::Arc;

use super::setting_path::SettingPath;
use crate::model::maps::HashMap;

/// Paths, each with the index of its owner. Look-up takes one step per key, regardless of the number of paths.
#[derive(Debug, Default)]
pub struct PathTrie<'a> {
    below: HashMap<&'a str, PathTrie<'a>>,
    /// The first owner of exactly this path.
    owner: Option<usize>,
    /// The first owner of this path or of an extension of it.
    first: Option<usize>,
}

// === impl PathTrie ===

impl<'a> PathTrie<'a> {
    /// A trie of paths with a single owner.
    pub fn from_paths(paths: impl IntoIterator<Item = &'a SettingPath>) -> Self {
        let mut all = Self::default();
        paths.into_iter().for_each(|path| all.add(path, 0));
        all
    }

    /// Adds a path of an owner.
    pub fn add(&mut self, path: &'a [Arc<str>], by: usize) {
        let earlier = |known: Option<usize>| Some(known.map_or(by, |known| known.min(by)));
        let mut at = self;
        at.first = earlier(at.first);
        for key in path {
            at = at.below.entry(&**key).or_default();
            at.first = earlier(at.first);
        }
        at.owner = earlier(at.owner);
    }

    /// The first owner of a path that is a prefix or an extension of this one.
    pub fn first_overlap(&self, path: &[Arc<str>]) -> Option<usize> {
        let mut at = self;
        let mut owner = at.owner;
        for key in path {
            let Some(below) = at.below.get(&**key) else {
                return owner;
            };
            at = below;
            owner = owner.into_iter().chain(at.owner).min();
        }
        owner.into_iter().chain(at.first).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<Arc<str>> {
        let keys = text.split('.').filter(|key| !key.is_empty());
        keys.map(Arc::from).collect()
    }

    #[test]
    fn a_path_meets_those_above_and_below_it() {
        let set = ["a.b", "a.c.d", "a.c.e", "f"].map(path);
        let mut branches = PathTrie::default();
        for (i, path) in set.iter().enumerate() {
            branches.add(path, 3 - i);
        }
        for (asked, first) in [
            ("a", Some(1)),
            ("a.b", Some(3)),
            ("a.b.x.y", Some(3)),
            ("a.c", Some(1)),
            ("a.c.d", Some(2)),
            ("a.c.f", None),
            ("a.bb", None),
            ("f.g", Some(0)),
            ("", Some(0)),
            ("g", None),
        ] {
            assert_eq!(branches.first_overlap(&path(asked)), first, "{asked}");
        }
        assert_eq!(PathTrie::default().first_overlap(&path("a")), None);
    }
}
