//! Routes that controllers make of other objects, and policies on them, which manifests therefore lack: the `HTTPRoute` of an
//! `AIGatewayRoute`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::manifest::{Manifest, Manifests};
use crate::engine::kinds::profile::{MadePolicyFile, MadeRouteFile, ProfileRules};
use crate::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use crate::engine::model::literal::Literal;

/// The fields of a rule that the rule of the route has too.
const TAKEN_OVER: [&str; 2] = ["name", "matches"];

/// The fields of an object that its route is made from.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    metadata: Metadata,
    spec: Literal,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: Option<String>,
}

/// A kind, namespace and name.
type Name = (GroupKind, Option<String>, String);

/// Adds the routes that controllers make of objects among the manifests, and the policies on them, without those that the manifests
/// have, and returns their keys.
pub(super) fn add(
    manifests: &mut Manifests,
    rules: &ProfileRules,
    namespace: &str,
) -> BTreeSet<ObjectKey> {
    let made: Vec<(&MadeRouteFile, GroupKind)> = rules
        .made_routes()
        .map(|made| (made, made.from.gk()))
        .collect();
    let all = manifests.objects.iter();
    let sources = all.flat_map(|manifest| {
        let of_kind = made.iter().filter(|(_, from)| *from == manifest.gk);
        of_kind.flat_map(|(made, _)| {
            let source = read(&manifest.json);
            source.map_or_else(Vec::new, |source| made_of(manifest, &source, made))
        })
    });
    let mut added: Vec<(Name, Manifest)> = sources.collect();
    if added.is_empty() {
        return BTreeSet::new();
    }
    let kinds: BTreeSet<GroupKind> = added.iter().map(|((kind, ..), _)| kind.clone()).collect();
    let own = manifests
        .objects
        .iter()
        .filter(|manifest| kinds.contains(&manifest.gk));
    let own: BTreeSet<Name> = own.filter_map(name).collect();
    added.retain(|(name, _)| !own.contains(name));
    let key = |(kind, own, name): &Name| {
        ObjectKey::new(kind.clone(), own.as_deref().unwrap_or(namespace), &**name)
    };
    let keys = added.iter().map(|(name, _)| key(name)).collect();
    let added = added.into_iter().map(|(_, manifest)| manifest);
    manifests.objects.extend(added);
    keys
}

fn read(json: &RawValue) -> Option<Source> {
    serde_json::from_str(json.get()).ok()
}

fn name(manifest: &Manifest) -> Option<Name> {
    let Metadata { name, namespace } = read(&manifest.json)?.metadata;
    Some((manifest.gk.clone(), namespace, name))
}

/// The backends of a rule: those that it names in its namespace. Without any, the object itself
/// stands for the backends that the controller sends requests to.
fn backends(rule: &Value, made: &MadeRouteFile, name: &str) -> Value {
    let own = json!([{"group": made.from.group, "kind": made.from.kind, "name": name}]);
    let named = rule.get("backendRefs").and_then(Value::as_array);
    let (Some(named), Some(kind)) = (named, &made.backends) else {
        return own;
    };
    let backend = |backend: &Value| {
        let name = backend.get("name")?;
        let is_near = backend.get("namespace").is_none();
        let field =
            |name: &str, default: &str| backend.get(name).cloned().unwrap_or(json!(default));
        is_near.then(|| {
            json!({
                "group": field("group", &kind.group),
                "kind": field("kind", &kind.kind),
                "name": name,
                "weight": backend.get("weight"),
            })
        })
    };
    let backends: Option<Vec<Value>> = named.iter().map(backend).collect();
    backends
        .filter(|all| !all.is_empty())
        .map_or(own, Value::from)
}

/// The route of an object, and the policies on it, with their names.
fn made_of(manifest: &Manifest, source: &Source, made: &MadeRouteFile) -> Vec<(Name, Manifest)> {
    let policies = made.policies.iter();
    let policies = policies.filter_map(|policy| self::policy(manifest, source, made, policy));
    route(manifest, source, made)
        .into_iter()
        .chain(policies)
        .collect()
}

/// A policy on the route of an object, with its name.
fn policy(
    manifest: &Manifest,
    source: &Source,
    made: &MadeRouteFile,
    policy: &MadePolicyFile,
) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(spec),
    } = source;
    let mut settings = policy.settings(spec)?;
    let route = format!("{}{}", made.prefix, metadata.name);
    let target = json!([{"group": GATEWAY_API, "kind": made.kind, "name": route}]);
    settings.insert("targetRefs".to_owned(), target);
    let (gk, version) = (policy.kind.gk(), &policy.version);
    let name = format!("{}{}{}", policy.prefix, metadata.name, policy.suffix);
    let json = json!({
        "apiVersion": format!("{}/{version}", gk.group),
        "kind": &*gk.kind,
        "metadata": {"name": name, "namespace": metadata.namespace},
        "spec": settings,
    });
    let policy = Manifest {
        gk: gk.clone(),
        api_version: format!("{}/{version}", gk.group),
        json: to_raw_value(&json).ok()?,
        origin: manifest.origin.clone(),
    };
    Some(((gk, metadata.namespace.clone(), name), policy))
}

/// The route of an object, with its name.
fn route(manifest: &Manifest, source: &Source, made: &MadeRouteFile) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(spec),
    } = source;
    let gk = GroupKind::gateway_api(&made.kind);
    let name = format!("{}{}", made.prefix, metadata.name);
    let rules = spec.get("rules").and_then(Value::as_array);
    let made_rule = |rule: &Value| {
        let mut fields = Map::new();
        for name in TAKEN_OVER {
            fields.extend(rule.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        let backends = backends(rule, made, &metadata.name);
        fields.insert("backendRefs".to_owned(), backends);
        Value::Object(fields)
    };
    let rules = rules.map(|rules| rules.iter().map(made_rule).collect::<Vec<_>>());
    let api_version = format!("{GATEWAY_API}/v1");
    let json = json!({
        "apiVersion": api_version,
        "kind": made.kind,
        "metadata": {"name": name, "namespace": metadata.namespace},
        "spec": {
            "parentRefs": spec.get("parentRefs"),
            "hostnames": spec.get("hostnames"),
            "rules": rules.unwrap_or_else(|| vec![made_rule(&Value::Null)]),
        },
    });
    let route = Manifest {
        gk: gk.clone(),
        api_version,
        json: to_raw_value(&json).ok()?,
        origin: manifest.origin.clone(),
    };
    Some(((gk, metadata.namespace.clone(), name), route))
}
