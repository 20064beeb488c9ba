//! Macros: evaluates an expression for each element of a list.

use super::eval::Scope;
use super::expr::{Expr, Quantifier};
use super::value::{Items, Value};

// === impl Scope ===

impl<'a> Scope<'a> {
    pub(super) fn each(
        &mut self,
        each: Quantifier,
        collection: Value<'a>,
        variable: &'a str,
        body: &'a Expr,
    ) -> Value<'a> {
        let fields = match collection {
            Value::List(items) => return self.each_of(each, &items, variable, body),
            // The other elements are unknown: only a decisive answer counts.
            Value::Among(items) => {
                let decisive = match each {
                    Quantifier::All => false,
                    Quantifier::Exists => true,
                    Quantifier::ExistsOne | Quantifier::Filter | Quantifier::Map => {
                        return Value::Any;
                    }
                };
                return match self.each_of(each, &Items::Given(items), variable, body) {
                    Value::Bool(Some(answer)) if answer == decisive => Value::Bool(Some(answer)),
                    _ => Value::Any,
                };
            }
            Value::Map(fields) => fields,
            _ => return Value::Any,
        };
        // The elements of an object are its keys.
        let keys = fields.names().map(Value::Text);
        let keys = Items::Made(keys.collect());
        let decisive = match each {
            Quantifier::All => false,
            Quantifier::Exists => true,
            // The keys have no order, and neither do the results.
            Quantifier::ExistsOne | Quantifier::Filter | Quantifier::Map => return Value::Any,
        };
        match self.each_of(each, &keys, variable, body) {
            Value::Bool(Some(answer)) if answer == decisive => Value::Bool(Some(answer)),
            answer if fields.complete => answer,
            _ => Value::Any,
        }
    }

    fn each_of(
        &mut self,
        each: Quantifier,
        items: &Items<'a>,
        variable: &'a str,
        body: &'a Expr,
    ) -> Value<'a> {
        let mut answers = items.iter().map(|item| {
            self.names.push((variable, item));
            let answer = self.eval(body);
            self.names.pop();
            answer
        });
        match each {
            Quantifier::All => decided(false, answers),
            Quantifier::Exists => decided(true, answers),
            Quantifier::Map => collected(answers),
            Quantifier::ExistsOne => {
                let (mut sure, mut possible) = (0, 0);
                for answer in answers {
                    match answer {
                        Value::Bool(Some(true)) => sure += 1,
                        Value::Bool(Some(false)) => {}
                        Value::Bool(None) => possible += 1,
                        // Unlike the other macros, this one fails if evaluation of any element fails.
                        _ => return Value::Any,
                    }
                }
                Value::Bool(match (sure, possible) {
                    (1, 0) => Some(true),
                    (0 | 1, 1..) => None,
                    _ => Some(false),
                })
            }
            Quantifier::Filter => {
                let kept = answers.try_fold(Vec::new(), |mut kept, answer| match answer {
                    Value::Bool(Some(keep)) => {
                        kept.push(keep);
                        Some(kept)
                    }
                    _ => None,
                });
                let Some(kept) = kept else { return Value::Any };
                let kept = items.iter().zip(kept).filter(|(_, kept)| *kept);
                Value::List(Items::Made(kept.map(|(item, _)| item).collect()))
            }
        }
    }
}

/// The answer of one decisive part, or of all parts together.
pub(super) fn decided<'a>(decisive: bool, parts: impl Iterator<Item = Value<'a>>) -> Value<'a> {
    let mut answer = Value::Bool(Some(!decisive));
    for part in parts {
        match (part, &answer) {
            (Value::Bool(Some(part)), _) if part == decisive => return Value::Bool(Some(decisive)),
            (Value::Bool(Some(_)), _) | (Value::Bool(None), Value::Any) => {}
            (Value::Bool(None), _) => answer = Value::Bool(None),
            _ => answer = Value::Any,
        }
    }
    answer
}

/// A list of these values; nothing is known of it if evaluation of one of them may fail.
pub(super) fn collected<'a>(values: impl Iterator<Item = Value<'a>>) -> Value<'a> {
    let values = values.map(|value| match value {
        Value::Any => None,
        value => Some(value),
    });
    let values: Option<Vec<_>> = values.collect();
    values.map_or(Value::Any, |values| Value::List(Items::Made(values.into())))
}
