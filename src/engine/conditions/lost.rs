//! Settings of a policy that are not in force on some path.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::ids::ObjectKey;
use crate::engine::merge::LeafPath;

/// Settings that are not in force, and who has their place; as the fates of a policy on different paths. A policy
/// near the top has many, and most answers do not ask.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    fates: Vec<BTreeMap<LeafPath, BTreeSet<ObjectKey>>>,
}

// === impl Lost ===

impl Lost {
    pub(super) fn add(&mut self, fate: BTreeMap<LeafPath, BTreeSet<ObjectKey>>) {
        if !fate.is_empty() {
            self.fates.push(fate);
        }
    }

    /// Each of them, with all who have its place somewhere.
    pub fn by_setting(&self) -> BTreeMap<&LeafPath, BTreeSet<&ObjectKey>> {
        let mut found: BTreeMap<&LeafPath, BTreeSet<&ObjectKey>> = BTreeMap::new();
        for (path, by) in self.fates.iter().flatten() {
            found.entry(path).or_default().extend(by);
        }
        found
    }
}
