//! The conditions that the status of a policy should have (GEP-713): those that a controller would write if it agreed
//! with attache.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::named::Named;
use crate::answer::policies::reason::of_target;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::ObjectKey;
use crate::engine::policy::Policy;
use crate::engine::status::conditions::{self, PolicyStatus, TargetStatus, WhyNot, ancestors};

/// The condition types of GEP-713 since 2026. The engine knows the older ones too.
const NAMES: [&str; 2] = ["Accepted", "Programmed"];

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Condition {
    /// `Accepted` or `Programmed`. A policy that is not accepted has only `Accepted`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `True` or `False`.
    pub status: &'static str,
    /// The reason: `Accepted`, `Conflicted`, `Invalid`, `TargetNotFound`; `Programmed`, `PartiallyProgrammed`,
    /// `Reconciling`, `Overridden`, `NoEffect`.
    pub reason: &'static str,
    /// The message, on one line.
    pub message: String,
}

/// The conditions that a policy should have for one ancestor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ancestor {
    /// The Gateway, or the target itself if no Gateway can be its ancestor.
    pub ancestor: Named,
    /// The controller that writes the entry; null if unknown.
    pub controller: Option<String>,
    /// Its conditions.
    pub conditions: Vec<Condition>,
}

/// The conditions of a policy over all its targets, and those for each ancestor. `reason` is the reason if it is not accepted.
pub(super) fn of_policy(
    resolver: &mut Resolver<'_>,
    policy: &Policy,
    status: &PolicyStatus,
    reason: Option<&str>,
) -> (Vec<Condition>, Vec<Ancestor>) {
    let snapshot = resolver.snapshot();
    let why = |target: Option<&TargetStatus>| match target {
        Some(target) => of_target(snapshot, policy, target),
        None => reason.map(str::to_owned),
    };
    let (ancestors_of_policy, _) = ancestors(resolver, policy, status);
    let each = ancestors_of_policy.into_iter().map(|ancestor| Ancestor {
        ancestor: Named::from(&ancestor.object),
        controller: ancestor.controller.as_deref().map(str::to_owned),
        conditions: through(status, Some(&ancestor.object), &why),
    });
    (through(status, None, &why), each.collect())
}

fn through(status: &PolicyStatus, gateway: Option<&ObjectKey>, why: WhyNot<'_>) -> Vec<Condition> {
    let all = conditions::conditions(status, gateway, why).into_iter();
    let named = all.filter(|condition| NAMES.contains(&condition.kind));
    let conditions = named.map(|condition| Condition {
        kind: condition.kind,
        status: if condition.status { "True" } else { "False" },
        reason: condition.reason,
        message: condition.message,
    });
    conditions.collect()
}
