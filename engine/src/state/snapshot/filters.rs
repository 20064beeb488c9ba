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
        if policy.profile.by_filter_of.is_empty() {
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

    /// The policies that filters of a route name and that do not exist, each with the index of its rule.
    pub fn missing_filters(&self, route: &Object) -> Vec<(usize, ObjectKey)> {
        let Node::Route { rules, .. } = &route.node else {
            return Vec::new();
        };
        let is_missing = |named: &&ObjectKey| {
            let profile = self.profiles.get(&named.gk);
            profile.is_some_and(|profile| profile.by_filter_of.contains(&route.key.gk))
                && self.lacks(named)
        };
        let rules = rules.iter().enumerate();
        let named = rules.flat_map(|(i, rule)| {
            let refs = rule.filter_refs.iter().flat_map(|refs| &refs.of_rule);
            refs.filter(is_missing).map(move |named| (i, named.clone()))
        });
        named.collect()
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
