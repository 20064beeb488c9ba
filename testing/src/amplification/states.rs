//! The states for hostile bodies.

use std::sync::{Arc, OnceLock};

use attache::config::Configuration;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::bodies::State;

mod disputes;
mod products;

const PROFILES: &str = r"
apiVersion: attache.dev/v1
kind: Configuration
mutations: {normalize-targets: true, default-strategy: true, affected-annotation: true, migrate-target-ref: true, project-fields: true}
profiles:
- match: {group: policies.example.com, kind: RetryPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: true}]
    required: true
    allow: [{group: gateway.networking.k8s.io, kind: [GatewayClass, Gateway, HTTPRoute]}]
  merge:
    strategy:
      path: spec.mergeStrategy
      values:
        AtomicDefaults: {direction: defaults, op: atomic}
        PatchDefaults: {direction: defaults, op: patch}
- match: {group: policies.example.com, kind: SeveralPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRefs, many: true, sections: true}]
- match: {group: policies.example.com, kind: OlderPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: true}]
  merge: {gepVersion: of-2021}
- match: {group: policies.example.com, kind: OverlapPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: true}]
  conflict: {sameTarget: field-overlap, scope: target}
- match: {group: policies.example.com, kind: EqualPolicy}
  class: direct
  targets:
    refs: [{path: spec.targetRef, sections: true}]
  conflict: {sameTarget: equal-field, fields: [mode], scope: section-and-target}
- match: {group: policies.example.com, kind: DisputedPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRefs, many: true, sections: true}]
  conflict: {sameTarget: field-overlap}
- match: {group: policies.example.com, kind: AgreeingPolicy}
  class: direct
  targets:
    refs: [{path: spec.targetRefs, many: true, sections: true}]
  conflict: {sameTarget: equal-field, fields: [mode]}
- match: {group: policies.example.com, kind: ReachingPolicy}
  class: inherited
  effective: [{group: '', kind: Service}]
  targets:
    refs: [{path: spec.targetRef, sections: true}]
- match: {group: policies.example.com, kind: OpaquePolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: true}]
  merge: {default: {direction: defaults, op: custom}}
- match: {group: policies.example.com, kind: MeshPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: false}]
    serviceAs: frontend
  needsRoute: false
  hierarchy: [GatewayNamespace, GatewayClass, Gateway, Frontend]
- match: {group: policies.example.com, kind: OwnedPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: true}]
    allow: [{group: gateway.networking.k8s.io, kind: [GatewayClass, HTTPRoute]}]
  merge: {gepVersion: of-2021}
  controls: [{setting: own, target: {group: gateway.networking.k8s.io, kind: HTTPRoute}, field: spec.own}]
- match: {group: policies.example.com, kind: TLSPolicy}
  class: direct
  targets:
    refs: [{path: spec.targetRef, sections: true}]
  controls: [{setting: x, target: {group: gateway.networking.k8s.io, kind: HTTPRoute}, field: spec.x}]
";

/// The configuration of every state.
pub fn configuration() -> Configuration {
    serde_saphyr::from_str(PROFILES).unwrap()
}

