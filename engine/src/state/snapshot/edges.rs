//! Reverse references: which objects refer to an object.

use std::sync::Arc;

use imbl::OrdMap;

use super::Snapshot;
use super::object_map::ObjectMap;
use super::small_set::SmallSet;
use crate::kinds::profile::ProfileRules;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Filters, Node, Object};

type Sets = ObjectMap<SmallSet<ObjectKey>>;

/// Objects by the objects that they refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    /// Gateways by class, `ListenerSets` and routes by parent, everything by Namespace.
    below: Sets,
    /// Routes by backend.
    using: Sets,
    /// Routes by the objects that filters of their rules name.
    filtering: Sets,
    /// Routes by the objects that filters of their backends name.
    filtering_backends: Sets,
    /// The number of backends of routes by kind, without Services.
    backends: OrdMap<GroupKind, usize>,
}

impl Edges {
    /// Adds an object.
    pub(super) fn link(&mut self, object: &Object) {
        for above in above(object) {
            add(&mut self.below, above, object.key.clone());
        }
        for refs in filter_refs(object) {
            for named in &refs.of_rule {
                add(&mut self.filtering, named.clone(), object.key.clone());
            }
            for named in &refs.of_backends {
                add(
                    &mut self.filtering_backends,
                    named.clone(),
                    object.key.clone(),
                );
            }
        }
        for backend in object.backends() {
            add(&mut self.using, backend.object.clone(), object.key.clone());
            if !backend.object.gk.is_core("Service") {
                *self.backends.entry(backend.object.gk.clone()).or_default() += 1;
            }
        }
    }

    /// Removes an object.
    pub(super) fn unlink(&mut self, object: &Object) {
        for above in above(object) {
            forget(&mut self.below, &above, &object.key);
        }
        for refs in filter_refs(object) {
            for named in &refs.of_rule {
                forget(&mut self.filtering, named, &object.key);
            }
            for named in &refs.of_backends {
                forget(&mut self.filtering_backends, named, &object.key);
            }
        }
        for backend in object.backends() {
            forget(&mut self.using, &backend.object, &object.key);
            self.forget_backend(&backend.object.gk);
        }
    }

    /// The objects that name `key` as their class, parent or Namespace; sorted.
    pub(super) fn below(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> + use<'_> {
        self.below.get(key).into_iter().flat_map(SmallSet::iter)
    }

    /// The objects of a kind that name `key` above themselves; sorted.
    pub(super) fn below_of(
        &self,
        key: &ObjectKey,
        kind: &GroupKind,
    ) -> impl Iterator<Item = &ObjectKey> {
        let first = ObjectKey::new(kind.clone(), Arc::default(), Arc::default());
        let below = self.below.get(key);
        let from = below.map(|set| set.from(&first));
        from.into_iter()
            .flatten()
            .take_while(move |child| child.gk == *kind)
    }

    fn forget_backend(&mut self, gk: &GroupKind) {
        if gk.is_core("Service") {
            return;
        }
        if let Some(count) = self.backends.get_mut(gk) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.backends.remove(gk);
            }
        }
    }

    /// The kinds of the backends of routes, without Service; sorted.
    pub(super) fn backend_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.backends.keys()
    }

    /// The routes of which a filter of a rule names an object; sorted.
    pub(super) fn filtering(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> {
        self.filtering.get(key).into_iter().flat_map(SmallSet::iter)
    }

    /// The routes of which a filter of a backend names an object; sorted.
    pub(super) fn filtering_backends(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> {
        let routes = self.filtering_backends.get(key);
        routes.into_iter().flat_map(SmallSet::iter)
    }

    /// The objects that filters of backends name.
    pub(super) fn named_by_backends(&self) -> impl Iterator<Item = &ObjectKey> {
        self.filtering_backends.keys()
    }

    /// The routes that send requests to an object; sorted.
    pub(super) fn using(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> {
        self.using.get(key).into_iter().flat_map(SmallSet::iter)
    }
}

/// The objects that filters of a route name, rule by rule.
pub(super) fn filter_refs(object: &Object) -> impl Iterator<Item = &Filters> {
    object.filters().filter(|filters| filters.names_objects())
}

/// The class, parents and Namespace that an object names.
pub(super) fn above(object: &Object) -> Vec<ObjectKey> {
    let mut above = match &object.node {
        Node::Gateway { class, .. } => vec![class_key(class)],
        Node::ListenerSet { parent, .. } => vec![parent.object.clone()],
        Node::Route { parents, .. } => parents.iter().map(|p| p.object.clone()).collect(),
        _ => Vec::new(),
    };
    if !object.key.namespace.is_empty() {
        above.push(namespace_key(&object.key.namespace));
    }
    above
}

// === impl Snapshot ===

impl Snapshot {
    /// The rules by which it reads policy kinds.
    pub fn rules(&self) -> &ProfileRules {
        &self.rules
    }

    /// Whether an unknown object may exist because it may not be read.
    pub fn hides(&self, key: &ObjectKey) -> bool {
        let hidden = self.kinds.get(&key.gk).is_some_and(|kind| kind.hidden);
        hidden && self.get(key).is_none() && !self.lacks(key)
    }

    /// Whether a controller creates a `GatewayClass` itself.
    pub fn creates_class(&self, name: &str) -> bool {
        self.rules.controller_of_created(name).is_some()
    }

    /// Whether a controller runs a Gateway.
    pub fn runs(&self, controller: &Arc<str>, gateway: &Object) -> bool {
        match &gateway.node {
            Node::Gateway { class, .. } => {
                self.controller_of(&class_key(class)) == Some(controller)
            }
            _ => false,
        }
    }

    /// The `controllerName` of a `GatewayClass`. One that a controller creates itself need not be there.
    pub fn controller_of(&self, class: &ObjectKey) -> Option<&Arc<str>> {
        match self.get(class) {
            Some(class) => class.node.controller(),
            None => self.rules.controller_of_created(&class.name),
        }
    }
}

/// The key of a class of Gateways.
pub fn class_key(name: &Arc<str>) -> ObjectKey {
    ObjectKey::new(GroupKind::GATEWAY_CLASS, Arc::default(), name.clone())
}

/// The key of a Namespace.
pub fn namespace_key(name: &Arc<str>) -> ObjectKey {
    ObjectKey::new(GroupKind::NAMESPACE, Arc::default(), name.clone())
}

/// Adds a key to the set at another key.
fn add(sets: &mut Sets, at: ObjectKey, key: ObjectKey) {
    match sets.get_mut(&at) {
        Some(set) => set.insert(key),
        None => drop(sets.insert(at, SmallSet::One(key))),
    }
}

/// Removes a key from a set, and the set once it is empty.
fn forget(sets: &mut Sets, at: &ObjectKey, key: &ObjectKey) {
    if sets.get_mut(at).is_some_and(|set| !set.remove(key)) {
        sets.remove(at);
    }
}
