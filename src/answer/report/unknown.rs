//! Kinds that look like policy kinds or kinds of the Gateway API but are none of them: their objects cannot be checked.

use std::collections::BTreeMap;

use attache_guardrails::guardrail_kind;
use serde_json::Value;

use crate::engine::admission::finding::{Code, Finding};
use crate::engine::admission::validate::is_target_kind;
use crate::engine::model::hint::nearest;
use crate::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use crate::engine::model::object::gateway_versions;
use crate::engine::policy::spec;
use crate::engine::state::snapshot::Snapshot;

/// The kinds of the Gateway API that attache reads.
const GATEWAY_KINDS: [&str; 10] = [
    "GatewayClass",
    "Gateway",
    "ListenerSet",
    "HTTPRoute",
    "GRPCRoute",
    "TLSRoute",
    "TCPRoute",
    "UDPRoute",
    "ReferenceGrant",
    "BackendTLSPolicy",
];
/// The fields that name the targets of policies.
const TARGETS: [&str; 3] = ["targetRef", "targetRefs", "targetSelectors"];

/// One finding for each such kind, on its first object. `done` is what attache did not do with the objects: `checked`.
pub fn unknown_kinds<'a>(
    snapshot: &Snapshot,
    objects: impl Iterator<Item = &'a ObjectKey>,
    done: &str,
) -> Vec<Finding> {
    let mut by_kind: BTreeMap<&GroupKind, Vec<&ObjectKey>> = BTreeMap::new();
    for key in objects {
        if snapshot.profile(&key.gk).is_some()
            || snapshot.is_no_policy_kind(&key.gk)
            || is_target_kind(&key.gk)
        {
            continue;
        }
        let is_misspelt = misspelt(snapshot, &key.gk).is_some();
        if is_misspelt || (!is_of_kubernetes(&key.gk) && has_targets(snapshot, key)) {
            by_kind.entry(&key.gk).or_default().push(key);
        }
    }
    by_kind.retain(|kind, _| snapshot.definition(kind).is_none());
    let findings = by_kind.into_iter().filter_map(|(kind, objects)| {
        let unchecked = match objects.len() {
            1 => format!("this object was not {done}"),
            n => format!("{n} objects were not {done}"),
        };
        let first = objects.into_iter().min()?;
        let near = misspelt(snapshot, kind);
        let message = if let Some(near) = &near {
            match group_without_version(snapshot, first) {
                Some(what) => format!("{what}, so {unchecked}; {}", header(snapshot, kind, near)),
                None => format!("{kind} is not known, so {unchecked}; did you mean {near}?"),
            }
        } else {
            let remedy = match meant(snapshot, kind) {
                Some(near) => format!("did you mean {near}?"),
                None => "add its CRD to the files, or a profile to the configuration".to_owned(),
            };
            format!("{kind} looks like a policy kind and is not known, so {unchecked}; {remedy}")
        };
        Some(Finding::new(Code::KindUnknown, first, message).about(kind.to_string()))
    });
    findings.collect()
}

/// The kind of the Gateway API, or the policy kind, that differs from a kind in the case of letters alone, or that has
/// another group, where the written one is missing or one of Kubernetes.
fn misspelt(snapshot: &Snapshot, kind: &GroupKind) -> Option<GroupKind> {
    if let Some(guardrail) = guardrail(kind) {
        return Some(guardrail);
    }
    if !is_of_kubernetes(kind) {
        return None;
    }
    let is_ours = &*kind.group == GATEWAY_API;
    if is_ours && let Some(near) = nearest(&kind.kind, &GATEWAY_KINDS) {
        return Some(GroupKind::gateway_api(near));
    }
    let same = |known: &str| known.eq_ignore_ascii_case(&kind.kind);
    if let Some(known) = GATEWAY_KINDS.iter().find(|known| same(known)) {
        return Some(GroupKind::gateway_api(known));
    }
    let mut policies = snapshot.policy_kinds().filter(|known| same(&known.kind));
    match (policies.next(), policies.next()) {
        (Some(known), None) => Some(known.clone()),
        _ => None,
    }
}

/// The kind of guardrails, if a kind is nearly called so in a group that is nearly called as theirs.
fn guardrail(kind: &GroupKind) -> Option<GroupKind> {
    let meant = guardrail_kind();
    let (product, _) = meant.group.split_once('.')?;
    let is_ours = kind
        .group
        .split('.')
        .any(|part| nearest(part, &[product]).is_some() || part == product);
    let is_near = kind.kind.eq_ignore_ascii_case(&meant.kind)
        || nearest(&kind.kind, &[&*meant.kind]).is_some();
    (is_ours && is_near && *kind != meant).then_some(meant)
}

/// The message that an apiVersion is a group without a version, if it is one.
fn group_without_version(snapshot: &Snapshot, key: &ObjectKey) -> Option<String> {
    let version = snapshot.get(key)?.meta.version.as_deref()?;
    let is_group = key.gk.group.is_empty() && version.contains('.');
    is_group.then(|| format!("apiVersion {version:?} has no version"))
}