impl State {
    /// The snapshot of the state; built on first use and shared by all tests. Settings of policies are parsed when a
    /// review first needs them, so one of the tests measures that.
    pub fn get(self) -> &'static Snapshot {
        static BUILT: [OnceLock<Snapshot>; 15] = [const { OnceLock::new() }; 15];
        BUILT[self as usize].get_or_init(|| self.build())
    }

    pub fn build(self) -> Snapshot {
        let mut values = vec![
            definition(),
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
                "metadata": {"name": "c"}, "spec": {"controllerName": "example.com/c"}}),
            policy("RetryPolicy", "infra", "class", "GatewayClass", "c", None),
        ];
        match self {
            Self::Small => {
                values.push(gateway("edge", &["http".to_owned(), "https".to_owned()]));
                values.push(route(1, "edge"));
            }
            Self::Wide => {
                for i in 0..100 {
                    let name = format!("g{i}");
                    values.push(gateway(&name, &["http".to_owned(), "https".to_owned()]));
                    values.push(policy(
                        "RetryPolicy",
                        "infra",
                        &name,
                        "Gateway",
                        &name,
                        None,
                    ));
                }
                values.extend((0..10_000).map(|i| route(i, &format!("g{}", i / 100))));
            }
            Self::Dense => {
                let listeners: Vec<String> = (0..64).map(|i| format!("l{i}")).collect();
                values.push(gateway("edge", &listeners));
                values.extend((0..1_000).map(|i| route(i, "edge")));
                let on = |name| policy("RetryPolicy", "infra", name, "Gateway", "edge", Some(name));
                values.extend(listeners.iter().map(|name| on(name)));
            }
            Self::Crowded => {
                values.push(gateway("edge", &["http".to_owned(), "https".to_owned()]));
                values.extend((0..100).map(|i| route(i, "edge")));
                let kinds = ["RetryPolicy", "TLSPolicy", "OverlapPolicy", "EqualPolicy"];
                for i in 0..1_000 {
                    let name = format!("p{i}");
                    values.extend(kinds.iter().map(|kind| {
                        let mut policy = policy(kind, "infra", &name, "Gateway", "edge", None);
                        policy["spec"][format!("own{i}")] = json!(i);
                        policy
                    }));
                }
            }
            Self::Heavy => {
                for i in 0..200 {
                    let name = format!("g{i}");
                    values.push(gateway(&name, &["http".to_owned()]));
                    let mut policy = policy("RetryPolicy", "infra", &name, "Gateway", &name, None);
                    policy["spec"]["mergeStrategy"] = json!("PatchDefaults");
                    for leaf in 0..2_000 {
                        policy["spec"][format!("leaf{leaf}")] = json!(leaf);
                    }
                    values.push(policy);
                    values.push(route(2 * i, &name));
                }
            }
            Self::Conflicts => values.extend(conflicts()),
            Self::Backends => values.extend(products::backends()),
            Self::Selected => values.extend(products::selected()),
            Self::Hostnames => values.extend(products::hostnames()),
            Self::Sections => values.extend(products::sections()),
            Self::Long => values.extend(products::long()),
            Self::Called => values.extend(products::called()),
            Self::Disputed => values.extend(disputes::disputed()),
            Self::Owned => values.extend(disputes::owned()),
            Self::Above => {
                values.push(gateway("edge", &["http".to_owned()]));
                values.extend((0..10_000).map(|i| route(i, "edge")));
                let one = |name: &str, on: &str, target: &str| {
                    let mut policy = policy("RetryPolicy", "infra", name, on, target, None);
                    policy["spec"].as_object_mut().unwrap().remove("backoff");
                    policy
                };
                values.extend((0..5_000).map(|i| one(&format!("c{i}"), "GatewayClass", "c")));
                let on_route = |i| one(&format!("r{i}"), "HTTPRoute", &format!("r{i}"));
                values.extend((0..10_000).step_by(2).map(on_route));
            }
        }
        let kinds = [
            "GatewayClass",
            "Gateway",
            "ListenerSet",
            "HTTPRoute",
            "ReferenceGrant",
        ];
        let kinds = kinds.map(GroupKind::gateway_api).into_iter();
        let kinds = kinds.chain(["Namespace", "Service"].map(GroupKind::core));
        let empty = Snapshot::new(configuration().rules(crate::builtin()));
        let listed = kinds.fold(empty, |s, gk| s.apply(Change::Listed(gk, Vec::new())));
        let objects = values
            .iter()
            .map(|value| Change::Applied(Arc::new(object(value))));
        objects.fold(listed, |snapshot, change| snapshot.apply(change))
    }
}

