//! Kubernetes JSON to typed nodes: the only file that knows the JSON paths of Gateway API objects.
//!
//! Nodes are small on purpose; what is not needed to follow attachment is dropped at this border.

use std::borrow::Cow;
use std::num::NonZeroI64;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::ids::{GATEWAY_API_X, GroupKind, ObjectKey};
use super::profile::Keeps;
use super::selector::{Labels, Selector};
use super::shared;

mod annotations;
mod crd;
mod few;
mod json;
mod matches;
mod outline;
mod paths;
pub mod reported;
mod same;
mod unreadable;
mod weight;

pub use annotations::{Annotations, IGNORE, Raw as RawAnnotations, short as short_annotations};
pub use crd::{Crd, POLICY_LABEL};
pub use matches::Matches;
pub use paths::Paths;
pub use reported::Reported;
pub use unreadable::Unreadable;
pub use weight::is_bearable;
pub(crate) use weight::{is_large, weigh, weigh_all, weigh_metadata};

/// Route kinds of Gateway API.
pub const ROUTES: [&str; 5] = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"];

/// The label that the API server puts on every Namespace: its name.
pub(crate) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Metadata as it arrives: how the object is called, and what is kept beside its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Namespace; empty when cluster-scoped.
    pub namespace: Arc<str>,
    /// Name; empty on a CREATE with `generateName`.
    pub name: Arc<str>,
    /// The rest.
    pub meta: Meta,
}

/// What the engine keeps of an object's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Labels.
    pub labels: Labels,
    /// Annotations with short values. A snapshot keeps those that profiles name.
    pub annotations: Annotations,
    /// When it was created; none while a CREATE is under way.
    pub created: Option<Timestamp>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The version that it is written in, where nobody has looked whether it is served: in a file.
    pub version: Option<Arc<str>>,
    /// `metadata.generation`; conditions say which one they saw.
    pub generation: Option<NonZeroI64>,
}

/// An object as it arrives: metadata parsed, spec still JSON.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    /// Its metadata.
    pub header: Cow<'a, Header>,
    /// Its `spec`, when it has one.
    pub spec: Option<&'a RawValue>,
    /// Its `status`, when it has one.
    pub status: Option<&'a RawValue>,
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
    /// Its whole `spec`, as JSON text. A snapshot keeps it only of kinds in which policies control fields.
    pub spec: Option<Arc<str>>,
    /// What controllers wrote into its status, where that says something. An object of a request says nothing: its
    /// status is of another time.
    pub reported: Option<Arc<Reported>>,
    /// Why not all of it is known, where that is so.
    pub unread: Option<Arc<Unreadable>>,
}

/// The part of an object that depends on its kind.
#[derive(Clone, Debug, PartialEq)]
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
        listeners: Box<[Listener]>,
        /// Whose `ListenerSets` may join (`spec.allowedListeners`); nobody's where it is not said.
        sets: From,
    },
    /// A set of listeners that joins a Gateway.
    ListenerSet {
        /// The Gateway.
        parent: ParentRef,
        /// Listeners in the order of the spec.
        listeners: Box<[Listener]>,
    },
    /// Any of [`ROUTES`].
    Route {
        /// Where it attaches.
        parents: Box<[ParentRef]>,
        /// Hostnames that it serves.
        hostnames: Box<[Arc<str>]>,
        /// Rules in the order of the spec.
        rules: Box<[Rule]>,
        /// The paths that they match.
        paths: Paths,
        /// What they match, as a whole.
        matches: Matches,
    },
    /// A Service.
    Service {
        /// Its ports in the order of the spec.
        ports: Box<[Port]>,
    },
    /// Leave for objects of other namespaces to refer to objects of this one.
    ReferenceGrant {
        /// Who may refer.
        from: Box<[GrantFrom]>,
        /// To what.
        to: Box<[GrantTo]>,
    },
    /// A custom resource definition.
    Crd(Arc<Crd>),
    /// Anything else: Namespaces, policies, backends of other kinds. The spec is kept as it came:
    /// policies are read from it by their profile.
    Other,
}

