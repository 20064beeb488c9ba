//! Facts about the policies on the path of a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::answer::Named;
use crate::answer::explanation::{PolicyOnRequest, StateOnRequest};
use crate::engine::attachment::conflict::conflict_winner;
use crate::engine::effective::PathGroup;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::setting_path::SettingPath;
use crate::engine::model::wording;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;

/// The facts about each policy.
pub(super) type PoliciesOnPath = BTreeMap<ObjectKey, PolicyOnPath>;

/// The facts about one policy on the path of a request.
#[derive(Default)]
pub(super) struct PolicyOnPath {
    pub(super) at: BTreeSet<Place>,
    pub(super) is_in_force: bool,
    pub(super) conflicted: bool,
    /// Why its controllers reject it.
    pub(super) rejection: Option<Rejected>,
    /// Why it is not known whether it applies.
    pub(super) unknown: Option<String>,
    /// Whether it is rejected and still replaces policies above it.
    pub(super) keeps_place: bool,
    pub(super) by: BTreeSet<ObjectKey>,
    pub(super) lost: BTreeSet<SettingPath>,
}

/// Adds the policies of a path group, with their outcome there.
pub(super) fn note(group: &PathGroup, outcomes: &mut PoliciesOnPath) {
    for level in group.stack.iter() {
        for policy in level.policies.iter() {
            let on_path = outcomes.entry(policy.key().clone()).or_default();
            on_path.at.insert(level.step.place.clone());
            on_path.note(policy, &level.policies, group);
        }
    }
}

/// Why controllers reject a policy.
pub(super) struct Rejected {
    /// The reason, as a sentence.
    pub(super) why: String,
    /// Whether requests get an error instead of policies above it.
    pub(super) requests_fail: bool,
    /// Whether they accept it as it is written, and do not apply it.
    pub(super) is_accepted: bool,
}

// === impl PolicyOnPath ===

impl PolicyOnPath {
    fn note(&mut self, policy: &Policy, policies: &[Arc<Policy>], group: &PathGroup) {
        if let Some(winner) = conflict_winner(policies, policy) {
            self.conflicted = true;
            self.by.insert(winner.key().clone());
            return;
        }
        if let Some(why) = group.rejected_merge(policy) {
            self.rejection = Some(Rejected {
                why: why.to_string(),
                requests_fail: false,
                is_accepted: true,
            });
            return;
        }
        let outcome = group.outcome_of(policy);
        // A rejected policy may keep its place, without its settings.
        self.is_in_force |= outcome.is_in_force && !policy.is_empty();
        self.keeps_place |= outcome.is_in_force && policy.is_empty();
        self.by.extend(outcome.by());
        self.lost.extend(outcome.lost.into_keys());
    }

    pub(super) fn policy_on_request(self, key: &ObjectKey, snapshot: &Snapshot) -> PolicyOnRequest {
        let adds_nothing = !self.is_in_force
            && !self.keeps_place
            && (snapshot.policy(key)).is_some_and(|policy| policy.adds_nothing());
        let state = match (self.is_in_force, self.lost.is_empty()) {
            _ if self.unknown.is_some() => StateOnRequest::Unknown,
            (true, false) => StateOnRequest::PartiallyEnforced,
            (false, _) if self.rejection.as_ref().is_some_and(|one| one.is_accepted) => {
                StateOnRequest::NoEffect
            }
            (false, _) if self.rejection.is_some() => StateOnRequest::Rejected,
            (false, _) if self.conflicted => StateOnRequest::Conflicted,
            (false, _) if adds_nothing => StateOnRequest::NoEffect,
            // A policy without settings has none to lose.
            (_, true) => StateOnRequest::Enforced,
            (false, false) => StateOnRequest::Overridden,
        };
        let lost = if state == StateOnRequest::PartiallyEnforced {
            self.lost.iter().map(|path| wording::field(path)).collect()
        } else {
            Vec::new()
        };
        let sets_nothing = adds_nothing && state == StateOnRequest::NoEffect;
        let by = self.by.iter().filter(|_| !sets_nothing);
        let reason = self.unknown.or(self.rejection.map(|rejected| rejected.why));
        PolicyOnRequest {
            policy: Named::from(key),
            at: self.at.iter().map(Named::from).collect(),
            state,
            by: by.map(Named::from).collect(),
            lost,
            reason: reason.or(sets_nothing.then(|| "it sets nothing".to_owned())),
            caveats: snapshot.policy(key).map_or_else(Vec::new, |policy| {
                policy.caveats(snapshot).map(str::to_owned).collect()
            }),
        }
    }
}
