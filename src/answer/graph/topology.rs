//! The Gateway API's own objects, and what its rules make of the references between them.

use std::sync::Arc;

use super::Link;
use super::sketch::{Index, Sketch};
use super::words;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::object::{Listener, Node, Object, ParentRef, ROUTES, Rule};
use crate::engine::section;
use crate::engine::snapshot::class_key;
use crate::engine::topology::{Refusal, fits_service, joins, refusal, unreached};

/// Draws everything that the Gateway API knows, and what it refers to.
pub(super) fn draw(sketch: &mut Sketch<'_>) {
    let snapshot = sketch.snapshot;
    let upper = ["GatewayClass", "Gateway", "ListenerSet"];
    for kind in upper.iter().chain(&ROUTES) {
        for object in snapshot.objects(&GroupKind::gateway_api(kind)) {
            let node = sketch.object(&object.key, false);
            match &object.node {
                Node::Gateway { class, .. } => {
                    let class = sketch.object(&class_key(class), false);
                    sketch.line(class, node, Link::Parent, None);
                }
                Node::ListenerSet { parent, .. } => set(sketch, object, node, parent),
                Node::Route { parents, rules, .. } => {
                    for parent in parents {
                        attach(sketch, object, node, parent);
                    }
                    for (i, rule) in rules.iter().enumerate() {
                        send(sketch, object, i, rule);
                    }
                }
                _ => {}
            }
        }
    }
}

fn set(sketch: &mut Sketch<'_>, set: &Object, node: Index, parent: &ParentRef) {
    let above = sketch.object(&parent.object, false);
    let reason = match sketch.snapshot.get(&parent.object) {
        None => Some(words::not_there(sketch.snapshot, &parent.object)),
        Some(gateway) if !matches!(gateway.node, Node::Gateway { .. }) => {
            Some(words::no_parent(&parent.object))
        }
        Some(gateway) if joins(sketch.snapshot, gateway, set) => None,
        Some(gateway) => Some(format!(
            "{} lets no ListenerSet of namespace {} join (spec.allowedListeners)",
            gateway.key, set.key.namespace
        )),
    };
    join(sketch, above, node, Link::Parent, reason);
}

fn attach(sketch: &mut Sketch<'_>, route: &Object, node: Index, parent: &ParentRef) {
    let above = &parent.object;
    if above.gk.is_core("Service") {
        let service = sketch.object(above, true);
        let reason = match sketch.snapshot.get(above) {
            None => Some(words::not_there(sketch.snapshot, above)),
            Some(service) if fits_service(service, parent) => None,
            Some(_) => Some(format!("{above} has no such port")),
        };
        return join(sketch, service, node, Link::Parent, reason);
    }
    let whole = sketch.object(above, false);
    let reason = match sketch.snapshot.get(above) {
        None => words::not_there(sketch.snapshot, above),
        Some(owner) => match &owner.node {
            Node::ListenerSet { parent, .. } if !is_joined(sketch, owner, parent) => {
                format!("{above} is not part of a Gateway")
            }
            Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
                return listen(sketch, owner, listeners, route, node, parent);
            }
            _ => words::no_parent(above),
        },
    };
    sketch.line(whole, node, Link::Rejected, Some(reason));
}

fn is_joined(sketch: &Sketch<'_>, set: &Object, parent: &ParentRef) -> bool {
    let gateway = sketch.snapshot.get(&parent.object);
    gateway.is_some_and(|gateway| joins(sketch.snapshot, gateway, set))
}

/// Joins a route to the listeners that take it; to the one that it names, or to their owner, when none
/// does.
fn listen(
    sketch: &mut Sketch<'_>,
    owner: &Object,
    listeners: &[Listener],
    route: &Object,
    node: Index,
    parent: &ParentRef,
) {
    // What the listener that came nearest says.
    let mut nearest: Option<(bool, Refusal, &Listener)> = None;
    let mut taken = false;
    for listener in listeners {
        match refusal(sketch.snapshot, owner, listener, route, parent) {
            None => {
                let place = owner.key.section(listener.name.clone());
                let above = sketch.place(&place, false);
                sketch.line(above, node, Link::Parent, None);
                taken = true;
            }
            Some(why) => {
                let refused = (is_named(parent, listener), why, listener);
                if nearest.is_none_or(|(named, other, _)| (refused.0, why) > (named, other)) {
                    nearest = Some(refused);
                }
            }
        }
    }
    if taken {
        return;
    }
    let nearest = nearest.map(|(_, why, listener)| (why, listener));
    let reason = words::refused(nearest, owner, route, parent);
    let named = nearest.filter(|(_, listener)| is_named(parent, listener));
    let named = named.and(parent.section.as_ref());
    let above = match named {
        Some(section) => sketch.place(&owner.key.section(section.clone()), false),
        None => sketch.object(&owner.key, false),
    };
    sketch.line(above, node, Link::Rejected, Some(reason));
}

fn is_named(parent: &ParentRef, listener: &Listener) -> bool {
    parent.section.as_ref() == Some(&listener.name)
}

fn send(sketch: &mut Sketch<'_>, route: &Object, index: usize, rule: &Rule) {
    let label: Arc<str> = section::rule_label(route, index);
    let from = sketch.place(&route.key.section(label), false);
    for reference in &rule.backends {
        let key: &ObjectKey = &reference.object;
        let to = sketch.object(key, false);
        let reason = unreached(sketch.snapshot, route, reference);
        let reason = reason.map(|why| words::unreached(why, route, key));
        join(sketch, from, to, Link::Backend, reason);
    }
}

/// An edge that counts, or one that says why it does not.
fn join(sketch: &mut Sketch<'_>, from: Index, to: Index, link: Link, reason: Option<String>) {
    match reason {
        None => sketch.line(from, to, link, None),
        reason => sketch.line(from, to, Link::Rejected, reason),
    }
}
