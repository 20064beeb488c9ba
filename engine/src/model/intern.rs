//! Interns strings and keys: values that occur in many objects are in memory once.
//!
//! A cache that keeps objects has an [`Interner`] and passes each object through it. Objects that live as long as one request
//! need none.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::model::ids::{GroupKind, ObjectKey, Place, PrehashedBuildHasher};
use crate::model::object::status::{Reported, Subject};
use crate::model::object::{Header, Listener, Meta, Node, Object, ParentRef};

/// The most values of each type. An interner that is full starts anew: values may then be in memory twice.
const MAX_VALUES: usize = 4096;
/// Longer strings are not interned: names have at most 63 bytes, and longer strings are rarely repeated.
const MAX_STRING_BYTES: usize = 64;

/// Values that occurred in objects.
#[derive(Debug, Default)]
pub struct Interner {
    texts: HashSet<Arc<str>, RandomState>,
    numbers: HashSet<Arc<[u64]>, RandomState>,
    kinds: HashSet<GroupKind, RandomState>,
    keys: HashSet<ObjectKey, PrehashedBuildHasher>,
    /// The report that says no more than that an object is accepted.
    acceptance: Option<Arc<Reported>>,
}

// === impl Interner ===

impl Interner {
    /// Replaces the values in an object by equal ones that occurred before.
    pub fn object(&mut self, object: &mut Object) {
        self.key(&mut object.key);
        self.meta(&mut object.meta);
        self.node(&mut object.node);
        if let Some(reported) = &mut object.reported {
            self.reported(reported);
        }
    }

    /// Replaces the values in the metadata of an object.
    pub fn header(&mut self, header: &mut Header) {
        self.text(&mut header.namespace);
        self.text(&mut header.name);
        self.meta(&mut header.meta);
    }

    fn meta(&mut self, meta: &mut Meta) {
        let texts = meta.labels.texts_mut().chain(meta.annotations.texts_mut());
        texts
            .chain(&mut meta.version)
            .for_each(|text| self.text(text));
    }

    /// Replaces a string.
    pub fn text(&mut self, text: &mut Arc<str>) {
        if text.len() <= MAX_STRING_BYTES {
            share(&mut self.texts, text);
        }
    }

    /// Replaces a kind.
    pub fn kind(&mut self, kind: &mut GroupKind) {
        share(&mut self.kinds, kind);
    }

    /// Replaces a key.
    pub fn key(&mut self, key: &mut ObjectKey) {
        if let Some(known) = self.keys.get(key) {
            key.clone_from(known);
            return;
        }
        let (mut kind, mut namespace, mut name) =
            (key.gk.clone(), key.namespace.clone(), key.name.clone());
        self.kind(&mut kind);
        self.text(&mut namespace);
        self.text(&mut name);
        *key = ObjectKey::new(kind, namespace, name);
        share(&mut self.keys, key);
    }

    fn node(&mut self, node: &mut Node) {
        match node {
            Node::GatewayClass { controller } => self.text(controller),
            Node::Gateway {
                class, listeners, ..
            } => {
                self.text(class);
                self.listeners(listeners);
            }
            Node::ListenerSet { parent, listeners } => {
                self.parent(parent);
                self.listeners(listeners);
            }
            Node::Route {
                parents,
                hostnames,
                rules,
                paths,
                matches,
                rule_matches: _,
            } => {
                parents.iter_mut().for_each(|parent| self.parent(parent));
                hostnames.iter_mut().for_each(|name| self.text(name));
                for rule in rules {
                    rule.name.iter_mut().for_each(|name| self.text(name));
                    if let Some(filters) = &mut rule.filters {
                        let of_backends = filters.types_of_backends.iter_mut();
                        let types = filters.types.iter_mut().chain(of_backends);
                        types.for_each(|one| self.text(one));
                    }
                    let backends = rule.backends.iter_mut();
                    backends.for_each(|backend| self.key(&mut backend.object));
                }
                let hashes = paths.hashes_mut().into_iter().chain(matches.hashes_mut());
                hashes.for_each(|hashes| share(&mut self.numbers, hashes));
            }
            Node::Service { ports, .. } => {
                let names = ports.iter_mut().flat_map(|port| &mut port.name);
                names.for_each(|name| self.text(name));
            }
            Node::ReferenceGrant { from, to } => {
                for from in from {
                    self.kind(&mut from.gk);
                    self.text(&mut from.namespace);
                }
                for to in to {
                    self.kind(&mut to.gk);
                    to.name.iter_mut().for_each(|name| self.text(name));
                }
            }
            Node::Crd(_) | Node::Other => {}
        }
    }

