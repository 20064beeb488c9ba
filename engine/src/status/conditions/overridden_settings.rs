//! Settings of a policy that are overridden on some path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::merge::OverridingValues;
use crate::model::ids::{ObjectKey, Place};
use crate::model::setting_path::SettingPath;
use crate::model::shared::Shared;

/// A policy that overrides another.
#[derive(Clone, Debug, Default)]
pub struct Winner {
    /// The places at which it is attached.
    pub from: BTreeSet<Place>,
    /// Its settings in force there.
    pub settings: OverridingValues,
}

/// Overridden settings, and the policies that override them. A policy near the top loses the same settings on many
/// paths to different policies, so settings are kept as groups and split on demand.
#[derive(Clone, Debug, Default)]
pub struct OverriddenSettings {
    together: BTreeMap<Vec<SettingPath>, Vec<ObjectKey>>,
    /// All settings of the policy, and the policies that override all of them somewhere.
    all: Option<(Arc<[SettingPath]>, Vec<ObjectKey>)>,
}

// === impl OverriddenSettings ===

impl OverriddenSettings {
    /// Adds the overridden settings of some paths.
    pub(super) fn add(&mut self, lost: BTreeMap<SettingPath, Shared<BTreeSet<ObjectKey>>>) {
        let mut runs: Vec<(Vec<SettingPath>, Shared<BTreeSet<ObjectKey>>)> = Vec::new();
        for (path, by) in lost {
            match runs.last_mut() {
                Some((paths, same)) if *same == by || **same == *by => paths.push(path),
                _ => runs.push((vec![path], by)),
            }
        }
        for (paths, by) in runs {
            let together = self.together.entry(paths).or_default();
            together.extend(by.iter().cloned());
        }
    }

    /// Adds that one other policy overrides all settings on some paths.
    pub(super) fn add_all(&mut self, settings: &Arc<[SettingPath]>, by: &ObjectKey) {
        let (_, all) = self
            .all
            .get_or_insert_with(|| (settings.clone(), Vec::new()));
        all.push(by.clone());
    }

    /// Each setting with all policies that override it somewhere.
    pub fn by_setting(&self) -> BTreeMap<&SettingPath, BTreeSet<&ObjectKey>> {
        let mut overriding: BTreeMap<&SettingPath, BTreeSet<&ObjectKey>> = BTreeMap::new();
        let all = self.all.iter().map(|(paths, by)| (&**paths, by));
        let together = self.together.iter().map(|(paths, by)| (&**paths, by));
        for (paths, by) in all.chain(together) {
            for path in paths {
                overriding.entry(path).or_default().extend(by);
            }
        }
        overriding
    }
}
