//! Objects below a target where nothing of a policy is in force.

use std::collections::{BTreeSet, HashSet};

use crate::engine::effective::{Ends, Group};
use crate::engine::ids::{ByKey, ObjectKey, Place, in_runs};
use crate::engine::level::Level;

/// Paths through a target, by whether something of a policy is in force on them. Most answers do not ask which
/// objects they run over.
#[derive(Clone, Debug, Default)]
pub(super) struct Below {
    /// Where something is.
    kept: Vec<Paths>,
    /// Where nothing is.
    lost: Vec<Paths>,
}

/// Paths, and the level of the target on them.
#[derive(Clone, Debug)]
struct Paths {
    ends: Ends,
    level: Level,
}

// === impl Below ===

impl Below {
    pub(super) fn add(&mut self, group: &Group, target: &Place, survives: bool) {
        let mut here = group.stack.iter();
        if let Some(here) = here.find(|level| level.step.place == *target) {
            let paths = Paths {
                ends: group.ends.clone(),
                level: here.step.level,
            };
            let side = if survives {
                &mut self.kept
            } else {
                &mut self.lost
            };
            side.push(paths);
        }
    }

    /// Objects below the target where the policy is in force on no path.
    pub(super) fn overridden(&self, target: &Place) -> BTreeSet<ObjectKey> {
        let mut lost: HashSet<&ObjectKey, ByKey> = HashSet::default();
        for paths in &self.lost {
            lost.extend(paths.below(target));
        }
        if !lost.is_empty() {
            for object in self.kept.iter().flat_map(|paths| paths.below(target)) {
                lost.remove(object);
            }
        }
        lost.into_iter().cloned().collect()
    }
}

// === impl Paths ===

impl Paths {
    /// Objects under the target, Namespaces left out; in runs, each once.
    fn below<'a>(&'a self, target: &'a Place) -> impl Iterator<Item = &'a ObjectKey> {
        let below = self.ends.steps().filter(|step| step.level > self.level);
        in_runs(below.map(|step| &step.place.object))
            .filter(|object| **object != target.object && !object.gk.is_core("Namespace"))
    }
}
