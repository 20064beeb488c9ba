//! Names of kinds, objects, and sections of objects.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use arcstr::{ArcStr, literal};
use foldhash::SharedSeed;
use foldhash::quality::SeedableRandomState;
use schemars::JsonSchema;
use serde::Deserialize;

/// The API group of Gateway API.
pub const GATEWAY_API: &str = "gateway.networking.k8s.io";
/// The API group of its experimental kinds.
pub const GATEWAY_API_X: &str = "gateway.networking.x-k8s.io";
/// The API group of Services of several clusters (KEP-1645).
pub const MULTICLUSTER: &str = "multicluster.x-k8s.io";
/// The API group of custom resource definitions.
pub const APIEXTENSIONS: &str = "apiextensions.k8s.io";

/// A kind, regardless of version: versions of a kind are the same objects.
///
/// Every key contains one, and there are few: names that are known in advance are constants, and others are shared.
#[derive(Clone, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename = "Match", deny_unknown_fields)]
#[schemars(description = "A group and kind.")]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "the unsafe code is that of `literal!`, which the constants are made by"
)]
pub struct GroupKind {
    /// The API group; empty for core.
    #[schemars(with = "String", description = "The API group.")]
    pub group: ArcStr,
    /// The kind, as written in manifests.
    #[schemars(with = "String", description = "Kind.")]
    pub kind: ArcStr,
}

/// The identity of an object. Cluster-scoped objects have an empty namespace.
///
/// Keys are cloned and looked up far more often than created: cloning is a reference count, and the hash is computed
/// once.
#[derive(Clone)]
pub struct ObjectKey(Arc<KeyParts>);

/// The parts of an [`ObjectKey`].
#[derive(Debug)]
pub struct KeyParts {
    /// Its kind.
    pub gk: GroupKind,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    hash: u64,
}

/// A hasher for hashes that are computed once, when a key is made.
///
/// Users choose the names in keys. If they could tell the hashes, they could choose names that all fall into one bucket,
/// and each look-up would read them all. So the seed is random; and since a key is found in every map, it is the same
/// for all keys of a process: that of foldhash, which seeds the maps of one request as well.
pub(crate) fn hasher() -> impl Hasher {
    SeedableRandomState::with_seed(0, SharedSeed::global_random()).build_hasher()
}

/// Builds hashers for maps by [`ObjectKey`], which reuse the hash of the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrehashedBuildHasher;

/// The hasher of [`PrehashedBuildHasher`].
#[derive(Debug, Default)]
pub struct PrehashedHasher(u64);

/// An object, or one of its sections. The owner is part of the identity: listener `http` of a Gateway is not listener
/// `http` of a `ListenerSet` of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The object.
    pub object: ObjectKey,
    /// The listener, rule or port; `None` for the whole object.
    pub section: Option<Arc<str>>,
}

/// Removes consecutive duplicates: the steps of a path, and the paths of a route, name the same objects repeatedly.
pub fn dedup_consecutive<'a>(
    keys: impl Iterator<Item = &'a ObjectKey>,
) -> impl Iterator<Item = &'a ObjectKey> {
    let mut last = None;
    keys.filter(move |key| last.replace(*key) != Some(*key))
}

// === impl GroupKind ===

impl GroupKind {
    /// `GatewayClass`.
    pub const GATEWAY_CLASS: Self = Self::of_gateway_api(literal!("GatewayClass"));
    /// `HTTPRoute`.
    pub const HTTP_ROUTE: Self = Self::of_gateway_api(literal!("HTTPRoute"));
    /// `GRPCRoute`.
    pub const GRPC_ROUTE: Self = Self::of_gateway_api(literal!("GRPCRoute"));
    /// `Namespace`.
    pub const NAMESPACE: Self = Self {
        group: literal!(""),
        kind: literal!("Namespace"),
    };
    /// The kind of custom resource definitions.
    pub const CRD: Self = Self {
        group: literal!(APIEXTENSIONS),
        kind: literal!("CustomResourceDefinition"),
    };
    /// `ListenerSet` and its experimental predecessor.
    pub const LISTENER_SETS: [Self; 2] = [
        Self::of_gateway_api(literal!("ListenerSet")),
        Self {
            group: literal!(GATEWAY_API_X),
            kind: literal!("XListenerSet"),
        },
    ];

