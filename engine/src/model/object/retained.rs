//! The parts of objects that are retained because profiles need them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Node, Object};
use crate::model::ids::GroupKind;

/// The prefix of attache's own annotations.
const OWN_ANNOTATIONS: &str = "attache.dev/";

/// The parts of objects that are retained because profiles need them. Dropped parts are only available again once the
/// objects are listed again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetainedFields {
    /// Annotations by which policies are attached, those with the weight of a policy, and those of routes that
    /// delegate.
    pub(crate) annotations: BTreeSet<String>,
    /// Kinds with fields that policies control, or without which policies that name the objects are rejected; their whole spec is
    /// retained.
    pub(crate) specs: BTreeSet<GroupKind>,
    /// Types of filters of routes whose values are retained: controllers use them in place of settings of policies.
    pub(crate) filters: BTreeSet<Arc<str>>,
    /// Whether the whole spec of every object is retained, for programs that show objects.
    pub(crate) all_specs: bool,
}

// === impl RetainedFields ===

impl RetainedFields {
    /// Whether the whole spec of objects of a kind is retained, because profiles need fields of it, or all are.
    pub fn spec(&self, gk: &GroupKind) -> bool {
        self.all_specs || self.specs.contains(gk)
    }

    /// Whether the values of filters of a type are retained.
    pub(super) fn filter(&self, name: &str) -> bool {
        self.filters.contains(name)
    }

    /// Whether attache uses an annotation: its own, those by which policies are attached, and those with the weight
    /// of a policy.
    pub fn annotation(&self, key: &str) -> bool {
        key.starts_with(OWN_ANNOTATIONS) || self.annotations.contains(key)
    }
}

// === impl Object ===

impl Object {
    /// Removes everything that no profile reads.
    pub fn trim(&mut self, keeps: &RetainedFields) {
        if !self.keeps_spec(keeps) {
            self.spec = None;
        }
        let annotations = &mut self.meta.annotations;
        annotations.retain(|key| keeps.annotation(key));
        if let Node::Route { rules, .. } = &mut self.node {
            let filters = rules.iter_mut().filter_map(|rule| rule.filters.as_mut());
            filters.for_each(|filters| filters.trim(keeps));
        }
    }

    /// Whether [`Object::trim`] would remove nothing.
    pub fn is_trimmed(&self, keeps: &RetainedFields) -> bool {
        let mut annotations = self.meta.annotations.keys();
        (self.spec.is_none() || self.keeps_spec(keeps))
            && annotations.all(|key| keeps.annotation(key))
            && self.filters().all(|filters| filters.is_trimmed(keeps))
    }

    fn keeps_spec(&self, keeps: &RetainedFields) -> bool {
        matches!(self.node, Node::Other) || keeps.spec(&self.key.gk)
    }
}
