//! Objects, sections and kinds in JSON: `{"group", "kind", "namespace", "name"}`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::engine::model::ids::{GroupKind, ObjectKey, Place};

/// An object, or a section of it. The namespace of a cluster-scoped object and the group of core are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Named(pub Place);

/// A kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindName(pub GroupKind);

// === impl Named ===

impl From<&ObjectKey> for Named {
    fn from(key: &ObjectKey) -> Self {
        Self(key.whole())
    }
}

impl From<&Place> for Named {
    fn from(place: &Place) -> Self {
        Self(place.clone())
    }
}

/// The names of many objects, in the given order.
pub fn named<'a>(keys: impl IntoIterator<Item = &'a ObjectKey>) -> Vec<Named> {
    keys.into_iter().map(Named::from).collect()
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Place { object, section } = &self.0;
        let fields = if section.is_some() { 5 } else { 4 };
        let mut out = serializer.serialize_struct("Named", fields)?;
        out.serialize_field("group", &*object.gk.group)?;
        out.serialize_field("kind", &*object.gk.kind)?;
        out.serialize_field("namespace", &*object.namespace)?;
        out.serialize_field("name", &*object.name)?;
        match section {
            Some(section) => out.serialize_field("section", &**section)?,
            None => out.skip_field("section")?,
        }
        out.end()
    }
}

impl JsonSchema for Named {
    fn schema_name() -> Cow<'static, str> {
        "Object".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An object, or a section of it.",
            "type": "object",
            "properties": {
                "group": {"type": "string", "description": "API group; empty for core."},
                "kind": {"type": "string", "description": "The kind, as in `kind` of a manifest."},
                "namespace": {"type": "string", "description": "Empty for cluster-scoped objects."},
                "name": {"type": "string", "description": "The name, as in `metadata.name`."},
                "section": {"type": "string", "description": "Listener, rule or port."},
            },
            "required": ["group", "kind", "namespace", "name"],
            "additionalProperties": false,
        })
    }
}

// === impl KindName ===

impl From<&GroupKind> for KindName {
    fn from(gk: &GroupKind) -> Self {
        Self(gk.clone())
    }
}

impl Serialize for KindName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("KindName", 2)?;
        out.serialize_field("group", &*self.0.group)?;
        out.serialize_field("kind", &*self.0.kind)?;
        out.end()
    }
}

impl JsonSchema for KindName {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A kind, in any version.",
            "type": "object",
            "properties": {
                "group": {"type": "string", "description": "API group; empty for core."},
                "kind": {"type": "string", "description": "The kind, as in `kind` of a manifest."},
            },
            "required": ["group", "kind"],
            "additionalProperties": false,
        })
    }
}
