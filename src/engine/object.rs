//! Kubernetes JSON to typed nodes: the only file that knows the JSON paths of Gateway API objects.
//!
//! Nodes are small on purpose; what is not needed to follow attachment is dropped at this border.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::ids::{GroupKind, ObjectKey};

mod json;

/// Route kinds of Gateway API.
pub const ROUTES: [&str; 5] = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"];

/// What the engine keeps of an object's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Namespace; empty when cluster-scoped.
    pub namespace: Arc<str>,
    /// Name; empty on a CREATE with `generateName`.
    pub name: Arc<str>,
    /// Labels.
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// When it was created; none while a CREATE is under way.
    pub created: Option<Timestamp>,
    /// Whether it is being deleted.
    pub deleting: bool,
}

/// An object as it arrives: metadata parsed, spec still JSON.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Its metadata.
    pub meta: &'a Meta,
    /// Its `spec`, when it has one.
    pub spec: Option<&'a RawValue>,
}

/// An object as the engine keeps it.
#[derive(Clone, Debug)]
pub struct Object {
    /// Which object.
    pub key: ObjectKey,
    /// Its metadata.
    pub meta: Meta,
    /// What it is.
    pub node: Node,
}

/// The part of an object that depends on its kind.
#[derive(Clone, Debug)]
pub enum Node {
    /// A class of Gateways; has the controller's name.
    GatewayClass {
        /// `spec.controllerName`.
        controller: Arc<str>,
    },
    /// A Gateway.
    Gateway {
        /// `spec.gatewayClassName`.
        class: Arc<str>,
        /// Listeners in the order of the spec.
        listeners: Vec<Listener>,
    },
    /// A set of listeners that joins a Gateway.
    ListenerSet {
        /// The Gateway.
        parent: ParentRef,
        /// Listeners in the order of the spec.
        listeners: Vec<Listener>,
    },
    /// Any of [`ROUTES`].
    Route {
        /// Where it attaches.
        parents: Vec<ParentRef>,
        /// Hostnames that it serves.
        hostnames: Vec<Arc<str>>,
        /// Rules in the order of the spec.
        rules: Vec<Rule>,
    },
    /// A Service.
    Service {
        /// Names of its ports; unnamed ports are left out.
        ports: Vec<Arc<str>>,
    },
    /// A custom resource definition.
    Crd(Arc<Crd>),
    /// Anything else: Namespaces, policies, backends of other kinds. The spec is kept as it came.
    Other {
        /// `spec`; policies are read from it by their profile.
        spec: Option<Arc<RawValue>>,
    },
}

/// A listener of a Gateway or `ListenerSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its name, the section name.
    pub name: Arc<str>,
    /// Its port.
    pub port: u16,
    /// Its hostname, if it has one.
    pub hostname: Option<Arc<str>>,
}

/// A rule of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, the section name; many rules have none.
    pub name: Option<Arc<str>>,
    /// Where it sends requests.
    pub backends: Vec<ObjectKey>,
}

/// A reference to a parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentRef {
    /// The parent, namespace filled in.
    pub object: ObjectKey,
    /// A listener of it.
    pub section: Option<Arc<str>>,
    /// A port of it.
    pub port: Option<u16>,
}

/// What the engine needs of a custom resource definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Crd {
    /// The kind that it defines.
    pub gk: GroupKind,
    /// The name in URLs.
    pub plural: Arc<str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Served versions; the stored one first.
    pub served: Vec<Arc<str>>,
    /// The value of the label `gateway.networking.k8s.io/policy`.
    pub policy_label: Option<Arc<str>>,
    /// The schema of `spec` in the stored version.
    pub spec_schema: serde_json::Value,
}

/// Why an object could not be read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Unreadable(pub String);

// === impl Object ===

impl Object {
    /// Reads an object from its parts.
    ///
    /// # Errors
    /// When a field that attachment depends on has the wrong type.
    pub fn read(gk: &GroupKind, incoming: Incoming<'_>) -> Result<Self, Unreadable> {
        let meta = incoming.meta;
        Ok(Self {
            key: ObjectKey::new(gk.clone(), meta.namespace.clone(), meta.name.clone()),
            meta: meta.clone(),
            node: json::node(gk, meta, incoming.spec)?,
        })
    }

    /// Reads an object from JSON text.
    ///
    /// # Errors
    /// When it is not an object, or as in [`Object::read`].
    pub fn from_json(gk: &GroupKind, text: &RawValue) -> Result<Self, Unreadable> {
        let (meta, spec) = json::parts(text)?;
        Self::read(gk, Incoming { meta: &meta, spec })
    }

    /// Whether an update from `old` to `new` changes neither spec nor labels. Specs are compared as
    /// values: key order and spaces do not count.
    pub fn unchanged(old: &RawValue, new: &RawValue) -> bool {
        let (Ok((old, a)), Ok((new, b))) = (json::parts(old), json::parts(new)) else {
            return false;
        };
        old.labels == new.labels && same_json(a, b)
    }

    /// The names of its sections, in the order of the spec; none when its kind has no sections or
    /// what a section of it means is not known.
    pub fn sections(&self) -> Option<Vec<&Arc<str>>> {
        match &self.node {
            Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
                Some(listeners.iter().map(|l| &l.name).collect())
            }
            Node::Route { rules, .. } => {
                Some(rules.iter().filter_map(|r| r.name.as_ref()).collect())
            }
            Node::Service { ports } => Some(ports.iter().collect()),
            Node::GatewayClass { .. } | Node::Crd(_) | Node::Other { .. } => None,
        }
    }
}

fn same_json(a: Option<&RawValue>, b: Option<&RawValue>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a.is_none() && b.is_none();
    };
    let value = |spec: &RawValue| serde_json::from_str::<serde_json::Value>(spec.get()).ok();
    a.get() == b.get() || value(a).is_some_and(|a| Some(a) == value(b))
}

/// What a section of a kind is called; none when it has no sections or they are not known.
pub fn section_noun(gk: &GroupKind) -> Option<&'static str> {
    if gk.is_gateway_api("Gateway") || gk.is_gateway_api("ListenerSet") {
        Some("listener")
    } else if ROUTES.iter().any(|kind| gk.is_gateway_api(kind)) {
        Some("rule")
    } else if gk.is_core("Service") {
        Some("port")
    } else {
        None
    }
}
