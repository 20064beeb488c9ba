//! Kinds without their group if that is unambiguous: `RetryPolicy`, but `RetryPolicy.a.example` if another group has
//! the same kind.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::model::ids::{GroupKind, ObjectKey, Place};

/// The kinds of one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// Names that several kinds share.
    shared: BTreeSet<String>,
}

// === impl Kinds ===

impl Kinds {
    /// Collects the kinds of an answer.
    pub(crate) fn among<'a>(kinds: impl IntoIterator<Item = &'a GroupKind>) -> Self {
        let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for gk in kinds {
            groups.entry(&gk.kind).or_default().insert(&gk.group);
        }
        let shared = groups.into_iter().filter(|(_, groups)| groups.len() > 1);
        Self {
            shared: shared.map(|(kind, _)| kind.to_owned()).collect(),
        }
    }

    /// The name of a kind.
    pub(crate) fn name(&self, gk: &GroupKind) -> String {
        if self.shared.contains(gk.kind.as_str()) {
            gk.to_string()
        } else {
            gk.kind.to_string()
        }
    }

    /// `RetryPolicy infra/edge-retries`.
    pub(crate) fn object(&self, key: &ObjectKey) -> String {
        let (kind, path) = (self.name(&key.gk), key.path());
        // An object that cannot be read may have no name.
        format!("{kind} {path}").trim_end().to_owned()
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
