//! Routes that controllers make of other objects, which manifests therefore lack: the `HTTPRoute` of an `AIGatewayRoute`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::manifest::{Manifest, Manifests};
use crate::engine::kinds::profile::{MadeRouteFile, ProfileRules};
use crate::engine::model::ids::{GATEWAY_API, GroupKind};
use crate::engine::model::literal::Literal;

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

/// Adds the routes that controllers make of objects among the manifests, without those that the manifests have.
pub(super) fn add(manifests: &mut Manifests, rules: &ProfileRules) {
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
        return;
    }
    let kinds: BTreeSet<GroupKind> = routes.iter().map(|((kind, ..), _)| kind.clone()).collect();
    let own = manifests
        .objects
        .iter()
        .filter(|manifest| kinds.contains(&manifest.gk));
    let own: BTreeSet<Name> = own.filter_map(name).collect();
    routes.retain(|(name, _)| !own.contains(name));
    let routes = routes.into_iter().map(|(_, route)| route);
    manifests.objects.extend(routes);
}

fn read(json: &RawValue) -> Option<Source> {
    serde_json::from_str(json.get()).ok()
}

fn name(manifest: &Manifest) -> Option<Name> {
    let Metadata { name, namespace } = read(&manifest.json)?.metadata;
    Some((manifest.gk.clone(), namespace, name))
}

/// The route of an object, with its name. It has no backends: what the controller sends requests to is no Service.
fn route(manifest: &Manifest, made: &MadeRouteFile) -> Option<(Name, Manifest)> {
    let Source {
        metadata,
        spec: Literal(spec),
    } = read(&manifest.json)?;
    let gk = GroupKind::gateway_api(&made.kind);
    let name = format!("{}{}", made.prefix, metadata.name);
    let rules = spec.get("rules").and_then(Value::as_array);
    let matches = |rule: &Value| match rule.get("matches") {
        Some(matches) => json!({"matches": matches}),
        None => json!({}),
    };
    let rules = rules.map(|rules| rules.iter().map(matches).collect::<Vec<_>>());
    let api_version = format!("{GATEWAY_API}/v1");
    let json = json!({
        "apiVersion": api_version,
        "kind": made.kind,
        "metadata": {"name": name, "namespace": metadata.namespace},
        "spec": {
            "parentRefs": spec.get("parentRefs"),
            "hostnames": spec.get("hostnames"),
            "rules": rules.unwrap_or_else(|| vec![json!({})]),
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
