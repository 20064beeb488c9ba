//! Routes that get no request, because other routes match the same requests and take precedence.

use std::collections::HashMap;
use std::sync::Arc;

use super::Resolver;
use crate::attachment::rejection::{Entry, entries, routes_of};
use crate::model::ids::{GroupKind, ObjectKey, PrehashedBuildHasher};
use crate::model::object::{Node, Object};
use crate::policy::Precedence;
use crate::topology::KeptOutCache;

/// The routes that take precedence at the Gateways that were asked for, by the entry at which requests arrive and by match.
#[derive(Debug, Default)]
pub(super) struct Shadows {
    gateways: HashMap<ObjectKey, HashMap<Entry, First>, PrehashedBuildHasher>,
}

/// The oldest route, by kind and match.
type First = HashMap<(GroupKind, u64), Arc<Object>>;

impl Resolver<'_> {
    /// The route, if there is a single one, that takes all requests which `key` matches too: of two routes with the
    /// same match on one hostname the older takes precedence (Gateway API, `HTTPRouteRule.matches`). Routes without a
    /// hostname and without a match are ignored: they are drafts.
    ///
    /// Returns `None` in a limited resolver, because it reads all routes of a Gateway.
    pub fn route_taking_all_requests_of(&mut self, key: &ObjectKey) -> Option<ObjectKey> {
        if self.is_limited() {
            return None;
        }
        let is_http = key.gk.is_gateway_api("HTTPRoute") || key.gk.is_gateway_api("GRPCRoute");
        let route = self.snapshot.get(key).filter(|_| is_http)?.clone();
        let Node::Route {
            parents,
            hostnames,
            matches,
            ..
        } = &route.node
        else {
            return None;
        };
        // In a mesh the Service identifies the requests.
        let wants_nothing = hostnames.is_empty() && matches.is_everything();
        let mesh = parents
            .iter()
            .any(|parent| parent.object.gk.is_core("Service"));
        let wanted = matches.each();
        if mesh || wants_nothing || wanted.is_empty() {
            return None;
        }
        let mut one_kind = KeptOutCache::new(self.snapshot);
        let mine = Precedence::of(&route);
        let mut first = None;
        for entry in entries(&mut one_kind, &route) {
            let here = self.first_at(&mut one_kind, &entry)?;
            for one in &wanted {
                let by = here.get(&(key.gk.clone(), *one))?;
                if Precedence::of(by) >= mine {
                    return None;
                }
                first.get_or_insert_with(|| by.key.clone());
            }
        }
        first
    }

    /// The routes that take precedence at an entry.
    fn first_at(&mut self, one_kind: &mut KeptOutCache<'_>, entry: &Entry) -> Option<&First> {
        let (gateway, ..) = entry;
        if !self.shadows.gateways.contains_key(gateway) {
            let mut all: HashMap<Entry, First> = HashMap::new();
            let mut routes: Vec<&Arc<Object>> = routes_of(self.snapshot, gateway).collect();
            routes.sort_by_cached_key(|route| Precedence::of(route));
            for route in routes {
                let Node::Route { matches, .. } = &route.node else {
                    continue;
                };
                for entry in entries(one_kind, route) {
                    let first = all.entry(entry).or_default();
                    for one in matches.each() {
                        let here = first.entry((route.key.gk.clone(), one));
                        here.or_insert_with(|| route.clone());
                    }
                }
            }
            self.shadows.gateways.insert(gateway.clone(), all);
        }
        self.shadows.gateways.get(gateway)?.get(entry)
    }
}
