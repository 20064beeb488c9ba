//! Kubernetes JSON to typed nodes: the only module that knows the JSON paths of Gateway API objects.
//!
//! Nodes are small on purpose: fields that are not needed to resolve attachment are dropped here.

use std::borrow::Cow;
use std::num::NonZeroI64;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::label_map::LabelMap;
use crate::model::selector::{Labels, Selector};
use crate::model::uid::Uid;

pub mod annotations;
mod backend_json;
mod bounded_vec;
mod crd;
mod delegating;
mod filters;
mod frontend_tls;
mod json;
mod kinds;
mod listener_tls;
mod matches;
mod outline;
mod paths;
mod retained;
mod rule_matches;
mod same;
mod service;
pub mod status;
mod unreadable;
mod values;
mod weight;

pub use annotations::{Annotations, IGNORE, Raw as RawAnnotations, short as short_annotations};
pub use crd::{Crd, POLICY_LABEL};
pub use filters::Filters;
pub use frontend_tls::{ClientCertificates, FrontendTls};
pub(crate) use kinds::guessed_group;
pub use kinds::{
    CORE_KINDS, ROUTES, gateway_kinds, gateway_versions, is_core_kind, is_gateway_kind, is_route,
    section_noun, watched_gateway_kinds,
};
pub use matches::Matches;
pub use paths::Paths;
pub use retained::RetainedFields;
pub use rule_matches::{HeaderMatch, RouteMatch, RuleMatches};
pub use service::{Port, PortProtocol};
pub use status::Reported;
pub use unreadable::{Unreadable, field as unreadable_field, plain};
pub use weight::is_within_limits;
pub use weight::{is_large, weigh_metadata};
pub(crate) use weight::{weigh, weigh_all};

/// The label that the API server sets on every Namespace; its value is the name.
pub(crate) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The identity of an object, and the metadata that the engine keeps, as parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// The name; empty on a CREATE with `generateName`.
    pub name: Arc<str>,
    /// The remaining metadata.
    pub meta: Meta,
}

/// The metadata that the engine keeps of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Labels.
    pub labels: Labels,
    /// Annotations with short values. A snapshot keeps those that profiles name.
    pub annotations: Annotations,
    /// The creation time; `None` during a CREATE.
    pub created: Option<Timestamp>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The version in a manifest. Set for objects from files, whose version may not be served.
    pub version: Option<Arc<str>>,
    /// `metadata.generation`; conditions record the one that they observed.
    pub generation: Option<NonZeroI64>,
    /// Its UID, if it comes from the API server.
    pub uid: Option<Uid>,
}

/// A partly parsed object: typed metadata, spec and status as JSON.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    /// Its metadata.
    pub header: Cow<'a, Header>,
    /// Its `spec`, if it has one.
    pub spec: Option<&'a RawValue>,
    /// Its `status`, if it has one.
    pub status: Option<&'a RawValue>,
}

/// An object as the engine keeps it.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its identity.
    pub key: ObjectKey,
    /// Its metadata.
    pub meta: Meta,
    /// Its kind-specific part.
    pub node: Node,
    /// Its whole `spec` as JSON text. A snapshot keeps it only for kinds whose fields policies control.
    pub spec: Option<Arc<str>>,
    /// The status that controllers reported, if it contains anything of interest. `None` for the object of a request,
    /// whose status may belong to another spec.
    pub reported: Option<Arc<Reported>>,
    /// Why some of the object is unknown, if so.
    pub unread: Option<Arc<Unreadable>>,
}

/// The kind-specific part of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A class of Gateways.
    GatewayClass {
        /// `spec.controllerName`.
        controller: Arc<str>,
    },
    /// A Gateway.
    Gateway {
        /// `spec.gatewayClassName`.
        class: Arc<str>,
        /// The listeners, in the order of the spec.
        listeners: Box<[Listener]>,
        /// The namespaces whose `ListenerSets` may join (`spec.allowedListeners`); none by default.
        sets: From,
        /// The facts about its Pods that `spec` states, if any.
        infrastructure: Option<Box<Infrastructure>>,
        /// The client certificates that it asks for, if `spec` says so.
        frontend_tls: Option<Box<FrontendTls>>,
    },
    /// A set of listeners that joins a Gateway.
    ListenerSet {
        /// The Gateway.
        parent: ParentRef,
        /// The listeners, in the order of the spec.
        listeners: Box<[Listener]>,
    },
    /// Any of [`ROUTES`].
    Route {
        /// The parents that it attaches to.
        parents: Box<[ParentRef]>,
        /// The hostnames that it serves.
        hostnames: Box<[Arc<str>]>,
        /// The rules, in the order of the spec.
        rules: Box<[Rule]>,
        /// The paths that its rules match.
        paths: Paths,
        /// The complete matches of its rules.
        matches: Matches,
        /// The matches of each rule in full, if it may take part in delegation.
        rule_matches: RuleMatches,
    },
    /// A Service.
    Service {
        /// The ports, in the order of the spec.
        ports: Box<[Port]>,
        /// Whether it stands for a name outside of the cluster: `type: ExternalName`.
        is_external_name: bool,
        /// Whether it has no cluster IP: `clusterIP: None`.
        is_headless: bool,
    },
    /// Allows objects in other namespaces to refer to objects in this one.
    ReferenceGrant {
        /// The kinds and namespaces that may refer.
        from: Box<[GrantFrom]>,
        /// The objects that they may refer to.
        to: Box<[GrantTo]>,
    },
    /// A custom resource definition.
    Crd(Arc<Crd>),
    /// Any other kind: Namespaces, policies, other backends. Policies are parsed from the spec by their profile.
    Other,
}

