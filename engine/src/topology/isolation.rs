//! Listeners of one port, kept apart by hostname: a request goes to the listener with the most specific hostname that
//! matches it (Gateway API, `Gateway.spec.listeners`, "HTTP Listener Isolation").

use std::collections::HashMap;
use std::sync::Arc;

use super::conflicts::TrafficType;
use super::controller_facts;
use super::hostnames::{above, in_common};
use crate::kinds::profile::ListenerIsolation;
use crate::model::ids::ObjectKey;
use crate::model::listener_acceptance::{ListenerAcceptance, ListenerFault, NarrowerHostnames};
use crate::model::object::{Listener, Object};
use crate::state::snapshot::Snapshot;

/// The listeners of one owner, with the conflict of each.
pub(super) type ListenersAndFaults<'a> = (&'a [Listener], &'a [Option<ListenerFault>]);

/// The hostname of a listener, and which of its requests go to other listeners.
#[derive(Clone, Debug, Default)]
pub struct ListenerHostname {
    /// The hostname; every host if absent.
    pub name: Option<Arc<str>>,
    /// The hostnames of other listeners on the port that are narrower.
    pub narrower: Option<Arc<NarrowerHostnames>>,
    /// Whether it takes no route whose hostname is a wildcard that is wider than its own.
    pub rejects_wider_wildcards: bool,
    /// Whether a narrower wildcard takes all requests that match it. Otherwise a listener gives up only hostnames that
    /// another listener has exactly so.
    pub is_isolated: bool,
}