/// A listener of a Gateway or `ListenerSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its name, the section name.
    pub name: Arc<str>,
    /// Its port.
    pub port: u16,
    /// Its protocol; it says which kinds of routes fit.
    pub protocol: Arc<str>,
    /// Its hostname, if it has one.
    pub hostname: Option<Arc<str>>,
    /// Namespaces whose routes may attach.
    pub routes_from: From,
    /// Kinds of routes that may attach; those of the protocol where it is empty.
    pub routes_of: Box<[GroupKind]>,
}

/// Namespaces from which objects may attach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// The own one.
    #[default]
    Same,
    /// Any.
    All,
    /// None.
    None,
    /// Those with these labels.
    Selector(Box<Selector>),
    /// Nobody knows: the definition takes a selector with any operator, and this one cannot be read.
    Unknown,
}

/// A rule of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, the section name; many rules have none.
    pub name: Option<Arc<str>>,
    /// Where it sends requests.
    pub backends: Box<[BackendRef]>,
}

/// A reference to a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendRef {
    /// The backend, namespace filled in.
    pub object: ObjectKey,
    /// The port of it.
    pub port: Option<u16>,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name, the section name; a single port may have none.
    pub name: Option<Arc<str>>,
    /// Its number.
    pub number: u16,
}

/// One entry of `from` of a `ReferenceGrant`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantFrom {
    /// The kind that may refer.
    pub gk: GroupKind,
    /// Where it stands.
    pub namespace: Arc<str>,
}

/// One entry of `to` of a `ReferenceGrant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantTo {
    /// The kind that may be referred to.
    pub gk: GroupKind,
    /// The one object; all of the kind where it is not said.
    pub name: Option<Arc<str>>,
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

// === impl Header ===

impl Header {
    /// The key of an object of that kind.
    pub fn key(&self, gk: &GroupKind) -> ObjectKey {
        shared::key(gk, &self.namespace, &self.name)
    }
}

// === impl Incoming ===

impl<'a> Incoming<'a> {
    /// The parts of an object in JSON text.
    ///
    /// # Errors
    /// When it is not an object, or its metadata cannot be read.
    pub fn parse(text: &'a RawValue) -> Result<Self, Unreadable> {
        json::parts(text)
    }

    /// What controllers wrote into its status.
    pub fn reported(&self) -> Option<Arc<Reported>> {
        Reported::read(
            self.status?,
            &self.header,
            self.header.meta.generation.map(NonZeroI64::get),
        )
    }

    /// Whether the specs of two states are the same values: key order and spaces do not count. Large ones are the same
    /// only where they are the same text: the API server writes both alike.
    pub fn same_spec(&self, other: &Self) -> bool {
        let (one, other) = (self.spec.map(RawValue::get), other.spec.map(RawValue::get));
        let large = [one, other].into_iter().flatten().any(weight::is_large);
        one == other || !large && same_json(one, other)
    }

    /// Whether an update to another state changes neither spec nor labels, and its annotations are alike.
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
    /// When a field that attachment depends on has the wrong type, or there is too much in it.
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
    /// When it is not an object, or as in [`Object::read`].
    pub fn from_json(gk: &GroupKind, text: &RawValue) -> Result<Self, Unreadable> {
        let incoming = Incoming::parse(text)?;
        let reported = incoming.reported();
        let object = Self::read(gk, incoming)?;
        Ok(Self { reported, ..object })
    }

    /// Whether another state of it is the same to policies, as far as both are kept.
    pub fn is_same(&self, other: &Self) -> bool {
        let (one, two) = (&self.meta, &other.meta);
        self.has_same_spec(other)
            && (&one.labels, &one.annotations) == (&two.labels, &two.annotations)
            && (one.created, one.deleting) == (two.created, two.deleting)
    }

    /// Whether its spec is the same in another state, as far as both are kept.
    pub fn has_same_spec(&self, other: &Self) -> bool {
        let same_spec = match (self.spec.as_deref(), other.spec.as_deref()) {
            (None, Some(_)) | (Some(_), None) => !matches!(self.node, Node::Other),
            (one, two) => same_json(one, two),
        };
        same_spec && self.node == other.node
    }

    /// Leaves out what no profile asks for.
    pub fn trim(&mut self, keeps: &Keeps) {
        if !self.keeps_spec(keeps) {
            self.spec = None;
        }
        let annotations = &mut self.meta.annotations;
        annotations.retain(|key| keeps.annotation(key));
    }

