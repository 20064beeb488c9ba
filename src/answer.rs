//! The answers of the commands as data: the interface that programs read. Pure; `cli::render` shows them
//! to people.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::model::printable;

pub mod change_set;
pub mod controller_status;
pub mod description;
pub mod difference;
pub mod effective;
pub mod explanation;
pub mod graph;
pub mod guardrails;
pub mod health;
pub mod impact;
pub mod kinds;
pub mod named;
pub mod openreports;
pub mod policies;
pub mod problems;
pub mod report;
pub mod state;
pub mod strategy;
pub mod tested;
pub mod workload;

pub use effective::EffectiveSettings;
pub use named::{KindName, Named};

/// The version of that interface.
pub const API_VERSION: &str = "attache.dev/v1";

/// The answer of one command.
pub trait Answer: Serialize + JsonSchema {
    /// Its `kind` in JSON.
    const KIND: &'static str;
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a, T> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// An answer with its `apiVersion` and `kind`, ready for any serialization format.
pub fn document<T: Answer>(answer: &T) -> impl Serialize + '_ {
    Document {
        api_version: API_VERSION,
        kind: T::KIND,
        body: answer,
    }
}

/// An answer as JSON text: the same bytes for the same answer.
///
/// # Errors
/// None for the answers of this module: all their keys are strings.
pub fn json<T: Answer>(answer: &T) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(&document(answer))?;
    text.push('\n');
    Ok(printable::json(text))
}

/// The JSON schema of an answer.
pub fn schema<T: Answer>() -> Value {
    let settings = SchemaSettings::default().for_serialize();
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    let head = [("apiVersion", API_VERSION), ("kind", T::KIND)];
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), json!(T::KIND));
        for (name, value) in head {
            let properties = object.entry("properties").or_insert_with(|| json!({}));
            if let Some(properties) = properties.as_object_mut() {
                properties.insert(name.to_owned(), json!({ "const": value }));
            }
            let required = object.entry("required").or_insert_with(|| json!([]));
            if let Some(required) = required.as_array_mut() {
                required.push(json!(name));
            }
        }
    }
    schema
}
