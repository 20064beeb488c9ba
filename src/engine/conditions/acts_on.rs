//! The effective targets at which something of a policy is in force.

use std::collections::BTreeSet;

use crate::engine::effective::{Ends, Group};
use crate::engine::ids::{ObjectKey, Place};

/// Effective targets, as the ends of paths: a policy near the top has many, and most answers count the objects.
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

    /// The objects that they are, or are sections of.
    pub fn objects(&self) -> BTreeSet<&ObjectKey> {
        self.ends.iter().flat_map(Ends::objects).collect()
    }
}
