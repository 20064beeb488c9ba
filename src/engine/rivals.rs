//! Policies of one kind at one place, and which of them is rejected for another (design 9, ruling 4).

use std::sync::Arc;

use super::merge::{Branches, LeafPath, Part, is_under};
use super::policy::Policy;
use super::profile::SameTarget;
use super::work;

/// The policy because of which this one is rejected, of those that stand there, the established
/// first.
pub fn winner<'a>(here: &'a [Arc<Policy>], policy: &Policy) -> Option<&'a Arc<Policy>> {
    let place = here.iter().position(|other| other.key() == policy.key())?;
    rejected(here).get(place).copied().flatten()
}

/// For each of the policies that stand at one place, the established first, the policy because of
/// which it is rejected. All are looked at once: there may be many.
pub fn rejected(here: &[Arc<Policy>]) -> Vec<Option<&Arc<Policy>>> {
    let nobody = || vec![None; here.len()];
    let Some(profile) = here.first().map(|policy| &policy.profile) else {
        return Vec::new();
    };
    if profile.strategies.legacy {
        return nobody();
    }
    let all_but = |winner: Option<&'_ Arc<Policy>>| -> Vec<Option<usize>> {
        let place = winner.and_then(|winner| here.iter().position(|p| p.key() == winner.key()));
        let lost = |i: usize| place.filter(|place| *place != i);
        (0..here.len()).map(lost).collect()
    };
    let to = match *profile.same_target {
        SameTarget::OldestWins => all_but(here.first()),
        SameTarget::NewestWins => all_but(here.last()),
        // None stands alone: nothing joins one that came first, and one that came later joins nothing.
        SameTarget::Merge | SameTarget::MergeOldest => {
            let alone = here.first().is_some_and(|first| first.merges_by_none());
            let lost = |policy: &Arc<Policy>| alone || policy.merges_by_none();
            here.iter()
                .map(|policy| lost(policy).then_some(0))
                .collect()
        }
        SameTarget::FieldOverlap => overlapping(here),
        SameTarget::EqualField => first_unlike(&here.iter().map(|p| &p.agreed).collect::<Vec<_>>()),
        SameTarget::NoneWins => first_unlike(&here.iter().map(|p| p.key()).collect::<Vec<_>>()),
    };
    let policy = |to: Option<usize>| to.and_then(|to| here.get(to));
    let winners = to.into_iter().map(policy).zip(here);
    // One that stands on two sections does not stand in its own way.
    winners
        .map(|(winner, policy)| winner.filter(|winner| winner.key() != policy.key()))
        .collect()
}

/// How much it is to find out who of these is rejected, in leaves.
pub fn compared<'a>(here: impl IntoIterator<Item = &'a Arc<Policy>>) -> usize {
    let (mut leaves, mut long, mut bytes, mut policies) = (0, 0, 0, 0);
    for policy in here {
        policies += 1;
        match *policy.profile.same_target {
            SameTarget::FieldOverlap => {
                leaves += policy.leaves();
                long += policy.length();
            }
            SameTarget::EqualField => bytes += policy.agreed.len(),
            _ => {}
        }
        // Then it is too much, whatever the others say.
        if leaves / work::LOOKED_UP + long > work::MOST {
            break;
        }
    }
    leaves / work::LOOKED_UP + long + bytes / work::COMPARED + policies / work::PASSED_OVER
}

/// The oldest accepted policy that sets a field which each sets too.
fn overlapping(here: &[Arc<Policy>]) -> Vec<Option<usize>> {
    let set: Vec<Vec<LeafPath>> = here.iter().map(|policy| leaves(policy)).collect();
    // Those that are accepted have no field in common.
    let mut accepted = Branches::default();
    let mut found = Vec::with_capacity(here.len());
    for (i, leaves) in set.iter().enumerate() {
        let rival = leaves.iter().filter_map(|path| accepted.on(path)).min();
        if rival.is_none() {
            for path in leaves {
                accepted.add(path, i);
            }
        }
        found.push(rival);
    }
    found
}

/// For each, the first that is not equal to it.
fn first_unlike<T: PartialEq>(all: &[T]) -> Vec<Option<usize>> {
    let first = all.first();
    let other = all.iter().position(|one| Some(one) != first);
    let unlike = |one: &T| if Some(one) == first { other } else { Some(0) };
    all.iter().map(unlike).collect()
}

/// The first field that two policies set both, of those by which the kind's policies conflict.
pub fn overlap(one: &Policy, other: &Policy) -> Option<LeafPath> {
    let counted = leaves(other);
    let branches = Branches::of(&counted);
    let mut leaves = leaves(one).into_iter();
    leaves.find(|path| branches.on(path).is_some())
}

/// What a policy sets of the fields by which its kind conflicts: those fields, or else every leaf.
fn leaves(policy: &Policy) -> Vec<LeafPath> {
    let fields = &*policy.profile.conflict_fields;
    let paths = policy.parts().flat_map(Part::paths);
    if fields.is_empty() {
        return paths.collect();
    }
    let field = |mut path: LeafPath| {
        let mut fields = fields.iter();
        path.truncate(fields.find(|field| is_under(&path, field))?.len());
        Some(path)
    };
    paths.filter_map(field).collect()
}
