//! The fields and rules of each version in compact form: equal parts are shared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::Schemas;
use super::constraints::KnownConstraints;
use crate::kinds::profile::{Field, FieldDefault, PathStep, Shape, SpecRule, VersionSchema};

/// The maximum number of different parts that are kept of one CRD. The largest real CRDs have some
/// hundred.
const MOST_SHAPES: usize = 20_000;
/// The maximum size of the rules of one version in bytes; those of the largest real CRDs have about
/// 30,000.
const MOST_RULES: usize = 65_536;
/// The maximum size of all defaults of one CRD in bytes.
const MOST_DEFAULTS: usize = 65_536;
/// The number of characters that are shown of a rule without a message.
const MAX_RULE_CHARACTERS: usize = 200;

/// Interned parts of schemas, names and defaults.
#[derive(Default)]
struct Known {
    shapes: BTreeMap<Key, Arc<Shape>>,
    names: BTreeSet<Arc<str>>,
    defaults: BTreeSet<Arc<str>>,
    bytes_of_defaults: usize,
}

/// The identity of a shape; inner shapes are identified by their addresses.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    sort: u8,
    fields: Vec<(Arc<str>, bool, FieldDefault, usize)>,
}

/// The schemas of the served versions, the stored one first; if there are several, all of them together come last.
pub(super) fn versions(schemas: &Schemas) -> Arc<[VersionSchema]> {
    let mut known = Known::default();
    let mut constraints = KnownConstraints::default();
    let specs = std::iter::once(&schemas.spec).chain(&schemas.others);
    let names = schemas.names.iter();
    let each = names.zip(specs).map(|(name, spec)| VersionSchema {
        name: name.clone(),
        spec: if schemas.keeps_all {
            Arc::new(Shape::Any)
        } else {
            known.shape(spec)
        },
        rules: rules(spec).into(),
        constraints: constraints.read(spec),
    });
    let mut versions: Vec<VersionSchema> = each.collect();
    let all = versions.iter().map(|version| version.spec.clone());
    if let (2.., Some(spec)) = (versions.len(), all.reduce(|one, other| one.or(&other))) {
        versions.push(VersionSchema {
            name: Arc::default(),
            spec,
            rules: Arc::default(),
            constraints: Arc::default(),
        });
    }
    versions.into()
}

/// The rules on a spec and on values in it, those on the whole spec first.
fn rules(spec: &Value) -> Vec<SpecRule> {
    let mut rules = Vec::new();
    let mut left = MOST_RULES;
    add_rules(spec, &mut Vec::new(), &mut left, &mut rules);
    rules
}

fn add_rules(
    schema: &Value,
    at: &mut Vec<PathStep>,
    left: &mut usize,
    spec_rules: &mut Vec<SpecRule>,
) {
    let rules = schema.get("x-kubernetes-validations");
    for rule_json in rules.and_then(Value::as_array).into_iter().flatten() {
        let Some(rule) = rule_json.get("rule").and_then(Value::as_str) else {
            continue;
        };
        let message = rule_json.get("message").and_then(Value::as_str);
        let message = message.map_or_else(
            || rule.chars().take(MAX_RULE_CHARACTERS).collect(),
            str::to_owned,
        );
        let Some(budget_left) = left.checked_sub(rule.len() + message.len()) else {
            return;
        };
        *left = budget_left;
        spec_rules.push(SpecRule {
            at: at.as_slice().into(),
            rule: rule.into(),
            message: message.into(),
        });
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields = properties.into_iter().flatten();
    let fields = fields
        .map(|(name, schema_of_field)| (PathStep::Field(name.as_str().into()), schema_of_field));
    let items = schema
        .get("items")
        .map(|schema_of_items| (PathStep::Items, schema_of_items));
    let values = schema.get("additionalProperties");
    let values = values.map(|schema_of_values| (PathStep::Values, schema_of_values));
    for (step, step_schema) in fields.chain(items).chain(values) {
        at.push(step);
        add_rules(step_schema, at, left, spec_rules);
        at.pop();
    }
}

fn is_nullable(schema: &Value) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true))
}

