//! A constraint on one value.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::message::{counted, repeated, shown};
use super::path::Path;
use super::{JsonType, Number, REQUIRED, Walk};
use crate::kinds::profile::schema::pattern::Pattern;
use crate::model::hint::{nearest, quoted};
use crate::model::literal;

/// The number of bytes of a string that count as one value when a pattern is matched.
const BYTES: usize = 64;
/// The maximum number of items that are compared with each other.
const MOST_UNIQUE: usize = 4_096;

/// A constraint on one value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// It has this type.
    Type(JsonType),
    /// It may be `null`.
    Nullable,
    /// It is one of these, as JSON.
    Enum(Box<[Arc<str>]>),
    /// A number is at least this; more than this if the bound is exclusive.
    Minimum(Number, bool),
    /// A number is at most this; less than this if the bound is exclusive.
    Maximum(Number, bool),
    /// A number is a multiple of this.
    MultipleOf(Number),
    /// A whole number has at most 32 bits.
    Int32,
    /// A string has at least this many characters.
    MinLength(u64),
    /// A string has at most this many characters.
    MaxLength(u64),
    /// A list has at least this many items.
    MinItems(u64),
    /// A list has at most this many items.
    MaxItems(u64),
    /// An object has at least this many fields.
    MinFields(u64),
    /// An object has at most this many fields.
    MaxFields(u64),
    /// A string matches this.
    Pattern(Arc<Pattern>),
    /// An object has this field.
    Required(Arc<str>),
    /// Items of a list differ in these fields; as a whole if there are none.
    Unique(Box<[Arc<str>]>),
    /// A constraint that is not kept, so that it is unknown whether a value is valid.
    Unknown,
}

// === impl Limit ===

impl Limit {
    pub(super) fn check(&self, value: &Value, path: &Path<'_>, walk: &mut Walk<'_>) {
        match (self, value) {
            (Self::Unknown, _) => walk.is_unsure = true,
            (Self::Enum(values), _) => {
                let is_it =
                    |text: &Arc<str>| literal::from_str(text).is_ok_and(|it| same(&it, value));
                if !values.iter().any(is_it) {
                    walk.violated(path, || one_of(value, values));
                }
            }
            (_, Value::Number(number)) => self.check_number(number, path, walk),
            (_, Value::String(text)) => self.check_text(text, path, walk),
            (_, Value::Array(items)) => self.check_list(items, path, walk),
            (_, Value::Object(map)) => self.check_object(map, path, walk),
            _ => {}
        }
    }

    fn check_number(&self, number: &serde_json::Number, path: &Path<'_>, walk: &mut Walk<'_>) {
        let Some(value) = number.as_f64() else {
            walk.is_unsure = true;
            return;
        };
        let message = match self {
            Self::Minimum(least, false) if value < least.get() => {
                format!("{number} is less than {}", least.get())
            }
            Self::Minimum(least, true) if value <= least.get() => {
                format!("{number} is not more than {}", least.get())
            }
            Self::Maximum(most, false) if value > most.get() => {
                format!("{number} is more than {}", most.get())
            }
            Self::Maximum(most, true) if value >= most.get() => {
                format!("{number} is not less than {}", most.get())
            }
            Self::MultipleOf(of) if !of.divides(value) => {
                format!("{number} is not a multiple of {}", of.get())
            }
            Self::Int32 if value < f64::from(i32::MIN) || value > f64::from(i32::MAX) => {
                format!("{number} does not fit in 32 bits")
            }
            _ => return,
        };
        walk.violated(path, || message);
    }

    fn check_text(&self, text: &str, path: &Path<'_>, walk: &mut Walk<'_>) {
        match self {
            Self::MinLength(least) if count(text.chars()) < *least => {
                let size = count(text.chars());
                walk.violated(path, || counted(size, "character", "at least", *least));
            }
            Self::MaxLength(most) if text.len() as u64 > *most && count(text.chars()) > *most => {
                let size = count(text.chars());
                walk.violated(path, || counted(size, "character", "at most", *most));
            }
            Self::Pattern(pattern) if walk.count(1 + text.len() / BYTES) => {
                match pattern.matches(text) {
                    Some(true) => {}
                    Some(false) => walk.violated(path, || {
                        let text = shown(&Value::String(text.to_owned()));
                        format!("{text} does not match {}", pattern.text())
                    }),
                    None => walk.is_unsure = true,
                }
            }
            _ => {}
        }
    }

    fn check_list(&self, items: &[Value], path: &Path<'_>, walk: &mut Walk<'_>) {
        let size = items.len() as u64;
        match self {
            Self::MinItems(least) if size < *least => {
                walk.violated(path, || counted(size, "item", "at least", *least));
            }
            Self::MaxItems(most) if size > *most => {
                walk.violated(path, || counted(size, "item", "at most", *most));
            }
            Self::Unique(_) if items.len() > MOST_UNIQUE => walk.is_unsure = true,
            Self::Unique(keys) => {
                if let Some((first, again)) = repeated(items, keys) {
                    let path = Path::Item(path, again);
                    walk.violated(&path, || {
                        if keys.is_empty() {
                            return format!("it is the same as item {first}");
                        }
                        let names: Vec<&str> = keys.iter().map(|key| &**key).collect();
                        format!("it has the same {} as item {first}", names.join(" and "))
                    });
                }
            }
            _ => {}
        }
    }

    fn check_object(&self, map: &Map<String, Value>, path: &Path<'_>, walk: &mut Walk<'_>) {
        let size = map.len() as u64;
        match self {
            Self::MinFields(least) if size < *least => {
                walk.violated(path, || counted(size, "field", "at least", *least));
            }
            Self::MaxFields(most) if size > *most => {
                walk.violated(path, || counted(size, "field", "at most", *most));
            }
            Self::Required(name) if map.get(&**name).is_none() => {
                walk.violated(&Path::Field(path, name), || REQUIRED.to_owned());
            }
            _ => {}
        }
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.count() as u64
}

/// Whether two values are equal; numbers by value.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

fn one_of(value: &Value, values: &[Arc<str>]) -> String {
    let read = values
        .iter()
        .filter_map(|text| literal::from_str(text).ok());
    let read: Vec<Value> = read.collect();
    let texts: Vec<&str> = read.iter().filter_map(Value::as_str).collect();
    let near = value.as_str().and_then(|value| nearest(value, &texts));
    let near = near.map(|near| format!("; did you mean {near:?}?"));
    let allowed = if texts.len() == values.len() {
        quoted(&texts)
    } else {
        values.join(", ")
    };
    format!(
        "{} is none of {allowed}{}",
        shown(value),
        near.unwrap_or_default()
    )
}
