//! The listeners of a Gateway with those of its `ListenerSets`, and which of them take a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::hostname::{self, Fit};
use super::request::{Request, Scheme};
use super::{Front, ListenerFront};
use crate::engine::object::{Listener, Node, Object};
use crate::engine::policy::Precedence;
use crate::engine::snapshot::Snapshot;
use crate::engine::topology::joins;

/// A listener with the object that it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) gateway: &'a Arc<Object>,
    /// The Gateway itself, or a `ListenerSet`.
    pub(super) owner: &'a Arc<Object>,
    pub(super) listener: &'a Listener,
    /// Whether it is not accepted, because another is not told apart from it.
    pub(super) conflicted: bool,
}

/// Listeners that a connection reaches alike; the hostname tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Socket {
    pub(super) port: u16,
    carries: Carries,
}

/// What a listener's protocol carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carries {
    Http,
    Tls,
    Tcp,
    Udp,
    /// A protocol of an implementation.
    Other,
}

/// All listeners of a Gateway: its own first, then those of its `ListenerSets` by age and name. Apart
/// from them, those of the `ListenerSets` that it does not let join.
pub(super) fn of_gateway<'a>(
    snapshot: &'a Snapshot,
    gateway: &'a Arc<Object>,
) -> (Vec<Entry<'a>>, Vec<Entry<'a>>) {
    let sets = snapshot.below(&gateway.key);
    let sets = sets.filter(|object| matches!(object.node, Node::ListenerSet { .. }));
    let mut sets: Vec<&Arc<Object>> = sets.collect();
    sets.sort_by_cached_key(|set| Precedence::of(set));
    let (joined, outside): (Vec<_>, Vec<_>) = sets
        .into_iter()
        .partition(|set| joins(snapshot, gateway, set));
    let owners = std::iter::once(gateway).chain(joined);
    let mut entries: Vec<Entry<'_>> = owners.flat_map(|owner| entries(gateway, owner)).collect();
    mark_conflicts(&mut entries);
    let outside = outside.into_iter();
    let outside = outside.flat_map(|owner| self::entries(gateway, owner));
    (entries, outside.collect())
}

fn entries<'a>(
    gateway: &'a Arc<Object>,
    owner: &'a Arc<Object>,
) -> impl Iterator<Item = Entry<'a>> {
    let listeners = match &owner.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => &**listeners,
        _ => &[],
    };
    listeners.iter().map(move |listener| Entry {
        gateway,
        owner,
        listener,
        conflicted: false,
    })
}

/// Of listeners with one port, protocol and hostname the first owner's is accepted; where an owner has
/// several of them itself, none is.
fn mark_conflicts(entries: &mut [Entry<'_>]) {
    let mut alike: BTreeMap<(u16, Arc<str>, Option<String>), Vec<usize>> = BTreeMap::new();
    for (i, entry) in entries.iter().enumerate() {
        let Listener { port, protocol, .. } = entry.listener;
        let hostname = entry.hostname().map(|name| hostname::normal(name));
        let places = alike.entry((*port, protocol.clone(), hostname));
        places.or_default().push(i);
    }
    for places in alike.into_values() {
        let mut owners = places.iter().map(|i| entries.get(*i).map(|e| &e.owner.key));
        let twice = owners.next() == owners.next();
        for i in places.into_iter().skip(usize::from(!twice)) {
            if let Some(entry) = entries.get_mut(i) {
                entry.conflicted = true;
            }
        }
    }
}

// === impl Entry ===

impl<'a> Entry<'a> {
    /// Its hostname, where its protocol has one.
    pub(super) fn hostname(&self) -> Option<&'a Arc<str>> {
        let named = !matches!(self.carries(), Carries::Tcp | Carries::Udp);
        self.listener.hostname.as_ref().filter(|_| named)
    }

    fn carries(&self) -> Carries {
        match &*self.listener.protocol {
            "HTTP" => Carries::Http,
            "HTTPS" | "TLS" => Carries::Tls,
            "TCP" => Carries::Tcp,
            "UDP" => Carries::Udp,
            _ => Carries::Other,
        }
    }

    /// What it shares with the listeners from which only its hostname tells it apart.
    pub(super) fn socket(&self) -> Socket {
        Socket {
            port: self.listener.port,
            carries: self.carries(),
        }
    }

    /// Whether port and protocol fit what a request says of them. What says nothing is taken for
    /// HTTP or TLS; other protocols are told by the port alone, so it must be said.
    pub(super) fn fits(&self, request: &Request) -> bool {
        if request.port.is_some_and(|port| port != self.listener.port) {
            return false;
        }
        let scheme = request.scheme;
        let by_port = request.port.is_some();
        match self.carries() {
            Carries::Http => matches!(scheme, None | Some(Scheme::Http)),
            Carries::Tls if scheme == Some(Scheme::Tls) => &*self.listener.protocol == "TLS",
            Carries::Tls => matches!(scheme, None | Some(Scheme::Https)),
            // Whatever is sent over it, it carries.
            Carries::Tcp | Carries::Other => by_port && scheme != Some(Scheme::Udp),
            Carries::Udp => by_port && matches!(scheme, None | Some(Scheme::Udp)),
        }
    }

    /// How well its hostname fits a host; none where it does not.
    pub(super) fn fit(&self, host: Option<&str>) -> Option<Fit> {
        match self.hostname() {
            None => Some(Fit::default()),
            Some(pattern) => hostname::fit(pattern, host?),
        }
    }

    /// Whether port, protocol and hostname fit a request.
    pub(super) fn would_take(&self, request: &Request) -> bool {
        self.fits(request) && self.fit(request.hostname().as_deref()).is_some()
    }

    pub(super) fn front(&self) -> Front {
        let listener = self.listener;
        Front::Listener(Box::new(ListenerFront {
            gateway: self.gateway.key.clone(),
            place: self.owner.key.section(listener.name.clone()),
            port: listener.port,
            protocol: listener.protocol.clone(),
            hostname: self.hostname().cloned(),
        }))
    }

    /// `HTTPS 443`, and the port to sort by.
    pub(super) fn socket_words(&self) -> (u16, String) {
        let Listener { port, protocol, .. } = self.listener;
        (*port, format!("{protocol} {port}"))
    }

    /// `listener https (hostname *.example.com)`, with the `ListenerSet` where it is of one.
    pub(super) fn with_hostname(&self) -> String {
        let hostname = self.hostname();
        let hostname = hostname.map(|name| format!("hostname {name}"));
        let hostname = hostname.unwrap_or_else(|| "any hostname".to_owned());
        format!("{} ({hostname})", self.words())
    }

    /// `listener https`, with the `ListenerSet` where it is of one.
    pub(super) fn words(&self) -> String {
        let name = &self.listener.name;
        if self.owner.key == self.gateway.key {
            format!("listener {name}")
        } else {
            format!("{} listener {name}", self.owner.key)
        }
    }
}
