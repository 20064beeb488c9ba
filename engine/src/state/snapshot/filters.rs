//! Policies that filters of routes name.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Snapshot, edges};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Node, Object};
use crate::policy::Policy;

/// The objects that filters of the rules of a route name.
pub(super) fn of_rules(object: &Object) -> BTreeSet<ObjectKey> {
    let refs = edges::filter_refs(object);
    refs.flat_map(|refs| refs.of_rule.iter().cloned()).collect()
}

impl Snapshot {
    /// Adds the rules whose filters name a policy to its targets.
    pub(super) fn add_filters(&self, policy: &mut Policy) {
        if policy.profile.named_by_filters_of.is_empty() {
            return;
        }
        let key = policy.key().clone();
        let routes = self.edges.filtering(&key);
        policy.add_filters_of(routes.filter_map(|route| self.get(route)));
    }

    /// Reads the policies again that filters of a route name, or named.
    pub(super) fn set_named_by_filters(&mut self, named: BTreeSet<ObjectKey>) {
        for key in named {
            let known = self.policies.get(&key).map(|policy| policy.object.clone());
            let profile = self.profiles.get(&key.gk).cloned();
            if let (Some(object), Some(profile)) = (known, profile) {
                self.set_policy(object, profile, None);
            }
        }
    }

    /// The objects that filters of a route name and that do not exist, each with the index of its rule. The Gateway API wants
    /// an error response for the requests of such a rule.
    pub fn missing_filters(&self, route: &Object) -> Vec<(usize, ObjectKey)> {
        let Node::Route { rules, .. } = &route.node else {
            return Vec::new();
        };
        let missing = (0..rules.len()).flat_map(|i| {
            let of_rule = self.missing_filters_of(route, i);
            of_rule.map(move |named| (i, named.clone()))
        });
        missing.collect()
    }

    /// The missing objects of the filters of one rule, in the order of the filters.
    pub fn missing_filters_of<'a>(
        &'a self,
        route: &'a Object,
        rule: usize,
    ) -> impl Iterator<Item = &'a ObjectKey> {
        let rule = match &route.node {
            Node::Route { rules, .. } => rules.get(rule),
            _ => None,
        };
        let refs = rule.into_iter().flat_map(|rule| &rule.filters);
        let named = refs.flat_map(|refs| &refs.of_rule);
        named.filter(|named| self.is_read(route, &named.gk) && self.lacks(named))
    }

    /// Whether controllers read objects of a kind that filters of a route name.
    fn is_read(&self, route: &Object, named: &GroupKind) -> bool {
        match self.profiles.get(named) {
            Some(profile) => profile.named_by_filters_of.contains(&route.key.gk),
            None => route.key.gk.is_gateway_api("HTTPRoute"),
        }
    }

    /// The routes of which a filter of a backend names an object; sorted.
    pub fn filtering_backends(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Object>> {
        let routes = self.edges.filtering_backends(key);
        routes.filter_map(|route| self.get(route))
    }

    /// Whether a filter of a backend names a policy of a kind.
    pub(crate) fn has_filters_of_backends(&self, gk: &GroupKind) -> bool {
        self.edges.named_by_backends().any(|named| named.gk == *gk)
    }
}
