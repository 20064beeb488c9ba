//! The permission to read policy kinds.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Policies;

/// A `ClusterRole` for these kinds. Its label aggregates it to attache's own role.
pub fn role(name: &str, policies: &Policies) -> Value {
    let mut by_group: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for policy in policies {
        let plurals = by_group.entry(&policy.group).or_default();
        plurals.push(&policy.plural);
    }
    let rules = by_group.into_iter().map(|(group, mut plurals)| {
        plurals.sort_unstable();
        json!({"apiGroups": [group], "resources": plurals, "verbs": ["get", "list", "watch"]})
    });
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            // Not `-policies`, which is the aggregating role.
            "name": format!("{name}-policies-found"),
            "labels": {"attache.dev/aggregate-to-attache": "true"},
        },
        "rules": rules.collect::<Vec<Value>>(),
    })
}
