//! JSON schemas of what people write, where the types do not say enough.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A map whose names are known.
pub fn by_name<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let names = generator.subschema_for::<K>();
    let values = generator.subschema_for::<V>();
    json_schema!({"type": "object", "propertyNames": names, "additionalProperties": values})
}
