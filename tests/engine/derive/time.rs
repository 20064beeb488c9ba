//! One kind over time: versions of its CRD appear, disappear and reappear.

use std::sync::Arc;

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::{Operation, Request};
use attache::engine::admission::review::review;
use attache::engine::kinds::profile::{Class, ProfileRules, Source};
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::object::Object;
use attache::engine::policy::Policy;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

const GROUP: &str = "tls.example.com";

fn kind() -> GroupKind {
    GroupKind::new(GROUP, "BackendPolicy")
}

fn object(json: &Value) -> Object {
    let version = json["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let gk = GroupKind::new(group, json["kind"].as_str().unwrap());
    Object::from_json(&gk, &to_raw_value(json).unwrap()).unwrap()
}

fn reference(section: bool) -> Value {
    let mut fields = json!({"group": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"}});
    if section {
        fields["sectionName"] = json!({"type": "string"});
    }
    json!({"type": "object", "required": ["group", "kind", "name"], "properties": fields})
}

/// A version: its name, whether it is stored, the schema of its spec.
fn version(name: &str, stored: bool, spec: &Value) -> Value {
    json!({"name": name, "served": true, "storage": stored,
           "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
}

fn crd(label: Option<&str>, versions: &[Value]) -> Change {
    let labels = label.map(|class| json!({"gateway.networking.k8s.io/policy": class}));
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backendpolicies.tls.example.com", "labels": labels},
        "spec": {"group": GROUP, "scope": "Namespaced",
                 "names": {"kind": "BackendPolicy", "plural": "backendpolicies"},
                 "versions": versions},
    });
    Change::Applied(Arc::new(object(&crd)))
}

fn singular() -> Value {
    json!({"type": "object", "properties": {"targetRef": reference(false), "hostname": {"type": "string"}}})
}

fn plural() -> Value {
    let list = json!({"type": "array", "maxItems": 16, "items": reference(true)});
    json!({"type": "object", "properties": {"targetRefs": list, "hostname": {"type": "string"}}})
}

fn service() -> Object {
    object(
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "cart"},
                   "spec": {"ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}]}}),
    )
}

fn policy(version: &str, targets: &Value) -> Value {
    let mut spec = targets.clone();
    spec["hostname"] = json!("cart.example.com");
    json!({"apiVersion": format!("{GROUP}/{version}"), "kind": "BackendPolicy",
           "metadata": {"namespace": "shop", "name": "cart"}, "spec": spec})
}

fn start() -> Snapshot {
    let rules = Arc::new(ProfileRules::default());
    Snapshot::new(rules).apply(Change::Listed(
        GroupKind::core("Service"),
        vec![Arc::new(service())],
    ))
}

fn stored(snapshot: &Snapshot) -> Arc<Policy> {
    let key = ObjectKey::new(kind(), "shop", "cart");
    snapshot.policy(&key).expect("a policy").clone()
}

fn policies_of_cart(snapshot: &Snapshot) -> usize {
    let cart = ObjectKey::new(GroupKind::core("Service"), "shop", "cart");
    snapshot.policies_naming(&cart).count()
}

/// The webhook's verdict on the CREATE of a policy.
fn said(snapshot: &Snapshot, policy: &Value) -> (bool, String) {
    let raw = to_raw_value(policy).unwrap();
    let request = Request {
        operation: Operation::Create,
        gk: kind(),
        namespace: "shop",
        name: "cart",
        subresource: "",
        object: Some(&raw),
        old: None,
    };
    let verdict = review(snapshot, &request, &Evidence::Authoritative);
    let mut answer: Vec<String> = verdict.warnings();
    answer.extend(verdict.causes().into_iter().map(|cause| cause.message));
    (verdict.allowed(), answer.join("\n"))
}

#[test]
fn from_the_singular_to_the_plural_field() {
    let one = json!({"targetRef": {"group": "", "kind": "Service", "name": "cart"}});
    let many = json!({"targetRefs": [{"group": "", "kind": "Service", "name": "cart", "sectionName": "https"}]});
    let old = policy("v1alpha2", &one);
    let new = policy("v1", &many);

    let before = start().apply(crd(None, &[version("v1alpha2", true, &singular())]));
    let before = before.apply(Change::Applied(Arc::new(object(&old))));
    assert_eq!(stored(&before).targets.len(), 1);

    // Both versions are served for a while: objects of either are read.
    let both = [
        version("v1alpha2", false, &singular()),
        version("v1", true, &plural()),
    ];
    let between = before.apply(crd(None, &both));
    assert_eq!(stored(&between).targets.len(), 1, "stored before");
    assert_eq!(said(&between, &old), (true, String::new()));
    assert_eq!(said(&between, &new), (true, String::new()));
    let mistyped = policy(
        "v1",
        &json!({"targetRefs": [{"group": "", "kind": "Service", "name": "cart", "sectionName": "htps"}]}),
    );
    let (allowed, why) = said(&between, &mistyped);
    assert!(!allowed && why.contains("\"https\""), "{why}");

    // The old version is gone, and the objects were rewritten.
    let after = between.apply(crd(None, &[version("v1", true, &plural())]));
    let after = after.apply(Change::Applied(Arc::new(object(&new))));
    let targets = &stored(&after).targets;
    assert_eq!(targets[0].section.as_deref(), Some("https"));
}

#[test]
fn policies_are_read_again_when_their_crd_changes() {
    let naming = json!({"targetRef": {"group": "", "kind": "Service", "name": "cart"}});
    let unlabelled = json!({"type": "object", "properties": {"hostname": {"type": "string"}}});
    // Without a label and without targets in the schema it is not a policy kind.
    let first = start().apply(crd(None, &[version("v1", true, &unlabelled)]));
    let first = first.apply(Change::Applied(Arc::new(object(&policy("v1", &naming)))));
    assert!(first.profile(&kind()).is_none());
    assert_eq!(policies_of_cart(&first), 0);

    let second = first.apply(crd(None, &[version("v1", true, &singular())]));
    assert_eq!(policies_of_cart(&second), 1);

    let third = second.apply(crd(Some("Direct"), &[version("v1", true, &singular())]));
    let class = &third.profile(&kind()).unwrap().class;
    assert_eq!((class.value, class.from), (Class::Direct, Source::Crd));
    assert_eq!(stored(&third).profile.class.value, Class::Direct);
}

#[test]
fn removed_and_installed_again() {
    let naming = json!({"targetRef": {"group": "", "kind": "Service", "name": "cart"}});
    let definition = || crd(None, &[version("v1", true, &singular())]);
    let listed =
        |objects: Vec<Object>| Change::Listed(kind(), objects.into_iter().map(Arc::new).collect());
    let there = start()
        .apply(definition())
        .apply(listed(vec![object(&policy("v1", &naming))]));
    assert_eq!(policies_of_cart(&there), 1);

    let name = ObjectKey::new(GroupKind::CRD, "", "backendpolicies.tls.example.com");
    let gone = there
        .apply(Change::Gone(kind()))
        .apply(Change::Deleted(name));
    assert!(gone.profile(&kind()).is_none());
    assert_eq!(policies_of_cart(&gone), 0);
    assert!(!gone.knows(&kind()));
    assert_eq!(
        said(&gone, &policy("v1", &naming)),
        (true, String::new()),
        "not our kind"
    );

    let again = gone
        .apply(definition())
        .apply(listed(vec![object(&policy("v1", &naming))]));
    assert_eq!(policies_of_cart(&again), 1);
}

#[test]
fn a_schema_that_says_nothing() {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let snapshot = start().apply(crd(Some("inherited"), &[version("v1", true, &open)]));
    let profile = snapshot.profile(&kind()).expect("the label is enough");
    assert_eq!(profile.refs.from, Source::Default);
    let many = json!({"targetRefs": [{"group": "", "kind": "Service", "name": "cart"}]});
    let snapshot = snapshot.apply(Change::Applied(Arc::new(object(&policy("v1", &many)))));
    assert_eq!(policies_of_cart(&snapshot), 1);
    // Facts without a source refuse nothing.
    let without = policy("v1", &json!({}));
    let (allowed, why) = said(&snapshot, &without);
    assert!(allowed && why.contains("target-missing-ref"), "{why}");
}

#[test]
fn no_schema_at_all() {
    let without_schema = json!({"name": "v1", "served": true, "storage": true});
    let snapshot = start().apply(crd(Some("Direct"), &[without_schema]));
    assert!(snapshot.profile(&kind()).is_some());
}
