//! Tests of the climb to the routes above a route.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{climb, parents_of, unknown_parent};
use crate::kinds::profile::ProfileRules;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Object;
use crate::state::snapshot::{Change, Snapshot};
use crate::topology::{RouteKindConflicts, too_many_delegations};

const GROUP: &str = "gateway.networking.k8s.io";

/// A state with these `HTTPRoutes`: the name of each, the names to which it delegates, and its parent.
fn state(routes: &[(String, &[&str], Option<&str>)]) -> Snapshot {
    let facts = json!({"name": "example.com/delegating", "delegation": {}});
    let facts = serde_json::from_value(facts).unwrap();
    let rules = ProfileRules::default().with_controllers(Vec::new(), vec![facts]);
    let route = |(name, to, parent): &(String, &[&str], Option<&str>)| {
        let backend = |name| json!({"group": GROUP, "kind": "HTTPRoute", "name": name});
        let backends: Vec<Value> = to.iter().map(backend).collect();
        let parents: Vec<Value> = parent.iter().map(|name| json!({"name": name})).collect();
        let text = to_raw_value(&json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "HTTPRoute",
            "metadata": {"namespace": "shop", "name": name},
            "spec": {"parentRefs": parents, "rules": [{"backendRefs": backends}]},
        }));
        Object::from_json(&GroupKind::gateway_api("HTTPRoute"), &text.unwrap()).unwrap()
    };
    let empty = Snapshot::new(Arc::new(rules));
    routes.iter().map(route).fold(empty, |snapshot, route| {
        snapshot.apply(Change::Applied(Arc::new(route)))
    })
}

fn route<'a>(snapshot: &'a Snapshot, name: &str) -> &'a Arc<Object> {
    let kind = GroupKind::gateway_api("HTTPRoute");
    snapshot.get(&ObjectKey::new(kind, "shop", name)).unwrap()
}

#[test]
fn routes_that_delegate_to_each_other_are_each_asked_once() {
    let names = (0..60).map(|i| (format!("r{i}"), &["*", "r0"][..], None));
    let snapshot = state(&names.collect::<Vec<_>>());
    let first = route(&snapshot, "r0");
    assert_eq!(parents_of(&snapshot, first).len(), 60);
    let mut asked = Vec::new();
    let found = climb(&snapshot, first, |above| -> Option<()> {
        asked.push(above.key.clone());
        None
    });
    assert_eq!((found, asked.len()), (None, 60));
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), 60);
    assert!(unknown_parent(&snapshot, first).is_none());
}

#[test]
fn the_unknown_parent_may_be_above_several_routes() {
    let snapshot = state(&[
        ("end".to_owned(), &[], None),
        ("middle".to_owned(), &["end"], None),
        ("top".to_owned(), &["middle"], Some("unknown")),
    ]);
    let unknown = unknown_parent(&snapshot, route(&snapshot, "end"));
    let unknown = unknown.map(|route| route.key.name.to_string());
    assert_eq!(unknown.as_deref(), Some("top"));
}

#[test]
fn it_is_not_known_whether_requests_reach_a_route_below_too_many() {
    let asked = |count: usize, all: &[&str]| {
        let names = (0..count).map(|i| (format!("r{i}"), all, None));
        let snapshot = state(&names.collect::<Vec<_>>());
        let mut route_kind_conflicts = RouteKindConflicts::new(&snapshot);
        ["r0", "r1"].map(|name| {
            let route = route(&snapshot, name);
            too_many_delegations(&mut route_kind_conflicts, route).is_some()
        })
    };
    let names: Vec<String> = (0..40).map(|i| format!("r{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(asked(3, &names), [false, false]);
    assert_eq!(asked(40, &names), [true, true]);
    // What stands for the route that delegates stands for none.
    assert_eq!(asked(40, &["*"]), [false, false]);
}
