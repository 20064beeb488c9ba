//! An index of policies by target.

use std::cmp::Ordering;
use std::sync::Arc;

use super::object_map::ObjectMap;
use super::small_set::SmallSet;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::policy::{Policy, Precedence, Select};

/// The policies of one place: by kind, the established first.
type OrderedPolicies = SmallSet<Ordered>;

/// A policy, ordered that way.
#[derive(Clone, Debug)]
struct Ordered(Arc<Policy>);

/// Policies by the objects that they name, and by the namespaces in which they select.
#[derive(Clone, Debug, Default)]
pub(super) struct AttachmentIndex {
    naming: ObjectMap<OrderedPolicies>,
    /// By kind and namespace, as a key without a name.
    selecting: ObjectMap<OrderedPolicies>,
}

impl AttachmentIndex {
    /// Adds a policy.
    pub(super) fn set(&mut self, policy: &Arc<Policy>) {
        for (selects, at) in places(policy) {
            let (map, policy) = (self.map(selects), Ordered(policy.clone()));
            match map.get_mut(&at) {
                Some(policies) => policies.insert(policy),
                None => drop(map.insert(at, SmallSet::One(policy))),
            }
        }
    }

    /// Removes a policy.
    pub(super) fn unset(&mut self, policy: &Arc<Policy>) {
        for (selects, at) in places(policy) {
            let map = self.map(selects);
            let policy = Ordered(policy.clone());
            if map
                .get_mut(&at)
                .is_some_and(|policies| !policies.remove(&policy))
            {
                map.remove(&at);
            }
        }
    }

    /// Policies that may name an object or a section of it: first those that name it, then those that select; each by
    /// kind, the established first. The caller checks whether they do.
    pub(super) fn of_object(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Policy>> {
        let named = self.naming.get(key).into_iter().flat_map(SmallSet::iter);
        let anywhere = (!key.namespace.is_empty()).then_some("");
        let namespaces = anywhere.into_iter().chain([&*key.namespace]);
        // Most clusters have no policy that selects, so no keys are built.
        let namespaces = (!self.selecting.is_empty()).then_some(namespaces);
        let selecting = namespaces.into_iter().flatten().filter_map(|namespace| {
            let at = ObjectKey::new(key.gk.clone(), namespace, "");
            self.selecting.get(&at)
        });
        let policies = named.chain(selecting.flat_map(SmallSet::iter));
        policies.map(|Ordered(policy)| policy)
    }

    /// Whether no policy may name the object or a section of it.
    pub(super) fn has_no_policies(&self, key: &ObjectKey) -> bool {
        self.naming.get(key).is_none()
            && (self.selecting.is_empty() || self.of_object(key).next().is_none())
    }

    fn map(&mut self, selects: bool) -> &mut ObjectMap<OrderedPolicies> {
        if selects {
            &mut self.selecting
        } else {
            &mut self.naming
        }
    }
}

/// The keys of a policy in the index, and whether it selects there.
fn places(policy: &Policy) -> impl Iterator<Item = (bool, ObjectKey)> {
    let own = &policy.key().namespace;
    policy.targets.iter().map(move |target| {
        let namespace = if target.spans(own) {
            Arc::default()
        } else {
            target.namespace(own)
        };
        let (selects, name) = match &target.select {
            Select::Name(name) | Select::Filter(name, _) => (false, name.clone()),
            Select::Labels(_) | Select::Pods(_) | Select::Annotated(..) => (true, Arc::default()),
        };
        (selects, ObjectKey::new(target.gk.clone(), namespace, name))
    })
}

// === impl Ordered ===

impl Ordered {
    fn order(&self) -> (&GroupKind, &Precedence) {
        (&self.0.key().gk, self.0.precedence())
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}
