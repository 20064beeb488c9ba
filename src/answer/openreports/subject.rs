//! The object that a result is about.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::gateway_versions;
use crate::engine::state::snapshot::Snapshot;

/// An object as an `ObjectReference`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subject {
    api_version: String,
    kind: Arc<str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: Arc<str>,
    name: Arc<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
}

/// The stored version of each kind that has a CRD.
#[derive(Debug)]
pub(super) struct Versions(HashMap<GroupKind, Arc<str>>);

// === impl Versions ===

impl Versions {
    pub(super) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let definitions = snapshot.definitions();
        let versions =
            definitions.filter_map(|crd| Some((crd.gk.clone(), crd.served.first()?.clone())));
        Self(versions.collect())
    }

    fn version(&self, gk: &GroupKind) -> &str {
        let defined = self.0.get(gk).map(|version| &**version);
        // Kinds without a CRD are those of Kubernetes, all of which are v1.
        let known = gateway_versions(gk).first().copied();
        defined.or(known).unwrap_or("v1")
    }
}

// === impl Subject ===

impl Subject {
    pub(super) fn new(snapshot: &Snapshot, versions: &Versions, key: &ObjectKey) -> Self {
        let meta = snapshot.get(key).map(|object| &object.meta);
        let version = match meta.and_then(|meta| meta.version.as_deref()) {
            Some(version) => version,
            None => versions.version(&key.gk),
        };
        Self {
            api_version: match &*key.gk.group {
                "" => version.to_owned(),
                group => format!("{group}/{version}"),
            },
            kind: key.gk.kind.as_str().into(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid: meta.and_then(|meta| meta.uid).map(|uid| uid.to_string()),
        }
    }
}
