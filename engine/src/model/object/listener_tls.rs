//! TLS of a listener: whether it is left to the backends, and the certificates in other namespaces.

use std::sync::Arc;

use serde::Deserialize;

use super::bounded_vec::BoundedVec;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::label_map::LabelMap;

/// `tls` of a listener.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ListenerTlsJson {
    mode: Option<String>,
    certificate_refs: Option<BoundedVec<CertificateJson>>,
    options: Option<LabelMap>,
}

#[derive(Deserialize)]
struct CertificateJson {
    group: Option<Arc<str>>,
    kind: Option<Arc<str>>,
    name: Arc<str>,
    namespace: Option<Arc<str>>,
}

// === impl ListenerTlsJson ===

impl ListenerTlsJson {
    /// Whether the listener leaves TLS to its backends.
    pub(super) fn passes_through(&self) -> bool {
        self.mode.as_deref() == Some("Passthrough")
    }

    /// Whether it terminates TLS and names no Secret.
    pub(super) fn lacks_certificates(&self) -> bool {
        let mut all = self.certificate_refs.iter().flat_map(|few| &few.0);
        !self.passes_through() && !all.any(CertificateJson::is_secret)
    }

    /// Its options, each for one controller.
    pub(super) fn options(&mut self) -> LabelMap {
        self.options.take().unwrap_or_default()
    }

    /// The certificates, if each of them names a namespace. One without is in that of the listener, which needs no grant.
    pub(super) fn foreign_certificates(&self) -> Box<[ObjectKey]> {
        if self.passes_through() {
            return Box::default();
        }
        let all = self.certificate_refs.iter().flat_map(|few| &few.0);
        let foreign: Option<Vec<ObjectKey>> = all.map(CertificateJson::key).collect();
        foreign.unwrap_or_default().into()
    }
}

// === impl CertificateJson ===

impl CertificateJson {
    fn is_secret(&self) -> bool {
        let group = self.group.as_deref().unwrap_or_default();
        let kind = self.kind.as_deref().unwrap_or("Secret");
        group.is_empty() && kind == "Secret"
    }

    fn key(&self) -> Option<ObjectKey> {
        let namespace = self.namespace.clone().filter(|name| !name.is_empty())?;
        let group = self.group.clone().unwrap_or_default();
        let kind = self.kind.clone().unwrap_or_else(|| "Secret".into());
        let gk = GroupKind::new(group, kind);
        Some(ObjectKey::new(gk, namespace, self.name.clone()))
    }
}
