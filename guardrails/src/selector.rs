//! Label selectors as guardrails have them. A field that is misspelt would select everything.

use attache_engine::model::selector::Selector;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::shape::{self, Fault};

/// The schema of a label selector.
pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "matchLabels": {
                "type": "object",
                "description": "Labels that it must have, with these values.",
                "additionalProperties": {"type": "string"},
            },
            "matchExpressions": {
                "type": "array",
                "description": "Conditions that its labels must meet.",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": {"type": "string", "description": "The label."},
                        "operator": {
                            "type": "string",
                            "enum": ["In", "NotIn", "Exists", "DoesNotExist"],
                            "description": "The comparison: `In`, `NotIn`, `Exists` or `DoesNotExist`.",
                        },
                        "values": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "The values for `In` and `NotIn`.",
                        },
                    },
                },
            },
        },
    })
}

/// Reads a selector; unlike in objects of Kubernetes, fields that do not exist are errors.
pub(crate) fn strict<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Selector>, D::Error> {
    let value = Value::deserialize(reader)?;
    if value.is_null() {
        return Ok(None);
    }
    let schema = schema(&mut SchemaGenerator::default()).to_value();
    let checked = shape::check(&value, &schema, "").and_then(|()| check(&value, ""));
    checked.map_err(|(field, why)| {
        D::Error::custom(if field.is_empty() {
            why
        } else {
            format!("{field}: {why}")
        })
    })?;
    serde_json::from_value(value).map_err(D::Error::custom)
}

/// Checks the values of expressions, as the API server does it.
pub(crate) fn check(selector: &Value, field: &str) -> Result<(), Fault> {
    let expressions = selector["matchExpressions"].as_array();
    for (i, expression) in expressions.into_iter().flatten().enumerate() {
        let count = expression["values"].as_array().map_or(0, Vec::len);
        let operator = expression["operator"].as_str().unwrap_or_default();
        let why = match (operator, count) {
            ("In" | "NotIn", 0) => format!("{operator} needs at least one value"),
            ("Exists" | "DoesNotExist", 1..) => format!("{operator} takes no values"),
            _ => continue,
        };
        let dot = if field.is_empty() { "" } else { "." };
        return Err((format!("{field}{dot}matchExpressions[{i}].values"), why));
    }
    Ok(())
}
