//! Routes that controllers generate from other objects, and policies on them, which manifests therefore lack: the `HTTPRoute` of
//! an `AIGatewayRoute`. Grants for these objects count for their routes.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::manifest::{Manifest, Manifests};
use crate::engine::kinds::profile::{
    GeneratedPolicyFile, GeneratedRouteFile, GeneratedRuleFile, ProfileRules,
};
use crate::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use crate::engine::model::literal::Literal;

/// The fields of a rule that the rule of the route has too.
const TAKEN_OVER: [&str; 2] = ["name", "matches"];

/// The fields of an object that its route is generated from.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    metadata: Metadata,
    spec: Literal,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: Option<String>,
    /// Its routes have the same labels.
    labels: Literal,
    /// The controller generates its objects as soon as it sees this one, so they are as old.
    creation_timestamp: Option<String>,
}

/// A kind, namespace and name.
type Name = (GroupKind, Option<String>, String);

/// Adds the routes that controllers generate from objects among the manifests, the policies on them and the grants for them, without
/// those that the manifests have, and returns their keys.
pub(super) fn add(
    manifests: &mut Manifests,
    rules: &ProfileRules,
    namespace: &str,
) -> BTreeSet<ObjectKey> {
    let generated: Vec<(&GeneratedRouteFile, GroupKind)> = rules
        .generated_routes()
        .map(|generated| (generated, generated.from.clone()))
        .collect();
    let all = manifests.objects.iter();
    let sources = all.flat_map(|manifest| {
        let of_kind = generated.iter().filter(|(_, from)| *from == manifest.gk);
        of_kind.flat_map(|(generated, _)| {
            let source = read(&manifest.json);
            source.map_or_else(Vec::new, |source| {
                generated_from(manifest, &source, generated)
            })
        })
    });
    let grant = GroupKind::gateway_api("ReferenceGrant");
    let grants = manifests.objects.iter().filter(|one| one.gk == grant);
    let grants = grants.flat_map(|manifest| {
        let each = generated.iter();
        each.filter_map(|(generated, _)| self::grant(manifest, generated))
    });
    let mut added: Vec<(Name, Manifest)> = sources.chain(grants).collect();
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
    let Metadata {
        name, namespace, ..
    } = read(&manifest.json)?.metadata;
    Some((manifest.gk.clone(), namespace, name))
}

/// The backends of a rule. Without any, the object itself stands for the backends that the controller sends requests to.
fn backends(rule: &Value, generated: &GeneratedRouteFile, name: &str) -> Value {
    let own = json!([{"group": generated.from.group, "kind": generated.from.kind, "name": name}]);
    let named = rule.get("backendRefs").and_then(Value::as_array);
    let (Some(named), Some(kind)) = (named, &generated.backends) else {
        return own;
    };
    let backend = |backend: &Value| {
        let name = backend.get("name")?;
        let field =
            |name: &str, default: &str| backend.get(name).cloned().unwrap_or(json!(default));
        Some(json!({
            "group": field("group", &kind.group),
            "kind": field("kind", &kind.kind),
            "name": name,
            "namespace": backend.get("namespace"),
            "weight": backend.get("weight"),
        }))
    };
    let backends: Option<Vec<Value>> = named.iter().map(backend).collect();
    backends
        .filter(|all| !all.is_empty())
        .map_or(own, Value::from)
}

/// A rule that the object itself does not have; `None` if it has not the field that the rule is for.
fn more_rule(
    rule: &GeneratedRuleFile,
    Source {
        metadata,
        spec: Literal(spec),
    }: &Source,
    generated: &GeneratedRouteFile,
) -> Option<Value> {
    let wants = rule.match_for(spec)?;
    let mut generated_rule = json!({"name": rule.name, "matches": [wants]});
    let (part, content) = match &rule.answered {
        Some(kind) => {
            let object = json!({"group": kind.group, "kind": kind.kind, "name": metadata.name});
            let filter = json!([{"type": "ExtensionRef", "extensionRef": object}]);
            ("filters", filter)
        }
        None => (
            "backendRefs",
            backends(&Value::Null, generated, &metadata.name),
        ),
    };
    generated_rule
        .as_object_mut()?
        .insert(part.to_owned(), content);
    Some(generated_rule)
}

