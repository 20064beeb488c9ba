//! Merges the policies of routes that delegate with those of the routes below, as annotations of these routes say.

use super::MergeLevel;
use super::operand::{Layer, PartialResult, layers, upward};
use super::stage_settings::SettingsKeptAcrossStages;
use crate::kinds::profile::{DelegationMerge, Profile, SpecPath};

/// Folds levels upward, each policy by its strategy; those of a route with an annotation are merged first, and their
/// result is merged by the annotation. `all_layers` are the layers of all levels.
pub(super) fn merged<T: PartialResult>(
    profile: &Profile,
    levels: &[MergeLevel<'_>],
    all_layers: &[Layer<'_>],
    own: Option<T>,
) -> Option<T> {
    if levels.iter().all(|level| level.delegation_merge.is_none()) {
        return upward(profile, all_layers, own);
    }
    let routes = levels.chunk_by(|one, next| one.delegations == next.delegations);
    let routes: Vec<&[MergeLevel<'_>]> = routes.collect();
    routes.into_iter().rev().fold(own, |below, route| {
        let layers = layers(profile, route);
        let delegation_merge = route.first().and_then(|level| level.delegation_merge);
        match (below, delegation_merge) {
            (Some(below), Some(delegation_merge)) => {
                Some(by(profile, delegation_merge, &layers, below))
            }
            (below, _) => upward(profile, &layers, below),
        }
    })
}

/// The policies of a route that delegates, and the result of those below it, by an annotation of the route.
fn by<T: PartialResult>(
    profile: &Profile,
    delegation_merge: &DelegationMerge,
    layers: &[Layer<'_>],
    below: T,
) -> T {
    let Some(above) = upward(profile, layers, None) else {
        return below;
    };
    let accumulated = &delegation_merge.accumulate;
    let is_below_one = |path: &&SpecPath| accumulated.iter().any(|one| path.starts_with(one));
    let kept_from_above = profile.merging.kept_from_above.iter();
    let kept_from_above: Vec<&SpecPath> = kept_from_above.filter(is_below_one).collect();
    let kept = SettingsKeptAcrossStages {
        accumulated,
        kept_from_above: &kept_from_above,
    };
    T::merged_with_stage_settings(profile, delegation_merge.strategy(), above, below, kept)
}
