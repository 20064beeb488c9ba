//! Conflicts of policies of one kind at one place, and which policies lose them.

use std::sync::Arc;

use crate::kinds::profile::SameTarget;
use crate::model::path_trie::PathTrie;
use crate::model::setting_path::{SettingPath, is_under};
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::policy::fuel;

/// The policy that wins the conflict against `policy`. `policies` are the policies attached to one place, the established
/// first.
pub fn conflict_winner<'a>(
    policies: &'a [Arc<Policy>],
    policy: &Policy,
) -> Option<&'a Arc<Policy>> {
    let place = policies
        .iter()
        .position(|other| other.key() == policy.key())?;
    rejected(policies).get(place).copied().flatten()
}

/// For each policy attached to one place, the policy that wins the conflict against it. `policies` is sorted, the
/// established first. Computed for all at once, since there may be many.
pub fn rejected(policies: &[Arc<Policy>]) -> Vec<Option<&Arc<Policy>>> {
    let nobody = || vec![None; policies.len()];
    let Some(profile) = policies.first().map(|policy| &policy.profile) else {
        return Vec::new();
    };
    if profile.strategies.follows_2021 {
        return nobody();
    }
    let all_but = |winner: Option<&'_ Arc<Policy>>| -> Vec<Option<usize>> {
        let place = winner.and_then(|winner| policies.iter().position(|p| p.key() == winner.key()));
        let lost = |i: usize| place.filter(|place| *place != i);
        (0..policies.len()).map(lost).collect()
    };
    let to = match *profile.same_target {
        SameTarget::OldestWins => all_but(policies.first()),
        SameTarget::NewestWins => all_but(policies.last()),
        // A policy of strategy None is alone: nothing merges with an older one, and a newer one merges with
        // nothing.
        SameTarget::Merge | SameTarget::MergeOldest | SameTarget::MergeUnsettled => {
            let alone = policies.first().is_some_and(|first| first.merges_by_none());
            let lost = |policy: &Arc<Policy>| alone || policy.merges_by_none();
            policies
                .iter()
                .map(|policy| lost(policy).then_some(0))
                .collect()
        }
        SameTarget::FieldOverlap => overlapping(policies),
        SameTarget::EqualField => first_unlike(
            &policies
                .iter()
                .map(|p| &p.fields_that_must_agree)
                .collect::<Vec<_>>(),
        ),
        SameTarget::NoneWins => first_unlike(&policies.iter().map(|p| p.key()).collect::<Vec<_>>()),
    };
    let policy = |to: Option<usize>| to.and_then(|to| policies.get(to));
    let winners = to.into_iter().map(policy).zip(policies);
    // A policy attached to two sections does not conflict with itself.
    winners
        .map(|(winner, policy)| winner.filter(|winner| winner.key() != policy.key()))
        .collect()
}

/// The cost of finding the rejected policies, in units of fuel.
pub fn comparison_cost<'a>(policies: impl IntoIterator<Item = &'a Arc<Policy>>) -> usize {
    let (mut leaves, mut long, mut bytes, mut count) = (0, 0, 0, 0);
    for policy in policies {
        count += 1;
        match *policy.profile.same_target {
            SameTarget::FieldOverlap => {
                leaves += policy.leaves();
                long += policy.reading_cost();
            }
            SameTarget::EqualField => bytes += policy.fields_that_must_agree.len(),
            _ => {}
        }
        // The limit is exceeded, whatever the other policies contain.
        if leaves / fuel::LOOKED_UP + long > fuel::MAX_UNITS {
            break;
        }
    }
    leaves / fuel::LOOKED_UP + long + bytes / fuel::COMPARED + count / fuel::PASSED_OVER
}

/// For each policy, the oldest accepted one that sets a common field.
fn overlapping(policies: &[Arc<Policy>]) -> Vec<Option<usize>> {
    let set: Vec<Vec<SettingPath>> = policies.iter().map(|policy| leaves(policy)).collect();
    // Accepted policies have no field in common.
    let mut accepted = PathTrie::default();
    let mut overlaps = Vec::with_capacity(policies.len());
    for (i, leaves) in set.iter().enumerate() {
        let owner = first_overlap_owner(&accepted, leaves);
        if owner.is_none() {
            for path in leaves {
                accepted.add(path, i);
            }
        }
        overlaps.push(owner);
    }
    overlaps
}

/// The first owner of a field that is among these.
pub(super) fn first_overlap_owner(
    accepted: &PathTrie<'_>,
    leaves: &[SettingPath],
) -> Option<usize> {
    let owners = leaves.iter();
    owners.filter_map(|path| accepted.first_overlap(path)).min()
}

/// For each item, the index of the first one that differs from it.
fn first_unlike<T: PartialEq>(all: &[T]) -> Vec<Option<usize>> {
    let first = all.first();
    let other = all.iter().position(|one| Some(one) != first);
    let unlike = |one: &T| if Some(one) == first { other } else { Some(0) };
    all.iter().map(unlike).collect()
}

/// The first field that both policies set, of the fields in which policies of the kind conflict.
pub fn overlap(one: &Policy, other: &Policy) -> Option<SettingPath> {
    let counted = leaves(other);
    let branches = PathTrie::from_paths(&counted);
    let mut leaves = leaves(one).into_iter();
    leaves.find(|path| branches.first_overlap(path).is_some())
}

/// The fields that a policy sets, of those in which policies of its kind conflict; every leaf if the kind lists none.
pub(super) fn leaves(policy: &Policy) -> Vec<SettingPath> {
    let fields = &*policy.profile.conflict_fields;
    let paths = policy.stanzas().flat_map(StanzaRef::paths);
    if fields.is_empty() {
        return paths.collect();
    }
    let field = |mut path: SettingPath| {
        let mut fields = fields.iter();
        path.truncate(fields.find(|field| is_under(&path, field))?.len());
        Some(path)
    };
    paths.filter_map(field).collect()
}
