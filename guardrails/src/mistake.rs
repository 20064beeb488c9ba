//! Mistakes in an expression that are known before the evaluation, where they would fail on every
//! path, or never hold. In the expression of a message, they would drop the message without an
//! error.

use attache_engine::model::hint::{nearest, quoted};
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use crate::functions::{self, Call};
use crate::value_type::{NameOf, Types, ValueType, function_name};

/// The remedy for the fields of one kind in a guardrail for all kinds.
const BY_KIND: &str = "without spec.policyKind, effective is a map from kinds: write effective[\"Kind.group\"].spec, or name the kind in spec.policyKind";

/// The mistake in an expression itself, if there is one; its parts are not looked at.
pub(crate) fn why_wrong(expression: &IdedExpr, types: &Types<'_>) -> Option<String> {
    match &expression.expr {
        Expr::Select(select) if types.are_as_of_kind(&select.operand, &select.field) => {
            Some(BY_KIND.to_owned())
        }
        Expr::Select(select) => {
            let outer = types.type_of(&select.operand);
            if outer.field(&select.field).is_some() {
                return None;
            }
            let (outer_name, name) = (written(&select.operand)?, &select.field);
            if matches!(outer, ValueType::ByKind) {
                return Some(format!(
                    "{outer_name} is a map from kinds: write {outer_name}[\"{name}.group\"], or \"{name}.group\" in {outer_name}"
                ));
            }
            if let Some(words) = outer.text().filter(|_| outer.fields().is_empty()) {
                let remedy = match outer {
                    ValueType::List(_) => {
                        format!(": write {outer_name}.exists(one, …) or {outer_name}[0]")
                    }
                    _ => String::new(),
                };
                return Some(format!(
                    "{outer_name} is {words} and has no field {name:?}{remedy}"
                ));
            }
            let fields = outer.fields();
            let remedy = match nearest(name, &fields) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", fields.join(", ")),
            };
            Some(format!("{outer_name} has no field {name:?}; {remedy}"))
        }
        Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::ADD, [one, other]) => not_added(one, other, types),
            (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
                never_equal(one, other, types).or_else(|| never_equal(other, one, types))
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, parts) => {
                parts.iter().find_map(|part| no_truth(part, types))
            }
            (operators::LOGICAL_NOT, [part]) | (operators::CONDITIONAL, [part, ..]) => {
                no_truth(part, types)
            }
            (operators::IN, [one, among]) => match types.type_of(among) {
                ValueType::List(_) if never_among(one, among, types) => {
                    let words = types.type_of(one).text()?;
                    let name = written_or(one, "what precedes in");
                    Some(format!("{name} is {words}, so it is never in that list"))
                }
                ValueType::List(_)
                | ValueType::Map(_)
                | ValueType::ByKind
                | ValueType::Object(_) => None,
                other => {
                    let (name, words) = (written_or(among, "what follows in"), other.text()?);
                    Some(format!(
                        "{name} is {words}; the operator in needs a list or a map"
                    ))
                }
            },
            (name, _) if is_operator(name) => None,
            (_, arguments) => functions::why_wrong(&Call {
                name: &function_name(expression)?,
                has_target: call.target.is_some(),
                arguments,
            }),
        },
        _ => None,
    }
}

/// Whether a name is that of an operator: it has a sign, as in `_+_`.
fn is_operator(name: &str) -> bool {
    name.contains(|c: char| !c.is_ascii_alphanumeric() && !['_', '.'].contains(&c))
}

/// Why two values cannot be added.
fn not_added(one: &IdedExpr, other: &IdedExpr, types: &Types<'_>) -> Option<String> {
    let number = match (types.type_of(one), types.type_of(other)) {
        (ValueType::Number, text) if text.is_text() => one,
        (text, ValueType::Number) if text.is_text() => other,
        _ => return None,
    };
    let number = written_or(number, "…");
    Some(format!(
        "a string and a number cannot be added; write string({number})"
    ))
}

/// Why a value cannot equal another one.
fn never_equal(one: &IdedExpr, other: &IdedExpr, types: &Types<'_>) -> Option<String> {
    let (type_of_one, type_of_other) = (types.type_of(one), types.type_of(other));
    if let (ValueType::OneOf(known), Expr::Literal(LiteralValue::String(text))) =
        (type_of_one, &other.expr)
    {
        let text: &str = text.inner();
        let named: Vec<&str> = known
            .iter()
            .copied()
            .filter(|one| !one.is_empty())
            .collect();
        return (!known.contains(&text)).then(|| {
            let remedy = match nearest(text, &named) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("it is one of {}", quoted(&named)),
            };
            format!("{} is never {text:?}; {remedy}", written_or(one, "it"))
        });
    }
    let words = (type_of_one.text()?, type_of_other.text()?);
    let is_null = |one: ValueType| matches!(one, ValueType::Null);
    let may_be_null = |one: ValueType| {
        matches!(
            one,
            ValueType::Object(_) | ValueType::Map(_) | ValueType::ByKind
        )
    };
    let is_never_null = |one: ValueType| matches!(one, ValueType::List(_) | ValueType::Bool);
    let is_null_or_not = (is_null(type_of_one) && !is_never_null(type_of_other))
        || (is_null(type_of_other) && !is_never_null(type_of_one));
    if words.0 == words.1
        || is_null_or_not
        || (may_be_null(type_of_one) && may_be_null(type_of_other))
    {
        return None;
    }
    // The caller tries both orders of the operands: the message is about one that has a name.
    let name = written(one)?;
    let hint = match type_of_one {
        ValueType::Object(_) => format!("; it has {}", type_of_one.fields().join(", ")),
        _ => String::new(),
    };
    Some(format!(
        "{name} is {}, so it never equals {}{hint}",
        words.0, words.1
    ))
}

