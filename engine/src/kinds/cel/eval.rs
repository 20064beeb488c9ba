//! The evaluator: evaluates the expression of a rule on a partly known value.
//!
//! Every function here is sound: its answer is that of CEL for all possible values.

use super::PartialValue;
use super::budget::{Budget, CelBudget};
use super::expr::{Expr, Step, Test};
use super::quantifier::{collected, decided};
use super::range::Range;
use super::value::Value;

/// Whether the expression is true when `self` is this value.
pub(super) fn holds(expr: &Expr, this: &PartialValue, budget: &mut CelBudget) -> Option<bool> {
    let mut scope = Scope {
        names: vec![("self", Value::from(this))],
        budget: budget.budget(),
    };
    let answer = scope.eval(expr);
    budget.settle(&scope.budget);
    match answer {
        Value::Bool(holds) => holds,
        _ => None,
    }
}

pub(super) struct Scope<'a> {
    /// Variables and their values, the innermost last.
    pub(super) names: Vec<(&'a str, Value<'a>)>,
    budget: Budget,
}

// === impl Scope ===

impl<'a> Scope<'a> {
    pub(super) fn eval(&mut self, expr: &'a Expr) -> Value<'a> {
        if !self.budget.spend() {
            return Value::Any;
        }
        match expr {
            Expr::Opaque => Value::Any,
            Expr::Null => Value::Null,
            Expr::Bool(value) => Value::Bool(Some(*value)),
            Expr::Int(value) => Value::Int(Range::int(*value)),
            Expr::Unsigned(value) => Value::Int(Range::unsigned(*value)),
            Expr::Text(text) => Value::Text(text),
            Expr::List(items) => self.list(items),
            Expr::Name(name) => self.named(name),
            Expr::Has(of, field) => match self.eval(of) {
                Value::Map(fields) => Value::Bool(fields.has(field)),
                _ => Value::Any,
            },
            Expr::Size(of) => self.eval(of).size(&mut self.budget),
            Expr::Not(times, of) => {
                let not = self.eval(of).not();
                if times % 2 == 1 { not } else { not.not() }
            }
            Expr::Minus(times, of) => {
                let Value::Int(range) = self.eval(of) else {
                    return Value::Any;
                };
                let minus = range.negate();
                let even = times % 2 == 0;
                Value::int(if even {
                    minus.and_then(Range::negate)
                } else {
                    minus
                })
            }
            Expr::Or(parts) => self.until(true, parts),
            Expr::And(parts) => self.until(false, parts),
            Expr::Chain(first, rest) => self.chain(first, rest),
            Expr::If(parts) => self.choice(parts),
            Expr::Steps(first, steps) => self.steps(first, steps),
        }
    }

    fn named(&self, name: &str) -> Value<'a> {
        let mut bound = self.names.iter().rev();
        let binding = bound.find(|(n, _)| *n == name);
        binding.map_or(Value::Any, |(_, value)| value.clone())
    }

    /// A list; evaluation fails if that of one of its elements fails.
    fn list(&mut self, items: &'a [Expr]) -> Value<'a> {
        collected(items.iter().map(|item| self.eval(item)))
    }

    /// One decisive part of `||` or `&&` decides, whatever the others are, and even if they fail.
    fn until(&mut self, decisive: bool, parts: &'a [Expr]) -> Value<'a> {
        decided(decisive, parts.iter().map(|part| self.eval(part)))
    }

    fn choice(&mut self, [condition, then, otherwise]: &'a [Expr; 3]) -> Value<'a> {
        match self.eval(condition) {
            Value::Bool(Some(true)) => self.eval(then),
            Value::Bool(Some(false)) => self.eval(otherwise),
            Value::Bool(None) => {
                let then = self.eval(then);
                then.join(self.eval(otherwise))
            }
            _ => Value::Any,
        }
    }

    fn chain(&mut self, first: &'a Expr, others: &'a [(&'static str, Expr)]) -> Value<'a> {
        let mut left = self.eval(first);
        for (operator, right) in others {
            let right = self.eval(right);
            left = self.operate(&left, operator, &right);
        }
        left
    }

    fn operate(&mut self, left: &Value<'a>, operator: &str, right: &Value<'a>) -> Value<'a> {
        if matches!(left, Value::Any) || matches!(right, Value::Any) {
            return Value::Any;
        }
        match operator {
            "==" => Value::Bool(left.equals(right, &mut self.budget)),
            "!=" => Value::Bool(left.equals(right, &mut self.budget)).not(),
            "<" => left.is_less(right),
            ">=" => left.is_less(right).not(),
            ">" => right.is_less(left),
            "<=" => right.is_less(left).not(),
            "in" => left.is_in(right, &mut self.budget),
            _ => match (left, right) {
                (Value::Int(a), Value::Int(b)) => Value::int(match operator {
                    "+" => a.plus(*b),
                    "-" => a.minus(*b),
                    "*" => a.times(*b),
                    "/" => a.over(*b),
                    "%" => a.modulo(*b),
                    _ => None,
                }),
                // Lists that are sets are concatenated differently. And strings that are concatenated here are not
                // literals, so another string may equal them.
                _ => Value::Any,
            },
        }
    }

    fn steps(&mut self, first: &'a Expr, steps: &'a [Step]) -> Value<'a> {
        let mut value = self.eval(first);
        for step in steps {
            if matches!(value, Value::Any) {
                break;
            }
            value = self.step(value, step);
        }
        value
    }

    fn step(&mut self, from: Value<'a>, step: &'a Step) -> Value<'a> {
        match (step, from) {
            (Step::Field(field), Value::Map(fields)) => fields.get(field),
            (Step::Index(index), from) => match (from, self.eval(index)) {
                (Value::Map(fields), Value::Text(key)) => fields.get(key),
                (Value::List(items), Value::Int(index)) => {
                    let index = index.exact().and_then(|i| usize::try_from(i).ok());
                    index.and_then(|i| items.get(i)).unwrap_or(Value::Any)
                }
                _ => Value::Any,
            },
            (Step::Size, from) => from.size(&mut self.budget),
            (Step::Test(test, part), from) => match (from, self.eval(part)) {
                (Value::Text(of), Value::Text(_)) if !self.budget.look_through(of) => Value::Any,
                (Value::Text(of), Value::Text(part)) => Value::Bool(Some(match test {
                    Test::StartsWith => of.starts_with(part),
                    Test::EndsWith => of.ends_with(part),
                    Test::Contains => of.contains(part),
                })),
                (Value::Text(_) | Value::Stranger, Value::Text(_) | Value::Stranger) => {
                    Value::Bool(None)
                }
                _ => Value::Any,
            },
            (Step::Each(each, variable, body), from) => self.each(*each, from, variable, body),
            _ => Value::Any,
        }
    }
}
