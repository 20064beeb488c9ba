//! The `CustomResourceDefinition` of guardrails, made from the types that read them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::file::Spec;
use crate::status::Status;

/// The CRD. The API server accepts it: its schema is structural.
pub fn definition() -> Value {
    let column =
        |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "guardrails.attache.dev",
            // With the CRD, Helm would delete the guardrails.
            "annotations": {"helm.sh/resource-policy": "keep"},
        },
        "spec": {
            "group": "attache.dev",
            "scope": "Cluster",
            "names": {
                "kind": "Guardrail",
                "listKind": "GuardrailList",
                "plural": "guardrails",
                "singular": "guardrail",
            },
            "versions": [{
                "name": "v1alpha1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    column("Action", "string", ".spec.action"),
                    column("Usable", "string", ".status.conditions[?(@.type==\"Accepted\")].status"),
                    column("Fulfilled", "integer", ".status.fulfilled"),
                    column("Broken", "integer", ".status.broken"),
                    column("Errors", "integer", ".status.errors"),
                    column("Age", "date", ".metadata.creationTimestamp"),
                ],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "description": "A rule over the policies in force on targets.",
                    "required": ["spec"],
                    "properties": {
                        "apiVersion": {"type": "string"},
                        "kind": {"type": "string"},
                        "metadata": {"type": "object"},
                        "spec": schema_of::<Spec>(),
                        "status": schema_of::<Status>(),
                    },
                }},
            }],
        },
    })
}

/// The schema of the spec.
pub(crate) fn spec_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<Spec>);
    &SCHEMA
}

fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::openapi3();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    structural(schema.to_value())
}

/// A schema as a CRD may have it, without the keywords that only other readers of JSON schemas
/// understand.
fn structural(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else {
        return schema;
    };
    for unknown in ["$schema", "title", "components"] {
        fields.remove(unknown);
    }
    // The API server knows no unsigned numbers.
    if fields.get("format").and_then(Value::as_str) == Some("uint") {
        fields.insert("format".to_owned(), json!("int64"));
    }
    // Beside `properties` it is forbidden; unknown fields are dropped anyway.
    if fields.contains_key("properties") {
        fields.remove("additionalProperties");
    }
    if let Some(Value::Array(cases)) = fields.remove("oneOf") {
        values(&mut fields, &cases);
    }
    // A default would be filled in by the API server; attache has the same.
    fields.remove("default");
    let fields = fields.into_iter().map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties = properties.into_iter();
                properties
                    .map(|(name, schema)| (name, structural(schema)))
                    .collect::<Map<_, _>>()
                    .into()
            }
            ("items" | "additionalProperties", schema) => structural(schema),
            (_, value) => value,
        };
        (name, value)
    });
    Value::Object(fields.collect())
}

/// Turns alternatives that are single values with a description each into one list of values.
fn values(fields: &mut Map<String, Value>, cases: &[Value]) {
    let described = cases.iter().filter_map(|case| {
        let value = case.pointer("/enum/0")?.as_str()?;
        let description = case.get("description").and_then(Value::as_str);
        Some(format!("{value}: {}", description.unwrap_or_default()))
    });
    let described: Vec<String> = described.collect();
    let own = fields.get("description").and_then(Value::as_str);
    let own = own.unwrap_or_default();
    let description = format!("{own} {}", described.join(" "));
    fields.insert("description".to_owned(), json!(description.trim()));
    fields.insert("type".to_owned(), json!("string"));
    let all = cases.iter().filter_map(|case| case.pointer("/enum/0"));
    let all = all.cloned();
    fields.insert("enum".to_owned(), Value::Array(all.collect()));
}