    /// A kind with a group and a name.
    pub fn new(group: impl Into<ArcStr>, kind: impl Into<ArcStr>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    const fn of_gateway_api(kind: ArcStr) -> Self {
        Self {
            group: literal!(GATEWAY_API),
            kind,
        }
    }

    /// A kind of Gateway API.
    pub fn gateway_api(kind: &str) -> Self {
        Self::of_gateway_api(kind.into())
    }

    /// A kind of the core group.
    pub fn core(kind: &str) -> Self {
        Self::new(literal!(""), kind)
    }

    /// The kind with its group, also for kinds of the Gateway API: `HTTPRoute.gateway.networking.k8s.io`. Kinds of core
    /// have none: `Service`.
    pub fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.kind.to_string(),
            group => format!("{}.{group}", self.kind),
        }
    }

    fn parts(&self) -> [&str; 3] {
        if self.group.is_empty() || &*self.group == GATEWAY_API {
            [&self.kind, "", ""]
        } else {
            [&self.kind, ".", &self.group]
        }
    }

    /// Whether this is a kind of Gateway API with this name.
    pub fn is_gateway_api(&self, kind: &str) -> bool {
        // Compares the kind first, because most kinds differ in length.
        &*self.kind == kind && &*self.group == GATEWAY_API
    }

    /// Whether this is one of [`GroupKind::LISTENER_SETS`].
    pub fn is_listener_set(&self) -> bool {
        self.is_gateway_api("ListenerSet")
            || (&*self.kind == "XListenerSet" && &*self.group == GATEWAY_API_X)
    }

    /// Whether objects of this kind have listeners: Gateways and `ListenerSets`.
    pub fn has_listeners(&self) -> bool {
        self.is_gateway_api("Gateway") || self.is_listener_set()
    }

    /// Whether this is a core kind with this name.
    pub fn is_core(&self, kind: &str) -> bool {
        self.group.is_empty() && &*self.kind == kind
    }
}

impl Ord for GroupKind {
    /// By group, then by kind.
    fn cmp(&self, other: &Self) -> Ordering {
        // Most comparisons are of the same allocations.
        let text = |one: &ArcStr, other: &ArcStr| {
            if ArcStr::ptr_eq(one, other) {
                Ordering::Equal
            } else {
                one.cmp(other)
            }
        };
        text(&self.group, &other.group).then_with(|| text(&self.kind, &other.kind))
    }
}

impl PartialOrd for GroupKind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares names; most comparisons are of the same allocation.
fn text(one: &Arc<str>, other: &Arc<str>) -> Ordering {
    if Arc::ptr_eq(one, other) {
        return Ordering::Equal;
    }
    one.cmp(other)
}

impl fmt::Debug for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for GroupKind {
    /// `Gateway` for Gateway API and core, `Kind.group` for everything else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts().into_iter();
        parts.try_for_each(|part| f.write_str(part))
    }
}

// === impl ObjectKey ===

impl ObjectKey {
    /// The key of an object.
    pub fn new(gk: GroupKind, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        let (namespace, name) = (namespace.into(), name.into());
        let mut hasher = hasher();
        (&gk, &*namespace, &*name).hash(&mut hasher);
        let hash = hasher.finish();
        Self(Arc::new(KeyParts {
            gk,
            namespace,
            name,
            hash,
        }))
    }

    /// The precomputed hash.
    pub(crate) fn hashed(&self) -> u64 {
        self.hash
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

    /// The displayed form, built in one allocation.
    pub fn text(&self) -> String {
        self.parts().concat()
    }

    fn parts(&self) -> [&str; 7] {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        let [kind, dot, group] = self.gk.parts();
        let is_named = !self.namespace.is_empty() || !self.name.is_empty();
        let space = if is_named { " " } else { "" };
        [kind, dot, group, space, &self.namespace, slash, &self.name]
    }

    /// `namespace/name`; the name alone for cluster-scoped objects.
    pub fn path(&self) -> String {
        if self.namespace.is_empty() {
            self.name.to_string()
        } else {
            [&*self.namespace, "/", &*self.name].concat()
        }
    }
}

impl Deref for ObjectKey {
    type Target = KeyParts;

    fn deref(&self) -> &KeyParts {
        &self.0
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.hash == other.hash
                && self.name == other.name
                && self.namespace == other.namespace
                && self.gk == other.gk)
    }
}

impl Eq for ObjectKey {}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Ord for ObjectKey {
    /// By kind, namespace and name.
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.gk
            .cmp(&other.gk)
            .then_with(|| text(&self.namespace, &other.namespace))
            .then_with(|| text(&self.name, &other.name))
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

// === impl PrehashedBuildHasher ===

impl BuildHasher for PrehashedBuildHasher {
    type Hasher = PrehashedHasher;

    fn build_hasher(&self) -> PrehashedHasher {
        PrehashedHasher::default()
    }
}

impl Hasher for PrehashedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts().into_iter();
        parts.try_for_each(|part| f.write_str(part))
    }
}

impl fmt::Display for Place {
    /// `Gateway infra/edge#http`, the form of the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.section {
            None => self.object.fmt(f),
            Some(section) => write!(f, "{}#{section}", self.object),
        }
    }
}
