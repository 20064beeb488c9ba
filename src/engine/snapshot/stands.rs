//! Policies by what they name.

use std::sync::Arc;

use imbl::OrdMap;

use super::KeyMap;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::policy::{Policy, Precedence, Select};

/// Policies of one place: by kind, the established first.
type Standing = OrdMap<(GroupKind, Precedence), Arc<Policy>>;

/// Policies by the objects that they name, and by the namespaces in which they select.
#[derive(Clone, Debug, Default)]
pub(super) struct Stands {
    naming: KeyMap<Standing>,
    /// By kind and namespace, as a key without name.
    selecting: KeyMap<Standing>,
}

impl Stands {
    /// Takes a policy in.
    pub(super) fn set(&mut self, policy: &Arc<Policy>) {
        for (selects, at) in places(policy) {
            let standing = self.map(selects).entry(at).or_default();
            standing.insert(order(policy), policy.clone());
        }
    }

    /// Takes a policy out.
    pub(super) fn unset(&mut self, policy: &Policy) {
        for (selects, at) in places(policy) {
            let map = self.map(selects);
            if let Some(standing) = map.get_mut(&at) {
                standing.remove(&order(policy));
                if standing.is_empty() {
                    map.remove(&at);
                }
            }
        }
    }

    /// Policies that may name an object or sections of it: those that name it by name, then those
    /// that select; each by kind, the established first. Whether they do is asked of each.
    pub(super) fn of_object(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Policy>> {
        let named = self.naming.get(key).into_iter().flat_map(OrdMap::values);
        let anywhere = (!key.namespace.is_empty()).then_some("");
        let namespaces = anywhere.into_iter().chain([&*key.namespace]);
        // Most clusters have no selecting policy: no keys are made for them.
        let namespaces = (!self.selecting.is_empty()).then_some(namespaces);
        let selecting = namespaces.into_iter().flatten().filter_map(|namespace| {
            let at = ObjectKey::new(key.gk.clone(), namespace, "");
            self.selecting.get(&at)
        });
        named.chain(selecting.flat_map(OrdMap::values))
    }

    fn map(&mut self, selects: bool) -> &mut KeyMap<Standing> {
        if selects {
            &mut self.selecting
        } else {
            &mut self.naming
        }
    }
}

/// Where a policy stands, and whether it selects there.
fn places(policy: &Policy) -> impl Iterator<Item = (bool, ObjectKey)> {
    let own = &policy.key().namespace;
    policy.targets.iter().map(move |target| {
        let namespace = if target.spans(own) {
            Arc::default()
        } else {
            target.namespace(own).clone()
        };
        let (selects, name) = match &target.select {
            Select::Name(name) => (false, name.clone()),
            Select::Labels(_) | Select::Annotated(..) => (true, Arc::default()),
        };
        (selects, ObjectKey::new(target.gk.clone(), namespace, name))
    })
}

fn order(policy: &Policy) -> (GroupKind, Precedence) {
    (policy.key().gk.clone(), policy.precedence().clone())
}
