//! Policies of one kind at one place, and which of them is rejected for another (design 9, ruling 4).

use std::sync::Arc;

use super::merge::{LeafPath, Piece};
use super::policy::Policy;
use super::profile::SameTarget;

/// The policy because of which this one is rejected, of those that stand there, the established
/// first.
pub fn winner<'a>(here: &'a [Arc<Policy>], policy: &Policy) -> Option<&'a Arc<Policy>> {
    let profile = &policy.profile;
    let winner = match *profile.same_target {
        _ if profile.strategies.legacy => None,
        SameTarget::OldestWins => here.first(),
        SameTarget::NewestWins => here.last(),
        SameTarget::Merge | SameTarget::MergeOldest if !policy.merges_by_none() => None,
        SameTarget::Merge | SameTarget::MergeOldest => {
            here.iter().find(|other| other.merges_by_none())
        }
        SameTarget::FieldOverlap => return overlapping(here, policy),
        SameTarget::EqualField => here.iter().find(|other| differs(other, policy)),
        SameTarget::NoneWins => here.iter().find(|other| other.key() != policy.key()),
    };
    winner.filter(|winner| winner.key() != policy.key())
}

/// The oldest accepted policy that sets a field which this one sets too.
fn overlapping<'a>(here: &'a [Arc<Policy>], policy: &Policy) -> Option<&'a Arc<Policy>> {
    let mut accepted: Vec<&Arc<Policy>> = Vec::new();
    for other in here {
        let rival = accepted
            .iter()
            .copied()
            .find(|a| overlap(a, other).is_some());
        if other.key() == policy.key() {
            return rival;
        }
        if rival.is_none() {
            accepted.push(other);
        }
    }
    None
}

/// The first field that two policies set both, of those by which the kind's policies conflict.
pub fn overlap(one: &Policy, other: &Policy) -> Option<LeafPath> {
    let counted = leaves(other);
    leaves(one).into_iter().find(|path| {
        let mut others = counted.iter();
        others.any(|other| path.starts_with(other) || other.starts_with(path))
    })
}

/// Whether two policies differ in a field in which all of one target must agree.
fn differs(one: &Policy, other: &Policy) -> bool {
    let settings = |policy: &Policy| -> Vec<serde_json::Value> {
        let spec = super::policy::spec(&policy.object);
        let fields = policy.profile.conflict_fields.iter();
        fields
            .map(|field| {
                let at = field.iter().try_fold(&spec, |value, key| value.get(key));
                at.cloned().unwrap_or_default()
            })
            .collect()
    };
    settings(one) != settings(other)
}

/// What a policy sets of the fields by which its kind conflicts: those fields, or else every leaf.
fn leaves(policy: &Policy) -> Vec<LeafPath> {
    let fields = &*policy.profile.conflict_fields;
    let paths = policy.pieces().iter().flat_map(Piece::paths);
    if fields.is_empty() {
        return paths.collect();
    }
    let field = |path: LeafPath| {
        let mut fields = fields.iter();
        fields.find(|field| path.starts_with(field)).cloned()
    };
    paths.filter_map(field).collect()
}
