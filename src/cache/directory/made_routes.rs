//! Routes that controllers make of other objects, which manifests therefore lack: the `HTTPRoute` of an `AIGatewayRoute`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::manifest::{Manifest, Manifests};
use crate::engine::kinds::profile::{MadeRouteFile, ProfileRules};
use crate::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use crate::engine::model::literal::Literal;

/// The fields of a rule that the rule of the route has too.
const TAKEN_OVER: [&str; 2] = ["name", "matches"];

/// What a route is made of.
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

/// Adds the routes that controllers make of objects among the manifests, without those that the manifests have, and returns their
/// keys.
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
        of_kind.filter_map(|(made, _)| route(manifest, made))
    });
    let mut routes: Vec<(Name, Manifest)> = sources.collect();
    if routes.is_empty() {
        return BTreeSet::new();
    }
    let kinds: BTreeSet<GroupKind> = routes.iter().map(|((kind, ..), _)| kind.clone()).collect();
    let own = manifests
        .objects
        .iter()
        .filter(|manifest| kinds.contains(&manifest.gk));
    let own: BTreeSet<Name> = own.filter_map(name).collect();
    routes.retain(|(name, _)| !own.contains(name));
    let key = |(kind, own, name): &Name| {
        ObjectKey::new(kind.clone(), own.as_deref().unwrap_or(namespace), &**name)
    };
    let keys = routes.iter().map(|(name, _)| key(name)).collect();
    let routes = routes.into_iter().map(|(_, route)| route);
    manifests.objects.extend(routes);
    keys
}

fn read(json: &RawValue) -> Option<Source> {
    serde_json::from_str(json.get()).ok()
}

fn name(manifest: &Manifest) -> Option<Name> {
    let Metadata { name, namespace } = read(&manifest.json)?.metadata;
    Some((manifest.gk.clone(), namespace, name))
}

/// The backends of a rule: those that it names in its namespace, or the object itself, which stands for what the controller sends
/// requests to.
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

/// The route of an object, with its name.
fn route(manifest: &Manifest, made: &MadeRouteFile) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(spec),
    } = read(&manifest.json)?;
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
    Some(((gk, metadata.namespace, name), route))
}
