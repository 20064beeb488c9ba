//! Adds the Gateway API's own objects and the references between them to a graph; marks rejected references.

use std::sync::Arc;

use super::Link;
use super::sketch::{Index, Sketch};
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::{Node, Object, ParentRef, Rule, gateway_kinds};
use crate::engine::model::section;
use crate::engine::state::snapshot::class_key;
use crate::engine::topology::delegation::{delegates, facts_of};
use crate::engine::topology::{
    ParentAttachment, RouteKindConflicts, delegated, not_usable, parent_attachment, unaccepted,
    unreached, unusable, why_not_joined,
};

/// Adds every object of the Gateway API and the objects that they refer to.
pub(super) fn draw(sketch: &mut Sketch<'_>) {
    let snapshot = sketch.snapshot;
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    for kind in gateway_kinds() {
        for object in snapshot.objects(&kind) {
            let node = sketch.object(&object.key, false);
            match &object.node {
                Node::Gateway { class, .. } => {
                    let class = sketch.object(&class_key(class), false);
                    sketch.line(class, node, Link::Parent, None);
                }
                Node::ListenerSet { parent, .. } => set(sketch, object, node, parent),
                Node::Route { parents, rules, .. } => {
                    for parent in parents {
                        attach(sketch, &mut route_kind_conflicts, object, node, parent);
                    }
                    let mut delegated_entries = delegated(&mut route_kind_conflicts, object);
                    delegated_entries.dedup_by(|one, other| one.rule == other.rule);
                    for delegated_entry in delegated_entries {
                        let above = sketch.place(&delegated_entry.rule, false);
                        sketch.line(above, node, Link::Parent, None);
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
    let unaccepted = unaccepted(sketch.snapshot, &set.key.whole());
    let is_gateway = sketch.snapshot.get(&parent.object).is_some();
    let reason =
        (unaccepted.is_some() || !is_gateway).then(|| why_not_joined(sketch.snapshot, set));
    join(sketch, above, node, Link::Parent, reason);
}

/// Adds edges from the listeners that accept a route. If none does, adds a rejected edge from the listener that the
/// parentRef names, or from its owner.
fn attach(
    sketch: &mut Sketch<'_>,
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
    node: Index,
    parent: &ParentRef,
) {
    let of_mesh = parent.object.gk.is_core("Service");
    let (at, why) = match parent_attachment(route_kind_conflicts, route, parent) {
        ParentAttachment::Attached(places) => {
            for place in places {
                let above = sketch.place(&place, of_mesh);
                sketch.line(above, node, Link::Parent, None);
            }
            return;
        }
        // Its rules are drawn with those of parents that the route does not name.
        ParentAttachment::Delegated(_) => return,
        ParentAttachment::Unknown(why) => (parent.object.whole(), why),
        ParentAttachment::NotAttached { at, why } => (at, why),
    };
    let above = sketch.place(&at, of_mesh);
    sketch.line(above, node, Link::Rejected, Some(why));
}

fn send(sketch: &mut Sketch<'_>, route: &Object, index: usize, rule: &Rule) {
    let label: Arc<str> = section::rule_label(route, index);
    let from = sketch.place(&route.key.section(label), false);
    let snapshot = sketch.snapshot;
    let facts = facts_of(snapshot, route).filter(|facts| delegates(facts, rule));
    for reference in &rule.backends {
        let key: &ObjectKey = &reference.object;
        let stands_for_routes = facts.is_some_and(|facts| facts.has_kind(&key.gk));
        let reason = match facts {
            Some(_) => unusable(snapshot, route, reference),
            None => unreached(snapshot, route, reference),
        };
        // The routes that it stands for have edges from the rule.
        if stands_for_routes && reason.is_none() {
            continue;
        }
        let to = sketch.object(key, false);
        let reason = reason.map(|why| not_usable(why, &route.key, key));
        join(sketch, from, to, Link::Backend, reason);
    }
}

/// Adds an edge; with a reason, a rejected one.
fn join(sketch: &mut Sketch<'_>, from: Index, to: Index, link: Link, reason: Option<String>) {
    match reason {
        None => sketch.line(from, to, link, None),
        reason => sketch.line(from, to, Link::Rejected, reason),
    }
}
