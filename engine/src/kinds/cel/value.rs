//! Values during evaluation, and comparisons of them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::PartialValue;
use super::budget::Budget;
use super::range::Range;

/// The known part of the value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    /// Nothing is known: evaluation may even fail.
    Any,
    /// Evaluation succeeds with any value.
    Unknown,
    Null,
    /// A boolean; `None` if both are possible.
    Bool(Option<bool>),
    Int(Range),
    Text(&'a str),
    Stranger,
    List(Items<'a>),
    /// These elements and possibly others, in any order.
    Among(&'a [PartialValue]),
    Map(Fields<'a>),
}

/// The elements of a list, either given or computed by the rule.
#[derive(Clone, Debug)]
pub(super) enum Items<'a> {
    Given(&'a [PartialValue]),
    Made(Rc<[Value<'a>]>),
}

/// The fields of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    pub(super) known: &'a BTreeMap<Arc<str>, PartialValue>,
    pub(super) complete: bool,
}

// === impl Items ===

impl<'a> Items<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Given(items) => items.len(),
            Self::Made(items) => items.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Given(items) => items.get(index).map(Value::from),
            Self::Made(items) => items.get(index).cloned(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Value<'a>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

// === impl Fields ===

impl<'a> Fields<'a> {
    pub(super) fn has(self, field: &str) -> Option<bool> {
        match self.known.get(field) {
            Some(PartialValue::Absent) => Some(false),
            Some(_) => Some(true),
            None => self.complete.then_some(false),
        }
    }

    /// The names of the fields that exist.
    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        let there = |(_, value): &(&'a Arc<str>, &'a PartialValue)| **value != PartialValue::Absent;
        self.known.iter().filter(there).map(|(name, _)| &**name)
    }

    /// The value of a field. Evaluation fails without the field.
    pub(super) fn get(self, field: &str) -> Value<'a> {
        self.known.get(field).map_or(Value::Any, Value::from)
    }
}

// === impl Value ===

impl<'a> From<&'a PartialValue> for Value<'a> {
    fn from(known: &'a PartialValue) -> Self {
        match known {
            PartialValue::Unknown => Self::Unknown,
            PartialValue::Absent => Self::Any,
            PartialValue::Null => Self::Null,
            PartialValue::Bool(value) => Self::Bool(Some(*value)),
            PartialValue::Int(value) => Self::Int(Range::int(*value)),
            PartialValue::Text(text) => Self::Text(text),
            PartialValue::OtherString => Self::Stranger,
            PartialValue::List(items) => Self::List(Items::Given(items)),
            PartialValue::ListContaining(items) => Self::Among(items),
            PartialValue::Map {
                fields,
                complete: whole,
            } => Self::Map(Fields {
                known: fields,
                complete: *whole,
            }),
        }
    }
}

impl Value<'_> {
    pub(super) fn int(range: Option<Range>) -> Self {
        range.map_or(Self::Any, Self::Int)
    }

    /// The common knowledge about a value that is one of the two.
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Bool(a), Self::Bool(b)) => Self::Bool(a.filter(|_| a == b)),
            (Self::Int(a), Self::Int(b)) => a.join(b).map_or(Self::Unknown, Self::Int),
            (Self::Text(a), Self::Text(b)) if a == b => Self::Text(a),
            (Self::Stranger, Self::Stranger) => Self::Stranger,
            (Self::Null, Self::Null) => Self::Null,
            _ => Self::Unknown,
        }
    }

    pub(super) fn size(&self, budget: &mut Budget) -> Self {
        Self::int(match self {
            Self::Text(text) if !budget.look_through(text) => None,
            Self::Text(text) => Range::count(text.chars().count()),
            Self::Stranger => Range::at_least(1),
            Self::Among(items) => Range::at_least(items.len()),
            Self::List(items) => Range::count(items.len()),
            Self::Map(fields) if fields.complete => Range::count(fields.names().count()),
            Self::Map(fields) => Range::at_least(fields.names().count()),
            _ => None,
        })
    }

    /// Whether two values are equal. Neither may be `Any`.
    pub(super) fn equals(&self, other: &Self, budget: &mut Budget) -> Option<bool> {
        match (self, other) {
            (Self::Any | Self::Unknown, _) | (_, Self::Any | Self::Unknown) => None,
            (Self::Null, Self::Null) => Some(true),
            // Another string equals no known string. Two of them may be equal.
            (Self::Null, _)
            | (_, Self::Null)
            | (Self::Text(_), Self::Stranger)
            | (Self::Stranger, Self::Text(_)) => Some(false),
            (Self::Bool(a), Self::Bool(b)) => Some((*a)? == (*b)?),
            (Self::Int(a), Self::Int(b)) => a.equals(*b),
            (Self::Text(a), Self::Text(b)) => budget.look_through(a).then(|| a == b),
            (Self::List(a), Self::List(b)) => budget.deeper(|budget| lists_equal(a, b, budget)),
            (Self::Map(a), Self::Map(b)) => budget.deeper(|budget| maps_equal(*a, *b, budget)),
            // A value of a different type is not one that the rule was written for.
            _ => None,
        }
    }

    /// Whether it is an element of a list, or a key of an object.
    pub(super) fn is_in(&self, other: &Self, budget: &mut Budget) -> Self {
        match (self, other) {
            (Self::Any, _) => Self::Any,
            (_, Self::List(items)) => Self::Bool(is_among(self, items, budget)),
            (value, Self::Among(items)) => {
                // It may be one of the unknown elements.
                let is_element = is_among(value, &Items::Given(items), budget);
                Self::Bool(is_element.filter(|is_element| *is_element))
            }
            (Self::Text(key), Self::Map(fields)) => Self::Bool(fields.has(key)),
            (Self::Stranger, Self::Map(_)) => Self::Bool(None),
            _ => Self::Any,
        }
    }

    /// Whether it is less than another value.
    pub(super) fn is_less(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Bool(a.less(*b)),
            (Self::Text(a), Self::Text(b)) => Self::Bool(Some(a < b)),
            (Self::Text(_) | Self::Stranger, Self::Text(_) | Self::Stranger) => Self::Bool(None),
            _ => Self::Any,
        }
    }

    pub(super) fn not(&self) -> Self {
        match self {
            Self::Bool(value) => Self::Bool(value.map(|value| !value)),
            _ => Self::Any,
        }
    }
}

