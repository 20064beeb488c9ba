//! The listeners of a Gateway and its `ListenerSets`, and whether they accept a request.

use std::sync::Arc;

use super::hostname::{self, Specificity};
use super::request::{Request, Scheme};
use super::{EntryPoint, ListenerEntry};
use crate::model::object::{Listener, Object};
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ListenerFault, ListenerHostname, ListenerWithOwner, TrafficType, acceptance_of,
    listener_acceptance, listeners_of,
};

/// A listener and its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListenerCandidate<'a> {
    pub(super) gateway: &'a Arc<Object>,
    /// The Gateway itself, or a `ListenerSet`.
    pub(super) owner: &'a Arc<Object>,
    pub(super) listener: &'a Listener,
    /// Its index in the spec of the owner.
    index: usize,
    /// Why it is not accepted, if so.
    pub(super) fault: Option<ListenerFault>,
}

/// Listeners with equal sockets differ only in hostname.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Socket {
    pub(super) port: u16,
    traffic_type: TrafficType,
}

/// The listeners of a Gateway, followed by those of its `ListenerSets` by age and name. The second list has the
/// listeners of `ListenerSets` that the Gateway does not allow.
pub(super) fn of_gateway<'a>(
    snapshot: &'a Snapshot,
    gateway: &'a Arc<Object>,
) -> (Vec<ListenerCandidate<'a>>, Vec<ListenerCandidate<'a>>) {
    let (mut joined, mut outside) = (Vec::new(), Vec::new());
    for (key, accepted) in acceptance_of(snapshot, gateway).owners() {
        let Some(owner) = snapshot.get(key) else {
            continue;
        };
        let entries = listeners_of(owner).iter().enumerate();
        let entries = entries.map(|(i, listener)| ListenerCandidate {
            gateway,
            owner,
            listener,
            fault: accepted.fault(i),
            index: i,
        });
        if accepted.rejection().is_none() {
            joined.extend(entries);
        } else {
            outside.extend(entries);
        }
    }
    (joined, outside)
}

// === impl ListenerCandidate ===

impl<'a> ListenerCandidate<'a> {
    /// The hostname, if the protocol supports one.
    pub(super) fn hostname(&self) -> Option<&'a Arc<str>> {
        let named = self.traffic_type().has_hostname();
        self.listener.hostname.as_ref().filter(|_| named)
    }

    /// Whether it takes HTTP without TLS.
    pub(super) fn is_plain_http(&self) -> bool {
        self.traffic_type() == TrafficType::Http
    }

    fn traffic_type(&self) -> TrafficType {
        TrafficType::from_listener(self.listener)
    }

    /// The listener in the form that attachment needs.
    pub(super) fn own(&self, snapshot: &Snapshot) -> ListenerWithOwner<'a> {
        let all = listener_acceptance(snapshot, self.owner);
        let hostname =
            all.map(|all| ListenerHostname::for_listener(snapshot, self.owner, &all, self.index));
        ListenerWithOwner {
            owner: self.owner,
            listener: self.listener,
            fault: self.fault,
            hostname: hostname.unwrap_or_default(),
        }
    }

    /// The port and protocol, by which listeners are grouped.
    pub(super) fn socket(&self) -> Socket {
        Socket {
            port: self.listener.port,
            traffic_type: self.traffic_type(),
        }
    }

    /// Whether port and protocol match the request. A request without a scheme may be HTTP or HTTPS; other protocols
    /// are only identified by their port, so it must be given.
    pub(super) fn fits(&self, request: &Request) -> bool {
        if request.port.is_some_and(|port| port != self.listener.port) {
            return false;
        }
        let scheme = request.scheme;
        let by_port = request.port.is_some();
        match self.traffic_type() {
            TrafficType::Http => matches!(scheme, None | Some(Scheme::Http)),
            // The server name decides which listener has the connection, whatever is sent on it.
            TrafficType::Tls => matches!(scheme, None | Some(Scheme::Https | Scheme::Tls)),
            // TCP can carry anything.
            TrafficType::Tcp | TrafficType::Other => by_port && scheme != Some(Scheme::Udp),
            TrafficType::Udp => by_port && matches!(scheme, None | Some(Scheme::Udp)),
        }
    }

    /// The name of a request that its hostname is compared with: the server name with TLS, else the host.
    pub(super) fn name_of(&self, request: &Request) -> Option<String> {
        if self.traffic_type() == TrafficType::Tls {
            request.server_name()
        } else {
            request.hostname()
        }
    }

    /// The specificity of its hostname for a request; `None` if it does not match.
    pub(super) fn specificity(&self, request: &Request) -> Option<Specificity> {
        self.fit_name(self.name_of(request).as_deref())
    }

    /// The specificity of its hostname for a name; `None` if it does not match.
    pub(super) fn fit_name(&self, name: Option<&str>) -> Option<Specificity> {
        match self.hostname() {
            None => Some(Specificity::default()),
            Some(pattern) => hostname::specificity(pattern, name?),
        }
    }

    /// The name that routes are matched against: the server name for the TLS protocol, else the host.
    pub(super) fn name_for_routes(&self, request: &Request) -> Option<String> {
        if &*self.listener.protocol == "TLS" {
            request.server_name()
        } else {
            request.hostname()
        }
    }

    /// Whether port, protocol and hostname match a request.
    pub(super) fn would_take(&self, request: &Request) -> bool {
        self.fits(request) && self.specificity(request).is_some()
    }

    pub(super) fn entry_point(&self) -> EntryPoint {
        let listener = self.listener;
        EntryPoint::Listener(Box::new(ListenerEntry {
            gateway: self.gateway.key.clone(),
            place: self.owner.key.section(listener.name.clone()),
            port: listener.port,
            protocol: listener.protocol.clone(),
            hostname: self.hostname().cloned(),
        }))
    }

    /// `HTTPS 443`, and the port as a sort key.
    pub(super) fn socket_words(&self) -> (u16, String) {
        let Listener { port, protocol, .. } = self.listener;
        (*port, format!("{protocol} {port}"))
    }

    /// `listener https (hostname *.example.com)`, with the name of its `ListenerSet`, if any.
    pub(super) fn with_hostname(&self) -> String {
        let hostname = self.hostname();
        let hostname = hostname.map(|name| format!("hostname {name}"));
        let hostname = hostname.unwrap_or_else(|| "any hostname".to_owned());
        format!("{} ({hostname})", self.text())
    }

    /// `listener https`, with the name of its `ListenerSet`, if any.
    pub(super) fn text(&self) -> String {
        let name = &self.listener.name;
        if self.owner.key == self.gateway.key {
            format!("listener {name}")
        } else {
            format!("{} listener {name}", self.owner.key)
        }
    }
}
