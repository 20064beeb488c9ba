//! The routes that name a listener's owner: which of them it takes, and why not the others.

use std::sync::Arc;

use crate::engine::ids::ObjectKey;
use crate::engine::object::{Listener, Node, Object, ParentRef, is_route};
use crate::engine::policy::Precedence;
use crate::engine::snapshot::Snapshot;
use crate::engine::topology::{Refusal, intersect, refusal};

/// What names an owner of listeners, seen from one of these.
#[derive(Debug, Default)]
pub(super) struct Attached<'a> {
    /// The routes that are attached, the oldest first.
    pub(super) routes: Vec<&'a Arc<Object>>,
    /// Routes that the listener does not take, with the reference that comes nearest.
    pub(super) refused: Vec<(&'a Arc<Object>, &'a ParentRef, Refusal)>,
    /// Routes that an older one of another kind keeps out, and that one.
    pub(super) rejected: Vec<(&'a Arc<Object>, &'a Arc<Object>)>,
}

/// The references of a route to an object.
pub(super) fn references<'a>(
    route: &'a Object,
    to: &ObjectKey,
) -> impl Iterator<Item = &'a ParentRef> {
    let parents = match &route.node {
        Node::Route { parents, .. } => parents.as_slice(),
        _ => &[],
    };
    parents.iter().filter(move |parent| parent.object == *to)
}

/// What names `owner`, seen from a listener of it.
pub(super) fn attached<'a>(
    snapshot: &'a Snapshot,
    owner: &Object,
    listener: &Listener,
) -> Attached<'a> {
    let mut found = Attached::default();
    let routes = snapshot.below(&owner.key).filter(|o| is_route(&o.key.gk));
    for route in routes {
        // The last refusal is the one that comes nearest: it is the first test that fails.
        let mut nearest: Option<(Refusal, &ParentRef)> = None;
        let mut taken = false;
        for parent in references(route, &owner.key) {
            match refusal(snapshot, owner, listener, route, parent) {
                None => taken = true,
                Some(why) if nearest.is_none_or(|(known, _)| known < why) => {
                    nearest = Some((why, parent));
                }
                Some(_) => {}
            }
        }
        match nearest {
            _ if taken => found.routes.push(route),
            Some((why, parent)) => found.refused.push((route, parent, why)),
            None => {}
        }
    }
    found
        .routes
        .sort_by_cached_key(|route| Precedence::of(route));
    found.keep_one_kind(listener);
    found
}

impl Attached<'_> {
    /// An `HTTPRoute` and a `GRPCRoute` may not share a hostname of a listener: the older one stays.
    fn keep_one_kind(&mut self, listener: &Listener) {
        let is = |route: &Object, kind: &str| route.key.gk.is_gateway_api(kind);
        let has = |kind: &str| self.routes.iter().any(|route| is(route, kind));
        if !has("HTTPRoute") || !has("GRPCRoute") {
            return;
        }
        let mut kept: Vec<&Arc<Object>> = Vec::new();
        for route in std::mem::take(&mut self.routes) {
            let of_both = |other: &Object| {
                (is(route, "HTTPRoute") && is(other, "GRPCRoute"))
                    || (is(route, "GRPCRoute") && is(other, "HTTPRoute"))
            };
            let rival = kept
                .iter()
                .find(|other| of_both(other) && share_hostname(listener, route, other));
            match rival {
                Some(rival) => self.rejected.push((route, rival)),
                None => kept.push(route),
            }
        }
        self.routes = kept;
    }
}

/// Whether two routes that a listener takes have a host of it in common.
fn share_hostname(listener: &Listener, one: &Object, other: &Object) -> bool {
    let (one, other) = (hostnames(listener, one), hostnames(listener, other));
    if one.is_empty() || other.is_empty() {
        return true;
    }
    let mut pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| intersect(a, b))
}

/// The hostnames of a route that count on a listener; all where there are none.
fn hostnames<'a>(listener: &Listener, route: &'a Object) -> Vec<&'a Arc<str>> {
    let Node::Route { hostnames, .. } = &route.node else {
        return Vec::new();
    };
    let all = hostnames.iter();
    match &listener.hostname {
        Some(theirs) => all.filter(|ours| intersect(theirs, ours)).collect(),
        None => all.collect(),
    }
}
