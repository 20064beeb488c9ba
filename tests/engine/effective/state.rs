//! Reads snapshots from files and object keys from text.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::Value;

use testing::cases::{documents, nothing, object};

/// The initial state of a case.
pub(crate) struct Start {
    pub(crate) snapshot: Snapshot,
    /// Its objects as stored.
    pub(crate) stored: BTreeMap<ObjectKey, Value>,
}

/// The state of a case: shared kinds, then its own objects. A case may have its own profiles.
pub(crate) fn read(root: &Path, case: &Path) -> Start {
    let own = case.join("attache.yaml");
    let config = if own.exists() {
        own
    } else {
        root.join("attache.yaml")
    };
    let shared = documents(&root.join("kinds.yaml"));
    let mut all = shared;
    all.extend(documents(&case.join("state.yaml")));
    for (i, document) in all.iter_mut().enumerate() {
        let made = created(i).to_string();
        let meta = document["metadata"].as_object_mut().unwrap();
        meta.entry("creationTimestamp").or_insert(made.into());
    }
    let config = Configuration::read(&config).unwrap();
    Start {
        snapshot: build(&config, all.iter()),
        stored: all.into_iter().map(|d| (object(&d).key, d)).collect(),
    }
}

/// The creation time of the object at a position in the file.
fn created(place: usize) -> jiff::Timestamp {
    let age = jiff::SignedDuration::from_secs(i64::try_from(place).unwrap());
    let first: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    first + age
}

/// A state in which every kind of the Gateway API has been listed.
pub(crate) fn build<'a>(
    config: &Configuration,
    documents: impl Iterator<Item = &'a Value>,
) -> Snapshot {
    let mut snapshot = nothing(config);
    for (i, document) in documents.enumerate() {
        let mut object = object(document);
        object.meta.created.get_or_insert(created(i));
        snapshot = snapshot.apply(Change::Applied(Arc::new(object)));
    }
    snapshot
}

/// Parses `Gateway infra/edge`, `ColorPolicy.policies.controller.io ns/p`, `GatewayClass c`.
pub(crate) fn key(text: &str) -> ObjectKey {
    let (kind, path) = text
        .split_once(' ')
        .unwrap_or_else(|| panic!("no name in {text:?}"));
    let gk = match kind.split_once('.') {
        Some((kind, group)) => GroupKind::new(group, kind),
        None if ["Service", "Namespace", "Secret", "ConfigMap"].contains(&kind) => {
            GroupKind::core(kind)
        }
        None => GroupKind::new(GATEWAY_API, kind),
    };
    let (namespace, name) = path.split_once('/').unwrap_or(("", path));
    ObjectKey::new(gk, namespace, name)
}
