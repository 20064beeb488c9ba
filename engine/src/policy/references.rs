//! Objects that the settings of a policy name, and without which controllers reject it.

use std::sync::Arc;

use serde_json::Value;

use crate::kinds::profile::{Profile, collect};
use crate::model::ids::{GroupKind, ObjectKey};

/// More references of one policy are not read.
const MAX_REFERENCES: usize = 64;

/// An object that a setting of a policy names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedObject {
    /// The index of the field in the profile.
    pub(crate) field: usize,
    pub(crate) object: ObjectKey,
    pub(crate) port: Option<u16>,
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
            let default = (&*reference.group, &*reference.kind);
            let object = named_object(value, default, own)?;
            let port = value.get("port").and_then(Value::as_u64);
            Some(NamedObject {
                field,
                object,
                port: port.and_then(|port| u16::try_from(port).ok()),
            })
        });
        named_objects.extend(named);
    }
    named_objects.truncate(MAX_REFERENCES);
    named_objects.into()
}

/// The object that a reference names; group and kind are those of a reference without them, and the namespace is that of the
/// object that names it.
pub(crate) fn named_object(
    reference: &Value,
    (group, kind): (&str, &str),
    own: &Arc<str>,
) -> Option<ObjectKey> {
    let text = |key: &str| reference.get(key).and_then(Value::as_str);
    let name = text("name").filter(|name| !name.is_empty())?;
    let group = text("group").unwrap_or(group);
    let kind = text("kind").unwrap_or(kind);
    let namespace = text("namespace").filter(|namespace| !namespace.is_empty());
    let namespace = namespace.map_or_else(|| own.clone(), Arc::from);
    Some(ObjectKey::new(GroupKind::new(group, kind), namespace, name))
}