/// Policies with one overall winner, policies that each win a little, and policies with both stanzas, as in GEP-713 of 2021.
fn conflicts() -> Vec<Value> {
    let mut values = Vec::new();
    let mut on = |kind: &str, name: &str, to: &str, strategy: &str, settings: Vec<String>| {
        let mut policy = policy(kind, "infra", name, "Gateway", to, None);
        let spec = &mut policy["spec"];
        spec["mergeStrategy"] = json!(strategy);
        let settings = settings.into_iter().map(|setting| (setting, json!(7)));
        if kind == "OlderPolicy" {
            *spec = json!({"targetRef": spec["targetRef"], "defaults": {"strategy": "atomic"}});
            spec["defaults"].as_object_mut().unwrap().extend(settings);
        } else {
            spec.as_object_mut().unwrap().extend(settings);
        }
        values.push(policy);
    };
    // Half of the settings of a policy above them.
    let theirs = || (0..4_800).map(|i| format!("leaf{}", 2 * i + 1)).collect();
    for i in 0..9 {
        let name = format!("g{i}");
        on("RetryPolicy", &name, &name, "AtomicDefaults", theirs());
    }
    for i in 0..4_000 {
        let name = format!("p{i}");
        on(
            "RetryPolicy",
            &name,
            "edge",
            "PatchDefaults",
            vec![format!("leaf{i}")],
        );
    }
    for i in 0..100 {
        let name = format!("p{i}");
        let settings = (0..2_000).map(|i| format!("leaf{i}")).collect();
        on("OlderPolicy", &name, "edge", "", settings);
    }
    let gateways = (0..9).map(|i| format!("g{i}")).chain(["edge".to_owned()]);
    for (i, name) in gateways.enumerate() {
        values.push(gateway(&name, &["http".to_owned()]));
        values.push(route(2 * i, &name));
    }
    // In another GatewayClass: fields with long names below further long names.
    let settings = (0..4_000).map(|i| (format!("leaf{i}"), json!(i)));
    let above = |below, _| json!({"k".repeat(317): below});
    let mut long = policy("RetryPolicy", "infra", "long", "Gateway", "long", None);
    long["spec"]["a"] = (0..100).fold(Value::Object(settings.collect()), above);
    let mut over = gateway("long", &["http".to_owned()]);
    over["spec"]["gatewayClassName"] = json!("other");
    values.extend([long, over]);
    values
}

fn object(value: &Value) -> Object {
    let version = value["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let gk = GroupKind::new(group, value["kind"].as_str().unwrap());
    Object::from_json(&gk, &to_raw_value(value).unwrap()).unwrap()
}

fn gateway(name: &str, listeners: &[String]) -> Value {
    let listener = |(i, name): (usize, &String)| {
        json!({"name": name, "port": 80 + i, "protocol": "HTTP",
        "hostname": "*.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}})
    };
    let listeners: Vec<Value> = listeners.iter().enumerate().map(listener).collect();
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "infra", "name": name},
        "spec": {"gatewayClassName": "c", "listeners": listeners}})
}

fn route(i: usize, gateway: &str) -> Value {
    let rules: Vec<Value> = (0..4)
        .map(|r| json!({"name": format!("rule{r}"), "backendRefs": [{"name": format!("svc{r}"), "port": 80}]}))
        .collect();
    // Half of them in the namespace in which a policy may select them.
    let namespace = if i.is_multiple_of(2) {
        "infra".to_owned()
    } else {
        format!("ns{}", i % 50)
    };
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": namespace, "name": format!("r{i}"), "labels": {"team": "x", "app": format!("a{i}")}},
        "spec": {"parentRefs": [{"namespace": "infra", "name": gateway}],
            "hostnames": [format!("h{i}.example.com")], "rules": rules}})
}

fn policy(
    kind: &str,
    namespace: &str,
    name: &str,
    on: &str,
    target: &str,
    section: Option<&str>,
) -> Value {
    json!({"apiVersion": "policies.example.com/v1", "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"targetRef": {"group": "gateway.networking.k8s.io", "kind": on, "name": target, "sectionName": section},
            "retries": 3, "backoff": {"base": "1s"}}})
}

/// A policy kind known only from its schema.
fn definition() -> Value {
    let reference = json!({"properties": {"group": {}, "kind": {}, "name": {}, "sectionName": {}, "selector": {}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "plainpolicies.policies.example.com", "labels": {"gateway.networking.k8s.io/policy": "inherited"}},
        "spec": {"group": "policies.example.com", "scope": "Namespaced",
            "names": {"kind": "PlainPolicy", "plural": "plainpolicies"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"properties": {"spec": {"properties": {"targetRefs": {"type": "array", "items": reference}, "x": {}}}}}}}]}})
}
