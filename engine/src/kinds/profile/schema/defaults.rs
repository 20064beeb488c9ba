//! Fills in the defaults of a schema, as the API server does with an object before it stores it.

use serde_json::{Map, Value};

use super::{Field, FieldDefault, Shape};
use crate::model::literal;

/// The maximum size of the defaults that are filled in for one object, in bytes. A long list can have a large default
/// for each item.
const MOST_FILLED: usize = 1 << 20;

// === impl Shape ===

impl Shape {
    /// Fills in the known defaults of absent fields, also in what a default adds. The values at the paths in `kept`,
    /// from `spec`, remain unchanged.
    pub fn fill(&self, spec: &mut Value, kept: &[&str]) {
        let mut left = MOST_FILLED;
        self.each_field(spec, "", kept, &mut |_, field, map| {
            if let Some(field) = field {
                field.fill(map, &mut left);
            }
        });
    }
}

// === impl Field ===

impl Field {
    pub(super) fn json(&self) -> Option<&str> {
        match &self.default {
            FieldDefault::Json(text) => Some(text),
            FieldDefault::None | FieldDefault::Unknown => None,
        }
    }

    fn fill(&self, map: &mut Map<String, Value>, left: &mut usize) {
        let is_absent = matches!(map.get(&*self.name), None | Some(Value::Null));
        let Some(text) = self.json().filter(|_| is_absent) else {
            return;
        };
        let Some(budget_left) = left.checked_sub(text.len() + self.name.len()) else {
            return;
        };
        if let Ok(default) = literal::from_str(text) {
            *left = budget_left;
            map.insert((*self.name).to_owned(), default);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::{Field, FieldDefault, Shape};

    fn field(name: &str, default: &str, shape: Shape) -> Field {
        Field {
            name: name.into(),
            nullable: false,
            default: match default {
                "" => FieldDefault::None,
                "?" => FieldDefault::Unknown,
                json => FieldDefault::Json(json.into()),
            },
            shape: Arc::new(shape),
        }
    }

    fn object(fields: impl IntoIterator<Item = Field>) -> Shape {
        let mut fields: Vec<Field> = fields.into_iter().collect();
        fields.sort_by(|one, other| one.name.cmp(&other.name));
        Shape::Object {
            fields: fields.into(),
            open: false,
        }
    }

    fn filled(shape: &Shape, mut spec: Value) -> Value {
        shape.fill(&mut spec, &["targetRef"]);
        spec
    }

    #[test]
    fn absent_fields_and_nulls_get_their_default_and_others_stay() {
        let shape = object([
            field("attempts", "3", Shape::Int),
            field("mode", "\"Strict\"", Shape::Text),
            field("other", "?", Shape::Text),
            field("plain", "", Shape::Text),
        ]);
        assert_eq!(
            filled(&shape, json!({"attempts": 5, "mode": null})),
            json!({"attempts": 5, "mode": "Strict"}),
        );
    }

    #[test]
    fn a_default_that_is_an_object_gets_the_defaults_in_it() {
        let retry = object([field("attempts", "3", Shape::Int)]);
        let shape = object([field("retry", "{}", retry)]);
        assert_eq!(filled(&shape, json!({})), json!({"retry": {"attempts": 3}}));
    }

    #[test]
    fn defaults_of_an_absent_object_are_not_filled_in() {
        let retry = object([field("attempts", "3", Shape::Int)]);
        let shape = object([field("retry", "", retry)]);
        assert_eq!(filled(&shape, json!({})), json!({}));
    }

    #[test]
    fn items_and_values_get_theirs_and_targets_none() {
        let named = || object([field("weight", "1", Shape::Int)]);
        let shape = object([
            field("list", "", Shape::List(Arc::new(named()))),
            field(
                "map",
                "",
                Shape::Map {
                    values: Arc::new(named()),
                    nullable: false,
                },
            ),
            field("targetRef", "", named()),
        ]);
        assert_eq!(
            filled(
                &shape,
                json!({"list": [{}, {"weight": 2}], "map": {"a": {}}, "targetRef": {}})
            ),
            json!({"list": [{"weight": 1}, {"weight": 2}], "map": {"a": {"weight": 1}}, "targetRef": {}}),
        );
    }

    #[test]
    fn a_long_list_with_a_large_default_stays_within_a_bound() {
        let large = format!("\"{}\"", "x".repeat(60_000));
        let item = object([field("text", &large, Shape::Text)]);
        let shape = object([field("list", "", Shape::List(Arc::new(item)))]);
        let list: Vec<Value> = (0..10_000).map(|_| json!({})).collect();
        let size = filled(&shape, json!({"list": list})).to_string().len();
        assert!(size < 2 << 20, "{size} bytes");
    }
}
