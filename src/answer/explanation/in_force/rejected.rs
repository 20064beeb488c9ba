//! The policies on the path of a request that lose a conflict, that controllers reject, or of which it is not known whether they act.

use std::sync::Arc;

use super::policy_on_path::{self, PoliciesOnPath};
use super::split::leaves_out_request;
use super::{Path, policies_at};
use crate::engine::attachment::rejection::{Rejection, RejectionEffect, RejectionFinder};
use crate::engine::attachment::reported_rejections::{Rejected, rejected, rejection};
use crate::engine::attachment::{explains_report, is_of_another_target};
use crate::engine::effective::Resolver;
use crate::engine::kinds::profile::SameTarget;
use crate::engine::model::level::Step;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{State, status};

// === impl Path ===

impl Path {
    /// Adds the policies on this path that lose a conflict, and those that controllers reject.
    pub(super) fn rejected(&self, resolver: &mut Resolver<'_>, outcomes: &mut PoliciesOnPath) {
        for step in self.steps() {
            for (attachment, winner) in resolver.attached_and_conflicts(&step.place.object) {
                let is_on_step = attachment.section == step.place.section;
                let Some(winner) = winner.filter(|_| is_on_step) else {
                    continue;
                };
                if !attachment.policy.profile.applies_in_role(step.level) {
                    continue;
                }
                let on_path = outcomes.entry(attachment.policy.key().clone()).or_default();
                on_path.at.insert(step.place.clone());
                on_path.conflicted = true;
                on_path.by.insert(winner);
            }
            self.expected_rejections(resolver, step, outcomes);
            self.rejected_by_controllers(resolver.snapshot(), step, outcomes);
        }
    }

    /// Marks the policies that target a place of this path and of which it is not known whether they apply there: those that nothing
    /// orders, and those of which nothing is in force as far as attache knows.
    pub(super) fn unknown(&self, resolver: &mut Resolver<'_>, outcomes: &mut PoliciesOnPath) {
        let snapshot = resolver.snapshot();
        for step in self.steps() {
            let policies = snapshot.policies_naming(&step.place.object);
            let policies: Vec<&Arc<Policy>> = policies
                .filter(|policy| {
                    *policy.profile.same_target == SameTarget::MergeUnsettled
                        || !outcomes.contains_key(policy.key())
                })
                .filter(|policy| policy.profile.applies_in_role(step.level))
                .collect();
            for policy in policies {
                let status = status(resolver, policy);
                let mut targets = status.targets.into_iter();
                let here = targets.find(|target| target.target == step.place);
                if let Some(State::Unknown(why)) = here.and_then(|target| target.state) {
                    let on_path = outcomes.entry(policy.key().clone()).or_default();
                    on_path.at.insert(step.place.clone());
                    on_path.unknown = Some(why);
                }
            }
        }
    }

    /// Adds the policies that target a place of this path and that conflict with other objects, as far as attache knows.
    fn expected_rejections(
        &self,
        resolver: &Resolver<'_>,
        step: &Step,
        outcomes: &mut PoliciesOnPath,
    ) {
        let snapshot = resolver.snapshot();
        for policy in policies_at(snapshot, step) {
            let Some(rejection) = resolver.rejection_at(policy, &step.place) else {
                continue;
            };
            if matches!(rejection.effect, RejectionEffect::WithoutSetting(_)) {
                continue;
            }
            let is_whole = rejection.sections().is_empty() && rejection.requests().is_empty();
            if is_whole || self.passes_left_out(step, &rejection) {
                let on_path = outcomes.entry(policy.key().clone()).or_default();
                on_path.at.insert(step.place.clone());
                let keeps_place = rejection.effect == RejectionEffect::WithoutSettings;
                let earlier = on_path.rejection.take();
                on_path.rejection = Some(policy_on_path::Rejected {
                    why: rejection.sentence(),
                    requests_fail: earlier.is_some_and(|one| one.requests_fail)
                        || rejection.requests_fail && (on_path.keeps_place || !keeps_place),
                    is_accepted: rejection.is_accepted(),
                });
            }
        }
    }

    fn passes_left_out(&self, step: &Step, rejection: &Rejection) -> bool {
        let mut steps = self.steps();
        leaves_out_request(rejection, self.rule.as_ref(), &self.above)
            || steps.any(|other| rejection.leaves_out(&step.place.object, &other.place))
    }

    /// Adds the policies that target a place of this path and that their controllers reject.
    fn rejected_by_controllers(
        &self,
        snapshot: &Snapshot,
        step: &Step,
        outcomes: &mut PoliciesOnPath,
    ) {
        let object = &step.place.object;
        let policies = policies_at(snapshot, step);
        for policy in policies.filter(|policy| policy.object.reported.is_some()) {
            let is_rejected = match rejected(snapshot, policy) {
                Rejected::Nowhere => false,
                _ if is_of_another_target(snapshot, policy, object) => false,
                Rejected::Through(places) => {
                    let mut steps = self.above.steps.iter();
                    steps.any(|step| places.contains(&step.place))
                }
                Rejected::Everywhere => true,
            };
            let expected = RejectionFinder::default().of_attached(snapshot, policy, &step.place);
            let is_elsewhere = expected
                .filter(Rejection::is_partial)
                .is_some_and(|rejection| {
                    explains_report(snapshot, policy, object, Some(&rejection))
                        && !self.passes_left_out(step, &rejection)
                });
            if !is_rejected || is_elsewhere {
                continue;
            }
            if let Some(report) = rejection(snapshot, policy) {
                let on_path = outcomes.entry(policy.key().clone()).or_default();
                on_path.at.insert(step.place.clone());
                let earlier = on_path.rejection.take();
                on_path.rejection = Some(policy_on_path::Rejected {
                    why: format!("its controller reports {report}"),
                    requests_fail: earlier.is_some_and(|one| one.requests_fail),
                    is_accepted: false,
                });
            }
        }
    }
}
