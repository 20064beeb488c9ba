//! Shows how a result differs from an expectation: as a diff of YAML.

use serde_json::{Map, Value};
use similar::TextDiff;

use crate::answer::tested::Difference;
use crate::cli::Failure;

/// Lines around a change.
const CONTEXT: usize = 3;
/// The most places that are named.
const MAX_PLACES: usize = 3;

/// Results that are not as expected, those that are the same together.
#[derive(Default)]
pub(super) struct Differences {
    all: Vec<(Vec<String>, Value)>,
}

// === impl Differences ===

impl Differences {
    /// Notes a result at a place.
    pub(super) fn note(&mut self, at: String, result: Value) {
        match self.all.iter_mut().find(|(_, known)| *known == result) {
            Some((places, _)) => places.push(at),
            None => self.all.push((vec![at], result)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The diffs from the expectation to the results.
    ///
    /// # Errors
    /// If a value cannot be written as YAML.
    pub(super) fn from(self, expected: &Value, result: &str) -> Result<Vec<Difference>, Failure> {
        let expected = yaml(expected)?;
        let each = self.all.into_iter().map(|(places, value)| {
            let value = yaml(&value)?;
            let diff = TextDiff::from_lines(expected.as_str(), value.as_str());
            let mut diff = diff.unified_diff();
            let diff = diff.context_radius(CONTEXT).header("expected", result);
            Ok(Difference {
                at: together(&places),
                diff: diff.to_string(),
            })
        });
        each.collect()
    }
}

fn together(places: &[String]) -> String {
    let shown = places.iter().take(MAX_PLACES).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join("; ");
    match places.len().saturating_sub(MAX_PLACES) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn yaml(value: &Value) -> Result<String, Failure> {
    match value {
        Value::Object(fields) if fields.is_empty() => Ok("{}\n".to_owned()),
        value => Ok(serde_saphyr::to_string(value)?),
    }
}

/// Whether a value has everything that is expected. Objects may have more fields; null stands for an absent field.
pub(super) fn agrees(expected: &Value, value: Option<&Value>) -> bool {
    match (expected, value) {
        (Value::Null, value) => value.is_none_or(Value::is_null),
        (Value::Object(fields), Some(Value::Object(all))) => {
            let mut fields = fields.iter();
            fields.all(|(field, expected)| agrees(expected, all.get(field)))
        }
        (Value::Array(items), Some(Value::Array(all))) => {
            let pairs = items.iter().zip(all);
            items.len() == all.len() && { pairs }
                .all(|(expected, item)| agrees(expected, Some(item)))
        }
        (Value::Number(one), Some(Value::Number(other))) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (expected, value) => value == Some(expected),
    }
}

/// The parts of a value that an expectation is about, in the same form, so that both can be compared line by line. A part
/// that agrees is written as it is expected.
pub(super) fn concerned(expected: &Value, value: &Value) -> Value {
    match (expected, value) {
        _ if agrees(expected, Some(value)) => expected.clone(),
        (Value::Object(fields), Value::Object(all)) => {
            let mut kept = Map::new();
            for (field, expected) in fields {
                match all.get(field) {
                    Some(value) => {
                        kept.insert(field.clone(), concerned(expected, value));
                    }
                    None if expected.is_null() => {
                        kept.insert(field.clone(), Value::Null);
                    }
                    None => {}
                }
            }
            Value::Object(kept)
        }
        (Value::Array(items), Value::Array(all)) if items.len() == all.len() => {
            let pairs = items.iter().zip(all);
            pairs
                .map(|(expected, item)| concerned(expected, item))
                .collect()
        }
        (_, value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{agrees, concerned};

    #[test]
    fn only_what_is_expected_counts() {
        let value = json!({"a": {"b": 1, "c": "x"}, "l": [{"k": 1, "m": 2}]});
        for expected in [
            json!({}),
            json!({"a": {"b": 1}}),
            json!({"a": {"d": null}, "e": null}),
            json!({"l": [{"k": 1}]}),
            json!({"a": {"b": 1.0}}),
        ] {
            assert!(agrees(&expected, Some(&value)), "{expected}");
            assert_eq!(concerned(&expected, &value), expected);
        }
        for (expected, message) in [
            (json!({"a": {"b": 2}}), json!({"a": {"b": 1}})),
            (json!({"a": {"c": null}}), json!({"a": {"c": "x"}})),
            (json!({"a": {"d": 1}}), json!({"a": {}})),
            (json!({"l": []}), json!({"l": [{"k": 1, "m": 2}]})),
            (json!({"a": "x"}), json!({"a": {"b": 1, "c": "x"}})),
        ] {
            assert!(!agrees(&expected, Some(&value)), "{expected}");
            assert_eq!(concerned(&expected, &value), message);
        }
    }
}
