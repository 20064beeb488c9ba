//! The routes that name a listener's owner: which of them it takes, and why not the others.

use std::collections::HashMap;
use std::sync::Arc;

use super::hostname;
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

/// The hostnames of the routes of one kind, by what can meet them.
#[derive(Debug, Default)]
struct Taken<'a, 'n> {
    some: Option<&'a Arc<Object>>,
    /// A route for every host.
    every: Option<&'a Arc<Object>>,
    names: HashMap<&'n str, &'a Arc<Object>>,
    /// Names under which there are others.
    under: HashMap<&'n str, &'a Arc<Object>>,
}

/// Longer names are no names of hosts.
const LONGEST: usize = 253;

/// The references of a route to an object.
pub(super) fn references<'a>(
    route: &'a Object,
    to: &ObjectKey,
) -> impl Iterator<Item = &'a ParentRef> {
    let parents = match &route.node {
        Node::Route { parents, .. } => &**parents,
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
        let has = |kind: &str| {
            let mut routes = self.routes.iter();
            routes.any(|route| route.key.gk.is_gateway_api(kind))
        };
        if !has("HTTPRoute") || !has("GRPCRoute") {
            return;
        }
        let names = self.routes.iter().map(|route| hostnames(listener, route));
        let names: Vec<Vec<String>> = names.collect();
        let (mut http, mut grpc) = (Taken::default(), Taken::default());
        let mut kept: Vec<&Arc<Object>> = Vec::new();
        for (route, names) in std::mem::take(&mut self.routes).into_iter().zip(&names) {
            let (own, other) = if route.key.gk.is_gateway_api("HTTPRoute") {
                (&mut http, &grpc)
            } else if route.key.gk.is_gateway_api("GRPCRoute") {
                (&mut grpc, &http)
            } else {
                kept.push(route);
                continue;
            };
            if let Some(rival) = other.rival(names) {
                self.rejected.push((route, rival));
            } else {
                own.add(route, names);
                kept.push(route);
            }
        }
        self.routes = kept;
    }
}

/// The hostnames of a route that count on a listener, as they are compared; all where there are none.
fn hostnames(listener: &Listener, route: &Object) -> Vec<String> {
    let Node::Route { hostnames, .. } = &route.node else {
        return Vec::new();
    };
    let theirs = listener.hostname.as_ref();
    let counts = |ours: &&Arc<str>| theirs.is_none_or(|theirs| intersect(theirs, ours));
    let count = hostnames.iter().filter(counts);
    count.map(|name| hostname::normal(name)).collect()
}

// === impl Taken ===

impl<'a, 'n> Taken<'a, 'n> {
    fn add(&mut self, route: &'a Arc<Object>, names: &'n [String]) {
        self.some.get_or_insert(route);
        if names.is_empty() {
            self.every.get_or_insert(route);
        }
        for name in names.iter().filter(|name| name.len() <= LONGEST) {
            self.names.entry(name).or_insert(route);
            for above in above(name) {
                self.under.entry(above).or_insert(route);
            }
        }
    }

    /// A route that has a host in common with these names.
    fn rival(&self, names: &[String]) -> Option<&'a Arc<Object>> {
        if names.is_empty() {
            return self.some;
        }
        let of_name = |name: &str| {
            let same = self.names.get(name);
            let wider = || above(name).find_map(|above| self.names.get(&*format!("*.{above}")));
            let narrower = || self.under.get(name.strip_prefix("*.")?);
            same.or_else(wider).or_else(narrower).copied()
        };
        let short = names.iter().filter(|name| name.len() <= LONGEST);
        let mut rivals = short.filter_map(|name| of_name(name));
        self.every.or_else(|| rivals.next())
    }
}

/// What a name stands under: `b.c` and `c` for `a.b.c` and for `*.b.c`.
fn above(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.split_once('.')?.1;
        Some(rest)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::Taken;
    use crate::engine::ids::GroupKind;
    use crate::engine::object::Object;
    use crate::engine::topology::intersect;

    #[test]
    fn names_share_a_host_where_they_intersect() {
        let route = to_raw_value(&json!({"metadata": {"name": "r", "namespace": "n"}})).unwrap();
        let route = Object::from_json(&GroupKind::gateway_api("HTTPRoute"), &route).unwrap();
        let route = Arc::new(route);
        let all = [
            "a.example.com",
            "b.a.example.com",
            "example.com",
            "com",
            "*.a.example.com",
            "*.example.com",
            "*.com",
            "*.xample.com",
            "other.org",
        ];
        for one in all {
            for other in all {
                let names = [one.to_owned()];
                let mut taken = Taken::default();
                taken.add(&route, &names);
                let rival = taken.rival(&[other.to_owned()]);
                assert_eq!(rival.is_some(), intersect(one, other), "{one} {other}");
            }
            let (names, none) = ([one.to_owned()], []);
            let mut taken = Taken::default();
            assert!(taken.rival(&none).is_none());
            taken.add(&route, &names);
            assert!(taken.rival(&none).is_some());
            let mut every = Taken::default();
            every.add(&route, &none);
            assert!(every.rival(&names).is_some());
        }
    }
}
