//! Settings that several policies have at one place, each of them in force.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{EffectivePolicy, Merged};
use crate::model::ids::ObjectKey;
use crate::model::setting_path::SettingPath;
use crate::policy::Setting;
use crate::policy::tree::Tree;

/// The comparison of the settings of two effective policies: by their place, or policy by policy where several policies
/// have settings at one place, which replace nothing of each other.
#[derive(Clone, Debug)]
pub struct ComparedBy {
    places: BTreeSet<SettingPath>,
    is_side_by_side: bool,
}

// === impl ComparedBy ===

impl ComparedBy {
    /// The comparison of two results.
    pub fn for_results(before: &EffectivePolicy, after: &EffectivePolicy) -> Self {
        let trees = [before, after].into_iter().flat_map(EffectivePolicy::trees);
        Self {
            places: trees.flat_map(|tree| tree.side_by_side_paths()).collect(),
            is_side_by_side: before.is_side_by_side() || after.is_side_by_side(),
        }
    }

    /// The policy of a setting, where settings are compared policy by policy.
    pub fn policy(&self, path: &SettingPath, setting: &Setting) -> Option<ObjectKey> {
        let by_policy = || self.places.iter().any(|place| path.starts_with(place));
        (self.is_side_by_side || by_policy()).then(|| setting.policy.clone())
    }
}

// === impl EffectivePolicy ===

impl EffectivePolicy {
    fn trees(&self) -> impl Iterator<Item = &Arc<Tree>> {
        self.result.iter().flat_map(Merged::trees)
    }

    /// Like [`Self::in_force`], with settings that several policies have at one place each by itself.
    pub(crate) fn apart(&self) -> Vec<Arc<Tree>> {
        let apart = self
            .trees()
            .flat_map(|tree| match tree.split_side_by_side() {
                Some(apart) => apart.into_iter().map(Arc::new).collect(),
                None => vec![tree.clone()],
            });
        apart.collect()
    }
}
