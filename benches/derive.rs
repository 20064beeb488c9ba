//! Measures how long it takes to derive a profile from a CRD: `cargo bench --bench derive`.
//!
//! It uses a generated CRD of 1 MB with validation rules like those of real ones and, if `ATTACHE_REFERENCE_CRDS` names
//! a folder of real CRDs, the largest one of a policy kind. The budget is 5 ms.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use attache::cache::directory::Links;
use attache::cache::manifest::Manifest;
use attache::cache::repository::unbuilt;
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::{Node, Object};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const KINDS: &str =
    "['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']";

/// Generates a CRD of about this many bytes.
fn made_up(bytes: usize) -> Box<RawValue> {
    let reference = json!({"type": "object", "required": ["group", "kind", "name"], "properties": {
        "group": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"},
        "sectionName": {"type": "string"}}});
    let rules = [
        "(has(self.targetRef) && !has(self.targetRefs)) || (!has(self.targetRef) && has(self.targetRefs))".to_owned(),
        "has(self.targetRef) ? self.targetRef.group == 'gateway.networking.k8s.io' : true".to_owned(),
        format!("has(self.targetRef) ? self.targetRef.kind in {KINDS} : true"),
        "has(self.targetRefs) ? self.targetRefs.all(ref, ref.group == 'gateway.networking.k8s.io') : true".to_owned(),
        format!("has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in {KINDS}) : true"),
        format!("!has(self.mergeType) || (!has(self.targetRefs) || self.targetRefs.all(ref, ref.kind in {KINDS}))"),
    ];
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    let mut settings = Map::new();
    let field = json!({"type": "object", "description": "x".repeat(400), "properties": {
        "value": {"type": "string"}, "other": {"type": "integer"}}});
    for i in 0..bytes / 550 {
        settings.insert(format!("setting{i}"), field.clone());
    }
    settings.insert("targetRef".into(), reference.clone());
    settings.insert(
        "targetRefs".into(),
        json!({"type": "array", "items": reference}),
    );
    settings.insert("mergeType".into(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": settings, "x-kubernetes-validations": rules},
        "status": {"type": "object", "properties": {"ancestors": {"type": "array", "maxItems": 16}}}}});
    to_raw_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "bigpolicies.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
                 "names": {"kind": "BigPolicy", "plural": "bigpolicies"},
                 "versions": [{"name": "v1", "served": true, "storage": true,
                               "schema": {"openAPIV3Schema": schema}}]}
    }))
    .unwrap()
}

/// The largest real CRD of a policy kind.
fn largest() -> Option<Box<RawValue>> {
    let folder = PathBuf::from(std::env::var_os("ATTACHE_REFERENCE_CRDS")?);
    let rules = Arc::new(ProfileRules::default());
    let is_policy = |manifest: &Manifest| {
        let object = Object::from_json(&manifest.gk, &manifest.json);
        object.is_ok_and(|object| match &object.node {
            Node::Crd(crd) => rules.profile(&crd.gk, Some(crd)).is_some(),
            _ => false,
        })
    };
    let manifests = unbuilt(&[folder], Links::Within).objects;
    let policies = manifests.into_iter().filter(is_policy);
    let largest = policies.max_by_key(|manifest| manifest.json.get().len())?;
    Some(largest.json)
}

fn derive(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("derive");
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    let real = largest().map(|crd| ("the largest real one", crd));
    for (name, crd) in [("1 MB", made_up(1 << 20))].into_iter().chain(real) {
        let name = format!("{name}, {} kB", crd.get().len() / 1000);
        group.bench_function(name, |b| {
            b.iter(|| Object::from_json(&GroupKind::CRD, &crd).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, derive);
criterion_main!(benches);
