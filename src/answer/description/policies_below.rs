//! The policies in a Namespace, or on the Gateways and `ListenerSets` below an object.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::named::Named;
use crate::answer::policies::reason::reason;
use crate::answer::state::PolicyState;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::Object;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::statuses;

/// The policies in a Namespace, or on objects below a `GatewayClass` or Gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PoliciesBelow {
    /// The number of these policies.
    pub count: usize,
    /// Those that are in force nowhere, and that no other policy overrides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BrokenPolicy>,
}

/// A policy that is in force nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BrokenPolicy {
    /// The policy.
    pub policy: Named,
    /// Its state over all targets.
    pub state: PolicyState,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The policies in a Namespace; otherwise those that name one of the owners below the object, but for the object itself.
pub(super) fn policies_below(
    resolver: &mut Resolver<'_>,
    object: &Object,
    owners: &BTreeSet<ObjectKey>,
) -> PoliciesBelow {
    let snapshot = resolver.snapshot();
    let policies = below(snapshot, object, owners);
    let states = statuses(resolver, &policies, |policy, status| {
        let state = PolicyState::over_targets(snapshot, policy, &status);
        state.is_broken().then(|| BrokenPolicy {
            policy: Named::from(policy.key()),
            state,
            reason: reason(snapshot, policy, &status),
        })
    });
    PoliciesBelow {
        count: policies.len(),
        broken: states.into_iter().flatten().collect(),
    }
}

fn below<'a>(
    snapshot: &'a Snapshot,
    object: &Object,
    owners: &BTreeSet<ObjectKey>,
) -> Vec<&'a Arc<Policy>> {
    // Those that name the object itself are described with it.
    let is_other = |policy: &&Arc<Policy>| !policy.has_target(&object.key, Some(object));
    if object.key.gk.is_core("Namespace") {
        let kinds = snapshot.policy_kinds();
        let all = kinds.flat_map(|kind| snapshot.policies(kind));
        let inside = all.filter(|policy| policy.key().namespace == object.key.name);
        return inside.filter(is_other).collect();
    }
    let others: Vec<&ObjectKey> = owners.iter().filter(|key| **key != object.key).collect();
    let mut known = BTreeSet::new();
    let named = others
        .into_iter()
        .flat_map(|key| snapshot.policies_naming(key));
    let named = named.filter(|policy| known.insert(policy.key()));
    named.filter(is_other).collect()
}
