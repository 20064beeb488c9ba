//! Checks Gateway API objects in files against their CRDs, as the API server would when they are applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};

use crate::engine::admission::finding::{Code, Finding};
use crate::engine::admission::validate::{of_spec, served};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::literal;
use crate::engine::model::object::{Crd, Header, is_gateway_kind, is_large};
use crate::engine::state::snapshot::Snapshot;

/// The CRDs of Gateway API's own kinds, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Definitions(BTreeMap<GroupKind, Arc<Crd>>);

/// The result of checking an object against its CRD.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// A finding for each mismatch.
    pub(super) findings: Vec<Finding>,
    /// Whether the object is left out of the state, because its version is not served: by the CRD or, without one, by any
    /// release. An object with a field that its CRD does not allow stays: what else is wrong around it can be found.
    pub(super) is_refused: bool,
    /// The spec without unknown fields, if it had any.
    pub(super) pruned: Option<Box<RawValue>>,
}

// === impl Definitions ===

impl Definitions {
    /// Collects the CRDs of a state and of files. Those of files take precedence.
    pub(super) fn new(base: Option<&Snapshot>, files: impl IntoIterator<Item = Arc<Crd>>) -> Self {
        let there = base.into_iter().flat_map(Snapshot::definitions).cloned();
        let all = there.chain(files).filter(|crd| is_gateway_kind(&crd.gk));
        Self(all.map(|crd| (crd.gk.clone(), crd)).collect())
    }

    /// Checks an object. Kinds outside Gateway API have no findings.
    pub(super) fn judge(
        &self,
        gk: &GroupKind,
        header: &Header,
        version: &str,
        spec: Option<&RawValue>,
    ) -> Judged {
        if !is_gateway_kind(gk) {
            return Judged::default();
        }
        let key = &header.key(gk);
        let definition = self.0.get(&key.gk);
        if let Some(finding) = served(key, version, definition.map(|crd| &**crd)) {
            return Judged {
                findings: vec![finding],
                is_refused: true,
                pruned: None,
            };
        }
        let text = spec.map(RawValue::get).filter(|text| !is_large(text));
        let value = text.and_then(|text| literal::from_str(text).ok());
        let (Some(definition), Some(mut value)) = (definition, value) else {
            return Judged::default();
        };
        // An API server has accepted an object that has a UID.
        let is_seen = header.meta.uid.is_some();
        let mut findings = of_spec(key, version, definition, &mut value);
        findings.retain(|finding| finding.code != Code::FieldInvalid || !is_seen);
        let pruned = to_raw_value(&value).ok();
        Judged {
            pruned: pruned.filter(|_| !findings.is_empty()),
            findings,
            is_refused: false,
        }
    }
}
