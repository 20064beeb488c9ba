//! Constraints on values by the schema of their kind, as the API server enforces them: types,
//! enums, bounds, lengths, patterns, required fields. Formats other than those of integers are not
//! checked.

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::Value;

use super::{MOST_VIOLATIONS, Violation};
use crate::model::hint::quoted;

mod json_type;
mod limit;
mod message;
mod number;
mod path;

pub use json_type::JsonType;
pub use limit::Limit;
use message::shown;
pub use number::Number;
use path::Path;

/// The constraints on a value and on the values in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    /// Those on the value itself.
    pub limits: Box<[Limit]>,
    /// Those on its parts, and its alternatives; sorted, fields first.
    pub parts: Box<[(Part, Arc<Constraints>)]>,
}

/// The part of a value that nested constraints apply to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A field of an object.
    Field(Arc<str>),
    /// Each item of a list.
    Items,
    /// Each value of a map that is not listed as a field.
    Values,
    /// The value itself (`allOf`).
    All,
    /// The value itself: one of these at least (`anyOf`).
    Any,
    /// The value itself: exactly one of these (`oneOf`).
    One,
    /// The value itself: not this (`not`).
    Not,
}

/// The message on a field that is missing.
pub const REQUIRED: &str = "it is required";

/// The maximum number of values that are looked at in one object; an alternative looks at a value again.
const MOST_VALUES: usize = 200_000;
/// One walk over a value.
struct Walk<'a> {
    /// The number of values that may still be looked at.
    left: &'a mut usize,
    /// The number of violations that are looked for.
    most: usize,
    violations: Vec<Violation>,
    /// Whether some part could not be decided.
    is_unsure: bool,
}

// === impl Constraints ===

impl Constraints {
    /// The constraints that a spec certainly violates. A `null` counts as absent where it may not be stored.
    pub fn violations(&self, spec: &Value) -> Vec<Violation> {
        let mut left = MOST_VALUES;
        let mut walk = Walk {
            left: &mut left,
            most: MOST_VIOLATIONS,
            violations: Vec::new(),
            is_unsure: false,
        };
        self.walk(spec, &Path::Root, &mut walk);
        walk.violations
    }

    fn walk(&self, value: &Value, path: &Path<'_>, walk: &mut Walk<'_>) {
        if walk.violations.len() >= walk.most || !walk.count(1) {
            return;
        }
        if value.is_null() && self.limits.contains(&Limit::Nullable) {
            return;
        }
        let mut has_type = true;
        for limit in &self.limits {
            if let Limit::Type(wanted) = limit
                && !wanted.takes(value)
            {
                has_type = false;
                walk.violated(path, || wanted.rejects(value));
            }
        }
        // The other limits are unknown for a value of another type.
        if !has_type {
            return;
        }
        for limit in &self.limits {
            limit.check(value, path, walk);
        }
        self.walk_parts(value, path, walk);
        self.alternatives(value, path, walk);
    }