/// Facts about the Pods of a Gateway that its spec states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Infrastructure {
    /// The labels in `spec.infrastructure`, if it states any.
    pub labels: Option<Labels>,
    /// Whether it has addresses, and they are not a single IP address: requests come in through a Service whose Pods no
    /// controller makes.
    pub has_own_service: bool,
}

/// A listener of a Gateway or `ListenerSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct Listener {
    /// Its name, the section name.
    pub name: Arc<str>,
    /// Its port.
    pub port: u16,
    /// Its protocol, which decides which route kinds it supports.
    pub protocol: Arc<str>,
    /// Whether it leaves TLS to its backends.
    pub passes_tls_through: bool,
    /// Whether it says nothing of TLS.
    pub is_without_tls: bool,
    /// Whether it terminates TLS and names no Secret as certificate.
    pub lacks_certificates: bool,
    /// Whether it takes routes of namespaces with labels, and does not state which.
    pub lacks_selector: bool,
    /// Its certificates, if all of them are in namespaces that it names.
    pub foreign_certificates: Box<[ObjectKey]>,
    /// The options of its TLS, which controllers define.
    pub tls_options: LabelMap,
    /// Its hostname, if it has one.
    pub hostname: Option<Arc<str>>,
    /// The namespaces whose routes may attach.
    pub routes_from: From,
    /// The route kinds that may attach; if empty, all that the protocol supports.
    pub routes_of: Box<[GroupKind]>,
}

/// The namespaces from which objects may attach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// The same namespace.
    #[default]
    Same,
    /// All namespaces.
    All,
    /// No namespace.
    None,
    /// Namespaces with these labels.
    Selector(Box<Selector>),
    /// Unknown: the CRD allows a selector with any operator, and this one cannot be parsed.
    Unknown,
}

/// A rule of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, the section name; many rules have none.
    pub name: Option<Arc<str>>,
    /// The backends that it sends requests to.
    pub backends: Box<[BackendRef]>,
    /// Its filters, if any.
    pub filters: Option<Box<Filters>>,
}

/// A reference to a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendRef {
    /// The backend, with its namespace filled in.
    pub object: ObjectKey,
    /// Its port.
    pub port: Option<u16>,
    /// Whether its weight is 0, so that no request is meant for it.
    pub has_no_share: bool,
}

/// One entry of `from` of a `ReferenceGrant`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantFrom {
    /// The kind that may refer.
    pub gk: GroupKind,
    /// The namespace of the referring objects.
    pub namespace: Arc<str>,
}

/// One entry of `to` of a `ReferenceGrant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantTo {
    /// The kind that may be referred to.
    pub gk: GroupKind,
    /// The name of the object; all objects of the kind if absent.
    pub name: Option<Arc<str>>,
}

/// A reference to a parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentRef {
    /// The parent, with its namespace filled in.
    pub object: ObjectKey,
    /// The name of one of its listeners.
    pub section: Option<Arc<str>>,
    /// One of its ports.
    pub port: Option<u16>,
}

// === impl Header ===

impl Header {
    /// The key of an object of that kind.
    pub fn key(&self, gk: &GroupKind) -> ObjectKey {
        ObjectKey::new(gk.clone(), self.namespace.clone(), self.name.clone())
    }
}

// === impl Incoming ===

impl<'a> Incoming<'a> {
    /// Splits the JSON text of an object into its parts.
    ///
    /// # Errors
    /// If the text is not an object, or its metadata cannot be read.
    pub fn parse(text: &'a RawValue) -> Result<Self, Unreadable> {
        json::parts(text)
    }

    /// The status that controllers reported.
    pub fn reported(&self) -> Option<Arc<Reported>> {
        Reported::read(
            self.status?,
            &self.header,
            self.header.meta.generation.map(NonZeroI64::get),
        )
    }

    /// Whether two specs have equal values, regardless of key order and whitespace. Large specs are compared as text:
    /// the API server writes both in the same way.
    pub fn same_spec(&self, other: &Self) -> bool {
        let (one, other) = (self.spec.map(RawValue::get), other.spec.map(RawValue::get));
        let large = [one, other].into_iter().flatten().any(weight::is_large);
        one == other || !large && same_json(one, other)
    }

    /// Whether an update leaves spec and labels unchanged, and `are_alike` accepts both sets of annotations.
    pub fn unchanged(
        &self,
        new: &Self,
        are_alike: impl Fn(&Annotations, &Annotations) -> bool,
    ) -> bool {
        let (one, other) = (&self.header.meta, &new.header.meta);
        one.labels == other.labels
            && are_alike(&one.annotations, &other.annotations)
            && self.same_spec(new)
    }
}

