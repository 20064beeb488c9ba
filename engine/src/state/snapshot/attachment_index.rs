//! An index of policies by target.

use std::cmp::Ordering;
use std::sync::Arc;

use imbl::OrdMap;

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
    /// By kind and namespace, which is empty for all.
    selecting: OrdMap<GroupKind, OrdMap<Arc<str>, OrderedPolicies>>,
}

/// Where a policy is in the index.
enum IndexedTarget {
    Naming(ObjectKey),
    Selecting(GroupKind, Arc<str>),
}

impl AttachmentIndex {
    /// Adds a policy.
    pub(super) fn set(&mut self, policy: &Arc<Policy>) {
        for entry in entries(policy) {
            let policy = Ordered(policy.clone());
            match entry {
                IndexedTarget::Naming(key) => match self.naming.get_mut(&key) {
                    Some(policies) => policies.insert(policy),
                    None => drop(self.naming.insert(key, SmallSet::One(policy))),
                },
                IndexedTarget::Selecting(kind, namespace) => {
                    let namespaces = self.selecting.entry(kind).or_default();
                    match namespaces.get_mut(&namespace) {
                        Some(policies) => policies.insert(policy),
                        None => drop(namespaces.insert(namespace, SmallSet::One(policy))),
                    }
                }
            }
        }
    }

    /// Removes a policy.
    pub(super) fn unset(&mut self, policy: &Arc<Policy>) {
        for entry in entries(policy) {
            let policy = Ordered(policy.clone());
            let is_last = |policies: &mut OrderedPolicies| !policies.remove(&policy);
            match entry {
                IndexedTarget::Naming(key) => {
                    if self.naming.get_mut(&key).is_some_and(is_last) {
                        self.naming.remove(&key);
                    }
                }
                IndexedTarget::Selecting(kind, namespace) => {
                    let Some(namespaces) = self.selecting.get_mut(&kind) else {
                        continue;
                    };
                    if namespaces.get_mut(&namespace).is_some_and(is_last) {
                        namespaces.remove(&namespace);
                    }
                    if namespaces.is_empty() {
                        self.selecting.remove(&kind);
                    }
                }
            }
        }
    }

    /// Policies that may name an object or a section of it: first those that name it, then those that select; each by
    /// kind, the established first. The caller checks whether they do.
    pub(super) fn of_object(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Policy>> {
        let named = self.naming.get(key).into_iter();
        let everywhere = (!key.namespace.is_empty()).then_some("");
        let namespaces = everywhere.into_iter().chain([&*key.namespace]);
        let of_kind = self.selecting.get(&key.gk);
        let selecting = namespaces.filter_map(move |namespace| of_kind?.get(namespace));
        let policies = named.chain(selecting).flat_map(SmallSet::iter);
        policies.map(|Ordered(policy)| policy)
    }

    /// Whether no policy may name the object or a section of it.
    pub(super) fn has_no_policies(&self, key: &ObjectKey) -> bool {
        self.of_object(key).next().is_none()
    }
}

/// The entries of a policy in the index.
fn entries(policy: &Policy) -> impl Iterator<Item = IndexedTarget> {
    let own = &policy.key().namespace;
    policy.targets.iter().map(move |target| {
        let kind = target.gk.clone();
        let namespace = if target.spans(own) {
            Arc::default()
        } else {
            target.namespace(own)
        };
        match &target.select {
            Select::Name(name) | Select::Filter(name, _) => {
                IndexedTarget::Naming(ObjectKey::new(kind, namespace, name.clone()))
            }
            Select::Labels(_) | Select::Pods(_) | Select::Annotated(..) => {
                IndexedTarget::Selecting(kind, namespace)
            }
        }
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
