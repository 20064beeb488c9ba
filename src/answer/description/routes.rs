//! Effective policies on the routes to a backend, for kinds whose policies do not reach the backend.

use std::sync::Arc;

use super::paths::on;
use crate::answer::effective::EffectiveOnPaths;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::{BackendRef, Node, Object, Rule};
use crate::engine::model::section;
use crate::engine::state::snapshot::Snapshot;

/// The effective policies on the routes to a backend or to one of its ports, for kinds whose policies do not reach the
/// backend.
pub(super) fn on_routes(resolver: &mut Resolver<'_>, place: &Place) -> Vec<EffectiveOnPaths> {
    let (snapshot, backend) = (resolver.snapshot(), &place.object);
    let routes: Vec<Arc<Object>> = using(snapshot, place).cloned().collect();
    let port = port(snapshot, place);
    let places: Vec<Place> = routes
        .iter()
        .flat_map(|route| leading(route, |to| leads_to(to, place, port)))
        .collect();
    let mut on_paths = Vec::new();
    for place in &places {
        for kind in resolver.kinds_through(&place.object) {
            if !reaches(resolver, backend, &kind) {
                let groups = on(resolver, place, &kind);
                // The paths without a policy are of interest beside those with one: a Gateway that rejects it.
                if groups.iter().any(|group| !group.stack.is_empty()) {
                    on_paths.extend(
                        groups
                            .iter()
                            .map(|group| EffectiveOnPaths::from((&kind, group))),
                    );
                }
            }
        }
    }
    on_paths.sort_by(|a, b| {
        let (a, b) = (&a.effective, &b.effective);
        (&a.policy_kind, &a.path).cmp(&(&b.policy_kind, &b.path))
    });
    on_paths
}

/// Whether policies of a kind on the routes are also in force at the backend.
fn reaches(resolver: &mut Resolver<'_>, backend: &ObjectKey, kind: &GroupKind) -> bool {
    let profile = resolver.snapshot().profile(kind);
    profile.is_some_and(|profile| profile.is_inherited())
        && resolver
            .paths_through(backend, kind)
            .iter()
            .any(|group| !group.stack.is_empty())
}

/// The routes that forward to a backend, or to one of its ports.
pub(super) fn using<'a>(
    snapshot: &'a Snapshot,
    place: &'a Place,
) -> impl Iterator<Item = &'a Arc<Object>> {
    let port = port(snapshot, place);
    let routes = snapshot.using(&place.object);
    routes.filter(move |route| route.backends().any(|to| leads_to(to, place, port)))
}

fn leads_to(to: &BackendRef, place: &Place, port: Option<u16>) -> bool {
    let is_port = place.section.is_none() || (port.is_some() && to.port == port);
    to.object == place.object && is_port
}

/// The port number of a place that is a port of a Service.
fn port(snapshot: &Snapshot, place: &Place) -> Option<u16> {
    let object = snapshot.get(&place.object)?;
    let Node::Service { ports, .. } = &object.node else {
        return None;
    };
    let mut ports = ports.iter().zip(section::labels(object));
    let named = ports.find(|(_, label)| Some(label) == place.section.as_ref());
    named.map(|(port, _)| port.number)
}

/// The places of a route that forward to a matching backend: the route if all its rules do, else those rules.
pub(in crate::answer) fn leading(
    route: &Object,
    is_meant: impl Fn(&BackendRef) -> bool,
) -> Vec<Place> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let leads = |rule: &Rule| rule.backends.iter().any(&is_meant);
    if rules.iter().all(leads) {
        return vec![route.key.whole()];
    }
    let rules = rules.iter().enumerate().filter(|(_, rule)| leads(rule));
    let places = rules.map(|(i, _)| route.key.section(section::rule_label(route, i)));
    places.collect()
}