// === impl Object ===

impl Object {
    /// Reads an object from its parts.
    ///
    /// # Errors
    /// If a field that attachment depends on has the wrong type, or the object contains too much.
    pub fn read(gk: &GroupKind, incoming: Incoming<'_>) -> Result<Self, Unreadable> {
        let header = &*incoming.header;
        let large = incoming.spec.filter(|spec| weight::is_large(spec.get()));
        let node = match large.map(|spec| (spec, weight::weigh(gk, spec.get()))) {
            None | Some((_, Ok(()))) => json::node(gk, header, incoming.spec)?,
            Some((spec, Err(why))) => json::node_of_large(gk, &header.meta, spec).ok_or(why)?,
        };
        let key = header.key(gk);
        let mut meta = match incoming.header {
            Cow::Borrowed(header) => header.meta.clone(),
            Cow::Owned(header) => header.meta,
        };
        if gk.is_core("Namespace") && !meta.labels.contains_key(NAMESPACE_NAME) {
            meta.labels.insert(NAMESPACE_NAME.into(), key.name.clone());
        }
        Ok(Self {
            key,
            node,
            spec: incoming.spec.map(|spec| Arc::from(spec.get())),
            meta,
            reported: None,
            unread: None,
        })
    }

    /// Reads an object from JSON text.
    ///
    /// # Errors
    /// If the text is not an object, or as in [`Object::read`].
    pub fn from_json(gk: &GroupKind, text: &RawValue) -> Result<Self, Unreadable> {
        let incoming = Incoming::parse(text)?;
        let reported = incoming.reported();
        let object = Self::read(gk, incoming)?;
        Ok(Self { reported, ..object })
    }

    /// Whether another version of the object is equal for policies, as far as both are kept.
    pub fn is_same(&self, other: &Self) -> bool {
        let (one, two) = (&self.meta, &other.meta);
        self.has_same_spec(other)
            && (&one.labels, &one.annotations) == (&two.labels, &two.annotations)
            && (one.created, one.deleting) == (two.created, two.deleting)
    }

    /// Whether another version of the object has an equal spec, as far as both are kept.
    pub fn has_same_spec(&self, other: &Self) -> bool {
        let same_spec = match (self.spec.as_deref(), other.spec.as_deref()) {
            (None, Some(_)) | (Some(_), None) => !matches!(self.node, Node::Other),
            (one, two) => same_json(one, two),
        };
        same_spec && self.node == other.node
    }

    /// Whether everything that is kept equals that of an object read before.
    pub fn is_identical(&self, other: &Self) -> bool {
        self.key == other.key
            && self.meta == other.meta
            && self.node == other.node
            && self.spec == other.spec
            && self.reported == other.reported
            && self.unread == other.unread
    }

    /// The backends that a route sends requests to; empty for other kinds.
    pub fn backends(&self) -> impl Iterator<Item = &BackendRef> {
        let rules = match &self.node {
            Node::Route { rules, .. } => rules,
            _ => &[][..],
        };
        rules.iter().flat_map(|rule| rule.backends.iter())
    }

    /// The hostnames of a route; empty for other kinds.
    pub fn hostnames(&self) -> &[Arc<str>] {
        match &self.node {
            Node::Route { hostnames, .. } => hostnames,
            _ => &[],
        }
    }

    /// The listeners of a Gateway or `ListenerSet`; empty for other kinds.
    pub fn listeners(&self) -> &[Listener] {
        match &self.node {
            Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => listeners,
            _ => &[],
        }
    }

    /// The parentRefs of a route; empty for other kinds.
    pub fn parents(&self) -> &[ParentRef] {
        match &self.node {
            Node::Route { parents, .. } => parents,
            _ => &[],
        }
    }

    /// The references of a route to an object.
    pub fn parents_to(&self, to: &ObjectKey) -> impl Iterator<Item = &ParentRef> {
        let parents = self.parents().iter();
        parents.filter(move |parent| parent.object == *to)
    }

    /// The names of its sections, in the order of the spec; `None` if its kind has no sections, or if their meaning
    /// is unknown.
    pub fn sections(&self) -> Option<Vec<&Arc<str>>> {
        match &self.node {
            Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
                Some(listeners.iter().map(|l| &l.name).collect())
            }
            Node::Route { rules, .. } => {
                Some(rules.iter().filter_map(|r| r.name.as_ref()).collect())
            }
            Node::Service { ports, .. } => {
                Some(ports.iter().filter_map(|p| p.name.as_ref()).collect())
            }
            Node::GatewayClass { .. }
            | Node::ReferenceGrant { .. }
            | Node::Crd(_)
            | Node::Other => None,
        }
    }
}

// === impl Node ===

impl Node {
    /// The controller name of a `GatewayClass`; `None` for other kinds.
    pub fn controller(&self) -> Option<&Arc<str>> {
        match self {
            Self::GatewayClass { controller } => Some(controller),
            _ => None,
        }
    }
}

fn same_json(a: Option<&str>, b: Option<&str>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same::same(a, b),
        (a, b) => a == b,
    }
}
