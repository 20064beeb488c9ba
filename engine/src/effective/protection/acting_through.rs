//! Protections of kinds whose policies act through a policy of another kind. If other policies
//! replace that one, they protect nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::provided::Provided;
use super::{LostSources, ProtectionLoss, Resolve};
use crate::effective::Resolver;
use crate::effective::impact::EffectiveChange;
use crate::kinds::profile::{AppliesThrough, Profile};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::setting_path::is_under;
use crate::model::shared::Shared;
use crate::state::snapshot::Snapshot;

/// The kinds in use whose policies act through those of this kind.
fn acting_through<'s>(
    snapshot: &'s Snapshot,
    kind: &GroupKind,
) -> impl Iterator<Item = (&'s GroupKind, &'s Profile, &'s AppliesThrough)> {
    snapshot.used_kinds().filter_map(move |acting| {
        let profile = snapshot.profile(acting)?;
        let through = profile.applies_through.as_ref()?;
        (through.kind == *kind).then_some((acting, &**profile, through))
    })
}

/// Whether policies of other kinds act through those of this kind.
pub fn carries_others(snapshot: &Snapshot, kind: &GroupKind) -> bool {
    acting_through(snapshot, kind).next().is_some()
}

/// The protections that policies of other kinds lose because the policies of the changed kind
/// through which they act are replaced by others. `None` if it takes too much work to tell.
pub(super) fn displaced<'a, P: Ord>(
    ([before, after], resolve): ([&Snapshot; 2], Resolve),
    kind: &GroupKind,
    changes: &(impl Iterator<Item = &'a EffectiveChange> + Clone),
    part: impl Fn(&ObjectKey) -> P,
) -> Option<Vec<ProtectionLoss>> {
    let mut resolver: Option<Resolver<'_>> = None;
    let mut losses: BTreeMap<(Arc<str>, P), ProtectionLoss> = BTreeMap::new();
    for (acting, profile, through) in acting_through(before, kind) {
        let stay = changes
            .clone()
            .filter(|change| change.exists_before_and_after);
        let displacing = stay.filter(|change| {
            is_displaced(&change.after, through) && !is_displaced(&change.before, through)
        });
        for change in displacing {
            let resolver = resolver.get_or_insert_with(|| resolve(before));
            for object in change.paths.objects().filter(|object| !after.lacks(object)) {
                let results = in_force(resolver, acting, object, change);
                if resolver.is_spent() {
                    return None;
                }
                for protection in profile.protects.iter() {
                    let provided_by =
                        |one| Provided::from_effective(before, profile, protection, one);
                    let Some(provided) =
                        LostSources::all_of(results.iter().map(|one| provided_by(one)))
                    else {
                        continue;
                    };
                    let loss = losses.entry((protection.name.clone(), part(object)));
                    let loss = loss.or_insert_with(|| ProtectionLoss::named(&protection.name));
                    loss.objects.insert(object.clone());
                    loss.lost.add(&LostSources {
                        now: change.after.policies(),
                        reasons: [through.text.clone()].into(),
                        ..provided
                    });
                }
            }
        }
    }
    Some(losses.into_values().collect())
}

/// The effective policies of a kind at an object, on paths with the same effective targets as those
/// of a change.
fn in_force(
    resolver: &mut Resolver<'_>,
    kind: &GroupKind,
    object: &ObjectKey,
    change: &EffectiveChange,
) -> Vec<Shared<EffectivePolicy>> {
    let ends: BTreeSet<&Place> = change.paths.targets().collect();
    let groups = resolver.paths_through(object, kind).into_iter();
    let there = groups.filter(|group| {
        let mut targets = group.paths.targets();
        group.attached && targets.any(|target| ends.contains(target))
    });
    there.map(|group| group.effective).collect()
}

/// Whether policies are in force there, and none of them is one through which others act.
fn is_displaced(effective: &EffectivePolicy, through: &AppliesThrough) -> bool {
    let leaves = effective.leaves();
    let mut own = leaves.iter().filter(|(path, setting)| {
        is_under(path, &through.setting) && setting.policy.name.starts_with(&*through.prefix)
    });
    own.next().is_none() && !effective.policies().is_empty()
}
