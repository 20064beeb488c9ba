//! What a definition says of the spec of its objects, kept small: the names of the fields, and the validation rules.
//!
//! Of the fields nothing is kept but their names, whether they have a default, and whether they are plain texts, whole
//! numbers or booleans: what is needed to tell which fields the API server drops, and to ask the rules of an object.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::engine::cel::{Effort, Known, Rule};

/// One version of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionSchema {
    /// Its name; empty for all versions together.
    pub name: Arc<str>,
    /// Its `spec`.
    pub spec: Arc<Shape>,
    /// The rules on its `spec` and on what is in it.
    pub rules: Arc<[SpecRule]>,
}

/// A validation rule on the whole `spec`, or on something in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecRule {
    /// Where it holds; the whole where it is empty.
    pub at: Box<[Step]>,
    /// The rule (CEL).
    pub rule: Box<str>,
    /// What the API server says where it does not hold.
    pub message: Box<str>,
}

/// A step from a value to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field.
    Field(Box<str>),
    /// Each item of a list.
    Items,
    /// Each value of a map.
    Values,
}

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken<'a> {
    /// The path of the value from the object: `spec.rules[0]`.
    pub path: String,
    /// What the API server says.
    pub message: &'a str,
}

/// What a schema says of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing: any field is kept.
    Any,
    /// A text without a format.
    Text,
    /// A whole number.
    Int,
    /// A boolean.
    Bool,
    /// A list of these.
    List(Arc<Shape>),
    /// A map of any names to these.
    Map(Arc<Shape>),
    /// An object.
    Object {
        /// Its fields, sorted by name.
        fields: Box<[Field]>,
        /// Whether others are kept too.
        open: bool,
    },
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Whether the API server fills it in where it is left out.
    pub has_default: bool,
    /// Its value.
    pub shape: Arc<Shape>,
}

/// A field that the definition does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its path from the object: `spec.retry.tries`.
    pub path: String,
    /// The fields that it could have been.
    pub known: Vec<Arc<str>>,
}

/// The most unknown fields that are told of one object.
const MOST_UNKNOWN: usize = 10;
/// The most broken rules that are.
const MOST_BROKEN: usize = 10;

// === impl VersionSchema ===

impl VersionSchema {
    /// The rules that a spec surely breaks.
    pub fn broken(&self, spec: &Value) -> Vec<Broken<'_>> {
        let mut effort = Effort::new();
        let mut found = Vec::new();
        for rule in &*self.rules {
            let mut parsed: Option<Option<Rule>> = None;
            each(
                &self.spec,
                spec,
                &rule.at,
                "spec",
                &mut |shape, value, path| {
                    if found.len() >= MOST_BROKEN {
                        return;
                    }
                    let parsed = parsed.get_or_insert_with(|| Rule::parse(&rule.rule, &mut effort));
                    let parsed = parsed.as_ref();
                    let holds =
                        parsed.and_then(|rule| rule.holds(&shape.known(value), &mut effort));
                    if holds == Some(false) {
                        found.push(Broken {
                            path: path.to_owned(),
                            message: &rule.message,
                        });
                    }
                },
            );
        }
        found
    }
}

/// Tells of every value to which these steps lead, with its shape and its path. What is `null` is dropped by the API
/// server, or filled in.
fn each(
    shape: &Shape,
    value: &Value,
    steps: &[Step],
    path: &str,
    tell: &mut impl FnMut(&Shape, &Value, &str),
) {
    let Some((step, rest)) = steps.split_first() else {
        if !value.is_null() {
            tell(shape, value, path);
        }
        return;
    };
    match (step, shape, value) {
        (Step::Field(name), Shape::Object { .. }, Value::Object(map)) => {
            if let (Some(field), Some(value)) = (shape.field(name), map.get(&**name)) {
                each(&field.shape, value, rest, &format!("{path}.{name}"), tell);
            }
        }
        (Step::Items, Shape::List(of), Value::Array(items)) => {
            for (i, item) in items.iter().enumerate() {
                each(of, item, rest, &format!("{path}[{i}]"), tell);
            }
        }
        (Step::Values, Shape::Map(of), Value::Object(map)) => {
            for (name, value) in map {
                each(of, value, rest, &format!("{path}.{name}"), tell);
            }
        }
        _ => {}
    }
}

// === impl Shape ===

impl Shape {
    /// A field of an object; none where there are others than those that are listed, or it is no object.
    fn field(&self, name: &str) -> Option<&Field> {
        let Self::Object { fields, .. } = self else {
            return None;
        };
        let place = fields
            .binary_search_by(|field| (*field.name).cmp(name))
            .ok()?;
        fields.get(place)
    }

