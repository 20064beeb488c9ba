//! Drops the nulls that cannot be stored. The API server removes a `null` from a field that is not nullable and has no
//! default, so it does not remove what other policies set.

use serde_json::Value;

use super::{Field, FieldDefault, Shape, below};

// === impl Shape ===

impl Shape {
    /// Drops these nulls. The values at the paths in `kept`, from `spec`, remain unchanged.
    pub fn drop_nulls(&self, spec: &mut Value, kept: &[&str]) {
        self.each_field(
            spec,
            "",
            kept,
            &mut |shape, field, map| match (shape, field) {
                (_, Some(field)) => {
                    let name = &*field.name;
                    if !field.keeps_null() && map.get(name) == Some(&Value::Null) {
                        map.remove(name);
                    }
                }
                (
                    Self::Map {
                        nullable: false, ..
                    },
                    None,
                ) => map.retain(|_, value| !value.is_null()),
                _ => {}
            },
        );
    }
}

// === impl Field ===

impl Field {
    /// Whether a `null` stays, or gives way to a default.
    pub(super) fn keeps_null(&self) -> bool {
        self.nullable || self.default != FieldDefault::None
    }
}

/// Whether a map in a value has a `null`.
pub(super) fn has_null(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| value.is_null() || has_null(value)),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

/// Drops every `null` in a map, for kinds of which it is known that no field may be `null`. The values at the paths in
/// `kept`, from `spec`, remain unchanged.
pub(super) fn drop_all_nulls(spec: &mut Value, kept: &[&str]) {
    drop_all_at(spec, "", kept);
}

fn drop_all_at(value: &mut Value, path: &str, kept: &[&str]) {
    match value {
        Value::Object(map) => {
            map.retain(|name, value| {
                let path = below(path, name);
                let is_kept = kept.contains(&path.as_str());
                if !is_kept {
                    drop_all_at(value, &path, kept);
                }
                is_kept || !value.is_null()
            });
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| drop_all_at(item, path, kept)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::{Field, FieldDefault, Shape};
    use super::drop_all_nulls;

    fn field(name: &str, nullable: bool, default: FieldDefault, shape: Shape) -> Field {
        Field {
            name: name.into(),
            nullable,
            default,
            shape: Arc::new(shape),
        }
    }

    fn stored(shape: &Shape, mut spec: Value) -> Value {
        shape.drop_nulls(&mut spec, &["targetRef"]);
        spec
    }

    fn limits() -> Shape {
        let plain = |name, nullable| field(name, nullable, FieldDefault::None, Shape::Text);
        let values = Shape::Map {
            values: Arc::new(Shape::Text),
            nullable: false,
        };
        Shape::Object {
            fields: [
                plain("burst", true),
                field(
                    "defaulted",
                    false,
                    FieldDefault::Json("1".into()),
                    Shape::Int,
                ),
                field("headers", false, FieldDefault::None, values),
                plain("rate", false),
                plain("targetRef", false),
            ]
            .into(),
            open: true,
        }
    }

    #[test]
    fn a_null_is_dropped_unless_the_field_is_nullable_or_has_a_default() {
        assert_eq!(
            stored(
                &limits(),
                json!({"rate": null, "burst": null, "defaulted": null})
            ),
            json!({"burst": null, "defaulted": null}),
        );
    }

    #[test]
    fn values_of_a_map_are_dropped_and_unknown_fields_and_targets_are_not() {
        assert_eq!(
            stored(
                &limits(),
                json!({"headers": {"a": null, "b": "c"}, "unknown": null, "targetRef": null})
            ),
            json!({"headers": {"b": "c"}, "unknown": null, "targetRef": null}),
        );
    }

    #[test]
    fn without_a_schema_every_null_of_a_map_is_dropped() {
        let mut spec =
            json!({"rateLimit": null, "list": [{"a": null, "b": 1}], "targetRef": {"name": null}});
        drop_all_nulls(&mut spec, &["targetRef"]);
        assert_eq!(
            spec,
            json!({"list": [{"b": 1}], "targetRef": {"name": null}})
        );
    }
}
