//! A compact form of a CRD's schema of the spec: the names of the fields, and the validation rules.
//!
//! A field keeps only its name, its default, and whether it is a plain string, a whole number or a boolean. That
//! suffices to find the fields that the API server drops or fills in, and to evaluate the rules on an object.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::kinds::cel::{CelBudget, CelRule, PartialValue};

mod constraints;
mod defaults;
mod nulls;
mod pattern;
mod stored;

pub use constraints::{Constraints, JsonType, Limit, Number, Part, REQUIRED};
pub use pattern::Pattern;

/// One version of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionSchema {
    /// Its name; empty for all versions together.
    pub name: Arc<str>,
    /// The schema of its `spec`.
    pub spec: Arc<Shape>,
    /// The rules on its `spec` and on values in it.
    pub rules: Arc<[SpecRule]>,
    /// The constraints that its `spec` and the values in it have to fulfil besides.
    pub constraints: Arc<Constraints>,
}

/// A validation rule on the whole `spec` or on a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecRule {
    /// The values that it applies to; the whole spec if empty.
    pub at: Box<[PathStep]>,
    /// The rule (CEL).
    pub rule: Box<str>,
    /// The message of the API server when it is violated.
    pub message: Box<str>,
}

/// A step from a value to a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A field.
    Field(Box<str>),
    /// Each item of a list.
    Items,
    /// Each value of a map.
    Values,
}

/// A rule or constraint that a value violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path of the value from the root of the object: `spec.rules[0]`.
    pub path: String,
    /// The message of the rule, or the value and what is allowed.
    pub message: String,
}

/// The type of a value, as far as a schema states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Unknown: any field is kept.
    Any,
    /// A string without a format.
    Text,
    /// A whole number.
    Int,
    /// A boolean.
    Bool,
    /// A list of values.
    List(Arc<Shape>),
    /// A map from any names to values.
    Map {
        /// The type of the values.
        values: Arc<Shape>,
        /// Whether they may be `null`.
        nullable: bool,
    },
    /// An object.
    Object {
        /// Its fields, sorted by name.
        fields: Box<[Field]>,
        /// Whether other fields are kept too.
        open: bool,
    },
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Whether its value may be `null`.
    pub nullable: bool,
    /// The value that the API server fills in if it is absent.
    pub default: FieldDefault,
    /// The type of its value.
    pub shape: Arc<Shape>,
}

/// The value that the API server fills in for a field that is absent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldDefault {
    /// Nothing.
    None,
    /// This JSON, also in the place of a `null`.
    Json(Arc<str>),
    /// Not kept: versions differ in it, a `null` stays, or the CRD has too many defaults.
    Unknown,
}

/// A field that the CRD does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its path from the root of the object: `spec.retry.tries`.
    pub path: String,
    /// The fields that may have been meant.
    pub known: Vec<Arc<str>>,
}

/// The maximum number of unknown fields that are reported for one object.
const MOST_UNKNOWN: usize = 10;
/// The maximum number of violated constraints and rules that are reported for one object.
const MOST_VIOLATIONS: usize = 10;

// === impl VersionSchema ===

impl VersionSchema {
    /// The constraints and rules that a spec certainly violates; for one value only the constraint.
    pub fn violations(&self, spec: &Value) -> Vec<Violation> {
        let mut budget = CelBudget::new();
        let mut violations = self.constraints.violations(spec);
        let known: Vec<String> = violations
            .iter()
            .map(|of_schema| of_schema.path.clone())
            .collect();
        // The value is converted once for all rules of one place.
        for rules in self.rules.chunk_by(|one, next| one.at == next.at) {
            let Some(at) = rules.first().map(|rule| &rule.at) else {
                continue;
            };
            let mut parsed: Option<Vec<Option<CelRule>>> = None;
            each(&self.spec, spec, at, "spec", &mut |shape, value, path| {
                if known.iter().any(|known| known == path) {
                    return;
                }
                let parsed = parsed.get_or_insert_with(|| {
                    let parse = |rule: &SpecRule| CelRule::parse(&rule.rule, &mut budget);
                    rules.iter().map(parse).collect()
                });
                let mut known = None;
                for (rule, parsed) in rules.iter().zip(parsed.iter()) {
                    let Some(parsed) = parsed
                        .as_ref()
                        .filter(|_| violations.len() < MOST_VIOLATIONS)
                    else {
                        continue;
                    };
                    let known = known.get_or_insert_with(|| shape.known(value));
                    if parsed.holds(known, &mut budget) == Some(false) {
                        violations.push(Violation {
                            path: path.to_owned(),
                            message: (*rule.message).to_owned(),
                        });
                    }
                }
            });
        }
        violations
    }
}

