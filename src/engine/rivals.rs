//! Policies of one kind at one place, and which of them is rejected for another (design 9, ruling 4).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use super::merge::{LeafPath, Piece, on_one_branch};
use super::policy::Policy;
use super::profile::SameTarget;

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
        SameTarget::Merge | SameTarget::MergeOldest => {
            let lost = all_but(here.iter().find(|policy| policy.merges_by_none()));
            let merges = |(policy, lost): (&Arc<Policy>, Option<usize>)| {
                lost.filter(|_| policy.merges_by_none())
            };
            here.iter().zip(lost).map(merges).collect()
        }
        SameTarget::FieldOverlap => overlapping(here),
        SameTarget::EqualField => first_unlike(&here.iter().map(|p| agreed(p)).collect::<Vec<_>>()),
        SameTarget::NoneWins => first_unlike(&here.iter().map(|p| p.key()).collect::<Vec<_>>()),
    };
    let policy = |to: Option<usize>| to.and_then(|to| here.get(to));
    let winners = to.into_iter().map(policy).zip(here);
    // One that stands on two sections does not stand in its own way.
    winners
        .map(|(winner, policy)| winner.filter(|winner| winner.key() != policy.key()))
        .collect()
}

/// The oldest accepted policy that sets a field which each sets too.
fn overlapping(here: &[Arc<Policy>]) -> Vec<Option<usize>> {
    // Those that are accepted have no field in common.
    let mut set: BTreeMap<LeafPath, usize> = BTreeMap::new();
    let rival = |set: &BTreeMap<LeafPath, usize>, path: &LeafPath| {
        let above = (0..path.len()).filter_map(|length| set.get(path.get(..length)?));
        let below = set.range(path.clone()..);
        let below = below.take_while(|(below, _)| below.starts_with(path));
        above.chain(below.map(|(_, of)| of)).min().copied()
    };
    let mut found = Vec::with_capacity(here.len());
    for (i, policy) in here.iter().enumerate() {
        let leaves = leaves(policy);
        let rivals = leaves.iter().filter_map(|path| rival(&set, path));
        let rival = rivals.min();
        if rival.is_none() {
            set.extend(leaves.into_iter().map(|path| (path, i)));
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

/// The fields in which all policies of one target must agree.
fn agreed(policy: &Policy) -> Vec<Value> {
    let spec = super::policy::spec(&policy.object);
    let fields = policy.profile.conflict_fields.iter();
    fields
        .map(|field| {
            let at = field.iter().try_fold(&spec, |value, key| value.get(key));
            at.cloned().unwrap_or_default()
        })
        .collect()
}

/// The first field that two policies set both, of those by which the kind's policies conflict.
pub fn overlap(one: &Policy, other: &Policy) -> Option<LeafPath> {
    let counted = leaves(other);
    let counted: BTreeSet<&[Arc<str>]> = counted.iter().map(Vec::as_slice).collect();
    leaves(one)
        .into_iter()
        .find(|path| on_one_branch(&counted, path))
}

/// What a policy sets of the fields by which its kind conflicts: those fields, or else every leaf.
fn leaves(policy: &Policy) -> Vec<LeafPath> {
    let fields = &*policy.profile.conflict_fields;
    let paths = policy.pieces().iter().flat_map(Piece::paths);
    if fields.is_empty() {
        return paths.collect();
    }
    let field = |mut path: LeafPath| {
        let leads = |field: &&Vec<String>| {
            let above = path.iter().map(Deref::deref).take(field.len());
            above.eq(field.iter().map(String::as_str))
        };
        path.truncate(fields.iter().find(leads)?.len());
        Some(path)
    };
    paths.filter_map(field).collect()
}
