//! Settings of a policy that are not in force on some path.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::ids::ObjectKey;
use crate::engine::merge::LeafPath;

/// Settings that are not in force, and who has their place. A policy near the top loses the same settings on many
/// paths, to others each time: they are kept together, and told apart when somebody asks.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    together: BTreeMap<Vec<LeafPath>, Vec<ObjectKey>>,
    /// All settings of the policy, and those who have the place of all of them somewhere.
    all: Option<(Arc<[LeafPath]>, Vec<ObjectKey>)>,
}

// === impl Lost ===

impl Lost {
    /// Adds what is lost on some paths.
    pub(super) fn add(&mut self, lost: BTreeMap<LeafPath, Rc<BTreeSet<ObjectKey>>>) {
        let mut runs: Vec<(Vec<LeafPath>, Rc<BTreeSet<ObjectKey>>)> = Vec::new();
        for (path, by) in lost {
            match runs.last_mut() {
                Some((paths, same)) if *same == by => paths.push(path),
                _ => runs.push((vec![path], by)),
            }
        }
        for (paths, by) in runs {
            let together = self.together.entry(paths).or_default();
            together.extend(by.iter().cloned());
        }
    }

    /// Adds that all settings of the policy are lost to one other on some paths.
    pub(super) fn add_all(&mut self, settings: &Arc<[LeafPath]>, by: &ObjectKey) {
        let (_, all) = self
            .all
            .get_or_insert_with(|| (settings.clone(), Vec::new()));
        all.push(by.clone());
    }

    /// Each of them, with all who have its place somewhere.
    pub fn by_setting(&self) -> BTreeMap<&LeafPath, BTreeSet<&ObjectKey>> {
        let mut found: BTreeMap<&LeafPath, BTreeSet<&ObjectKey>> = BTreeMap::new();
        let all = self.all.iter().map(|(paths, by)| (&**paths, by));
        let together = self.together.iter().map(|(paths, by)| (&**paths, by));
        for (paths, by) in all.chain(together) {
            for path in paths {
                found.entry(path).or_default().extend(by);
            }
        }
        found
    }
}