/// Calls `tell` for every value that these steps lead to, with its shape and its path. The API server drops or
/// defaults a `null`.
fn each(
    shape: &Shape,
    value: &Value,
    steps: &[PathStep],
    path: &str,
    tell: &mut impl FnMut(&Shape, &Value, &str),
) {
    let Some((step, below)) = steps.split_first() else {
        if !value.is_null() {
            tell(shape, value, path);
        }
        return;
    };
    match (step, shape, value) {
        (PathStep::Field(name), Shape::Object { .. }, Value::Object(map)) => {
            if let (Some(field), Some(value)) = (shape.field(name), map.get(&**name)) {
                each(&field.shape, value, below, &format!("{path}.{name}"), tell);
            }
        }
        (PathStep::Items, Shape::List(of), Value::Array(items)) => {
            for (i, item) in items.iter().enumerate() {
                each(of, item, below, &format!("{path}[{i}]"), tell);
            }
        }
        (PathStep::Values, Shape::Map { values, .. }, Value::Object(map)) => {
            for (name, value) in map {
                each(values, value, below, &format!("{path}.{name}"), tell);
            }
        }
        _ => {}
    }
}

// === impl Shape ===

impl Shape {
    /// A listed field of an object; `None` if it is not listed, and for other shapes.
    fn field(&self, name: &str) -> Option<&Field> {
        let Self::Object { fields, .. } = self else {
            return None;
        };
        let place = fields
            .binary_search_by(|field| (*field.name).cmp(name))
            .ok()?;
        fields.get(place)
    }

    /// The shape at a dotted path; `None` if the schema has no such field. The fields of an unknown value are unknown
    /// values.
    pub fn at(&self, path: &str) -> Option<&Self> {
        let mut shape = self;
        for name in path.split('.') {
            shape = match shape {
                Self::Any => return Some(shape),
                Self::Map { values, .. } => values,
                Self::Object { open, .. } => match shape.field(name) {
                    Some(field) => &field.shape,
                    None if *open => return Some(&Self::Any),
                    None => return None,
                },
                _ => return None,
            };
        }
        Some(shape)
    }

