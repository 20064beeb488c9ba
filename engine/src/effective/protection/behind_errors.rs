//! The protections of rejected policies because of which requests get an error: nothing passes without them while it lasts.

use std::sync::Arc;

use super::AtPath;
use super::provided::Provided;
use crate::kinds::profile::{Profile, Protection};
use crate::merge::fold_levels;
use crate::model::ids::ObjectKey;
use crate::model::level::Level;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// What the rejected policies on paths whose requests get an error would provide as they are written, path by path.
///
/// A policy that is accepted again provides it. A change that takes the policy away, or the requests from it, takes the error away and
/// with it the protection.
pub(super) fn provided_behind_errors(
    snapshot: &Snapshot,
    profile: &Profile,
    protection: &Protection,
    paths: &[AtPath],
) -> Vec<Provided> {
    let as_written = |key: &ObjectKey| {
        let policy = snapshot.policy(key)?;
        let fails = policy.requests_fail(snapshot);
        fails.then(|| provided_as_written(snapshot, profile, protection, policy))
    };
    let of_path = |(effective, _): &AtPath| {
        let policies = effective.policies();
        let provided = policies.iter().filter_map(as_written);
        provided.max_by_key(|provided| provided.coverage)
    };
    paths.iter().filter_map(of_path).collect()
}

fn provided_as_written(
    snapshot: &Snapshot,
    profile: &Profile,
    protection: &Protection,
    policy: &Arc<Policy>,
) -> Provided {
    let level = (Level::Route, std::slice::from_ref(policy));
    let effective = fold_levels(profile, &[level], None);
    Provided::from_effective(snapshot, profile, protection, &effective)
}