/// Whether no element of a list that is written in an expression can equal a value.
fn never_among(one: &IdedExpr, list: &IdedExpr, types: &Types<'_>) -> bool {
    let Expr::List(list) = &list.expr else {
        return false;
    };
    let never = |element: &IdedExpr| {
        never_equal(one, element, types)
            .or_else(|| never_equal(element, one, types))
            .is_some()
    };
    !list.elements.is_empty() && list.elements.iter().all(never)
}

/// Why an expression is no condition.
fn no_truth(expression: &IdedExpr, types: &Types<'_>) -> Option<String> {
    let of = types.type_of(expression);
    if matches!(of, ValueType::Bool) {
        return None;
    }
    let (name, words) = (written_or(expression, "a part of a condition"), of.text()?);
    Some(format!("{name} is {words}; a condition is true or false"))
}

/// Why an expression cannot be a message.
pub(crate) fn why_no_text(expression: &IdedExpr, types: &Types<'_>) -> Option<String> {
    let of = types.type_of(expression);
    if of.is_text() {
        return None;
    }
    let what = of.text()?;
    Some(format!("its result is {what}; a message must be a string"))
}

/// Why an expression cannot be a requirement.
pub(crate) fn why_no_truth(expression: &IdedExpr, types: &Types<'_>) -> Option<String> {
    let of = types.type_of(expression);
    if matches!(of, ValueType::Bool) {
        return None;
    }
    let what = of.text()?;
    Some(format!(
        "its result is {what}; a requirement must be true or false"
    ))
}

/// The texts that an expression compares with names, and the type of each name.
pub(crate) fn names<'a>(expression: &'a IdedExpr, types: &Types<'a>) -> Vec<(NameOf, &'a str)> {
    let Expr::Call(call) = &expression.expr else {
        return Vec::new();
    };
    let of_name = |one: &IdedExpr| match types.type_of(one) {
        ValueType::Name(of) => Some(of),
        _ => None,
    };
    let of_names = |one: &IdedExpr| match types.type_of(one) {
        ValueType::List(ValueType::Name(of)) => Some(*of),
        ValueType::ByKind => Some(NameOf::KindAndGroup),
        _ => None,
    };
    let either = |one: &IdedExpr| of_name(one).or_else(|| of_names(one));
    let compared = match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::IN, [what, among]) => {
            let in_names = of_names(among).map(|of| (of, what));
            in_names.or_else(|| of_name(what).map(|of| (of, among)))
        }
        (operators::INDEX, [map, key]) => match types.type_of(map) {
            ValueType::ByKind => Some((NameOf::KindAndGroup, key)),
            _ => None,
        },
        (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
            let first = either(one).map(|of| (of, other));
            first.or_else(|| either(other).map(|of| (of, one)))
        }
        ("contains" | "equivalent" | "intersects", [one, other]) => {
            let first = of_names(one).map(|of| (of, other));
            first.or_else(|| of_names(other).map(|of| (of, one)))
        }
        _ => None,
    };
    let texts = compared.into_iter().flat_map(|(of, with)| {
        let texts = texts(with, types).into_iter();
        texts.map(move |text| (of, text))
    });
    texts.collect()
}

/// The texts that an expression stands for: a text, a list of texts, or a variable of a macro over such a list.
pub(crate) fn texts<'a>(expression: &'a IdedExpr, types: &Types<'a>) -> Vec<&'a str> {
    match &expression.expr {
        Expr::Literal(LiteralValue::String(text)) => vec![text.inner()],
        Expr::List(list) => {
            let elements = list.elements.iter();
            elements.flat_map(|element| texts(element, types)).collect()
        }
        Expr::Ident(name) => {
            let bound = types.bound(name);
            bound.map_or_else(Vec::new, |bound| bound.texts.clone())
        }
        _ => Vec::new(),
    }
}

/// An expression of names, literals and calls of functions as it is written: `request.userInfo`, `size(policies)`.
fn written(expression: &IdedExpr) -> Option<String> {
    match &expression.expr {
        Expr::Ident(name) if !name.starts_with('@') => Some(name.clone()),
        Expr::Select(select) => Some(format!("{}.{}", written(&select.operand)?, select.field)),
        Expr::Call(call) if call.func_name == operators::INDEX => {
            Some(format!("{}[…]", written(call.args.first()?)?))
        }
        Expr::Call(call) if !is_operator(&call.func_name) => {
            let arguments: Option<Vec<String>> = call.args.iter().map(written).collect();
            let of = match &call.target {
                Some(target) => format!("{}.", written(target)?),
                None => String::new(),
            };
            Some(format!("{of}{}({})", call.func_name, arguments?.join(", ")))
        }
        Expr::Literal(LiteralValue::String(text)) => Some(format!("'{}'", text.inner())),
        Expr::Literal(LiteralValue::Int(number)) => Some(number.inner().to_string()),
        Expr::Literal(LiteralValue::Boolean(is_true)) => Some(is_true.inner().to_string()),
        _ => None,
    }
}

/// The key and the map of a map that is read with `[ ]` and a text: `target.labels['team']`.
pub(crate) fn key_of_map(call: &CallExpr) -> Option<(&str, String)> {
    let [map, key] = call.args.as_slice() else {
        return None;
    };
    match &key.expr {
        Expr::Literal(LiteralValue::String(key)) if call.func_name == operators::INDEX => {
            Some((key.inner(), written(map)?))
        }
        _ => None,
    }
}

fn written_or(expression: &IdedExpr, other: &str) -> String {
    written(expression).unwrap_or_else(|| other.to_owned())
}
