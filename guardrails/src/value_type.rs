//! The fields and types of the variables of rules, checked when an expression is compiled. At the evaluation a wrong name
//! would fail on every path, and a message would be left out in silence.

use attache_engine::model::hint::nearest;
use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue};

/// What is known of a value before the evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueType {
    Any,
    Text,
    Number,
    /// An object with fields of any type, fields of a known type, and no others.
    Object(
        &'static [&'static [&'static str]],
        &'static [(&'static str, ValueType)],
    ),
    /// A list with elements of this type.
    List(&'static ValueType),
}

use ValueType::{Any, List, Number, Object, Text};

const IDENTITY: &[&str] = &["group", "kind", "namespace", "name"];
const LABELS: &[&str] = &["labels", "namespaceLabels"];

/// A target may be a Gateway, a route, or neither.
const TARGET: ValueType = Object(&[IDENTITY, LABELS, &["section", "class", "hostnames"]], &[]);
const GATEWAY: ValueType = Object(&[IDENTITY, LABELS, &["class"]], &[]);
const ROUTE: ValueType = Object(&[IDENTITY, LABELS, &["hostnames"]], &[]);
const LISTENER: ValueType = Object(&[&["name", "hostname", "protocol"]], &[("port", Number)]);
const PATH: ValueType = Object(
    &[
        &["class", "gateway", "listenerSet", "listener", "service"],
        &["route", "rule", "backend", "port"],
    ],
    &[],
);
/// An element of `policies`.
const POLICY: ValueType = Object(
    &[IDENTITY, &["labels", "inForce"]],
    &[("attachedTo", Object(&[IDENTITY, &["section"]], &[]))],
);
/// It has `effective` without `spec.policyKind`, and `spec` and `sources` with it.
const BEFORE: ValueType = Object(
    &[&["spec", "sources", "protections", "effective"]],
    &[("policies", List(&POLICY))],
);
const REQUEST: ValueType = Object(
    &[&["operation"]],
    &[
        ("object", Object(&[IDENTITY], &[])),
        ("userInfo", Object(&[&["username", "groups", "uid"]], &[])),
    ],
);

// === impl ValueType ===

impl ValueType {
    /// That of an expression, with the types of the variables of the macros around it.
    pub(crate) fn of(expression: &IdedExpr, bound: &[(&str, Self)]) -> Self {
        match &expression.expr {
            Expr::Ident(name) => {
                let inner = bound.iter().rev().find(|(bound, _)| bound == name);
                inner.map_or_else(|| Self::of_variable(name), |(_, value_type)| *value_type)
            }
            Expr::Select(select) if !select.test => {
                let outer = Self::of(&select.operand, bound);
                outer.field(&select.field).unwrap_or(Any)
            }
            Expr::Literal(LiteralValue::String(_)) => Text,
            Expr::Literal(
                LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_),
            ) => Number,
            Expr::Call(call) if call.func_name == INDEX => {
                let list = call.args.first();
                list.map_or(Any, |list| Self::of(list, bound).element())
            }
            Expr::Call(call) if call.func_name == ADD => {
                let mut parts = call.args.iter().map(|part| Self::of(part, bound));
                let is_text = parts.any(|part| matches!(part, Text));
                if is_text { Text } else { Any }
            }
            _ => Any,
        }
    }

    /// `effective` is a map from kinds, or has the settings of one.
    fn of_variable(name: &str) -> Self {
        match name {
            "policies" => List(&POLICY),
            "target" => TARGET,
            "path" => PATH,
            "gateway" => GATEWAY,
            "listener" => LISTENER,
            "route" => ROUTE,
            "before" => BEFORE,
            "request" => REQUEST,
            _ => Any,
        }
    }

    /// That of the elements of a list.
    pub(crate) fn element(self) -> Self {
        match self {
            List(element) => *element,
            _ => Any,
        }
    }

    /// That of a field; `None` if there is no such field.
    fn field(self, name: &str) -> Option<Self> {
        let Object(plain, typed) = self else {
            return Some(Any);
        };
        let typed = typed.iter().find(|(field, _)| *field == name);
        let is_plain = || plain.iter().any(|names| names.contains(&name));
        let typed = typed.map(|(_, value_type)| *value_type);
        typed.or_else(|| is_plain().then_some(Any))
    }

    /// In words, with an article; `None` if it is not known.
    fn words(self) -> Option<&'static str> {
        match self {
            Any => None,
            Text => Some("text"),
            Number => Some("a number"),
            Object(..) => Some("an object"),
            List(_) => Some("a list"),
        }
    }

    /// The fields of an object.
    fn fields(self) -> Vec<&'static str> {
        let Object(plain, typed) = self else {
            return Vec::new();
        };
        let plain = plain.iter().copied().flatten().copied();
        plain.chain(typed.iter().map(|(name, _)| *name)).collect()
    }
}