fn is_among(value: &Value<'_>, items: &Items<'_>, budget: &mut Budget) -> Option<bool> {
    let mut result = Some(false);
    for item in items.iter() {
        match budget
            .spend()
            .then(|| value.equals(&item, budget))
            .flatten()
        {
            Some(true) => return Some(true),
            Some(false) => {}
            None => result = None,
        }
    }
    result
}

/// Lists that are sets or maps by their schema are equal in any order, and the schema is not known here. Two lists
/// are therefore different only if one has an element that the other cannot have.
fn lists_equal(a: &Items<'_>, b: &Items<'_>, budget: &mut Budget) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    let mut pairs = a.iter().zip(b.iter());
    if pairs.all(|(x, y)| budget.spend() && x.equals(&y, budget) == Some(true)) {
        return Some(true);
    }
    let mut lacks = |container: &Items<'_>, what: &Items<'_>| {
        let mut elements = what.iter();
        elements.any(|element| is_among(&element, container, budget) == Some(false))
    };
    (lacks(a, b) || lacks(b, a)).then_some(false)
}

fn maps_equal(a: Fields<'_>, b: Fields<'_>, budget: &mut Budget) -> Option<bool> {
    let mut equal = Some(a.complete && b.complete).filter(|both_complete| *both_complete);
    for field in a.known.keys().chain(b.known.keys()) {
        let one = match (a.known.get(field), b.known.get(field)) {
            _ if !budget.spend() => None,
            (Some(PartialValue::Absent), _) => b.has(field).map(|has| !has),
            (_, Some(PartialValue::Absent)) => a.has(field).map(|has| !has),
            (Some(x), Some(y)) => Value::from(x).equals(&Value::from(y), budget),
            (None, _) if a.complete => Some(false),
            (_, None) if b.complete => Some(false),
            _ => None,
        };
        match one {
            Some(true) => {}
            Some(false) => return Some(false),
            None => equal = None,
        }
    }
    equal
}