/// The route of an object, and the policies on it, with their names.
fn generated_from(
    manifest: &Manifest,
    source: &Source,
    generated: &GeneratedRouteFile,
) -> Vec<(Name, Manifest)> {
    let policies = generated.policies.iter();
    let policies = policies.filter_map(|policy| self::policy(manifest, source, generated, policy));
    route(manifest, source, generated)
        .into_iter()
        .chain(policies)
        .collect()
}

/// A grant for the routes of the objects that a grant is for: the controller looks at the latter alone.
fn grant(manifest: &Manifest, generated: &GeneratedRouteFile) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(mut spec),
    } = read(&manifest.json)?;
    let from = spec.get_mut("from")?.as_array_mut()?;
    let is_for = |entry: &Value| {
        let is = |field: &str, text: &str| entry.get(field).and_then(Value::as_str) == Some(text);
        is("group", &generated.from.group) && is("kind", &generated.from.kind)
    };
    from.retain(is_for);
    for entry in from.iter_mut() {
        let entry = entry.as_object_mut()?;
        entry.insert("group".to_owned(), json!(GATEWAY_API));
        entry.insert("kind".to_owned(), json!(generated.kind));
    }
    if from.is_empty() {
        return None;
    }
    let name = format!("{}-{}", metadata.name, generated.from.kind.to_lowercase());
    let json = json!({
        "apiVersion": manifest.api_version,
        "kind": &*manifest.gk.kind,
        "metadata": {"name": name, "namespace": metadata.namespace},
        "spec": spec,
    });
    let grant = Manifest {
        gk: manifest.gk.clone(),
        api_version: manifest.api_version.clone(),
        json: to_raw_value(&json).ok()?,
        origin: manifest.origin.clone(),
    };
    Some(((manifest.gk.clone(), metadata.namespace, name), grant))
}

/// A policy on the route of an object, with its name.
fn policy(
    manifest: &Manifest,
    source: &Source,
    generated: &GeneratedRouteFile,
    policy: &GeneratedPolicyFile,
) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(spec),
    } = source;
    let mut settings = policy.settings(spec)?;
    let route = format!("{}{}", generated.prefix, metadata.name);
    let target = json!([{"group": GATEWAY_API, "kind": generated.kind, "name": route}]);
    settings.insert("targetRefs".to_owned(), target);
    let (gk, version) = (policy.kind.clone(), &policy.version);
    let name = format!("{}{}{}", policy.prefix, metadata.name, policy.suffix);
    let json = json!({
        "apiVersion": format!("{}/{version}", gk.group),
        "kind": &*gk.kind,
        "metadata": {"name": name, "namespace": metadata.namespace, "creationTimestamp": metadata.creation_timestamp},
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
fn route(
    manifest: &Manifest,
    source: &Source,
    generated: &GeneratedRouteFile,
) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(spec),
    } = source;
    let gk = GroupKind::gateway_api(&generated.kind);
    let name = format!("{}{}", generated.prefix, metadata.name);
    let rules = spec.get("rules").and_then(Value::as_array);
    let generated_rule = |rule: &Value| {
        let mut fields = Map::new();
        for name in TAKEN_OVER {
            fields.extend(rule.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        let backends = backends(rule, generated, &metadata.name);
        fields.insert("backendRefs".to_owned(), backends);
        Value::Object(fields)
    };
    let own_rules = rules.map(|rules| rules.iter().map(generated_rule).collect::<Vec<_>>());
    let mut rules = own_rules.unwrap_or_default();
    let more = generated.rules.iter();
    rules.extend(more.filter_map(|rule| more_rule(rule, source, generated)));
    if rules.is_empty() {
        rules.push(generated_rule(&Value::Null));
    }
    let api_version = format!("{GATEWAY_API}/v1");
    let json = json!({
        "apiVersion": api_version,
        "kind": generated.kind,
        "metadata": {
            "name": name,
            "namespace": metadata.namespace,
            "labels": metadata.labels.0,
            "creationTimestamp": metadata.creation_timestamp,
        },
        "spec": {
            "parentRefs": spec.get("parentRefs"),
            "hostnames": spec.get("hostnames"),
            "rules": rules,
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
