//! The protections that effective policies provide on one path.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::given::{Extent, Given};
use crate::kinds::profile::Profile;
use crate::merge::{Effective, SettingPath};
use crate::model::ids::ObjectKey;
use crate::state::snapshot::Snapshot;

/// A protection on one path.
#[derive(Clone, Debug)]
pub struct Provided {
    /// The name for users: `authentication`.
    pub protection: Arc<str>,
    /// The requests for which it holds.
    pub extent: Extent,
    /// The policies that provide it.
    pub by: BTreeSet<ObjectKey>,
    /// The settings that provide it; empty if only the kind's own controller knows them.
    pub settings: BTreeSet<SettingPath>,
}

/// Every protection of a kind, for requests that may take any of several paths: each holds as far as it holds on all of
/// them.
pub fn provided(snapshot: &Snapshot, profile: &Profile, paths: &[Arc<Effective>]) -> Vec<Provided> {
    let each = profile.protects.iter().map(|protection| {
        let given = paths
            .iter()
            .map(|effective| Given::by(snapshot, profile, protection, effective));
        let given: Vec<Given> = given.collect();
        let extent = given.iter().map(|given| given.extent).min();
        let sources = given.into_iter().flat_map(|given| given.sources);
        let mut found = Provided {
            protection: protection.name.clone(),
            extent: extent.unwrap_or(Extent::None),
            by: BTreeSet::new(),
            settings: BTreeSet::new(),
        };
        for (policy, setting) in sources {
            found.by.insert(policy);
            let path = setting.map(|(path, _)| path);
            found.settings.extend(path.filter(|path| !path.is_empty()));
        }
        found
    });
    each.collect()
}