// === impl Known ===

impl Known {
    fn shape(&mut self, schema: &Value) -> Arc<Shape> {
        let is_set = |name: &str| schema.get(name) == Some(&Value::Bool(true));
        let open = is_set("x-kubernetes-preserve-unknown-fields");
        let any = [
            "x-kubernetes-int-or-string",
            "x-kubernetes-embedded-resource",
        ];
        if any.into_iter().any(is_set) {
            return self.one(0, Shape::Any);
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let fields = properties.iter().map(|(name, schema)| Field {
                name: self.name(name),
                nullable: is_nullable(schema),
                default: self.field_default(schema),
                shape: self.shape(schema),
            });
            let mut fields: Vec<Field> = fields.collect();
            fields.sort_by(|a, b| a.name.cmp(&b.name));
            let open = open || schema.get("additionalProperties").is_some();
            return self.object(fields, open);
        }
        if open {
            return self.one(0, Shape::Any);
        }
        if let Some(values) = schema
            .get("additionalProperties")
            .filter(|values| values.is_object())
        {
            let nullable = is_nullable(values);
            let value_shape = self.shape(values);
            return self.containing(1, nullable, value_shape, |values| Shape::Map {
                values,
                nullable,
            });
        }
        if let Some(items) = schema.get("items") {
            let item_shape = self.shape(items);
            return self.containing(2, false, item_shape, Shape::List);
        }
        let plain = schema.get("format").is_none();
        match schema.get("type").and_then(Value::as_str) {
            Some("string") if plain => self.one(3, Shape::Text),
            Some("integer") => self.one(4, Shape::Int),
            Some("boolean") => self.one(5, Shape::Bool),
            _ => self.one(0, Shape::Any),
        }
    }

    fn field_default(&mut self, schema: &Value) -> FieldDefault {
        let Some(default) = schema.get("default") else {
            return FieldDefault::None;
        };
        if is_nullable(schema) {
            return FieldDefault::Unknown;
        }
        let text: Arc<str> = default.to_string().into();
        if let Some(known) = self.defaults.get(&text) {
            return FieldDefault::Json(known.clone());
        }
        let bytes = self.bytes_of_defaults + text.len();
        if bytes > MOST_DEFAULTS {
            return FieldDefault::Unknown;
        }
        self.bytes_of_defaults = bytes;
        self.defaults.insert(text.clone());
        FieldDefault::Json(text)
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.names.insert(name.clone());
        name
    }

    fn object(&mut self, fields: Vec<Field>, open: bool) -> Arc<Shape> {
        let address = |field: &Field| {
            let shape = Arc::as_ptr(&field.shape) as usize;
            (
                field.name.clone(),
                field.nullable,
                field.default.clone(),
                shape,
            )
        };
        let key = Key {
            sort: 6 + u8::from(open),
            fields: fields.iter().map(address).collect(),
        };
        let fields = fields.into();
        self.keep(key, Shape::Object { fields, open })
    }

    fn one(&mut self, sort: u8, shape: Shape) -> Arc<Shape> {
        let fields = Vec::new();
        self.keep(Key { sort, fields }, shape)
    }

    fn containing(
        &mut self,
        sort: u8,
        nullable: bool,
        inner: Arc<Shape>,
        shape: impl FnOnce(Arc<Shape>) -> Shape,
    ) -> Arc<Shape> {
        let fields = vec![(
            Arc::default(),
            nullable,
            FieldDefault::None,
            Arc::as_ptr(&inner) as usize,
        )];
        self.keep(Key { sort, fields }, shape(inner))
    }

    /// The interned shape. Once a CRD has too many, the others are unknown.
    fn keep(&mut self, key: Key, shape: Shape) -> Arc<Shape> {
        if let Some(known) = self.shapes.get(&key) {
            return known.clone();
        }
        if self.shapes.len() >= MOST_SHAPES {
            return Arc::new(Shape::Any);
        }
        let shape = Arc::new(shape);
        self.shapes.insert(key, shape.clone());
        shape
    }
}
