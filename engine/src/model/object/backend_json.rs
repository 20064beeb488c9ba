//! A reference to a backend, as rules and filters of routes write it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::values::port;
use super::{BackendRef, Header};
use crate::model::ids::{GroupKind, ObjectKey};

/// A reference to a backend.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct BackendJson<'a> {
    pub(super) group: Option<Arc<str>>,
    kind: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    name: Arc<str>,
    port: Option<u32>,
    #[serde(borrow)]
    weight: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) filters: Option<&'a RawValue>,
}

// === impl BackendJson ===

impl BackendJson<'_> {
    /// The reference, as that of a route with this header.
    pub(super) fn reference(self, header: &Header) -> BackendRef {
        let kind = self.kind.unwrap_or_else(|| "Service".into());
        let gk = GroupKind::new(self.group.unwrap_or_default(), kind);
        let namespace = self.namespace;
        let namespace = namespace.unwrap_or_else(|| header.namespace.clone());
        BackendRef {
            object: ObjectKey::new(gk, namespace, self.name),
            port: port(self.port),
            has_no_share: self.weight.is_some_and(|weight| weight.get() == "0"),
        }
    }
}
