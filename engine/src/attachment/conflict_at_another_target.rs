//! Policies with several targets that lose a conflict at one of them, for controllers that reject the whole policy then.
//!
//! A policy that is rejected no longer wins any conflict. So the policies that share targets, directly or through others,
//! are decided together, from the oldest to the newest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::conflict::{comparison_cost, first_overlap_owner, leaves};
use super::rejection::{Rejection, RejectionEffect};
use crate::kinds::profile::RejectionCause;
use crate::model::ids::{ObjectKey, Place};
use crate::model::maps::{HashMap, HashSet};
use crate::model::path_trie::PathTrie;
use crate::model::setting_path::SettingPath;
use crate::policy::Policy;
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;

/// The targets at which a policy loses the conflict, each with the policy that wins it.
pub(super) type ConflictsLost = BTreeMap<ObjectKey, ObjectKey>;

/// The policies of one kind that share targets with a policy, directly or through others, with it; the oldest first.
/// Empty if there are too many to compare.
pub(super) fn connected<'a>(
    snapshot: &'a Snapshot,
    policy: &'a Arc<Policy>,
) -> Vec<&'a Arc<Policy>> {
    let mut connected = vec![policy];
    let mut known: HashSet<&ObjectKey> = HashSet::default();
    known.insert(policy.key());
    let mut targets: HashSet<ObjectKey> = HashSet::default();
    let mut next = 0;
    while let Some(policy) = connected.get(next).copied() {
        next += 1;
        for target in targets_of(snapshot, policy) {
            if targets.contains(&target) {
                continue;
            }
            let on_target = snapshot.policies_naming(&target);
            let same_kind = on_target.filter(|other| other.key().gk == policy.key().gk);
            connected.extend(same_kind.filter(|other| known.insert(other.key())));
            targets.insert(target);
            if connected.len() > fuel::MAX_UNITS {
                return Vec::new();
            }
        }
    }
    connected.sort_by(|a, b| a.precedence().cmp(b.precedence()));
    connected
}

/// The targets at which these policies lose, by policy. `counts` says which of them take part in conflicts.
pub(super) fn lost(
    snapshot: &Snapshot,
    policies: &[&Arc<Policy>],
    counts: impl Fn(&Policy) -> bool,
) -> HashMap<ObjectKey, ConflictsLost> {
    let fields = policies.iter().map(|policy| leaves(policy));
    let fields: Vec<Vec<SettingPath>> = fields.collect();
    let mut accepted: HashMap<ObjectKey, PathTrie<'_>> = HashMap::default();
    let mut lost_by_policy = HashMap::default();
    for (number, (policy, fields)) in policies.iter().zip(&fields).enumerate() {
        let mut lost = ConflictsLost::new();
        if counts(policy) {
            let targets = targets_of(snapshot, policy);
            for target in &targets {
                let owner = accepted
                    .get(target)
                    .and_then(|at| first_overlap_owner(at, fields));
                if let Some(winner) = owner.and_then(|owner| policies.get(owner)) {
                    lost.insert(target.clone(), winner.key().clone());
                }
            }
            if lost.is_empty() {
                for target in targets {
                    let at = accepted.entry(target).or_default();
                    for path in fields {
                        at.add(path, number);
                    }
                }
            }
        }
        lost_by_policy.insert(policy.key().clone(), lost);
    }
    lost_by_policy
}

/// Why a policy is rejected at a target at which it does not lose the conflict itself.
pub(super) fn rejection(lost: &ConflictsLost, target: &Place) -> Option<Rejection> {
    if lost.contains_key(&target.object) {
        return None;
    }
    let (elsewhere, winner) = lost.first_key_value()?;
    Some(Rejection {
        reason: "Conflicted",
        effect: RejectionEffect::NotAttached,
        requests_fail: false,
        reported: None,
        message: format!(
            "it conflicts with {winner} on {elsewhere}, and is then rejected on every target"
        ),
    })
}

/// The targets of policies that may be rejected, or accepted again, when a policy changes.
pub(crate) fn affected_by_policy(snapshot: &Snapshot, policy: &Arc<Policy>) -> BTreeSet<ObjectKey> {
    let mut causes = policy.profile.rejected_because.iter();
    if !causes.any(|cause| *cause == RejectionCause::LosesAnotherTarget) {
        return BTreeSet::new();
    }
    let others = connected(snapshot, policy).into_iter();
    let targets = others.flat_map(|other| targets_of(snapshot, other));
    targets.collect()
}

/// The cost of [`lost`], in units of fuel.
pub(super) fn cost(policies: &[&Arc<Policy>]) -> usize {
    comparison_cost(policies.iter().copied())
}

/// The existing objects that a policy names. Kinds whose controllers reject policies in this way
/// have no selectors.
fn targets_of(snapshot: &Snapshot, policy: &Policy) -> Vec<ObjectKey> {
    let own = &policy.key().namespace;
    let named = policy.targets.iter();
    let named = named.filter_map(|target| target.object(own));
    named.filter(|key| !snapshot.lacks(key)).collect()
}
