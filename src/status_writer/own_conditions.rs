//! The conditions of attache on one object: those that it should have, or those that it has.

use std::collections::BTreeMap;

use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::ParentRef;

/// The conditions of attache on an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnConditions {
    /// The generation of the object that they are about, for kinds that count generations.
    pub(super) generation: Option<i64>,
    /// The messages, by the part of the object and the type of the condition. Annotations have no message.
    pub(super) parts: BTreeMap<Part, BTreeMap<String, String>>,
}

/// The part of an object whose status has a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The object.
    Whole,
    /// A parent of a route: the object, the section and the port that it names.
    Parent(ObjectKey, Option<String>, Option<u16>),
}

// === impl OwnConditions ===

impl OwnConditions {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

// === impl Part ===

impl From<&ParentRef> for Part {
    fn from(parent: &ParentRef) -> Self {
        let section = parent.section.as_deref().map(str::to_owned);
        Self::Parent(parent.object.clone(), section, parent.port)
    }
}
