//! The state of a test: the suite's base manifests and its own.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::object::{Object, ROUTES};
use attache::engine::routing::Matching;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::Value;
use serde_json::value::to_raw_value;

/// The `GatewayClass` of the tested controller.
const CLASS: &str = "
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: attache}
spec: {controllerName: example.com/both}
";

pub(crate) struct TestState {
    pub(crate) snapshot: Snapshot,
    objects: Vec<Object>,
}

impl TestState {
    pub(crate) fn of(folder: &Path, test: &Value) -> Self {
        let manifests = test["manifests"].as_array();
        let files = manifests.into_iter().flatten().map(|m| m.as_str().unwrap());
        let mut yaml = fs::read_to_string(folder.join("base/manifests.yaml")).unwrap();
        for file in files {
            yaml.push_str("\n---\n");
            yaml.push_str(&fs::read_to_string(folder.join(file)).unwrap());
        }
        yaml.push_str(CLASS);
        let yaml = yaml.replace("{GATEWAY_CLASS_NAME}", "attache");
        let documents: Vec<Value> = serde_saphyr::from_multiple(&yaml).unwrap();
        let documents = documents.into_iter().filter(Value::is_object);
        let objects: Vec<Object> = documents.map(|document| object(&document)).collect();
        let mut snapshot = nothing();
        for object in &objects {
            snapshot = snapshot.apply(Change::Applied(Arc::new(object.clone())));
        }
        Self { snapshot, objects }
    }

    pub(crate) fn matching(&self) -> Matching<'_> {
        Matching::new(&self.snapshot, &self.objects)
    }

    pub(crate) fn get(&self, kind: &str, name: &Value) -> Option<&Arc<Object>> {
        self.snapshot.get(&key(kind, name))
    }
}

/// The key of a `NamespacedName`.
pub(crate) fn key(kind: &str, name: &Value) -> ObjectKey {
    let text = |field: &str| name[field].as_str().unwrap_or_default();
    ObjectKey::new(
        GroupKind::gateway_api(kind),
        text("Namespace"),
        text("Name"),
    )
}

fn object(document: &Value) -> Object {
    let version = document["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let gk = GroupKind::new(group, document["kind"].as_str().unwrap());
    Object::from_json(&gk, &to_raw_value(document).unwrap()).unwrap()
}

/// A state without objects in which all kinds have been listed. The controller serves HTTP and gRPC on one hostname.
fn nothing() -> Snapshot {
    let config: Configuration = serde_saphyr::from_str(
        "{apiVersion: attache.dev/v1, kind: Configuration, controllers: [{name: example.com/both, httpAndGrpcOnOneHostname: true}]}",
    )
    .unwrap();
    let kinds = ["GatewayClass", "Gateway", "ListenerSet", "ReferenceGrant"];
    let kinds = kinds.iter().chain(&ROUTES);
    let kinds = kinds.map(|kind| GroupKind::gateway_api(kind));
    let kinds = kinds.chain(["Namespace", "Service"].map(GroupKind::core));
    kinds.fold(
        Snapshot::new(config.rules(testing::builtin())),
        |snapshot, kind| snapshot.apply(Change::Listed(kind, Vec::new())),
    )
}