/// The function that `+` calls.
const ADD: &str = "_+_";
/// The function that `a in b` calls.
const IN: &str = "@in";
/// The variable with the names of protections.
const PROTECTIONS: &str = "protections";
/// The function that `list[0]` calls.
const INDEX: &str = "_[_]";

/// What is wrong with an expression, apart from its parts.
pub(crate) fn why_wrong(expression: &IdedExpr, bound: &[(&str, ValueType)]) -> Option<String> {
    match &expression.expr {
        Expr::Select(select) => {
            let outer = ValueType::of(&select.operand, bound);
            if outer.field(&select.field).is_some() {
                return None;
            }
            let (outer_name, name) = (written(&select.operand)?, &select.field);
            let fields = outer.fields();
            let remedy = match nearest(name, &fields) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", fields.join(", ")),
            };
            Some(format!("{outer_name} has no field {name:?}; {remedy}"))
        }
        Expr::Call(call) if call.func_name == ADD => {
            let types = call
                .args
                .iter()
                .map(|part| (part, ValueType::of(part, bound)));
            let types: Vec<(&IdedExpr, ValueType)> = types.collect();
            let has_text = types
                .iter()
                .any(|(_, field_type)| matches!(field_type, Text));
            let mut numbers = types
                .iter()
                .filter(|(_, field_type)| matches!(field_type, Number));
            let (number, _) = numbers.next().filter(|_| has_text)?;
            let number = written(number).unwrap_or_else(|| "…".to_owned());
            Some(format!(
                "text and a number cannot be added; write string({number})"
            ))
        }
        _ => None,
    }
}

/// Why an expression cannot be a message.
pub(crate) fn why_no_text(expression: &IdedExpr) -> Option<String> {
    let what = match ValueType::of(expression, &[]) {
        Any | Text => return None,
        other => other.words()?,
    };
    Some(format!("it gives {what}; a message is text"))
}

/// Why an expression cannot be a requirement.
pub(crate) fn why_no_truth(expression: &IdedExpr) -> Option<String> {
    let what = ValueType::of(expression, &[]).words()?;
    Some(format!("it gives {what}; a requirement is true or false"))
}

/// The text that an expression looks for among the protections: that of `"authentication" in protections`.
pub(crate) fn protection(expression: &IdedExpr, bound: &[(&str, ValueType)]) -> Option<String> {
    let Expr::Call(call) = &expression.expr else {
        return None;
    };
    let [what, among] = call.args.as_slice() else {
        return None;
    };
    let (Expr::Literal(LiteralValue::String(name)), IN) = (&what.expr, &*call.func_name) else {
        return None;
    };
    let is_protections = match &among.expr {
        Expr::Ident(name) => name == PROTECTIONS && bound.iter().all(|(bound, _)| bound != name),
        Expr::Select(select) => {
            let outer = &select.operand.expr;
            select.field == PROTECTIONS && matches!(outer, Expr::Ident(name) if name == "before")
        }
        _ => false,
    };
    is_protections.then(|| name.to_string())
}

/// An expression of names as it is written: `request.userInfo`.
fn written(expression: &IdedExpr) -> Option<String> {
    match &expression.expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(select) => Some(format!("{}.{}", written(&select.operand)?, select.field)),
        Expr::Call(call) if call.func_name == INDEX => {
            Some(format!("{}[…]", written(call.args.first()?)?))
        }
        _ => None,
    }
}
