//! Where objects of Gateway API in files are not as their definition has them: what no API server has told yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};

use crate::engine::finding::Finding;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::literal;
use crate::engine::object::{Crd, Node, is_gateway_kind, is_large};
use crate::engine::snapshot::Snapshot;
use crate::engine::validate::{of_spec, served};

/// The definitions of Gateway API's own kinds, where they are here.
#[derive(Debug, Default)]
pub(super) struct Definitions(BTreeMap<GroupKind, Arc<Crd>>);

/// An object as its definition has it.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Where it is not.
    pub(super) findings: Vec<Finding>,
    /// Whether the definition serves its version: else the API server does not take it.
    pub(super) is_refused: bool,
    /// Its spec without the fields that there are not, where it has such.
    pub(super) pruned: Option<Box<RawValue>>,
}

// === impl Definitions ===

impl Definitions {
    /// Those of a state, and those in files, which count before them.
    pub(super) fn new(base: Option<&Snapshot>, files: impl IntoIterator<Item = Arc<Crd>>) -> Self {
        let crd = GroupKind::crd();
        let there = base.into_iter().flat_map(|base| base.objects(&crd));
        let there = there.filter_map(|object| match &object.node {
            Node::Crd(crd) => Some(crd.clone()),
            _ => None,
        });
        let all = there.chain(files).filter(|crd| is_gateway_kind(&crd.gk));
        Self(all.map(|crd| (crd.gk.clone(), crd)).collect())
    }

    /// What is to be said of an object; nothing of other kinds.
    pub(super) fn judge(&self, key: &ObjectKey, version: &str, spec: Option<&RawValue>) -> Judged {
        if !is_gateway_kind(&key.gk) {
            return Judged::default();
        }
        let definition = self.0.get(&key.gk);
        if let Some(finding) = served(key, version, definition.map(|crd| &**crd)) {
            return Judged {
                findings: vec![finding],
                // What releases have is no proof of what a cluster has.
                is_refused: definition.is_some(),
                pruned: None,
            };
        }
        let text = spec.map(RawValue::get).filter(|text| !is_large(text));
        let value = text.and_then(|text| literal::from_str(text).ok());
        let (Some(definition), Some(mut value)) = (definition, value) else {
            return Judged::default();
        };
        let findings = of_spec(key, version, definition, &mut value);
        let pruned = to_raw_value(&value).ok();
        Judged {
            pruned: pruned.filter(|_| !findings.is_empty()),
            findings,
            is_refused: false,
        }
    }
}
