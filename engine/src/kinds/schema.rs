//! JSON schemas of user input, where the types do not suffice.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The schema of a map with a closed set of keys.
pub fn by_name<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let names = generator.subschema_for::<K>();
    let values = generator.subschema_for::<V>();
    json_schema!({"type": "object", "propertyNames": names, "additionalProperties": values})
}
