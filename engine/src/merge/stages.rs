//! Merges levels in stages, as some controllers do: the result of one stage is laid over the result of another.
//!
//! Proxies lay the settings of a route over those of its host, and these over those of the listener, one by one. A
//! setting that switches something off is a setting of its own there: it stays, whatever the route asks for. The same
//! holds for settings that name a provider: each level has its own, and all are in force.

use std::sync::Arc;

use super::{Effective, MergeLevel, Merged, fold, inherited, layers};
use crate::kinds::profile::{Direction, Profile, Strategy};
use crate::policy::tree::Tree;

/// Implements [`super::fold_levels`] for levels that are merged in stages.
pub(super) fn merged(
    profile: &Profile,
    levels: &[MergeLevel<'_>],
    own: Option<Merged>,
) -> Effective {
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
            inherited::merged(profile, stage, &stage_layers, None)?,
        ))
    });
    let mut stages: Vec<_> = stages.collect();
    let Some((_, last)) = stages.pop() else {
        return Effective::default();
    };
    let last = match own {
        Some(own) => fold(profile, *profile.default_strategy, || last, || own),
        None => last,
    };
    let lasting: Vec<&Vec<String>> = merging.lasting.iter().collect();
    let together: &[Vec<String>] = &merging.together;
    let stages = stages.into_iter().rev();
    let result = stages.fold(last, |below, (by, above)| {
        // What overrides keeps out the settings below it.
        let is_override = matches!(by, Strategy::Merge(Direction::Overrides, _));
        let together = if is_override { &[] } else { together };
        fold_over(profile, by, above, below, (together, &*lasting))
    });
    Effective {
        result: Some(result),
    }
}

/// Each policy as a level of its own; of those on one level the oldest is the last one, which wins.
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

/// Settings that stay in force for a part whatever the part below it sets: those that are in force for both, and those
/// that nothing below undoes.
pub(super) type Kept<'a> = (&'a [Vec<String>], &'a [&'a Vec<String>]);

/// Folds two parts, and lays the settings of the upper one that stay over the result.
pub(super) fn fold_over(
    profile: &Profile,
    by: Strategy,
    above: Merged,
    below: Merged,
    kept: Kept<'_>,
) -> Merged {
    if kept.0.is_empty() && kept.1.is_empty() {
        return fold(profile, by, || above, || below);
    }
    let (over, under) = (above.clone(), below.clone());
    let mut result = fold(profile, by, || above, || below);
    if let (Merged::Settings(result), Merged::Settings(over), Merged::Settings(under)) =
        (&mut result, &over, &under)
    {
        lay_over(kept, Arc::make_mut(result), over, under);
    }
    result
}

/// Adds the settings of the upper part that remain in force regardless of the lower one: those that are in force for
/// both, and those that nothing below undoes.
fn lay_over((together, lasting): Kept<'_>, result: &mut Tree, above: &Tree, below: &Tree) {
    let is_off = |tree: &Tree, setting: &[String]| {
        let mut lasting = lasting.iter();
        lasting.any(|path| path.starts_with(setting) && tree.at(path).is_some())
    };
    for setting in together {
        if let (Some(tree_above), Some(tree_below)) = (above.at(setting), below.at(setting))
            && !is_off(below, setting)
        {
            result.copy_from(
                &tree_above.clone().side_by_side_with(tree_below.clone()),
                setting,
            );
        }
    }
    for path in lasting {
        let setting = path.split_last().map_or(&[][..], |(_, setting)| setting);
        if let (Some(_), Some(ancestor_path)) = (above.at(path), above.at(setting)) {
            result.copy_from(ancestor_path, setting);
        }
    }
}
