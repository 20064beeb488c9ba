//! Objects below a target where nothing of a policy is in force.

use std::collections::{BTreeSet, HashSet};

use crate::effective::{PathGroup, PathSet};
use crate::model::ids::{ObjectKey, Place, PrehashedBuildHasher, dedup_consecutive};
use crate::model::level::Position;

/// Paths through a target, by whether some of a policy is in force on them. Most answers do not need the objects on
/// them.
#[derive(Clone, Debug, Default)]
pub(super) struct PathsBelow {
    /// Paths on which some of it is in force.
    kept: Vec<PathsThroughTarget>,
    /// Paths on which none of it is in force.
    lost: Vec<PathsThroughTarget>,
}

/// Paths, and the position of the target on them.
#[derive(Clone, Debug)]
struct PathsThroughTarget {
    all: PathSet,
    position: Position,
    /// The sections of the target to which other policies are attached.
    taken: Vec<Place>,
}

// === impl PathsBelow ===

impl PathsBelow {
    pub(super) fn add(&mut self, group: &PathGroup, target: &Place, is_in_force: bool) {
        let mut levels = group.stack.iter();
        if let Some(level_at_target) = levels.find(|level| level.step.place == *target) {
            let paths = PathsThroughTarget {
                all: group.paths.clone(),
                position: level_at_target.step.position(),
                taken: taken(group, target),
            };
            let side = if is_in_force {
                &mut self.kept
            } else {
                &mut self.lost
            };
            side.push(paths);
        }
    }

    /// Objects below the target, and sections of the target with other policies, where the policy is in force on no
    /// path.
    pub(super) fn overridden(&self, target: &Place) -> BTreeSet<Place> {
        let mut lost: HashSet<&ObjectKey, PrehashedBuildHasher> = HashSet::default();
        let mut sections: BTreeSet<&Place> = BTreeSet::new();
        for paths in &self.lost {
            lost.extend(paths.below(target));
            sections.extend(&paths.taken);
        }
        let lost_on_a_path = lost.len();
        if !lost.is_empty() || !sections.is_empty() {
            for paths in &self.kept {
                for object in paths.below(target) {
                    lost.remove(object);
                }
                for section in paths.sections(target) {
                    sections.remove(section);
                }
            }
        }
        if lost.len() < lost_on_a_path {
            let below = self
                .lost
                .iter()
                .flat_map(|paths| paths.sections_below(target));
            sections.extend(below.filter(|section| !lost.contains(&section.object)));
            let kept = self.kept.iter();
            for section in kept.flat_map(|paths| paths.sections_below(target)) {
                sections.remove(section);
            }
        }
        let objects = lost.into_iter().map(ObjectKey::whole);
        objects.chain(sections.into_iter().cloned()).collect()
    }
}

/// The sections of a target that have policies on the paths of a group.
fn taken(group: &PathGroup, target: &Place) -> Vec<Place> {
    let places = group.stack.iter().map(|level| &level.step.place);
    let sections = places.filter(|place| *place != target && place.object == target.object);
    let sections = sections.filter(|place| place.section.is_some() && target.section.is_none());
    sections.cloned().collect()
}

// === impl PathsThroughTarget ===

impl PathsThroughTarget {
    /// The sections of the target that are on the paths.
    fn sections<'a>(&'a self, target: &'a Place) -> impl Iterator<Item = &'a Place> {
        let places = self.all.steps().map(|step| &step.place);
        places.filter(|place| {
            target.section.is_none() && place.section.is_some() && place.object == target.object
        })
    }

    /// The sections of objects below the target that are on the paths.
    fn sections_below<'a>(&'a self, target: &'a Place) -> impl Iterator<Item = &'a Place> {
        let below = self
            .all
            .steps()
            .filter(|step| step.position() > self.position);
        below
            .map(|step| &step.place)
            .filter(|place| place.section.is_some() && place.object != target.object)
    }

    /// Objects below the target, without Namespaces and without consecutive duplicates.
    fn below<'a>(&'a self, target: &'a Place) -> impl Iterator<Item = &'a ObjectKey> {
        let below = self
            .all
            .steps()
            .filter(|step| step.position() > self.position);
        dedup_consecutive(below.map(|step| &step.place.object))
            .filter(|object| **object != target.object && !object.gk.is_core("Namespace"))
    }
}