/// The remedy for a kind whose apiVersion has no version: `write apiVersion: gateway.networking.k8s.io/v1`.
fn header(snapshot: &Snapshot, written: &GroupKind, meant: &GroupKind) -> String {
    let served = snapshot.definition(meant);
    let served = served.and_then(|crd| crd.served.first().map(|version| &**version));
    let of_releases = || gateway_versions(meant).first().copied();
    let profile = snapshot.profile(meant);
    let of_profile = || profile.and_then(|profile| profile.versions.first().map(|v| &**v));
    let version = served.or_else(of_releases).or_else(of_profile);
    let header = format!(
        "apiVersion: {}/{}",
        meant.group,
        version.unwrap_or("VERSION")
    );
    if written.kind == meant.kind {
        format!("write {header}")
    } else {
        format!("write {header} and kind: {}", meant.kind)
    }
}

/// The policy kind that the user most likely meant: a similar kind in the same group, or the same kind in a similar
/// group.
fn meant(snapshot: &Snapshot, kind: &GroupKind) -> Option<GroupKind> {
    let in_group = |known: &&GroupKind| known.group == kind.group;
    let kinds: Vec<&str> = snapshot
        .policy_kinds()
        .filter(in_group)
        .map(|known| &*known.kind)
        .collect();
    if let Some(near) = nearest(&kind.kind, &kinds) {
        return Some(GroupKind::new(kind.group.clone(), near));
    }
    let of_name = |known: &&GroupKind| known.kind == kind.kind;
    let groups: Vec<&str> = snapshot
        .policy_kinds()
        .filter(of_name)
        .map(|known| &*known.group)
        .collect();
    // A group with a missing or extra label is far away by edit distance.
    let within = |one: &str, other: &str| {
        one.strip_suffix(other)
            .is_some_and(|prefix| prefix.ends_with('.'))
    };
    let own = &*kind.group;
    let mut related = groups.iter().copied();
    let near = nearest(own, &groups)
        .or_else(|| related.find(|group| within(group, own) || within(own, group)))?;
    Some(GroupKind::new(near, kind.kind.clone()))
}

/// Whether a kind belongs to Kubernetes or Gateway API. Some of those have target fields with another meaning.
fn is_of_kubernetes(gk: &GroupKind) -> bool {
    let group = &*gk.group;
    group == GATEWAY_API || !group.contains('.') || group.ends_with(".k8s.io")
}

fn has_targets(snapshot: &Snapshot, key: &ObjectKey) -> bool {
    let Some(object) = snapshot.get(key) else {
        return false;
    };
    let text = object.spec.as_deref().unwrap_or_default();
    // Most specs have no target: test the text before parsing it.
    if !text.contains("\"target") {
        return false;
    }
    let spec = spec(object);
    TARGETS.iter().any(|field| match spec.get(field) {
        Some(Value::Array(items)) => items.first().is_some_and(is_reference),
        Some(item) => is_reference(item),
        None => false,
    })
}

/// Whether a value may be the target of a policy. References with an `apiVersion` are of other kinds: a Canary names a Deployment.
fn is_reference(value: &Value) -> bool {
    if value.get("apiVersion").is_some() {
        return false;
    }
    let texts = ["group", "kind", "name"];
    let mut texts = texts.iter().map(|field| value.get(field));
    texts.any(|text| text.is_some_and(Value::is_string))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{guardrail, is_reference, meant};
    use crate::engine::kinds::profile::{Builtin, ProfileRules};
    use crate::engine::model::ids::GroupKind;
    use crate::engine::state::snapshot::Snapshot;

    #[test]
    fn a_misspelt_kind_or_group_gets_a_suggestion() {
        let rules = ProfileRules::new(Vec::new(), Builtin::read().unwrap().profiles);
        let snapshot = Snapshot::new(Arc::new(rules));
        for (group, kind, expected) in [
            (
                "gateway.envoyproxy.io",
                "SecurityPolicee",
                Some("SecurityPolicy.gateway.envoyproxy.io"),
            ),
            (
                "gateway.envoyproxi.io",
                "SecurityPolicy",
                Some("SecurityPolicy.gateway.envoyproxy.io"),
            ),
            (
                "envoyproxy.io",
                "SecurityPolicy",
                Some("SecurityPolicy.gateway.envoyproxy.io"),
            ),
            ("acme.example.com", "SecurityPolicy", None),
        ] {
            let near = meant(&snapshot, &GroupKind::new(group, kind));
            assert_eq!(
                near.map(|near| near.to_string()).as_deref(),
                expected,
                "{group} {kind}"
            );
        }
    }

    #[test]
    fn a_reference_with_an_api_version_is_no_target_of_a_policy() {
        let target = json!({"group": "acme.example.com", "kind": "Store", "name": "a"});
        let scaled = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"});
        assert_eq!(
            [target, scaled].map(|value| is_reference(&value)),
            [true, false]
        );
    }

    #[test]
    fn a_guardrail_is_known_by_any_near_name() {
        for (group, kind, is_meant) in [
            ("attache.dev", "guardrail", true),
            ("attache.dev", "Gaurdrail", true),
            ("attache.dev", "Guardrails", true),
            ("attache.io", "Guardrail", true),
            ("attache.dev", "Guardrail", false),
            ("bedrock.example.com", "Guardrail", false),
        ] {
            let near = guardrail(&GroupKind::new(group, kind));
            assert_eq!(near.is_some(), is_meant, "{group} {kind}");
        }
    }
}
