//! The listener whose policies apply to requests, for controllers that select policies by hostname if
//! plain HTTP listeners share a port. It may be another listener than the one that the route is
//! attached to.

use std::rc::Rc;
use std::sync::Arc;

use super::{
    AncestorPath, ListenerHostname, acceptance_of, controller_facts, gateway_of, through_listeners,
};
use crate::model::ids::{ObjectKey, Place};
use crate::model::object::Listener;
use crate::state::snapshot::Snapshot;
use crate::topology::hostnames::in_common;

/// The accepted plain HTTP listeners of a Gateway and its `ListenerSets`, in the order in which the controller looks at them.
#[derive(Debug)]
pub struct PoliciesByHostname(Vec<PlainListener>);

#[derive(Debug)]
struct PlainListener {
    port: u16,
    hostname: ListenerHostname,
    path: Rc<AncestorPath>,
}

// === impl PoliciesByHostname ===

impl PoliciesByHostname {
    /// The listeners of the Gateway of an object. `None` if each listener has its own policies: its
    /// controller does not select by hostname, or no two listeners share a port.
    pub fn around(snapshot: &Snapshot, owner: &ObjectKey) -> Option<Self> {
        let facts = controller_facts(snapshot, owner)?;
        if !facts.listener_policies_by_hostname {
            return None;
        }
        let gateway = snapshot.get(gateway_of(snapshot, owner))?;
        let acceptance = acceptance_of(snapshot, gateway);
        let mut all = Vec::new();
        for (key, accepted) in acceptance.owners() {
            let Some(owner) = snapshot.get(key).filter(|_| accepted.rejection().is_none()) else {
                continue;
            };
            for (index, path) in through_listeners(snapshot, owner) {
                let listener = index.and_then(|index| Some((index, owner.listeners().get(index)?)));
                let Some((index, listener)) = listener.filter(|(_, listener)| is_plain(listener))
                else {
                    continue;
                };
                all.push(PlainListener {
                    port: listener.port,
                    hostname: ListenerHostname::for_listener(snapshot, owner, accepted, index),
                    path,
                });
            }
        }
        let shares =
            |own: &PlainListener| all.iter().filter(|one| one.port == own.port).count() > 1;
        all.iter().any(shares).then_some(Self(all))
    }

    /// The ancestor paths whose policies apply to the requests that a route with these hostnames
    /// takes at a listener, without hostnames that the listener leaves to others; none if only the listener's own path is possible.
    pub fn paths(&self, listener: &Place, hostnames: &[Arc<str>]) -> Vec<&Rc<AncestorPath>> {
        let Some(own) = self.0.iter().find(|one| one.path.last() == Some(listener)) else {
            return Vec::new();
        };
        let all: Arc<str> = Arc::from("*");
        let of_listener = [own.hostname().cloned().unwrap_or(all)];
        let hosts = if hostnames.is_empty() {
            &of_listener
        } else {
            hostnames
        };
        let mut paths: Vec<&Rc<AncestorPath>> = Vec::new();
        for host in hosts {
            let shared = own
                .hostname()
                .map_or(Some(host), |name| in_common(name, host))
                .filter(|host| !own.hostname.gives_up(host));
            if let Some(path) = shared.and_then(|host| self.path(own.port, host))
                && !paths.contains(&path)
            {
                paths.push(path);
            }
        }
        paths
    }

    /// The number of listeners.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The path of the listener with the longest hostname that covers a host; of equally long ones the first.
    fn path(&self, port: u16, host: &Arc<str>) -> Option<&Rc<AncestorPath>> {
        let mut longest: Option<(usize, &PlainListener)> = None;
        for listener in self.0.iter().filter(|listener| listener.port == port) {
            let own = listener.hostname();
            let length = own.map_or(0, |own| own.len());
            if own.is_none_or(|own| in_common(own, host) == Some(host))
                && longest.is_none_or(|(most, _)| length > most)
            {
                longest = Some((length, listener));
            }
        }
        longest.map(|(_, listener)| &listener.path)
    }
}

// === impl PlainListener ===

impl PlainListener {
    fn hostname(&self) -> Option<&Arc<str>> {
        self.hostname.name.as_ref().filter(|name| !name.is_empty())
    }
}

fn is_plain(listener: &Listener) -> bool {
    &*listener.protocol == "HTTP"
}
