//! Converts a document to JSON text, and reads the fields that identify it.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed as _, Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::documents::Fault;
use super::transcode::{Transcode, Written};
use super::{LONGEST_WITH_DOUBLES, options, plain};
use crate::engine::model::literal;

/// The fields that identify a document or an item of a list.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Head<'a> {
    #[serde(borrow)]
    pub(super) api_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) items: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    spec: Option<IgnoredAny>,
}

/// The list that contains an object.
#[derive(Default)]
pub(super) struct ContainingList<'a> {
    /// The index of the object in it.
    pub(super) items: Vec<usize>,
    /// The version and kind of items that leave them out.
    pub(super) version_and_kind: Option<(&'a str, &'a str)>,
}

/// A YAML document as JSON text.
pub(super) struct Yaml {
    pub(super) text: String,
    /// The line where another document follows.
    pub(super) more: Option<u64>,
}

// === impl Head ===

impl Head<'_> {
    pub(super) fn text(field: Option<&RawValue>) -> Option<String> {
        let text: String = serde_json::from_str(field?.get()).ok()?;
        (!text.is_empty()).then_some(text)
    }

    /// The fields that distinguish a manifest from other files: which ones there are, and its name and namespace.
    pub(super) fn sketch(&self) -> Value {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Names<'a> {
            #[serde(borrow)]
            name: Option<&'a RawValue>,
            #[serde(borrow)]
            namespace: Option<&'a RawValue>,
        }
        let metadata = self.metadata.map_or("{}", RawValue::get);
        let names: Names<'_> = serde_json::from_str(metadata).unwrap_or_default();
        let mut sketch = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                sketch.insert(key.to_owned(), value);
            }
        };
        let text = |field: Option<&RawValue>| json!(Self::text(field));
        put(
            "apiVersion",
            self.api_version.map(|field| text(Some(field))),
        );
        put("kind", self.kind.map(|field| text(Some(field))));
        put("spec", self.spec.map(|_| json!({})));
        let inside = json!({"name": text(names.name), "namespace": text(names.namespace)});
        put("metadata", self.metadata.map(|_| inside));
        Value::Object(sketch)
    }
}

/// Rewrites a JSON value without whitespace. If a key occurs twice, its last value counts.
pub(super) fn json(text: &str) -> Result<String, Fault> {
    let fault = |error: &serde_json::Error| {
        let place = (error.line() as u64, error.column() as u64);
        (place, error.to_string())
    };
    let mut written = Written::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Transcode::new(&mut written, most(text)).deserialize(&mut reader);
    read.map_err(|error| fault(&error))?;
    if !written.has_double {
        return Ok(written.text);
    }
    if text.len() > LONGEST_WITH_DOUBLES {
        return Err(((1, 0), "a key occurs twice in one object".to_owned()));
    }
    let value = literal::from_str(text).map_err(|error| fault(&error))?;
    Ok(value.to_string())
}

pub(super) fn yaml(text: &str) -> Result<Yaml, Fault> {
    let mut written = Written::default();
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |reader| {
        let written = &mut written;
        Transcode::new(written, most(text)).deserialize(reader)
    });
    let more = match read {
        Ok(()) => None,
        Err(error) => {
            let place = error.location().map(|at| (at.line(), at.column()));
            let place = place.filter(|(line, _)| *line > 0).unwrap_or((1, 0));
            let error = error.without_snippet();
            if !matches!(error, serde_saphyr::Error::MultipleDocuments { .. }) {
                let message = error.to_string();
                let message = message.lines().next().unwrap_or_default();
                return Err((place, plain(message)));
            }
            Some(place.0)
        }
    };
    Ok(Yaml {
        text: written.text,
        more,
    })
}

/// The most bytes of JSON that a text may expand to. Escapes take up to six times their length.
fn most(text: &str) -> usize {
    6 * text.len() + (1 << 20)
}

/// Calls a function with each item of a list and its index.
pub(super) fn each_item(list: &RawValue, item: impl FnMut(usize, &RawValue)) {
    struct Items<F>(F);
    impl<'de, F: FnMut(usize, &RawValue)> Visitor<'de> for Items<F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
            let mut i = 0;
            while let Some(item) = items.next_element::<&RawValue>()? {
                (self.0)(i, item);
                i += 1;
            }
            Ok(())
        }
    }
    let mut reader = serde_json::Deserializer::from_str(list.get());
    // The text was written by attache, so it is valid.
    let _ = reader.deserialize_seq(Items(item));
}
