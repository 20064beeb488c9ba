//! Hostnames that new listeners take from routes of listeners with wider hostnames: if several
//! listeners of one port match a request, the one with the most specific hostname takes it.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use crate::model::ids::{ObjectKey, Place};
use crate::model::object::{Node, Object};
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ListenerEndpoint, ListenerHostname, gateways_around, in_common, listener_acceptance,
    listener_endpoint, may_keep_apart, sets_of, unaccepted,
};

/// The hostnames that new listeners take from routes that are not attached to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostnamesTaken {
    /// The hostnames.
    pub hostnames: BTreeSet<Arc<str>>,
    /// The routes that had them.
    pub routes: BTreeSet<ObjectKey>,
    /// Whether the controller may leave them to the routes: it is not known whether it keeps listeners apart.
    pub is_unsure: bool,
}

/// The listeners that a change adds, or that have another port or hostname after it.
pub(super) struct NewListeners<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    /// The new listeners that have a hostname, with their port.
    listeners: Vec<(Place, u16, Arc<str>)>,
}

// === impl NewListeners ===

impl<'a> NewListeners<'a> {
    /// The new listeners of the Gateways of these objects.
    pub(super) fn between(
        before: &'a Snapshot,
        after: &'a Snapshot,
        objects: &[ObjectKey],
    ) -> Self {
        let around = objects.iter().flat_map(|key| {
            let gateways = [before, after].map(|snapshot| gateways_around(snapshot, key));
            gateways.into_iter().flatten()
        });
        let gateways: BTreeSet<ObjectKey> = around.collect();
        let places = |snapshot: &'a Snapshot| {
            let owners = gateways.iter().flat_map(move |gateway| {
                let sets = sets_of(snapshot, gateway);
                snapshot.get(gateway).into_iter().chain(sets)
            });
            owners.flat_map(|owner: &Arc<Object>| {
                let names = owner.listeners().iter();
                names.map(|listener| owner.key.section(listener.name.clone()))
            })
        };
        let known: BTreeSet<ListenerEndpoint> = places(before)
            .filter_map(|place| listener_endpoint(before, &place))
            .collect();
        let new = places(after).filter_map(|place| {
            let endpoint = listener_endpoint(after, &place)?;
            let is_new = !known.contains(&endpoint) && unaccepted(after, &place).is_none();
            let (_, port, hostname) = endpoint;
            Some((place, port, hostname.filter(|_| is_new)?))
        });
        Self {
            before,
            after,
            listeners: new.collect(),
        }
    }

    /// Adds what they take from a route: hostnames for which requests came by a listener that the route still has, and no longer
    /// come by it.
    pub(super) fn take(
        &self,
        route: &Object,
        [endpoints_before, endpoints_after]: [&BTreeMap<ListenerEndpoint, Place>; 2],
        taken: &mut BTreeMap<Place, HostnamesTaken>,
    ) {
        let Node::Route { hostnames, .. } = &route.node else {
            return;
        };
        let attached: BTreeSet<&Place> = endpoints_after.values().collect();
        let others = self.listeners.iter();
        for (listener, port, name) in others.filter(|(place, ..)| !attached.contains(place)) {
            let kept = endpoints_before
                .iter()
                .filter(|(endpoint, _)| endpoint.1 == *port);
            let kept = kept.filter_map(|(endpoint, place_before)| {
                Some((place_before, endpoints_after.get(endpoint)?))
            });
            let hosts: BTreeSet<&Arc<str>> = if hostnames.is_empty() {
                iter::once(name).collect()
            } else {
                let shared = hostnames.iter().filter_map(|ours| in_common(name, ours));
                shared.collect()
            };
            for (place_before, place_after) in kept {
                let lost = hosts.iter().filter(|host| {
                    comes_by(self.before, place_before, host)
                        && !comes_by(self.after, place_after, host)
                });
                let lost: Vec<Arc<str>> = lost.map(|host| Arc::clone(host)).collect();
                if !lost.is_empty() {
                    let taken = taken.entry(listener.clone()).or_default();
                    taken.hostnames.extend(lost);
                    taken.routes.insert(route.key.clone());
                    taken.is_unsure = may_keep_apart(self.after, &listener.object);
                }
            }
        }
    }
}

/// Whether requests for a hostname come by a listener.
fn comes_by(snapshot: &Snapshot, place: &Place, host: &Arc<str>) -> bool {
    let hostname = || {
        let owner = snapshot.get(&place.object)?;
        let mut own = owner.listeners().iter();
        let index = own.position(|listener| Some(&listener.name) == place.section.as_ref())?;
        let all = listener_acceptance(snapshot, owner)?;
        Some(ListenerHostname::if_kept_apart(
            snapshot, owner, &all, index,
        ))
    };
    hostname().is_some_and(|hostname| {
        hostname.intersects(std::slice::from_ref(host)) && !hostname.gives_up(host)
    })
}
