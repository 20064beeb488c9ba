//! Names of things: kinds, objects, and the sections of objects.

use std::fmt;
use std::sync::Arc;

/// The API group of Gateway API.
pub const GATEWAY_API: &str = "gateway.networking.k8s.io";
/// The API group of custom resource definitions.
pub const APIEXTENSIONS: &str = "apiextensions.k8s.io";

/// A kind, in any version: versions of one kind are the same objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// API group; empty for core.
    pub group: Arc<str>,
    /// Kind, as written in manifests.
    pub kind: Arc<str>,
}

/// An object. Cluster-scoped objects have an empty namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// What it is.
    pub gk: GroupKind,
    /// Its namespace; empty when cluster-scoped.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// An object, or one named section of it. The owner is part of the identity: listener `http` of a
/// Gateway is not listener `http` of a `ListenerSet` of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The object.
    pub object: ObjectKey,
    /// Listener, rule or port; none for the whole object.
    pub section: Option<Arc<str>>,
}

// === impl GroupKind ===

impl GroupKind {
    /// A kind from its group and name.
    pub fn new(group: impl Into<Arc<str>>, kind: impl Into<Arc<str>>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// A kind of Gateway API.
    pub fn gateway_api(kind: &str) -> Self {
        Self::new(GATEWAY_API, kind)
    }

    /// A kind of the core group.
    pub fn core(kind: &str) -> Self {
        Self::new("", kind)
    }

    /// The kind of custom resource definitions.
    pub fn crd() -> Self {
        Self::new(APIEXTENSIONS, "CustomResourceDefinition")
    }

    /// Whether this is that kind of Gateway API.
    pub fn is_gateway_api(&self, kind: &str) -> bool {
        &*self.group == GATEWAY_API && &*self.kind == kind
    }

    /// Whether this is that kind of the core group.
    pub fn is_core(&self, kind: &str) -> bool {
        self.group.is_empty() && &*self.kind == kind
    }
}

impl fmt::Display for GroupKind {
    /// `Gateway` for Gateway API and core, `Kind.group` for everything else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() || &*self.group == GATEWAY_API {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

// === impl ObjectKey ===

impl ObjectKey {
    /// An object's key.
    pub fn new(gk: GroupKind, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self {
            gk,
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The whole object as a place.
    pub fn whole(&self) -> Place {
        Place {
            object: self.clone(),
            section: None,
        }
    }

    /// A section of the object.
    pub fn section(&self, name: impl Into<Arc<str>>) -> Place {
        Place {
            object: self.clone(),
            section: Some(name.into()),
        }
    }

    /// `namespace/name`, or the name alone for cluster-scoped objects.
    pub fn path(&self) -> String {
        if self.namespace.is_empty() {
            self.name.to_string()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.gk, self.path())
    }
}

impl fmt::Display for Place {
    /// `Gateway infra/edge#http`, the form of the command line (design 9, ruling 26).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.section {
            None => self.object.fmt(f),
            Some(section) => write!(f, "{}#{section}", self.object),
        }
    }
}
