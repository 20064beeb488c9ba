//! The conditions that the status of a policy should have (GEP-713): what a controller that does as attache expects writes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::named::Named;
use crate::engine::conditions::{self, PolicyStatus, ancestors};
use crate::engine::effective::Survey;
use crate::engine::ids::ObjectKey;
use crate::engine::policy::Policy;

/// The conditions of a policy by the names that GEP-713 has for them since 2026; the engine knows the older ones too.
const NAMES: [&str; 2] = ["Accepted", "Programmed"];

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Condition {
    /// `Accepted` or `Programmed`. A policy that is not accepted has the first alone.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `True` or `False`.
    pub status: &'static str,
    /// One word: `Accepted`, `Conflicted`, `Invalid`, `TargetNotFound`; `Programmed`, `PartiallyProgrammed`, `Reconciling`,
    /// `Overridden`, `NoEffect`.
    pub reason: &'static str,
    /// One line.
    pub message: String,
}

/// The conditions that a policy should have for one ancestor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ancestor {
    /// The Gateway, or the target itself where no Gateway can lead to it.
    pub ancestor: Named,
    /// The controller that answers for it; null where that is not known.
    pub controller: Option<String>,
    /// Its conditions.
    pub conditions: Vec<Condition>,
}

/// The conditions of a policy on all its targets together, and of what comes through each ancestor.
pub(super) fn of(
    survey: &mut Survey<'_>,
    policy: &Policy,
    status: &PolicyStatus,
) -> (Vec<Condition>, Vec<Ancestor>) {
    let (found, _) = ancestors(survey, policy, status);
    let each = found.into_iter().map(|found| Ancestor {
        ancestor: Named::from(&found.object),
        controller: found.controller.as_deref().map(str::to_owned),
        conditions: through(status, Some(&found.object)),
    });
    (through(status, None), each.collect())
}

fn through(status: &PolicyStatus, gateway: Option<&ObjectKey>) -> Vec<Condition> {
    let all = conditions::conditions(status, gateway).into_iter();
    let named = all.filter(|condition| NAMES.contains(&condition.kind));
    let told = named.map(|condition| Condition {
        kind: condition.kind,
        status: if condition.status { "True" } else { "False" },
        reason: condition.reason,
        message: condition.message,
    });
    told.collect()
}
