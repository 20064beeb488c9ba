//! Kinds by their names alone where that is enough: `RetryPolicy`, and `RetryPolicy.a.example` beside
//! another of that name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::engine::ids::{GroupKind, ObjectKey, Place};

/// The kinds of one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// Names that several kinds have.
    shared: BTreeSet<Arc<str>>,
}

// === impl Kinds ===

impl Kinds {
    /// The kinds that occur in an answer.
    pub(crate) fn among<'a>(kinds: impl IntoIterator<Item = &'a GroupKind>) -> Self {
        let mut groups: BTreeMap<&Arc<str>, BTreeSet<&Arc<str>>> = BTreeMap::new();
        for gk in kinds {
            groups.entry(&gk.kind).or_default().insert(&gk.group);
        }
        let shared = groups.into_iter().filter(|(_, groups)| groups.len() > 1);
        Self {
            shared: shared.map(|(kind, _)| kind.clone()).collect(),
        }
    }

    /// A kind.
    pub(crate) fn name(&self, gk: &GroupKind) -> String {
        if self.shared.contains(&gk.kind) {
            gk.to_string()
        } else {
            gk.kind.to_string()
        }
    }

    /// `RetryPolicy infra/edge-retries`.
    pub(crate) fn object(&self, key: &ObjectKey) -> String {
        format!("{} {}", self.name(&key.gk), key.path())
    }

    /// `Gateway infra/edge#http`.
    pub(crate) fn place(&self, place: &Place) -> String {
        let object = self.object(&place.object);
        match &place.section {
            Some(section) => format!("{object}#{section}"),
            None => object,
        }
    }
}