    /// What stands at a dotted path; none where the schema has no such field. Below what may be anything is anything.
    pub fn at(&self, path: &str) -> Option<&Self> {
        let mut shape = self;
        for name in path.split('.') {
            shape = match shape {
                Self::Any => return Some(shape),
                Self::Map(of) => of,
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

    /// Whether a value has a field that the API server drops.
    pub fn drops_something(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::List(of), Value::Array(items)) => {
                items.iter().any(|item| of.drops_something(item))
            }
            (Self::Map(of), Value::Object(map)) => {
                map.values().any(|item| of.drops_something(item))
            }
            (Self::Object { open, .. }, Value::Object(map)) => {
                map.iter().any(|(name, item)| match self.field(name) {
                    Some(field) => field.shape.drops_something(item),
                    None => !open,
                })
            }
            _ => false,
        }
    }

    /// Takes the fields away that the API server drops, and tells the first of them. What stands at a path from `spec`
    /// that is to be kept stays as it is.
    pub fn prune(&self, value: &mut Value, kept: &[&str]) -> Vec<Unknown> {
        let mut found = Vec::new();
        if self.drops_something(value) {
            self.take_unknown(value, "spec", kept, &mut found);
        }
        found
    }

    fn take_unknown(&self, value: &mut Value, path: &str, kept: &[&str], found: &mut Vec<Unknown>) {
        match (self, value) {
            (Self::List(of), Value::Array(items)) => {
                for (i, item) in items.iter_mut().enumerate() {
                    of.take_unknown(item, &format!("{path}[{i}]"), kept, found);
                }
            }
            (Self::Map(of), Value::Object(map)) => {
                for (name, item) in map.iter_mut() {
                    of.take_unknown(item, &format!("{path}.{name}"), kept, found);
                }
            }
            (Self::Object { fields, open }, Value::Object(map)) => map.retain(|name, item| {
                let path = format!("{path}.{name}");
                let is_kept = path
                    .strip_prefix("spec.")
                    .is_some_and(|p| kept.contains(&p));
                match self.field(name) {
                    _ if is_kept => {}
                    Some(field) => field.shape.take_unknown(item, &path, kept, found),
                    None if *open => {}
                    None => {
                        if found.len() < MOST_UNKNOWN {
                            let known = fields.iter().map(|field| field.name.clone());
                            let known = known.collect();
                            found.push(Unknown { path, known });
                        }
                        return false;
                    }
                }
                true
            }),
            _ => {}
        }
    }

    /// A value as the rules see it: with what is dropped left out, and what is filled in unknown.
    fn known(&self, value: &Value) -> Known {
        match (self, value) {
            (Self::Text, Value::String(text)) => Known::Text(text.as_str().into()),
            (Self::Bool, Value::Bool(value)) => Known::Bool(*value),
            (Self::Int, Value::Number(number)) => {
                number.as_i64().map_or(Known::Unknown, Known::Int)
            }
            (Self::List(of), Value::Array(items)) => {
                Known::List(items.iter().map(|item| of.known(item)).collect())
            }
            (Self::Map(of), Value::Object(map)) => {
                let fields = map.iter();
                let fields = fields.map(|(name, item)| (name.as_str().into(), of.known(item)));
                Known::Map {
                    fields: fields.collect(),
                    whole: true,
                }
            }
            (Self::Object { fields, open }, Value::Object(map)) => Known::Map {
                fields: fields
                    .iter()
                    .map(|field| (field.name.clone(), field.known(map)))
                    .collect(),
                whole: !open,
            },
            _ => Known::Unknown,
        }
    }

    /// What is known of a value that is of this shape or of another: two versions of a kind.
    pub fn or(self: &Arc<Self>, other: &Arc<Self>) -> Arc<Self> {
        if self == other {
            return self.clone();
        }
        Arc::new(match (&**self, &**other) {
            (Self::List(a), Self::List(b)) => Self::List(a.or(b)),
            (Self::Map(a), Self::Map(b)) => Self::Map(a.or(b)),
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

// === impl Field ===

impl Field {
    fn known(&self, of: &Map<String, Value>) -> Known {
        match of.get(&*self.name) {
            // The API server drops it, or fills it in.
            Some(Value::Null) => Known::Unknown,
            Some(value) => self.shape.known(value),
            None if self.has_default => Known::Unknown,
            None => Known::Absent,
        }
    }

    fn or(&self, other: &Shape) -> Self {
        let mut field = self.clone();
        if let Some(other) = other.field(&self.name) {
            field.has_default |= other.has_default;
            field.shape = field.shape.or(&other.shape);
        }
        field
    }
}
