//! Tests of the writes that objects need.

use serde_json::{Value, json};

use super::{Write, write};
use crate::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use crate::status_writer::CONTROLLER;
use crate::status_writer::live::Live;
use crate::status_writer::own_conditions::{OwnConditions, Part};
use crate::status_writer::place::Place;

const NOW: &str = "2026-11-26T00:00:00Z";
const BEFORE: &str = "2026-01-01T00:00:00Z";
const AUTH: &str = "gateway.envoyproxy.io/SecurityPolicyAffected";
const TRAFFIC: &str = "gateway.envoyproxy.io/BackendTrafficPolicyAffected";

fn key(kind: &str) -> ObjectKey {
    ObjectKey::new(GroupKind::new(GATEWAY_API, kind), "shop", "cart")
}

fn edge() -> Part {
    let gateway = GroupKind::gateway_api("Gateway");
    Part::Parent(ObjectKey::new(gateway, "infra", "edge"), None, None)
}

fn own_conditions(part: Part, conditions: &[&str]) -> OwnConditions {
    let messages = conditions
        .iter()
        .map(|name| ((*name).to_owned(), "Affected by shop/p".to_owned()));
    OwnConditions {
        generation: Some(2),
        parts: [(part, messages.collect())].into(),
    }
}

fn reference() -> Value {
    json!({"group": GATEWAY_API, "kind": "Gateway", "namespace": "infra", "name": "edge"})
}

/// The entry of the controller.
fn theirs(generation: i64) -> Value {
    json!({"parentRef": reference(), "controllerName": "example.com/c", "conditions": [
        {"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "observedGeneration": generation,
         "lastTransitionTime": BEFORE}]})
}

/// The entry of attache.
fn ours(conditions: &[&str], since: &str) -> Value {
    let conditions = conditions.iter().map(|name| {
        json!({"type": name, "status": "True", "reason": "Accepted", "message": "Affected by shop/p",
               "observedGeneration": 2, "lastTransitionTime": since})
    });
    json!({"parentRef": reference(), "controllerName": CONTROLLER, "conditions": conditions.collect::<Vec<_>>()})
}

fn route(parents: &[Value]) -> Value {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
           "metadata": {"name": "cart", "namespace": "shop", "generation": 2, "resourceVersion": "7"},
           "status": {"parents": parents}})
}

fn on_route(parents: &[Value], wanted: &OwnConditions) -> Write {
    let route = route(parents);
    write(
        &key("HTTPRoute"),
        Place::Parents,
        &Live(&route),
        wanted,
        NOW,
    )
}

fn parents(entries: &[Value]) -> Write {
    Write::Merge(json!({"metadata": {"resourceVersion": "7"}, "status": {"parents": entries}}))
}

#[test]
fn a_route_gets_an_entry_beside_that_of_its_controller() {
    let wanted = own_conditions(edge(), &[AUTH]);
    let written = on_route(&[theirs(2)], &wanted);
    assert_eq!(written, parents(&[theirs(2), ours(&[AUTH], NOW)]));
    assert_eq!(
        on_route(&[theirs(2), ours(&[AUTH], BEFORE)], &wanted),
        Write::Nothing
    );
}

#[test]
fn a_condition_that_stays_keeps_the_time_at_which_it_began() {
    let wanted = own_conditions(edge(), &[AUTH, TRAFFIC]);
    let Write::Merge(body) = on_route(&[theirs(2), ours(&[AUTH], BEFORE)], &wanted) else {
        panic!("nothing is written");
    };
    let conditions = &body["status"]["parents"][1]["conditions"];
    assert_eq!(conditions[0]["type"], TRAFFIC);
    assert_eq!(conditions[0]["lastTransitionTime"], NOW);
    assert_eq!(conditions[1]["type"], AUTH);
    assert_eq!(conditions[1]["lastTransitionTime"], BEFORE);
}

#[test]
fn the_entry_goes_with_the_last_policy() {
    let written = on_route(
        &[ours(&[AUTH], BEFORE), theirs(2)],
        &OwnConditions::default(),
    );
    assert_eq!(written, parents(&[theirs(2)]));
    assert_eq!(
        on_route(&[theirs(2)], &OwnConditions::default()),
        Write::Nothing
    );
}

