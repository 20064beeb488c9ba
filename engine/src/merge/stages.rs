//! Merges levels in stages, as some controllers do: the result of one stage is laid over the result of another.
//!
//! Proxies lay the settings of a route over those of its host, and these over those of the listener, one by one. A
//! setting that switches something off is a setting of its own there: it stays, whatever the route asks for. The same
//! holds for settings that name a provider: each level has its own, and all are in force.

use std::sync::Arc;

use super::{Effective, Merged, Tree, fold, layers, upward};
use crate::kinds::profile::Profile;
use crate::model::level::Level;
use crate::policy::Policy;

/// Implements [`super::fold_levels`] for levels that are merged in stages.
pub(super) fn merged(
    profile: &Profile,
    levels: &[(Level, &[Arc<Policy>])],
    own: Option<Merged>,
) -> Effective {
    let stage = |(level, _): &(Level, &[Arc<Policy>])| profile.merging.stage(*level);
    let stages = levels.chunk_by(|one, next| stage(one) == stage(next));
    let stages = stages.filter_map(|stage| {
        let layers = layers(profile, stage.iter().map(|(_, level)| *level));
        let strategy = layers.first()?.strategy();
        Some((strategy, upward(profile, &layers, None)?))
    });
    let mut stages: Vec<_> = stages.collect();
    let Some((_, last)) = stages.pop() else {
        return Effective::default();
    };
    let last = match own {
        Some(own) => fold(profile, *profile.default_strategy, || last, || own),
        None => last,
    };
    let is_plain = profile.merging.together.is_empty() && profile.merging.lasting.is_empty();
    let result = stages.into_iter().rev().fold(last, |below, (by, above)| {
        if is_plain {
            return fold(profile, by, || above, || below);
        }
        let (kept, under) = (above.clone(), below.clone());
        let mut result = fold(profile, by, || above, || below);
        if let (Merged::Settings(result), Merged::Settings(above), Merged::Settings(below)) =
            (&mut result, &kept, &under)
        {
            lay_over(profile, Arc::make_mut(result), above, below);
        }
        result
    });
    Effective {
        result: Some(result),
    }
}

/// Adds the settings of the upper stage that remain in force regardless of the lower one.
fn lay_over(profile: &Profile, result: &mut Tree, above: &Tree, below: &Tree) {
    let is_off = |tree: &Tree, setting: &[String]| {
        let mut lasting = profile.merging.lasting.iter();
        lasting.any(|path| path.starts_with(setting) && tree.at(path).is_some())
    };
    for setting in profile.merging.together.iter() {
        if let (Some(ancestor_path), Some(route_path)) = (above.at(setting), below.at(setting))
            && !is_off(below, setting)
        {
            result.copy_from(&ancestor_path.clone().beside(route_path.clone()), setting);
        }
    }
    for path in profile.merging.lasting.iter() {
        let setting = path.split_last().map_or(&[][..], |(_, setting)| setting);
        if let (Some(_), Some(ancestor_path)) = (above.at(path), above.at(setting)) {
            result.copy_from(ancestor_path, setting);
        }
    }
}
