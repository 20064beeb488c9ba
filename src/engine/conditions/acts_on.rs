//! The effective targets at which some of a policy is in force.

use std::collections::BTreeSet;

use crate::engine::effective::{Ends, Group};
use crate::engine::ids::{ObjectKey, Place};

/// Effective targets, kept as paths: a policy near the top has many, and most answers only count objects.
#[derive(Clone, Debug, Default)]
pub struct ActsOn {
    ends: Vec<Ends>,
}

// === impl ActsOn ===

impl ActsOn {
    pub(super) fn add(&mut self, group: &Group) {
        self.ends.push(group.ends.clone());
    }

    /// The targets.
    pub fn places(&self) -> BTreeSet<&Place> {
        self.ends.iter().flat_map(Ends::targets).collect()
    }

    /// The objects of the targets.
    pub fn objects(&self) -> BTreeSet<&ObjectKey> {
        self.ends.iter().flat_map(Ends::objects).collect()
    }
}
