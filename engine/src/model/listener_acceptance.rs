//! The acceptance of the listeners of a Gateway and of the `ListenerSets` that name it, as decided in the module `topology`.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::model::ids::{ObjectKey, PrehashedBuildHasher};

/// The listeners of a Gateway and of the `ListenerSets` that name it.
#[derive(Debug, Default)]
pub struct GatewayListeners {
    /// The Gateway first, then the `ListenerSets` that it allows, by age and name, then the others.
    order: Vec<ObjectKey>,
    owners: HashMap<ObjectKey, Arc<ListenerAcceptance>, PrehashedBuildHasher>,
}

/// The listeners of one Gateway or `ListenerSet`, and which of them are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerAcceptance {
    /// Why none of them is part of a Gateway.
    rejected: Option<SetRejection>,
    /// Why each listener is not accepted, in the order of the spec.
    faults: Box<[Option<ListenerFault>]>,
    /// The narrower hostnames of other listeners on the port of each, in the order of the spec.
    narrower: Box<[Option<Arc<NarrowerHostnames>>]>,
}

/// The hostnames of accepted listeners on one port that are narrower than that of another, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NarrowerHostnames(
    /// A wildcard without its star: `.example.com`. No other hostname begins with a dot.
    BTreeSet<Box<str>>,
);

/// Why a `ListenerSet` is not part of a Gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetRejection {
    /// Its parent does not exist.
    Missing,
    /// Nothing is known of its parent.
    Unknown,
    /// Its parent is not a Gateway.
    NoGateway,
    /// The Gateway does not allow it.
    NotAllowed,
    /// The controller of the Gateway does not serve the kind.
    KindNotServed,
}

/// Why a listener is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListenerFault {
    /// Another has the same port, protocol and, if the protocol has one, hostname.
    SameHostname,
    /// Another on the same port has an incompatible protocol.
    IncompatibleProtocol,
    /// The status of its owner reports a conflict.
    Reported,
    /// The status of the `GatewayClass` says that it is not accepted.
    ClassNotAccepted,
    /// There is no such `GatewayClass`, so no controller runs the Gateway.
    ClassNotFound,
    /// No controller serves its protocol.
    UnknownProtocol,
    /// Its controller does not serve its protocol.
    ProtocolNotServed,
    /// Its protocol needs `tls`, and it has none.
    WithoutTls,
    /// It terminates TLS, and names no Secret as certificate.
    WithoutCertificates,
    /// It takes routes of namespaces with labels, and does not state which.
    WithoutSelector,
    /// It allows kinds of routes that its protocol does not take, and its controller does not accept that.
    OtherKinds,
    /// Its certificates are in other namespaces, and no `ReferenceGrant` covers them.
    CertificatesNotGranted,
}

// === impl GatewayListeners ===

impl GatewayListeners {
    /// Adds the listeners of the next owner.
    pub(crate) fn add(&mut self, owner: &ObjectKey, listeners: ListenerAcceptance) {
        self.order.push(owner.clone());
        self.owners.insert(owner.clone(), Arc::new(listeners));
    }

    /// The listeners of the Gateway itself, or of a `ListenerSet` that names it.
    pub fn listeners(&self, owner: &ObjectKey) -> Option<&Arc<ListenerAcceptance>> {
        self.owners.get(owner)
    }

    /// The Gateway first, then the `ListenerSets` that it allows, by age and name, then the others.
    pub fn owners(&self) -> impl Iterator<Item = (&ObjectKey, &Arc<ListenerAcceptance>)> {
        let owners = self.order.iter();
        owners.filter_map(|key| Some((key, self.owners.get(key)?)))
    }
}

// === impl ListenerAcceptance ===

impl ListenerAcceptance {
    /// The listeners of an owner that is part of a Gateway, with the fault of each in the order of the spec.
    pub(crate) fn new(
        faults: Box<[Option<ListenerFault>]>,
        narrower: Box<[Option<Arc<NarrowerHostnames>>]>,
    ) -> Self {
        Self {
            rejected: None,
            faults,
            narrower,
        }
    }

    /// The listeners, `count` of them, of a `ListenerSet` that is not part of a Gateway.
    pub(crate) fn rejected(count: usize, why: SetRejection) -> Self {
        Self {
            rejected: Some(why),
            faults: vec![None; count].into(),
            narrower: Box::default(),
        }
    }

    /// Why none of them is part of a Gateway.
    pub fn rejection(&self) -> Option<SetRejection> {
        self.rejected
    }

    /// Why the listener at an index of the spec is not accepted, if its owner is part of a Gateway.
    pub fn fault(&self, index: usize) -> Option<ListenerFault> {
        self.faults.get(index).copied().flatten()
    }

    /// The narrower hostnames of other listeners on the port of the listener at an index of the spec.
    pub fn narrower(&self, index: usize) -> Option<&Arc<NarrowerHostnames>> {
        self.narrower.get(index)?.as_ref()
    }

    /// Why each listener is not accepted, in the order of the spec.
    pub fn faults(&self) -> &[Option<ListenerFault>] {
        &self.faults
    }

    /// Whether the owner is accepted: it is part of a Gateway, and at least one listener is accepted if it has any.
    pub fn is_accepted(&self) -> bool {
        let mut each = self.faults.iter();
        self.rejected.is_none() && (self.faults.is_empty() || each.any(Option::is_none))
    }
}

// === impl NarrowerHostnames ===

impl NarrowerHostnames {
    /// Adds a hostname, in lower case.
    pub(crate) fn insert(&mut self, name: &str) {
        self.0.insert(without_star(name).into());
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a listener has exactly this hostname, in lower case.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(without_star(name))
    }

    /// Whether a listener has a wildcard that matches all hosts of this hostname, in lower case.
    pub fn has_above(&self, name: &str) -> bool {
        let mut domains = name.match_indices('.').filter_map(|(at, _)| name.get(at..));
        domains.any(|domain| self.0.contains(domain))
    }
}

fn without_star(name: &str) -> &str {
    name.strip_prefix('*').unwrap_or(name)
}

// === impl ListenerFault ===

impl fmt::Display for ListenerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameHostname => "another listener has the same port, protocol and hostname",
            Self::IncompatibleProtocol => {
                "another listener on the same port has an incompatible protocol"
            }
            Self::Reported => "its controller does not accept it",
            Self::ClassNotAccepted => "its controller does not accept the GatewayClass",
            Self::ClassNotFound => "its GatewayClass does not exist",
            Self::UnknownProtocol => "no controller serves its protocol",
            Self::ProtocolNotServed => "its controller does not serve its protocol",
            Self::WithoutTls => "its protocol needs tls",
            Self::WithoutCertificates => "its tls.certificateRefs names no Secret",
            Self::WithoutSelector => {
                "allowedRoutes.namespaces.from is Selector, and there is no selector"
            }
            Self::OtherKinds => {
                "allowedRoutes.kinds has a kind that its protocol does not take, and its controller does not serve such a listener"
            }
            Self::CertificatesNotGranted => {
                "its certificates are in another namespace, and no ReferenceGrant there covers them"
            }
        })
    }
}
