//! What stands above an object: the paths that lead down to it (design 2.4).

use std::sync::Arc;

use super::ids::{GroupKind, ObjectKey, Place};
use super::object::{Listener, Node, Object, ParentRef};
use super::snapshot::Snapshot;

/// The ways down to an object: each list of `above` followed by each of `ends` is one path, the least
/// specific place first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// What stands above the object, by the listener that leads to it.
    pub above: Vec<Vec<Place>>,
    /// The object itself, and the object with each of its sections.
    pub ends: Vec<Vec<Place>>,
}

/// The paths that end in an object or in a section of it.
///
/// Only parents that are there count. An object without any has one path, from its topmost place
/// (design 9, ruling 21). Levels are those of design 2.4; one object takes one place (ruling 5).
pub fn paths(snapshot: &Snapshot, object: &Object) -> Paths {
    let mut above = match &object.node {
        Node::Gateway { class, .. } => vec![over_gateway(object, class)],
        Node::ListenerSet { parent, .. } => gateway(snapshot, parent)
            .map(|gateway| over_listener_set(&gateway))
            .into_iter()
            .collect(),
        Node::Route { parents, .. } => over_route(snapshot, object, parents),
        Node::GatewayClass { .. } | Node::Service { .. } | Node::Crd(_) | Node::Other { .. } => {
            Vec::new()
        }
    };
    if above.is_empty() {
        above.push(Vec::new());
    }
    if !object.key.namespace.is_empty() {
        for places in &mut above {
            push(places, namespace(&object.key.namespace));
        }
    }
    let whole = object.key.whole();
    let sections = object.sections().unwrap_or_default().into_iter();
    let sections = sections.map(|name| vec![whole.clone(), object.key.section(name.clone())]);
    let ends = std::iter::once(vec![whole.clone()])
        .chain(sections)
        .collect();
    Paths { above, ends }
}

/// Appends a place unless the path has it: a Namespace that holds both the Gateway and the route
/// counts as the Gateway's.
fn push(places: &mut Vec<Place>, place: Place) {
    if !places.contains(&place) {
        places.push(place);
    }
}

fn namespace(name: &Arc<str>) -> Place {
    ObjectKey::new(GroupKind::core("Namespace"), "", name.clone()).whole()
}

fn gateway(snapshot: &Snapshot, parent: &ParentRef) -> Option<Arc<Object>> {
    let found = snapshot.get(&parent.object)?;
    matches!(found.node, Node::Gateway { .. }).then(|| found.clone())
}

fn over_gateway(gateway: &Object, class: &Arc<str>) -> Vec<Place> {
    let class = ObjectKey::new(GroupKind::gateway_api("GatewayClass"), "", class.clone());
    vec![class.whole(), namespace(&gateway.key.namespace)]
}

fn over_listener_set(gateway: &Object) -> Vec<Place> {
    let Node::Gateway { class, .. } = &gateway.node else {
        return Vec::new();
    };
    let mut places = over_gateway(gateway, class);
    places.push(gateway.key.whole());
    places
}

/// Everything above a route: one list of places for each listener that takes it.
fn over_route(snapshot: &Snapshot, route: &Object, parents: &[ParentRef]) -> Vec<Vec<Place>> {
    let Node::Route { hostnames, .. } = &route.node else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for parent in parents {
        let Some(object) = snapshot.get(&parent.object) else {
            continue;
        };
        let (mut base, listeners) = match &object.node {
            Node::Gateway { class, listeners } => (over_gateway(object, class), listeners),
            Node::ListenerSet { parent, listeners } => {
                // A ListenerSet stands beside the Gateway's own listeners, not under them.
                let places = gateway(snapshot, parent).map(|g| over_listener_set(&g));
                (places.unwrap_or_default(), listeners)
            }
            Node::Service { .. } => {
                found.push(vec![object.key.whole()]);
                continue;
            }
            _ => continue,
        };
        base.push(object.key.whole());
        for listener in listeners.iter().filter(|l| takes(l, parent, hostnames)) {
            let mut places = base.clone();
            places.push(object.key.section(listener.name.clone()));
            found.push(places);
        }
    }
    found
}

/// Whether a listener takes a route: section, port and hostname of the Gateway API's rules.
fn takes(listener: &Listener, parent: &ParentRef, hostnames: &[Arc<str>]) -> bool {
    parent
        .section
        .as_ref()
        .is_none_or(|name| *name == listener.name)
        && parent.port.is_none_or(|port| port == listener.port)
        && listener.hostname.as_deref().is_none_or(|theirs| {
            hostnames.is_empty() || hostnames.iter().any(|ours| intersect(theirs, ours))
        })
}

/// Whether two hostnames have a host in common; `*.` stands for one label or more.
fn intersect(a: &str, b: &str) -> bool {
    let wild = |host: &str| host.strip_prefix('*').map(str::to_owned);
    match (wild(a), wild(b)) {
        (None, None) => a.eq_ignore_ascii_case(b),
        (Some(suffix), None) => under(b, &suffix),
        (None, Some(suffix)) => under(a, &suffix),
        (Some(x), Some(y)) => x.eq_ignore_ascii_case(&y) || under(&x, &y) || under(&y, &x),
    }
}

fn under(host: &str, suffix: &str) -> bool {
    host.len() > suffix.len()
        && host
            .to_ascii_lowercase()
            .ends_with(&suffix.to_ascii_lowercase())
}