#[test]
fn nothing_is_written_before_the_controller_has_seen_the_route() {
    let wanted = own_conditions(edge(), &[AUTH]);
    assert!(matches!(on_route(&[], &wanted), Write::Later(_)));
    assert!(matches!(on_route(&[theirs(1)], &wanted), Write::Later(_)));
    // Earlier conditions stay meanwhile.
    let both = [theirs(1), ours(&[AUTH], BEFORE)];
    assert!(matches!(
        on_route(&both, &own_conditions(edge(), &[TRAFFIC])),
        Write::Later(_)
    ));
}

#[test]
fn a_condition_that_the_controller_writes_itself_is_left_to_it() {
    let mut entry = theirs(2);
    entry["conditions"][0]["type"] = json!(AUTH);
    let written = on_route(
        std::slice::from_ref(&entry),
        &own_conditions(edge(), &[AUTH]),
    );
    assert!(matches!(written, Write::Later(_)), "{written:?}");
    let written = on_route(&[entry.clone()], &own_conditions(edge(), &[AUTH, TRAFFIC]));
    assert_eq!(written, parents(&[entry, ours(&[TRAFFIC], NOW)]));
}

#[test]
fn a_status_that_is_full_gets_no_entry() {
    let full: Vec<Value> = (0..32).map(|_| theirs(2)).collect();
    assert!(matches!(
        on_route(&full, &own_conditions(edge(), &[AUTH])),
        Write::Later(_)
    ));
}

/// A Gateway with conditions of its controller, and those that attache owns.
fn gateway(theirs: usize, own: &[&str]) -> Value {
    let accepted = (0..theirs)
        .map(|i| json!({"type": format!("Own{i}"), "status": "True", "observedGeneration": 2}));
    let ours = ours(own, BEFORE);
    let ours = ours["conditions"].as_array().unwrap().iter().cloned();
    let keys = own
        .iter()
        .map(|name| (format!(r#"k:{{"type":"{name}"}}"#), json!({".": {}})));
    let keys: serde_json::Map<String, Value> = keys.collect();
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
           "metadata": {"name": "cart", "namespace": "shop", "generation": 2, "managedFields": [
               {"manager": CONTROLLER, "fieldsV1": {"f:status": {"f:conditions": keys}}}]},
           "status": {"conditions": accepted.chain(ours).collect::<Vec<_>>()}})
}

fn on_gateway(gateway: &Value, wanted: &OwnConditions) -> Write {
    write(
        &key("Gateway"),
        Place::Conditions,
        &Live(gateway),
        wanted,
        NOW,
    )
}

#[test]
fn a_gateway_gets_conditions_of_which_attache_is_the_owner() {
    let wanted = own_conditions(Part::Whole, &[AUTH]);
    let Write::Apply(body) = on_gateway(&gateway(2, &[]), &wanted) else {
        panic!("nothing is applied");
    };
    assert_eq!(
        body["status"]["conditions"],
        ours(&[AUTH], NOW)["conditions"]
    );
    assert_eq!(on_gateway(&gateway(2, &[AUTH]), &wanted), Write::Nothing);
    let Write::Apply(body) = on_gateway(&gateway(2, &[AUTH]), &OwnConditions::default()) else {
        panic!("nothing is applied");
    };
    assert_eq!(body["status"]["conditions"], json!([]));
    assert_eq!(
        on_gateway(&gateway(2, &[]), &OwnConditions::default()),
        Write::Nothing
    );
}

#[test]
fn a_gateway_has_room_for_eight_conditions() {
    let wanted = own_conditions(Part::Whole, &[AUTH, TRAFFIC]);
    assert!(matches!(
        on_gateway(&gateway(8, &[]), &wanted),
        Write::Later(_)
    ));
    let Write::Apply(body) = on_gateway(&gateway(7, &[]), &wanted) else {
        panic!("nothing is applied");
    };
    assert_eq!(body["status"]["conditions"].as_array().unwrap().len(), 1);
}
