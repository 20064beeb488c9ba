//! The constraints of each version in compact form: equal parts are shared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::kinds::profile::{Constraints, JsonType, Limit, Number, Part, Pattern};

/// The maximum number of different parts that are kept of one CRD. The largest real CRDs have some
/// hundred.
const MOST_PARTS: usize = 20_000;
/// The maximum number of different patterns that are kept of one CRD.
const MOST_PATTERNS: usize = 500;
/// The maximum size of the names and values that are kept of one CRD, in bytes.
const MOST_TEXT: usize = 1 << 18;

/// The identity of constraints; inner ones are identified by their addresses.
type Key = (Vec<Limit>, Vec<(Part, usize)>);

/// Interned constraints, texts and patterns.
#[derive(Default)]
pub(super) struct KnownConstraints {
    constraints: BTreeMap<Key, Arc<Constraints>>,
    patterns: BTreeMap<Arc<str>, Arc<Pattern>>,
    texts: BTreeSet<Arc<str>>,
    bytes: usize,
}

// === impl KnownConstraints ===

impl KnownConstraints {
    /// The constraints of a schema.
    pub(super) fn read(&mut self, schema: &Value) -> Arc<Constraints> {
        let limits = self.limits(schema);
        let parts = self.parts(schema);
        let address = |(part, constraints): &(Part, Arc<Constraints>)| {
            (part.clone(), Arc::as_ptr(constraints) as usize)
        };
        let key = (limits.clone(), parts.iter().map(address).collect());
        if let Some(known) = self.constraints.get(&key) {
            return known.clone();
        }
        let is_full = self.constraints.len() >= MOST_PARTS;
        let constraints = Arc::new(Constraints {
            limits: if is_full {
                [Limit::Unknown].into()
            } else {
                limits.into()
            },
            parts: if is_full {
                Box::default()
            } else {
                parts.into()
            },
        });
        if !is_full {
            self.constraints.insert(key, constraints.clone());
        }
        constraints
    }

    fn limits(&mut self, schema: &Value) -> Vec<Limit> {
        let is_set = |name: &str| schema.get(name) == Some(&Value::Bool(true));
        let mut limits = Vec::new();
        let type_name = schema.get("type").and_then(Value::as_str);
        let mut kind = type_name.and_then(JsonType::named);
        if is_set("x-kubernetes-int-or-string") {
            kind = Some(JsonType::IntOrString);
        }
        if is_set("nullable") {
            limits.push(Limit::Nullable);
        }
        limits.extend(kind.map(Limit::Type));
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let texts = values.iter().map(|value| self.text(&value.to_string()));
            let texts: Option<Box<[Arc<str>]>> = texts.collect();
            limits.push(texts.map_or(Limit::Unknown, Limit::Enum));
        }
        limits.extend(bounds(schema));
        limits.extend(lengths(schema));
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            limits.push(self.pattern(pattern));
        }
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let names: Vec<&str> = names.filter(|name| !has_default(schema, name)).collect();
        for name in names {
            let name = self.text(name);
            limits.push(name.map_or(Limit::Unknown, Limit::Required));
        }
        limits.extend(self.unique(schema));
        limits.sort();
        limits.dedup();
        limits
    }

    /// The limit that no two items of a list are equal, as a whole or in their keys.
    fn unique(&mut self, schema: &Value) -> Option<Limit> {
        match schema.get("x-kubernetes-list-type")?.as_str()? {
            "set" => Some(Limit::Unique(Box::default())),
            "map" => {
                let keys = schema.get("x-kubernetes-list-map-keys")?.as_array()?;
                let keys = keys.iter().filter_map(Value::as_str);
                let keys: Option<Box<[Arc<str>]>> = keys.map(|key| self.text(key)).collect();
                keys.filter(|keys| !keys.is_empty()).map(Limit::Unique)
            }
            _ => None,
        }
    }

    fn parts(&mut self, schema: &Value) -> Vec<(Part, Arc<Constraints>)> {
        let mut parts = Vec::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, field_schema) in properties.into_iter().flatten() {
            let Some(name) = self.text(name) else {
                continue;
            };
            let constraints = self.read(field_schema);
            // A field without constraints hides those on all values.
            parts.push((Part::Field(name), constraints));
        }
        let each = [
            (Part::Items, "items"),
            (Part::Values, "additionalProperties"),
        ];
        for (part, name) in each {
            if let Some(part_schema) = schema
                .get(name)
                .filter(|part_schema| part_schema.is_object())
            {
                parts.push((part, self.read(part_schema)));
            }
        }
        let lists = [
            (Part::All, "allOf"),
            (Part::Any, "anyOf"),
            (Part::One, "oneOf"),
        ];
        for (part, name) in lists {
            let all = schema.get(name).and_then(Value::as_array);
            for alternative in all.into_iter().flatten() {
                parts.push((part.clone(), self.read(alternative)));
            }
        }
        if let Some(not) = schema.get("not") {
            parts.push((Part::Not, self.read(not)));
        }
        // Alternatives keep their order.
        parts.sort_by(|(one, _), (other, _)| one.cmp(other));
        parts
    }

    fn pattern(&mut self, pattern: &str) -> Limit {
        if let Some(known) = self.patterns.get(pattern) {
            return Limit::Pattern(known.clone());
        }
        let text = self
            .text(pattern)
            .filter(|_| self.patterns.len() < MOST_PATTERNS);
        let Some(text) = text else {
            return Limit::Unknown;
        };
        let pattern = Arc::new(Pattern::new(text.clone()));
        self.patterns.insert(text, pattern.clone());
        Limit::Pattern(pattern)
    }

    /// A shared text; `None` once a CRD has too many.
    fn text(&mut self, text: &str) -> Option<Arc<str>> {
        if let Some(known) = self.texts.get(text) {
            return Some(known.clone());
        }
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > MOST_TEXT {
            return None;
        }
        let text: Arc<str> = text.into();
        self.texts.insert(text.clone());
        Some(text)
    }
}

/// The API server fills in a field that has a default, so it is never absent.
fn has_default(schema: &Value, field: &str) -> bool {
    let properties = schema.get("properties");
    let field = properties.and_then(|properties| properties.get(field));
    field.is_some_and(|field| field.get("default").is_some())
}

fn bounds(schema: &Value) -> Vec<Limit> {
    let number = |name: &str| Number::new(schema.get(name)?.as_f64()?);
    let excludes = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let least = number("minimum").map(|n| Limit::Minimum(n, excludes("exclusiveMinimum")));
    let most = number("maximum").map(|n| Limit::Maximum(n, excludes("exclusiveMaximum")));
    let multiple = number("multipleOf").map(Limit::MultipleOf);
    // Other formats are not checked here, so whether a value has one is not known.
    let format = schema.get("format").and_then(Value::as_str);
    let format = format.and_then(|format| match format {
        "int32" => Some(Limit::Int32),
        "int64" | "float" | "double" => None,
        _ => Some(Limit::Unknown),
    });
    let all = least.into_iter().chain(most).chain(multiple);
    all.chain(format).collect()
}

fn lengths(schema: &Value) -> impl Iterator<Item = Limit> {
    let count = |name: &str| schema.get(name)?.as_u64();
    let limits = [
        count("minLength").map(Limit::MinLength),
        count("maxLength").map(Limit::MaxLength),
        count("minItems").map(Limit::MinItems),
        count("maxItems").map(Limit::MaxItems),
        count("minProperties").map(Limit::MinFields),
        count("maxProperties").map(Limit::MaxFields),
    ];
    limits.into_iter().flatten()
}

#[cfg(test)]
mod tests;