    /// Whether the API server stores another value: it drops fields and nulls, and fills in defaults.
    pub fn stores_differently(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::List(of), Value::Array(items)) => {
                items.iter().any(|item| of.stores_differently(item))
            }
            (Self::Map { values, nullable }, Value::Object(map)) => {
                let mut all = map.values();
                all.any(|value| (value.is_null() && !nullable) || values.stores_differently(value))
            }
            (Self::Object { fields, open }, Value::Object(map)) => {
                let mut names = map.keys();
                fields.iter().any(|field| field.stores_differently(map))
                    || (!open && names.any(|name| self.field(name).is_none()))
            }
            _ => false,
        }
    }

    /// The first field on a path of names that the schema does not have. A path that goes on in a list ends there.
    pub fn unknown_on(&self, path: &[String]) -> Option<Unknown> {
        let mut shape = self;
        let mut at = "spec".to_owned();
        for name in path {
            at = format!("{at}.{name}");
            shape = match shape {
                Self::Map { values, .. } => values,
                Self::Object { fields, open } => match shape.field(name) {
                    Some(field) => &field.shape,
                    None if *open => return None,
                    None => {
                        let known = fields.iter().map(|field| field.name.clone());
                        return Some(Unknown {
                            path: at,
                            known: known.collect(),
                        });
                    }
                },
                _ => return None,
            };
        }
        None
    }

    /// Whether a field of the value has fields of its own of which one has this name.
    pub fn has_below(&self, name: &str) -> bool {
        match self {
            Self::Object { fields, .. } => {
                fields.iter().any(|field| field.shape.field(name).is_some())
            }
            _ => false,
        }
    }

    /// Removes the fields that the API server drops, and returns the first of them. The values at the paths in
    /// `kept`, from `spec`, remain unchanged.
    pub fn prune(&self, value: &mut Value, kept: &[&str]) -> Vec<Unknown> {
        let mut unknown = Vec::new();
        if self.stores_differently(value) {
            self.take_unknown(value, "spec", kept, &mut unknown);
        }
        unknown
    }

    fn take_unknown(
        &self,
        value: &mut Value,
        path: &str,
        kept: &[&str],
        unknown: &mut Vec<Unknown>,
    ) {
        match (self, value) {
            (Self::List(of), Value::Array(items)) => {
                for (i, item) in items.iter_mut().enumerate() {
                    of.take_unknown(item, &format!("{path}[{i}]"), kept, unknown);
                }
            }
            (Self::Map { values, .. }, Value::Object(map)) => {
                for (name, item) in map.iter_mut() {
                    values.take_unknown(item, &format!("{path}.{name}"), kept, unknown);
                }
            }
            (Self::Object { fields, open }, Value::Object(map)) => map.retain(|name, item| {
                let path = format!("{path}.{name}");
                let is_kept = path
                    .strip_prefix("spec.")
                    .is_some_and(|p| kept.contains(&p));
                match self.field(name) {
                    _ if is_kept => {}
                    Some(field) => field.shape.take_unknown(item, &path, kept, unknown),
                    None if *open => {}
                    None => {
                        if unknown.len() < MOST_UNKNOWN {
                            let known = fields.iter().map(|field| field.name.clone());
                            let known = known.collect();
                            unknown.push(Unknown { path, known });
                        }
                        return false;
                    }
                }
                true
            }),
            _ => {}
        }
    }

    /// Calls `change` for each map in a value, with each field that it may have, or without one for a map of any
    /// names. The values at the paths in `kept`, from `spec`, remain unchanged.
    fn each_field(
        &self,
        value: &mut Value,
        path: &str,
        kept: &[&str],
        change: &mut impl FnMut(&Self, Option<&Field>, &mut Map<String, Value>),
    ) {
        match (self, value) {
            (Self::List(of), Value::Array(items)) => {
                for item in items {
                    of.each_field(item, path, kept, change);
                }
            }
            (Self::Map { values, .. }, Value::Object(map)) => {
                change(self, None, map);
                for (name, item) in map.iter_mut() {
                    values.each_field(item, &below(path, name), kept, change);
                }
            }
            (Self::Object { fields, .. }, Value::Object(map)) => {
                for field in fields {
                    let path = below(path, &field.name);
                    if kept.contains(&path.as_str()) {
                        continue;
                    }
                    change(self, Some(field), map);
                    if let Some(value) = map.get_mut(&*field.name) {
                        field.shape.each_field(value, &path, kept, change);
                    }
                }
            }
            _ => {}
        }
    }

    /// A value as the rules see it: without dropped fields, and with defaulted fields unknown.
    fn known(&self, value: &Value) -> PartialValue {
        match (self, value) {
            (Self::Text, Value::String(text)) => PartialValue::Text(text.as_str().into()),
            (Self::Bool, Value::Bool(value)) => PartialValue::Bool(*value),
            (Self::Int, Value::Number(number)) => number
                .as_i64()
                .map_or(PartialValue::Unknown, PartialValue::Int),
            (Self::List(of), Value::Array(items)) => {
                PartialValue::List(items.iter().map(|item| of.known(item)).collect())
            }
            (Self::Map { values, .. }, Value::Object(map)) => {
                let fields = map.iter();
                let fields = fields.map(|(name, item)| (name.as_str().into(), values.known(item)));
                PartialValue::Map {
                    fields: fields.collect(),
                    complete: true,
                }
            }
            (Self::Object { fields, open }, Value::Object(map)) => PartialValue::Map {
                fields: fields
                    .iter()
                    .map(|field| (field.name.clone(), field.known(map)))
                    .collect(),
                complete: !open,
            },
            _ => PartialValue::Unknown,
        }
    }

    /// The common knowledge about a value with one of two shapes, for two versions of a kind.
    pub fn or(self: &Arc<Self>, other: &Arc<Self>) -> Arc<Self> {
        if self == other {
            return self.clone();
        }
        Arc::new(match (&**self, &**other) {
            (Self::List(a), Self::List(b)) => Self::List(a.or(b)),
            (
                Self::Map { values, nullable },
                Self::Map {
                    values: other,
                    nullable: other_nullable,
                },
            ) => Self::Map {
                values: values.or(other),
                nullable: *nullable || *other_nullable,
            },
            (
                Self::Object { fields, open },
                Self::Object {
                    fields: more,
                    open: other_open,
                },
            ) => {
                let mut all: Vec<Field> = fields.iter().map(|field| field.or(other)).collect();
                let added = more
                    .iter()
                    .filter(|field| self.field(&field.name).is_none());
                all.extend(added.cloned());
                all.sort_by(|a, b| a.name.cmp(&b.name));
                Self::Object {
                    fields: all.into(),
                    open: *open || *other_open,
                }
            }
            _ => Self::Any,
        })
    }
}

/// The path of a field, from `spec`.
fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

// === impl Field ===

impl Field {
    fn stores_differently(&self, object: &Map<String, Value>) -> bool {
        match object.get(&*self.name) {
            None => self.json().is_some(),
            Some(Value::Null) => self.json().is_some() || !self.keeps_null(),
            Some(value) => self.shape.stores_differently(value),
        }
    }

    fn known(&self, object: &Map<String, Value>) -> PartialValue {
        match object.get(&*self.name) {
            // The API server drops or defaults it.
            Some(Value::Null) => PartialValue::Unknown,
            Some(value) => self.shape.known(value),
            None if self.default != FieldDefault::None => PartialValue::Unknown,
            None => PartialValue::Absent,
        }
    }

    fn or(&self, other: &Shape) -> Self {
        let mut field = self.clone();
        if let Some(other) = other.field(&self.name) {
            if field.default != other.default {
                field.default = FieldDefault::Unknown;
            }
            field.nullable |= other.nullable;
            field.shape = field.shape.or(&other.shape);
        }
        field
    }
}
