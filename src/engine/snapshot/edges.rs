//! Which objects refer to which, in the direction that the objects themselves do not show.

use std::sync::{Arc, LazyLock};

use imbl::OrdSet;

use super::KeyMap;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::object::{Node, Object};

type Sets = KeyMap<OrdSet<ObjectKey>>;

/// Objects by what they refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    /// Gateways by class, `ListenerSets` and routes by parent, everything by Namespace.
    below: Sets,
    /// Routes by backend.
    using: Sets,
}

impl Edges {
    /// Takes an object in.
    pub(super) fn link(&mut self, object: &Object) {
        for above in above(object) {
            let set = self.below.entry(above).or_default();
            set.insert(object.key.clone());
        }
        for backend in object.backends() {
            let set = self.using.entry(backend.object.clone()).or_default();
            set.insert(object.key.clone());
        }
    }

    /// Takes an object out.
    pub(super) fn unlink(&mut self, object: &Object) {
        for above in above(object) {
            forget(&mut self.below, &above, &object.key);
        }
        for backend in object.backends() {
            forget(&mut self.using, &backend.object, &object.key);
        }
    }

    /// What names an object as its class, parent or Namespace; sorted.
    pub(super) fn below(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> {
        self.below.get(key).into_iter().flatten()
    }

    /// The routes that send requests to an object; sorted.
    pub(super) fn using(&self, key: &ObjectKey) -> impl Iterator<Item = &ObjectKey> {
        self.using.get(key).into_iter().flatten()
    }
}

/// What an object names above itself.
fn above(object: &Object) -> Vec<ObjectKey> {
    let mut found = match &object.node {
        Node::Gateway { class, .. } => vec![class_key(class)],
        Node::ListenerSet { parent, .. } => vec![parent.object.clone()],
        Node::Route { parents, .. } => parents.iter().map(|p| p.object.clone()).collect(),
        _ => Vec::new(),
    };
    if !object.key.namespace.is_empty() {
        found.push(namespace_key(&object.key.namespace));
    }
    found
}

/// The namespace of what has none.
static NOWHERE: LazyLock<Arc<str>> = LazyLock::new(Arc::default);

/// The key of a class of Gateways.
pub(crate) fn class_key(name: &Arc<str>) -> ObjectKey {
    static KIND: LazyLock<GroupKind> = LazyLock::new(|| GroupKind::gateway_api("GatewayClass"));
    ObjectKey::new(KIND.clone(), NOWHERE.clone(), name.clone())
}

/// The key of a Namespace.
pub(crate) fn namespace_key(name: &Arc<str>) -> ObjectKey {
    static KIND: LazyLock<GroupKind> = LazyLock::new(|| GroupKind::core("Namespace"));
    ObjectKey::new(KIND.clone(), NOWHERE.clone(), name.clone())
}

/// Takes a key out of a set; a set that is left empty goes with it.
fn forget(sets: &mut Sets, at: &ObjectKey, key: &ObjectKey) {
    if let Some(set) = sets.get_mut(at) {
        set.remove(key);
        if set.is_empty() {
            sets.remove(at);
        }
    }
}