    /// Looks at the fields, items and values.
    fn walk_parts(&self, value: &Value, path: &Path<'_>, walk: &mut Walk<'_>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let Some(constraints) = self.of_field(name) else {
                        continue;
                    };
                    let is_absent =
                        value.is_null() && !constraints.limits.contains(&Limit::Nullable);
                    if !is_absent {
                        constraints.walk(value, &Path::Field(path, name), walk);
                    }
                }
            }
            Value::Array(items) => {
                let item_constraints = self.parts.iter().filter(|(part, _)| *part == Part::Items);
                for (_, constraints) in item_constraints {
                    for (i, item) in items.iter().enumerate() {
                        constraints.walk(item, &Path::Item(path, i), walk);
                    }
                }
            }
            _ => {}
        }
    }

    /// The constraints on a field: its own, or those on all values.
    fn of_field(&self, name: &str) -> Option<&Arc<Self>> {
        let named = self.parts.binary_search_by(|(part, _)| match part {
            Part::Field(field) => (**field).cmp(name),
            _ => Ordering::Greater,
        });
        let named = named.ok().and_then(|at| self.parts.get(at));
        let any = || self.parts.iter().find(|(part, _)| *part == Part::Values);
        named.or_else(any).map(|(_, constraints)| constraints)
    }

    fn constraints_on<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = &'a Arc<Self>> {
        let parts = self.parts.iter().filter(move |(known, _)| known == part);
        parts.map(|(_, constraints)| constraints)
    }

    /// Looks at the alternatives of the value itself.
    fn alternatives(&self, value: &Value, path: &Path<'_>, walk: &mut Walk<'_>) {
        for all in self.constraints_on(&Part::All) {
            all.walk(value, path, walk);
        }
        for not in self.constraints_on(&Part::Not) {
            match not.holds(value, path, walk) {
                Some(true) => walk.violated(path, || not.forbidden(value)),
                Some(false) => {}
                None => walk.is_unsure = true,
            }
        }
        for (part, exclude) in [(Part::Any, false), (Part::One, true)] {
            let results: Vec<Option<bool>> = self
                .constraints_on(&part)
                .map(|constraints| constraints.holds(value, path, walk))
                .collect();
            if results.is_empty() {
                continue;
            }
            let valid = results
                .iter()
                .filter(|result| **result == Some(true))
                .count();
            let is_unsure = results.contains(&None);
            let too_many = exclude && valid > 1;
            if too_many || (valid == 0 && !is_unsure) {
                walk.violated(path, || self.wants(&part, too_many));
            } else if is_unsure && (exclude || valid == 0) {
                walk.is_unsure = true;
            }
        }
    }

    /// Whether a value fulfils all of it; `None` if that is not certain.
    fn holds(&self, value: &Value, path: &Path<'_>, within: &mut Walk<'_>) -> Option<bool> {
        let mut walk = Walk {
            left: &mut *within.left,
            most: 1,
            violations: Vec::new(),
            is_unsure: false,
        };
        self.walk(value, path, &mut walk);
        match (walk.violations.is_empty(), walk.is_unsure) {
            (false, _) => Some(false),
            (true, false) => Some(true),
            (true, true) => None,
        }
    }

    /// The fields that it requires, if it is about nothing else.
    fn required_alone(&self) -> Option<Vec<&str>> {
        let names = self.limits.iter().map(|limit| match limit {
            Limit::Required(name) => Some(&**name),
            _ => None,
        });
        let names: Option<Vec<&str>> = names.collect();
        names.filter(|names| !names.is_empty() && self.parts.is_empty())
    }

    /// The alternatives in words.
    fn wants(&self, part: &Part, too_many: bool) -> String {
        let names = self
            .constraints_on(part)
            .filter_map(|constraints| constraints.required_alone());
        let names: Vec<String> = names.map(|names| names.join(" and ")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match (names.is_empty(), too_many) {
            (true, true) => "it has several forms that exclude each other".to_owned(),
            (true, false) => "it has none of the forms that are allowed".to_owned(),
            (false, true) => format!("it may have only one of {}", quoted(&names)),
            (false, false) if *part == Part::One => format!("it needs one of {}", quoted(&names)),
            (false, false) => format!("it needs at least one of {}", quoted(&names)),
        }
    }

    /// A description of the values that a forbidding schema (`not`) excludes, for a value that it
    /// matches.
    fn forbidden(&self, value: &Value) -> String {
        match self.required_alone().as_deref() {
            Some([name]) => format!("it may not have {name:?}"),
            Some(names) => format!("it may not have {} together", quoted(names)),
            None => format!("{} is not allowed", shown(value)),
        }
    }
}

// === impl Walk ===

impl Walk<'_> {
    /// Counts values. Returns whether they may be checked; if not, nothing about them is certain.
    fn count(&mut self, values: usize) -> bool {
        if let Some(left) = self.left.checked_sub(values) {
            *self.left = left;
            return true;
        }
        *self.left = 0;
        self.is_unsure = true;
        false
    }

    fn violated(&mut self, path: &Path<'_>, message: impl FnOnce() -> String) {
        if self.violations.len() < self.most {
            self.violations.push(Violation {
                path: path.to_string(),
                message: message(),
            });
        }
    }
}
