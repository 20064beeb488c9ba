//! Merges levels in stages, as some controllers do: first the levels within a stage, then the
//! results of the stages.
//!
//! Proxies apply the settings of a listener, then those of the host, then those of the route, one
//! setting at a time. A setting that switches something off is a separate setting there: it stays,
//! whatever the route asks for. The same holds for settings that name a provider: each level has
//! its own, and all are in force.

use super::operand::{PartialResult, layers};
use super::stage_settings::SettingsKeptAcrossStages;
use super::{MergeLevel, delegated};
use crate::kinds::profile::{Direction, Profile, SpecPath, Strategy};

/// Implements [`super::fold::folded`] for levels that are merged in stages.
pub(super) fn merged<T: PartialResult>(
    profile: &Profile,
    levels: &[MergeLevel<'_>],
    own: Option<T>,
) -> Option<T> {
    let merging = &profile.merging;
    let per_policy = *merging.stage_per_policy;
    let one_by_one = per_policy.then(|| one_by_one(levels));
    let levels = one_by_one.as_deref().unwrap_or(levels);
    let stage = |level: &MergeLevel<'_>| merging.stage(level.level);
    let stages = levels.chunk_by(|one, next| !per_policy && stage(one) == stage(next));
    let stages = stages.filter_map(|stage| {
        let stage_layers = layers(profile, stage);
        let strategy = stage_layers.first()?.strategy();
        Some((
            strategy,
            delegated::merged(profile, stage, &stage_layers, None)?,
        ))
    });
    let mut stages: Vec<(Strategy, T)> = stages.collect();
    let (_, last) = stages.pop()?;
    let last = match own {
        Some(own) => T::merged(profile, *profile.default_strategy, || last, || own),
        None => last,
    };
    let kept_from_above: Vec<&SpecPath> = merging.kept_from_above.iter().collect();
    let accumulated: &[SpecPath] = &merging.accumulate_per_stage;
    let stages = stages.into_iter().rev();
    Some(stages.fold(last, |below, (by, above)| {
        // Overrides keep out the settings below them, so nothing accumulates.
        let is_override = matches!(by, Strategy::Merge(Direction::Overrides, _));
        let accumulated = if is_override { &[] } else { accumulated };
        let kept = SettingsKeptAcrossStages {
            accumulated,
            kept_from_above: &kept_from_above,
        };
        T::merged_with_stage_settings(profile, by, above, below, kept)
    }))
}

/// Each policy as a level of its own. The oldest one of a level comes last, so that it wins.
fn one_by_one<'a>(levels: &[MergeLevel<'a>]) -> Vec<MergeLevel<'a>> {
    let each = levels.iter().flat_map(|level| {
        let policies = level.policies.iter().rev();
        policies.map(|policy| MergeLevel {
            policies: std::slice::from_ref(policy),
            ..*level
        })
    });
    each.collect()
}
