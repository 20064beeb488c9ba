//! States that are known in part: an object of an unlisted kind may exist; a missing object of a listed kind does not.

use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::effective::Resolver;
use attache::engine::model::ids::GroupKind;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::engine::status::conditions::{ExpectedCondition, conditions, status};
use serde_json::json;

use super::state::key;
use testing::cases::object;

/// A Gateway and a route in `shop` to the Service `cart`; Services have not been listed.
fn start() -> Snapshot {
    let gateway = object(&json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "edge", "namespace": "shop"},
        "spec": {"gatewayClassName": "example", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
    }));
    let route = object(&json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"name": "cart", "namespace": "shop"},
        "spec": {
            "parentRefs": [{"name": "edge"}],
            "rules": [{"backendRefs": [{"name": "cart", "port": 80}]}],
        },
    }));
    let policy = object(&json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "BackendTLSPolicy",
        "metadata": {"name": "tls", "namespace": "shop"},
        "spec": {
            "targetRefs": [{"group": "", "kind": "Service", "name": "cart"}],
            "validation": {"hostname": "cart.example", "wellKnownCACertificates": "System"},
        },
    }));
    let rules = Configuration::default().rules(testing::builtin());
    [gateway, route, policy]
        .into_iter()
        .fold(Snapshot::new(rules), |snapshot, object| {
            snapshot.apply(Change::Applied(Arc::new(object)))
        })
}

fn is_attached(snapshot: &Snapshot) -> bool {
    !Resolver::new(snapshot)
        .attached(&key("Service shop/cart"))
        .is_empty()
}

#[test]
fn an_unlisted_kind_may_have_objects() {
    let state = start();
    assert!(!state.lacks(&key("Service shop/cart")));
    assert!(is_attached(&state));
}

#[test]
fn a_listed_kind_without_the_object_is_absent() {
    let state = start().apply(Change::Deleted(key("Service shop/cart")));
    assert!(state.lacks(&key("Service shop/cart")));
    assert!(!state.lacks(&key("Service shop/other")));
    assert!(!state.knows(&GroupKind::core("Service")));
    assert!(!is_attached(&state));
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart", "namespace": "shop"}});
    let state = state.apply(Change::Applied(Arc::new(object(&service))));
    assert!(!state.lacks(&key("Service shop/cart")));
    assert!(is_attached(&state));
}

#[test]
fn one_namespace_may_be_known_and_others_not() {
    let service = |name: &str| {
        object(
            &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop"}}),
        )
    };
    let kind = GroupKind::core("Service");
    let listed = |services: Vec<_>| {
        let services = services.into_iter().map(Arc::new).collect();
        Change::ListedIn(kind.clone(), "shop".into(), services)
    };
    let state = start().apply(listed(vec![service("cart"), service("other")]));
    assert!(is_attached(&state));
    assert!(state.lacks(&key("Service shop/unknown")));
    assert!(!state.lacks(&key("Service infra/unknown")));
    assert!(!state.knows(&kind));

    let infra = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart", "namespace": "infra"}});
    let state = state.apply(Change::Applied(Arc::new(object(&infra))));
    let state = state.apply(listed(vec![service("other")]));
    assert!(!is_attached(&state));
    assert!(
        state.get(&key("Service infra/cart")).is_some(),
        "another namespace is not touched"
    );

    let state = state.apply(Change::Listed(kind.clone(), Vec::new()));
    assert!(state.lacks(&key("Service infra/cart")));
    assert!(state.knows(&kind));
}

/// A policy of generation 2 of which its controller has seen this generation.
fn programmed(seen: i64) -> ExpectedCondition {
    let policy = object(&json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "BackendTLSPolicy",
        "metadata": {"name": "tls", "namespace": "shop", "generation": 2},
        "spec": {
            "targetRefs": [{"group": "", "kind": "Service", "name": "cart"}],
            "validation": {"hostname": "cart.example", "wellKnownCACertificates": "System"},
        },
        "status": {"ancestors": [{
            "ancestorRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge", "namespace": "shop"},
            "controllerName": "example.com/gateway",
            "conditions": [{"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "observedGeneration": seen}],
        }]},
    }));
    let key = policy.key.clone();
    let snapshot = start().apply(Change::Applied(Arc::new(policy)));
    let policy = snapshot.policy(&key).unwrap();
    let status = status(&mut Resolver::new(&snapshot), policy);
    let mut found = conditions(&status, None, &|_| None).into_iter();
    found.find(|one| one.kind == "Programmed").unwrap()
}

/// A status of an older generation says nothing of this one: the controller has yet to see it (GEP-713, `Reconciling`).
#[test]
fn a_policy_is_reconciling_until_its_controller_has_seen_this_generation() {
    let older = programmed(1);
    assert_eq!((older.status, older.reason), (false, "Reconciling"));
    let same = programmed(2);
    assert_eq!((same.status, same.reason), (true, "Programmed"));
}
