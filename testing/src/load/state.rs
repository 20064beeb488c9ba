//! A snapshot with the objects of the benches.

use std::sync::Arc;

use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::objects;

/// A `GatewayClass`, its Gateways, and the given numbers of routes and policies. As in lists of the API server, all
/// objects of a kind share its name.
pub fn state(routes: usize, policies: usize) -> Snapshot {
    let mut values = vec![objects::crd(), class()];
    values.extend((0..routes.div_ceil(objects::OF_GATEWAY)).map(objects::gateway));
    values.extend((0..routes).map(objects::route));
    values.extend((0..policies).map(|i| objects::policy(i, routes)));
    let mut kinds: Vec<GroupKind> = Vec::new();
    let mut snapshot = Snapshot::default();
    for value in &values {
        let version = value["apiVersion"].as_str().unwrap();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let gk = GroupKind::new(group, value["kind"].as_str().unwrap());
        let known = kinds.iter().find(|known| **known == gk).cloned();
        let gk = known.unwrap_or_else(|| {
            kinds.push(gk.clone());
            gk
        });
        let object = Object::from_json(&gk, &to_raw_value(value).unwrap()).unwrap();
        snapshot = snapshot.apply(Change::Applied(Arc::new(object)));
    }
    snapshot
}

fn class() -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
        "metadata": {"name": "c"}, "spec": {"controllerName": "example.com/controller"},
    })
}
