//! Routes that get no request, because other routes match the same requests and take precedence.

use std::collections::HashMap;
use std::sync::Arc;

use super::Survey;
use crate::engine::clash::{Entry, entries, routes_of};
use crate::engine::ids::{ByKey, ObjectKey};
use crate::engine::object::{Node, Object};
use crate::engine::policy::Precedence;
use crate::engine::topology::OneKind;

/// The routes of the Gateways that were asked for, by the entry at which their requests arrive.
#[derive(Debug, Default)]
pub(super) struct Shadows {
    gateways: HashMap<ObjectKey, HashMap<Entry, Vec<Arc<Object>>>, ByKey>,
}

impl Survey<'_> {
    /// The route, if there is a single one, that takes all requests which `key` matches too: of two routes with the
    /// same match on one hostname the older takes precedence (Gateway API, `HTTPRouteRule.matches`). Routes without a
    /// hostname and without a match are ignored: they are drafts.
    ///
    /// Returns `None` in a limited resolver, because it reads all routes of a Gateway.
    pub fn shadow_of(&mut self, key: &ObjectKey) -> Option<ObjectKey> {
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
        let mut one_kind = OneKind::new(self.snapshot);
        let mine = Precedence::of(&route);
        let mut first = None;
        for entry in entries(&mut one_kind, &route) {
            let here = self.routes_at(&mut one_kind, &entry);
            let older: Vec<&Arc<Object>> = here
                .iter()
                .filter(|other| other.key.gk == key.gk && Precedence::of(other) < mine)
                .collect();
            for one in &wanted {
                let takes = |other: &&&Arc<Object>| match &other.node {
                    Node::Route { matches, .. } => matches.has(*one),
                    _ => false,
                };
                let by = older.iter().find(takes)?;
                first.get_or_insert_with(|| by.key.clone());
            }
        }
        first
    }

    /// The routes whose requests may arrive at an entry.
    fn routes_at(&mut self, one_kind: &mut OneKind<'_>, entry: &Entry) -> &[Arc<Object>] {
        let (gateway, ..) = entry;
        if !self.shadows.gateways.contains_key(gateway) {
            let mut all: HashMap<Entry, Vec<Arc<Object>>> = HashMap::new();
            for route in routes_of(self.snapshot, gateway) {
                for entry in entries(one_kind, route) {
                    all.entry(entry).or_default().push(route.clone());
                }
            }
            self.shadows.gateways.insert(gateway.clone(), all);
        }
        let all = self.shadows.gateways.get(gateway);
        all.and_then(|all| all.get(entry))
            .map_or(&[], Vec::as_slice)
    }
}
