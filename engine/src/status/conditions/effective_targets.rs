//! The effective targets at which some of a policy is in force.

use std::collections::BTreeSet;

use crate::effective::{PathGroup, PathSet};
use crate::model::ids::{ObjectKey, Place};

/// Effective targets, kept as paths: a policy near the top has many, and most answers only count objects.
#[derive(Clone, Debug, Default)]
pub struct EffectiveTargets {
    paths: Vec<PathSet>,
}

// === impl EffectiveTargets ===

impl EffectiveTargets {
    pub(super) fn add(&mut self, group: &PathGroup) {
        self.paths.push(group.paths.clone());
    }

    /// The targets.
    pub fn places(&self) -> BTreeSet<&Place> {
        self.paths.iter().flat_map(PathSet::targets).collect()
    }

    /// The objects of the targets.
    pub fn objects(&self) -> BTreeSet<&ObjectKey> {
        self.paths.iter().flat_map(PathSet::objects).collect()
    }
}