/// For each listener, owner by owner, the narrower hostnames of other listeners on its port that are accepted, or of all others:
/// one that lost its hostname to another has the same as that one.
pub(super) fn narrower(
    owners: &[ListenersAndFaults<'_>],
    of_invalid: bool,
) -> Vec<Box<[Option<Arc<NarrowerHostnames>>]>> {
    let takes = |conflict: &Option<ListenerFault>| of_invalid || conflict.is_none();
    let each = owners.iter().enumerate().flat_map(|(i, (own, conflicts))| {
        let accepted = own.iter().zip(*conflicts).enumerate();
        let accepted = accepted.filter(|(_, (listener, conflict))| {
            takes(conflict) && TrafficType::from_listener(listener).has_hostname()
        });
        accepted.map(move |(j, (listener, _))| ((i, j), listener))
    });
    let each: Vec<((usize, usize), &Listener)> = each.collect();
    // Only these can have narrower ones, and those with equal hostnames share them: there may be thousands.
    let mut wide: HashMap<(u16, String), NarrowerHostnames> = HashMap::new();
    let mut wide_at: HashMap<(usize, usize), (u16, String)> = HashMap::new();
    for (place, listener) in &each {
        let name = listener.hostname.as_deref().unwrap_or("");
        if let Some(suffix) = name.strip_prefix('*').or(name.is_empty().then_some("")) {
            let id = (listener.port, suffix.to_ascii_lowercase());
            wide.entry(id.clone()).or_default();
            wide_at.insert(*place, id);
        }
    }
    let others = if wide.is_empty() { &[][..] } else { &each };
    for (_, listener) in others {
        let Some(name) = listener.hostname.as_ref().filter(|name| !name.is_empty()) else {
            continue;
        };
        let name = name.to_ascii_lowercase();
        let suffixes = above(&name).map(|domain| format!(".{domain}"));
        for suffix in suffixes.chain([String::new()]) {
            // A wildcard is not narrower than itself.
            if name.strip_prefix('*') == Some(&suffix) {
                continue;
            }
            if let Some(narrower) = wide.get_mut(&(listener.port, suffix)) {
                narrower.insert(&name);
            }
        }
    }
    let wide = wide
        .into_iter()
        .filter(|(_, narrower)| !narrower.is_empty());
    let wide = wide.map(|(id, narrower)| (id, Arc::new(narrower)));
    let wide: HashMap<(u16, String), Arc<NarrowerHostnames>> = wide.collect();
    let owners = owners.iter().enumerate().map(|(i, (own, _))| {
        let of_listener = |j| wide.get(wide_at.get(&(i, j))?).cloned();
        (0..own.len()).map(of_listener).collect()
    });
    owners.collect()
}

/// The isolation of a listener from others by the controller of a Gateway or `ListenerSet`. `None` if that is not known:
/// the Gateway API asks for it, and not every controller does.
fn isolation(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
) -> Option<ListenerIsolation> {
    let facts = controller_facts(snapshot, &owner.key);
    match facts?.listener_isolation? {
        // With TLS, the server name leads to one listener.
        ListenerIsolation::None if TrafficType::from_listener(listener) == TrafficType::Tls => {
            Some(ListenerIsolation::Full)
        }
        known => Some(known),
    }
}

/// Whether it is not known whether the controller of a Gateway or `ListenerSet` keeps listeners apart.
pub fn may_keep_apart(snapshot: &Snapshot, owner: &ObjectKey) -> bool {
    let facts = controller_facts(snapshot, owner);
    facts.is_none_or(|facts| facts.listener_isolation.is_none())
}

/// The hostnames, of these, that other listeners of the same object have on the port.
fn own_hostnames(
    owner: &Object,
    listener: &Listener,
    narrower: &NarrowerHostnames,
) -> NarrowerHostnames {
    let mut own = NarrowerHostnames::default();
    let others = owner.listeners().iter();
    for other in others.filter(|other| other.port == listener.port) {
        let name = other.hostname.as_deref().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if narrower.has(&name) {
            own.insert(&name);
        }
    }
    own
}

// === impl ListenerHostname ===

impl ListenerHostname {
    /// The hostname of the listener at an index of the spec of its owner. Where it is not known whether listeners are kept apart, no
    /// hostname is left to others: the listener may serve it.
    pub fn for_listener(
        snapshot: &Snapshot,
        owner: &Object,
        all: &ListenerAcceptance,
        index: usize,
    ) -> Self {
        Self::with(snapshot, owner, all, index, |listener| {
            isolation(snapshot, owner, listener).unwrap_or(ListenerIsolation::NoneWithTls)
        })
    }

    /// The same, but if it is unknown whether listeners are kept apart, they are, as the Gateway
    /// API asks.
    pub fn if_kept_apart(
        snapshot: &Snapshot,
        owner: &Object,
        all: &ListenerAcceptance,
        index: usize,
    ) -> Self {
        Self::with(snapshot, owner, all, index, |listener| {
            isolation(snapshot, owner, listener).unwrap_or(ListenerIsolation::Full)
        })
    }

    fn with(
        snapshot: &Snapshot,
        owner: &Object,
        all: &ListenerAcceptance,
        index: usize,
        isolation: impl FnOnce(&Listener) -> ListenerIsolation,
    ) -> Self {
        let listener = owner.listeners().get(index);
        let name = listener.and_then(|listener| listener.hostname.clone());
        let is_wildcard = name.as_ref().is_some_and(|name| name.starts_with('*'));
        let facts = is_wildcard.then(|| controller_facts(snapshot, &owner.key));
        let open = Self {
            name,
            rejects_wider_wildcards: facts
                .flatten()
                .is_some_and(|facts| facts.rejects_wider_wildcards),
            ..Self::default()
        };
        // Most listeners are alone, so the controller need not be found.
        let (Some(listener), Some(narrower)) = (listener, all.narrower(index)) else {
            return open;
        };
        let (narrower, is_isolated) = match isolation(listener) {
            ListenerIsolation::Full | ListenerIsolation::CoveredHostnames => {
                (narrower.clone(), true)
            }
            ListenerIsolation::EqualHostnames => (narrower.clone(), false),
            ListenerIsolation::CoveredOwnHostnames => {
                (Arc::new(own_hostnames(owner, listener, narrower)), true)
            }
            ListenerIsolation::EqualOwnHostnames => {
                (Arc::new(own_hostnames(owner, listener, narrower)), false)
            }
            ListenerIsolation::None | ListenerIsolation::NoneWithTls => return open,
        };
        Self {
            narrower: Some(narrower),
            is_isolated,
            ..open
        }
    }

    /// Whether it takes the requests for every hostname.
    pub fn is_open(&self) -> bool {
        self.name.is_none() && self.narrower.is_none()
    }

    /// Whether it has a host in common with a route; an absent hostname has all.
    pub fn intersects(&self, ours: &[Arc<str>]) -> bool {
        ours.is_empty() || ours.iter().any(|host| self.shared(host).is_some())
    }

    /// Whether a route with these hostnames gets requests through the listener: for one of them at least, no other
    /// listener takes all.
    pub fn takes(&self, ours: &[Arc<str>]) -> bool {
        let stays = |host: &Arc<str>| self.shared(host).is_some_and(|host| !self.gives_up(host));
        ours.is_empty() || ours.iter().any(stays)
    }

    /// The hosts that it has in common with a hostname of a route.
    fn shared<'n>(&'n self, ours: &'n Arc<str>) -> Option<&'n Arc<str>> {
        let own = self.name.as_ref();
        own.map_or(Some(ours), |own| in_common(own, ours))
            .filter(|_| !self.is_too_wide(ours))
    }

    /// Whether a hostname of a route is wider than that of the listener, and its controller takes no such routes.
    pub fn is_too_wide(&self, ours: &str) -> bool {
        let own = self.name.as_ref().filter(|own| own.starts_with('*'));
        let is_wider = own.is_some_and(|own| ours.starts_with('*') && ours.len() < own.len());
        self.rejects_wider_wildcards && is_wider
    }

    /// Whether routes of the listener do not get the requests for a hostname that they have in common with it, because
    /// another listener has it.
    pub fn gives_up(&self, host: &str) -> bool {
        let Some(narrower) = &self.narrower else {
            return false;
        };
        let host = host.to_ascii_lowercase();
        narrower.has(&host) || (self.is_isolated && narrower.has_above(&host))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::{ListenerHostname, narrower};
    use crate::model::ids::GroupKind;
    use crate::model::listener_acceptance::NarrowerHostnames;
    use crate::model::object::Object;

    fn listener(name: &str, narrower: &[&str], is_isolated: bool) -> ListenerHostname {
        let mut others = NarrowerHostnames::default();
        for name in narrower {
            others.insert(name);
        }
        ListenerHostname {
            name: (!name.is_empty()).then(|| name.into()),
            narrower: Some(Arc::new(others)),
            is_isolated,
            ..ListenerHostname::default()
        }
    }

    fn takes(listener: &ListenerHostname, ours: &[&str]) -> bool {
        let ours: Vec<Arc<str>> = ours.iter().map(|name| (*name).into()).collect();
        listener.takes(&ours)
    }

    #[test]
    fn listeners_with_equal_hostnames_share_the_narrower_ones() {
        let gateway = |hostnames: &[&str]| {
            let listeners = hostnames.iter().map(|name| {
                let name = (!name.is_empty()).then_some(name);
                json!({"name": "one", "port": 80, "protocol": "HTTP", "hostname": name})
            });
            let listeners: Vec<Value> = listeners.collect();
            let spec = json!({"gatewayClassName": "one", "listeners": listeners});
            let text = to_raw_value(&json!({"metadata": {"name": "one"}, "spec": spec}));
            Object::from_json(&GroupKind::gateway_api("Gateway"), &text.unwrap()).unwrap()
        };
        let own = gateway(&["*.example.com", ""]);
        let others = gateway(&["*.Example.com", "shop.example.com", "*.com"]);
        let owners = [
            (own.listeners(), &[None, None][..]),
            (others.listeners(), &[None, None, None]),
        ];
        let each = narrower(&owners, false);
        let [own, others] = &*each else {
            panic!("two owners");
        };
        let (first, second) = (own[0].as_ref().unwrap(), others[0].as_ref().unwrap());
        assert!(Arc::ptr_eq(first, second));
        assert!(first.has("shop.example.com") && !first.has("*.example.com"));
        assert!(others[1].is_none());
        for wide in [&own[1], &others[2]] {
            let wide = wide.as_ref().unwrap();
            assert!(wide.has("shop.example.com") && wide.has("*.example.com"));
        }
    }

    #[test]
    fn a_hostname_goes_to_the_listener_that_has_it() {
        for wide in ["", "*.example.com"] {
            let wide = listener(wide, &["shop.example.com"], true);
            assert!(!takes(&wide, &["shop.example.com"]));
            assert!(!takes(&wide, &["Shop.example.com"]));
            assert!(takes(&wide, &["blog.example.com"]));
            assert!(takes(&wide, &["shop.example.com", "blog.example.com"]));
            assert!(takes(&wide, &["*.example.com"]), "the other hosts");
            assert!(takes(&wide, &[]), "those of the listener");
        }
    }

    #[test]
    fn a_narrower_wildcard_takes_what_is_below_it_if_listeners_are_isolated() {
        for (is_isolated, stays) in [(true, false), (false, true)] {
            let wide = listener("*.example.com", &["*.eu.example.com"], is_isolated);
            assert_eq!(takes(&wide, &["shop.eu.example.com"]), stays);
            assert_eq!(takes(&wide, &["*.shop.eu.example.com"]), stays);
            assert!(!takes(&wide, &["*.eu.example.com"]));
            assert!(takes(&wide, &["shop.example.com"]));
        }
    }

    #[test]
    fn a_route_for_all_hosts_gets_those_of_the_listener() {
        let wide = listener("*.example.com", &["shop.example.com"], true);
        assert!(takes(&wide, &["*.com"]));
        assert!(takes(&wide, &["*.example.com"]));
    }
}
