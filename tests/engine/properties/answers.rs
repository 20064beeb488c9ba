//! All answers of a snapshot, as text.

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::Operation;
use attache::engine::admission::review::review;
use attache::engine::effective::applying::{applying_to, attached_at_or_above};
use attache::engine::effective::{PathGroup, Resolver};
use attache::engine::merge::EffectivePolicy;
use attache::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use attache::engine::model::object::ROUTES;
use attache::engine::state::snapshot::Snapshot;
use attache::engine::status::conditions::{affected, ancestors, status};
use attache::engine::topology::{AncestorPath, RoutePath};
use serde_json::Value;

use super::events::{asked, object};

/// Every existing topology object, and some that may not exist; sorted.
pub(crate) fn keys(snapshot: &Snapshot) -> Vec<ObjectKey> {
    let gateway_api = ["GatewayClass", "Gateway", "ListenerSet"]
        .iter()
        .chain(&ROUTES)
        .map(|kind| GroupKind::gateway_api(kind));
    let kinds = gateway_api.chain(["Namespace", "Service"].map(GroupKind::core));
    let mut found: Vec<ObjectKey> = kinds
        .flat_map(|gk| {
            snapshot
                .objects(&gk)
                .map(|o| o.key.clone())
                .collect::<Vec<_>>()
        })
        .collect();
    let key = |group: &str, kind: &str, namespace: &str, name: &str| {
        ObjectKey::new(GroupKind::new(group, kind), namespace, name)
    };
    for namespace in ["a", "b"] {
        found.push(key("", "Namespace", "", namespace));
        found.push(key("", "Secret", namespace, "s"));
        found.push(key("", "Service", namespace, "v0"));
        found.push(key("example.com", "Bucket", namespace, "v0"));
        for (kind, name) in [
            ("Gateway", "g0"),
            ("ListenerSet", "g0"),
            ("HTTPRoute", "r0"),
        ] {
            found.push(key(GATEWAY_API, kind, namespace, name));
        }
    }
    found.push(key(GATEWAY_API, "GatewayClass", "", "c0"));
    found.sort();
    found.dedup();
    found
}

pub(crate) fn upper(upper: &AncestorPath) -> String {
    let steps = upper.steps.iter().map(|s| s.place.to_string());
    let steps: Vec<String> = steps.collect();
    format!("{} {:?}", steps.join(" > "), upper.consumer)
}

pub(crate) fn route_path(path: &RoutePath) -> String {
    let steps = path.steps.iter().map(|s| s.place.to_string());
    let steps: Vec<String> = steps.collect();
    format!("{} {}", steps.join(" > "), path.complete)
}

/// The settings with their sources.
pub(crate) fn in_force(effective: &EffectivePolicy) -> String {
    if effective.is_opaque() {
        return format!("opaque {:?}", effective.policies());
    }
    let leaves = effective.leaves().into_iter().map(|(path, leaf)| {
        let (value, policy) = (&leaf.value, &leaf.policy);
        format!("{path:?}={} of {policy} {:?}", value.text(), leaf.strategy)
    });
    leaves.collect::<Vec<_>>().join(", ")
}

fn group(group: &PathGroup) -> String {
    let stack = group.stack.iter().map(|level| {
        let policies = level.policies.iter().map(|p| p.key().to_string());
        format!(
            "{}: {}",
            level.step.place,
            policies.collect::<Vec<_>>().join(" ")
        )
    });
    let uppers = group.paths.ancestors.iter().map(|u| upper(u));
    let route_paths = group.paths.routes.iter().map(|l| route_path(l));
    format!(
        "{:?} {:?} {:?} {} {} {}",
        uppers.collect::<Vec<_>>(),
        route_paths.collect::<Vec<_>>(),
        stack.collect::<Vec<_>>(),
        in_force(&group.effective),
        group.complete,
        group.attached
    )
}

/// The answers about one object.
pub(crate) fn about(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<String> {
    let kinds: Vec<GroupKind> = resolver.snapshot().policy_kinds().cloned().collect();
    let mut answer = Vec::new();
    for kind in &kinds {
        for found in resolver.paths_through(key, kind) {
            answer.push(format!("{key} {kind} {}", group(&found)));
        }
    }
    for acting in attached_at_or_above(resolver, key) {
        let policy = acting.policy.key();
        let (attachments, from, settings) = (&acting.attachments, &acting.from, &acting.settings);
        let opaque = acting.opaque;
        answer.push(format!(
            "{key} over {policy} {attachments:?} {from:?} {settings:?} {opaque}"
        ));
    }
    for acting in applying_to(resolver, key) {
        answer.push(format!("{key} acting {}", acting.policy.key()));
    }
    answer.push(format!("{key} affected {:?}", affected(resolver, key)));
    answer
}

/// The status of every policy.
pub(crate) fn statuses(resolver: &mut Resolver<'_>) -> Vec<String> {
    let snapshot = resolver.snapshot();
    let kinds = snapshot.policy_kinds();
    let mut policies: Vec<_> = kinds.flat_map(|kind| snapshot.policies(kind)).collect();
    policies.sort_by_key(|policy| policy.key().clone());
    policies
        .into_iter()
        .map(|policy| {
            let status = status(resolver, policy);
            let ancestors = ancestors(resolver, policy, &status);
            format!("{} {status:?} {ancestors:?}", policy.key())
        })
        .collect()
}

/// The review of an object that is created.
pub(crate) fn reviewed(snapshot: &Snapshot, value: &Value) -> String {
    let key = object(value).key;
    let verdict = asked(Operation::Create, Some(value), None, |request| {
        review(snapshot, request, &Evidence::Authoritative)
    });
    format!("{key} {:?} {:?}", verdict.warnings(), verdict.causes())
}

/// All answers, with reviews of these objects.
pub(crate) fn answers<'a>(
    snapshot: &Snapshot,
    reviews: impl IntoIterator<Item = &'a Value>,
) -> Vec<String> {
    let mut resolver = Resolver::new(snapshot);
    let mut answer = statuses(&mut resolver);
    for key in keys(snapshot) {
        answer.extend(about(&mut resolver, &key));
    }
    answer.extend(reviews.into_iter().map(|value| reviewed(snapshot, value)));
    answer
}
