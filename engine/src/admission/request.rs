//! One admission request.

use serde_json::value::RawValue;

use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Incoming, Node, Object, Unreadable, is_large, weigh};
use crate::policy::is_cluster_scoped;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// CREATE.
    Create,
    /// UPDATE, patches included.
    Update,
    /// DELETE.
    Delete,
    /// CONNECT.
    Connect,
}

/// One admission request, as the engine sees it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The operation.
    pub operation: Operation,
    /// The kind of the object.
    pub gk: GroupKind,
    /// Empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Empty on a CREATE with `generateName`.
    pub name: &'a str,
    /// `status`, `scale`, …; empty for the object itself.
    pub subresource: &'a str,
    /// The new object.
    pub object: Option<&'a RawValue>,
    /// The stored object.
    pub old: Option<&'a RawValue>,
}

// === impl Request ===

impl Request<'_> {
    /// The object of the request. The API server sends the name of a Namespace as its namespace too, but a Namespace
    /// is cluster-scoped.
    pub fn key(&self) -> ObjectKey {
        let namespace = if is_cluster_scoped(&self.gk) {
            ""
        } else {
            self.namespace
        };
        ObjectKey::new(self.gk.clone(), namespace, self.name)
    }

    /// Reads an object of the request; the name and namespace of the request take precedence.
    pub(crate) fn read(&self, incoming: Incoming<'_>) -> Result<Object, Unreadable> {
        let mut object = Object::read(&self.gk, incoming)?;
        object.key = self.key();
        // The spec of a policy is parsed lazily, and an unreadable one then counts as empty, so it is checked here. A
        // large one has been checked already.
        if let (Node::Other, Some(spec)) = (&object.node, &object.spec)
            && !is_large(spec)
        {
            weigh(&self.gk, spec)?;
        }
        Ok(object)
    }
}
