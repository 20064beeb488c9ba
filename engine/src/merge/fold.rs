//! The fold of the policies along a path, level by level, for settings and for the names of the policies alike.

use super::level::by_age;
use super::operand::{Layer, PartialResult, layers};
use super::{EffectivePolicy, MergeLevel, Merged, TargetFields};
use super::{delegated, filled, partition, stages};
use crate::kinds::profile::{DictatedBy, Direction, MergeWith, Op, Profile, Strategy};

/// The more specific policy wins as a whole.
const REPLACES_WHOLE: [Strategy; 2] = [
    Strategy::None,
    Strategy::Merge(Direction::Defaults, Op::Atomic),
];

/// Folds the policies of one kind along a path. `levels` run from the least to the most specific, each with the
/// established policy first. `own` are the fields that the target sets itself, of those that the kind controls: they
/// rank between overrides and defaults.
pub fn fold_levels<'a>(
    profile: &Profile,
    levels: &[impl Into<MergeLevel<'a>> + Copy],
    own: Option<&TargetFields>,
) -> EffectivePolicy {
    let own = own.map(|own| Merged::Settings(own.tree.clone()));
    let levels: Vec<MergeLevel<'a>> = levels.iter().map(|level| (*level).into()).collect();
    let result = folded(profile, &levels, own);
    EffectivePolicy {
        result,
        filters: None,
    }
}

/// Folds levels to a result; `None` if they contain no policy.
pub(super) fn folded<T: PartialResult>(
    profile: &Profile,
    levels: &[MergeLevel<'_>],
    own: Option<T>,
) -> Option<T> {
    let merging = &profile.merging;
    let joined = by_age(profile, levels);
    let joined = joined.iter();
    let joined = joined.map(|(level, policies)| MergeLevel { policies, ..*level });
    let joined: Vec<MergeLevel<'_>> = joined.collect();
    let levels = if joined.is_empty() { levels } else { &*joined };
    if let Some(by) = merging.partition_by.as_ref()
        && let Some(parts) = partition::partitioned(by, levels)
    {
        let results = parts.iter().filter_map(|part| {
            let levels = part.iter().map(|(level, policies)| MergeLevel {
                policies,
                ..**level
            });
            folded(profile, &levels.collect::<Vec<_>>(), None)
        });
        return results.reduce(T::concatenated);
    }
    if *merging.stage_per_policy || !merging.stages.is_empty() {
        return stages::merged(profile, levels, own);
    }
    if merging.parent_first {
        return filled::filled(profile, levels);
    }
    let layers = layers(profile, levels);
    // Without a policy nothing is in force, whatever the target sets itself.
    if layers.is_empty() {
        return None;
    }
    if *merging.dictated_by == DictatedBy::Challenger {
        downward(profile, &layers)
    } else {
        delegated::merged(profile, levels, &layers, own)
    }
}

/// Folds downward: each policy decides how it merges with the policies above it: with the result of all of them, or
/// with its nearest parent alone, which overrides everything above that parent.
fn downward<T: PartialResult>(profile: &Profile, layers: &[Layer<'_>]) -> Option<T> {
    let near = match *profile.merging.merge_with {
        MergeWith::AllAncestors => layers,
        MergeWith::NearestParent | MergeWith::NearestAboveRoutes => layers
            .get(layers.len().saturating_sub(2)..)
            .unwrap_or_default(),
    };
    // Nothing remains of policies above one that replaces them as a whole.
    let decides =
        |layer: &Layer<'_>| !T::NAMES_REPLACED && REPLACES_WHOLE.contains(&layer.strategy());
    let first = near.iter().rposition(decides).unwrap_or(0);
    let counted = near.get(first..).unwrap_or_default();
    counted.iter().fold(None, |above, layer| {
        Some(match above {
            None => T::of_layer(layer),
            Some(above) => {
                let below = || T::of_layer(layer);
                T::merged(profile, layer.strategy(), || above, below)
            }
        })
    })
}