    /// Whether there is nothing to leave out.
    pub fn is_trimmed(&self, keeps: &Keeps) -> bool {
        let mut annotations = self.meta.annotations.keys();
        (self.spec.is_none() || self.keeps_spec(keeps))
            && annotations.all(|key| keeps.annotation(key))
    }

    fn keeps_spec(&self, keeps: &Keeps) -> bool {
        matches!(self.node, Node::Other) || keeps.spec(&self.key.gk)
    }

    /// Whether this is nothing else than another that was read before.
    pub fn is_identical(&self, other: &Self) -> bool {
        self.key == other.key
            && self.meta == other.meta
            && self.node == other.node
            && self.spec == other.spec
            && self.reported == other.reported
            && self.unread == other.unread
    }

    /// Where a route sends requests; nothing for other kinds.
    pub fn backends(&self) -> impl Iterator<Item = &BackendRef> {
        let rules = match &self.node {
            Node::Route { rules, .. } => rules,
            _ => &[][..],
        };
        rules.iter().flat_map(|rule| rule.backends.iter())
    }

    /// The references of a route to an object.
    pub fn parents_to(&self, to: &ObjectKey) -> impl Iterator<Item = &ParentRef> {
        let parents = match &self.node {
            Node::Route { parents, .. } => &**parents,
            _ => &[],
        };
        parents.iter().filter(move |parent| parent.object == *to)
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
            Node::Service { ports } => Some(ports.iter().filter_map(|p| p.name.as_ref()).collect()),
            Node::GatewayClass { .. }
            | Node::ReferenceGrant { .. }
            | Node::Crd(_)
            | Node::Other => None,
        }
    }
}

// === impl Node ===

impl Node {
    /// The name of the controller of a class of Gateways; none of anything else.
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

/// The kinds of Gateway API that paths run through, and those that policies may stand on above the routes.
pub fn gateway_kinds() -> impl Iterator<Item = GroupKind> {
    const ABOVE: [&str; 3] = ["GatewayClass", "Gateway", "ListenerSet"];
    let kinds = ABOVE.iter().chain(&ROUTES);
    let kinds = kinds.map(|kind| GroupKind::gateway_api(kind));
    kinds.chain([GroupKind::new(GATEWAY_API_X, "XListenerSet")])
}

/// The same with `ReferenceGrant`: the kinds of Gateway API that are looked at.
pub fn watched_gateway_kinds() -> impl Iterator<Item = GroupKind> {
    gateway_kinds().chain([GroupKind::gateway_api("ReferenceGrant")])
}

/// Whether a kind is one of [`watched_gateway_kinds`].
pub fn is_gateway_kind(gk: &GroupKind) -> bool {
    let above = ["GatewayClass", "Gateway", "ReferenceGrant"];
    gk.is_listener_set() || is_route(gk) || above.iter().any(|kind| gk.is_gateway_api(kind))
}

/// The versions of a kind of [`watched_gateway_kinds`], those that releases 1.0 to 1.7 of Gateway API serve in either
/// channel, the newest first; none of other kinds.
pub fn gateway_versions(gk: &GroupKind) -> &'static [&'static str] {
    if !is_gateway_kind(gk) {
        return &[];
    }
    match &*gk.kind {
        "GatewayClass" | "Gateway" | "HTTPRoute" => &["v1", "v1beta1"],
        "GRPCRoute" | "TCPRoute" | "UDPRoute" => &["v1", "v1alpha2"],
        "TLSRoute" => &["v1", "v1alpha3", "v1alpha2"],
        "ReferenceGrant" => &["v1", "v1beta1", "v1alpha2"],
        "ListenerSet" => &["v1"],
        "XListenerSet" => &["v1alpha1"],
        _ => &[],
    }
}

/// Whether a kind is one of [`ROUTES`].
pub fn is_route(gk: &GroupKind) -> bool {
    ROUTES.iter().any(|kind| gk.is_gateway_api(kind))
}

/// What a section of a kind is called; none when it has no sections or they are not known.
pub fn section_noun(gk: &GroupKind) -> Option<&'static str> {
    if gk.is_gateway_api("Gateway") || gk.is_listener_set() {
        Some("listener")
    } else if is_route(gk) {
        Some("rule")
    } else if gk.is_core("Service") {
        Some("port")
    } else {
        None
    }
}