    fn listeners(&mut self, listeners: &mut [Listener]) {
        for listener in listeners {
            self.text(&mut listener.name);
            self.text(&mut listener.protocol);
            listener
                .hostname
                .iter_mut()
                .for_each(|name| self.text(name));
            listener
                .routes_of
                .iter_mut()
                .for_each(|kind| self.kind(kind));
        }
    }

    fn parent(&mut self, parent: &mut ParentRef) {
        self.key(&mut parent.object);
        parent.section.iter_mut().for_each(|name| self.text(name));
    }

    fn place(&mut self, place: &mut Place) {
        self.key(&mut place.object);
        place.section.iter_mut().for_each(|name| self.text(name));
    }

    /// Replaces the values in a status.
    pub fn reported(&mut self, reported: &mut Arc<Reported>) {
        if reported.is_plain_acceptance() {
            let known = self.acceptance.get_or_insert_with(|| reported.clone());
            reported.clone_from(known);
            return;
        }
        let Some(reported) = Arc::get_mut(reported) else {
            return;
        };
        for entry in &mut reported.entries {
            match &mut entry.subject {
                Subject::Whole => {}
                Subject::Ancestor(place) => self.place(place),
                Subject::Parent(parent) => self.parent(parent),
                Subject::Listener(name) => self.text(name),
            }
            entry.controller.iter_mut().for_each(|name| self.text(name));
            for condition in &mut entry.conditions {
                self.text(&mut condition.name);
                self.text(&mut condition.reason);
                self.text(&mut condition.message);
            }
        }
    }
}

/// Replaces a value by an equal one that is known, or makes it known.
fn share<T: Clone + Eq + Hash>(known: &mut HashSet<T, impl BuildHasher>, value: &mut T) {
    if let Some(known) = known.get(value) {
        value.clone_from(known);
        return;
    }
    if known.len() >= MAX_VALUES {
        known.clear();
    }
    known.insert(value.clone());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::{Interner, MAX_STRING_BYTES, MAX_VALUES};
    use crate::model::ids::GroupKind;
    use crate::model::object::{Node, Object};

    fn route(name: &str) -> Object {
        let json = json!({
            "metadata": {"namespace": "shop", "name": name, "labels": {"team": "web"}},
            "spec": {
                "parentRefs": [{"name": "edge", "namespace": "infra", "sectionName": "https"}],
                "hostnames": ["shop.example.com"],
                "rules": [{"backendRefs": [{"name": "cart", "port": 80}]}],
            },
        });
        let gk = GroupKind::gateway_api("HTTPRoute");
        Object::from_json(&gk, &to_raw_value(&json).unwrap()).unwrap()
    }

    #[test]
    fn equal_parts_of_objects_share_memory() {
        let (mut one, mut other) = (route("a"), route("b"));
        let mut interner = Interner::default();
        interner.object(&mut one);
        interner.object(&mut other);
        let before = route("a");
        assert_eq!(
            (&one.key, &one.node, &one.meta),
            (&before.key, &before.node, &before.meta)
        );
        let parts = |object: &Object| {
            let Node::Route {
                parents,
                hostnames,
                rules,
                ..
            } = &object.node
            else {
                panic!("a route");
            };
            [
                object.key.namespace.clone(),
                object.meta.labels.get("team").unwrap().clone(),
                parents[0].object.name.clone(),
                parents[0].section.clone().unwrap(),
                hostnames[0].clone(),
                rules[0].backends[0].object.name.clone(),
            ]
        };
        for (one, other) in parts(&one).iter().zip(&parts(&other)) {
            assert!(Arc::ptr_eq(one, other), "{one}");
        }
    }

    #[test]
    fn long_texts_and_more_than_fit_stay_as_they_are() {
        let mut interner = Interner::default();
        let mut long: Arc<str> = "x".repeat(MAX_STRING_BYTES + 1).into();
        let before = long.clone();
        interner.text(&mut long);
        assert!(Arc::ptr_eq(&long, &before));
        for i in 0..5 * MAX_VALUES {
            let name = (i % 7000).to_string();
            let mut text: Arc<str> = name.as_str().into();
            interner.text(&mut text);
            assert_eq!(*text, *name);
        }
    }
}
