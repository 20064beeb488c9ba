//! Objects that the settings of a policy name, and without which controllers reject it.

use std::sync::Arc;

use serde_json::Value;

use super::Policy;
use crate::kinds::profile::{Profile, Reference, collect};
use crate::model::grants::granted;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Node;
use crate::model::wording::plural;
use crate::state::snapshot::{Snapshot, namespace_key};

/// More references of one policy are not read.
const MOST: usize = 64;

/// An object that a setting of a policy names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedObject {
    /// The index of the field in the profile.
    field: usize,
    object: ObjectKey,
    port: Option<u16>,
}

/// A reference of a policy that leads nowhere.
#[derive(Clone, Debug)]
pub(crate) struct Unresolved<'a> {
    /// The facts about the field.
    pub field: &'a Reference,
    /// Why, in words.
    pub why: String,
    /// Whether requests that the policy is for get an error.
    pub requests_fail: bool,
}

/// The objects that the settings name.
pub(super) fn read(spec: &Value, profile: &Profile, own: &Arc<str>) -> Box<[NamedObject]> {
    let mut named_objects = Vec::new();
    for (field, reference) in profile.references.iter().enumerate() {
        let mut values = Vec::new();
        collect(spec, &reference.path, &mut values);
        let values = values.into_iter().flat_map(|value| match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        });
        let named = values.filter_map(|value| {
            let object = object(value, reference, own)?;
            let port = value.get("port").and_then(Value::as_u64);
            Some(NamedObject {
                field,
                object,
                port: port.and_then(|port| u16::try_from(port).ok()),
            })
        });
        named_objects.extend(named);
    }
    named_objects.truncate(MOST);
    named_objects.into()
}

fn object(value: &Value, reference: &Reference, own: &Arc<str>) -> Option<ObjectKey> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let name = text("name").filter(|name| !name.is_empty())?;
    let group = text("group").unwrap_or(&reference.gk.group);
    let kind = text("kind").unwrap_or(&reference.gk.kind);
    let namespace = text("namespace").filter(|namespace| !namespace.is_empty());
    let namespace = namespace.map_or_else(|| own.clone(), Arc::from);
    Some(ObjectKey::new(GroupKind::new(group, kind), namespace, name))
}

impl Policy {
    /// The first reference in its settings that leads nowhere. Only where the state has other objects of the kind in the
    /// namespace, so that the object would be there too, or where the change deletes the object: manifests may lack what
    /// others deploy. What is not granted is not looked for.
    pub(crate) fn unresolved<'a>(&'a self, snapshot: &Snapshot) -> Option<Unresolved<'a>> {
        let (kind, own) = (&self.key().gk, &self.key().namespace);
        self.references.iter().find_map(|named| {
            let (field, to) = (self.profile.references.get(named.field)?, &named.object);
            let namespace = namespace_key(&to.namespace);
            if !snapshot.is_supposed(to) {
                snapshot.naming_of(&namespace, &to.gk).next()?;
            }
            let path = field.path.join(".");
            let why = if field.grant && !granted(snapshot, kind, own, to) {
                format!(
                    "{path} names {to}, and no ReferenceGrant in namespace {} covers {} of namespace {own}",
                    to.namespace,
                    plural(&kind.kind),
                )
            } else if snapshot.lacks(to) {
                format!("{path} names {to}, which does not exist")
            } else if field.port && lacks_port(snapshot, to, named.port) {
                match named.port {
                    Some(port) => format!("{path} names port {port} of {to}, which has no such port"),
                    None => format!("{path} names {to} without a port"),
                }
            } else {
                return None;
            };
            let requests_fail = field.requests_fail && !self.fails_open(field);
            Some(Unresolved {
                field,
                why,
                requests_fail,
            })
        })
    }

    /// Whether requests get an error because its settings name an object that cannot be used.
    pub(crate) fn requests_fail(&self, snapshot: &Snapshot) -> bool {
        let unresolved = self.unresolved(snapshot);
        unresolved.is_some_and(|unresolved| unresolved.requests_fail)
    }

    /// Whether it lets requests pass if the object of a field cannot be used.
    fn fails_open(&self, field: &Reference) -> bool {
        let Some(path) = &field.fail_open else {
            return false;
        };
        self.parts().any(|part| {
            let settings = part.as_in_force().json();
            let mut values = Vec::new();
            collect(&settings, path, &mut values);
            values.contains(&&Value::Bool(true))
        })
    }

    /// Whether its settings name an object, or an object in a namespace.
    pub(crate) fn names(&self, is_it: impl Fn(&ObjectKey) -> bool) -> bool {
        self.references.iter().any(|named| is_it(&named.object))
    }
}

/// Whether a Service has no port of this number.
fn lacks_port(snapshot: &Snapshot, service: &ObjectKey, number: Option<u16>) -> bool {
    let node = snapshot.get(service).map(|object| &object.node);
    let Some(Node::Service { ports }) = node else {
        return false;
    };
    !ports.iter().any(|port| Some(port.number) == number)
}
