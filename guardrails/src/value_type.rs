//! The types of the variables of rules and of values computed from them, as far as they are known
//! before the evaluation.

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

/// The type of a value, as far as it is known before the evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueType {
    Any,
    Null,
    Bool,
    Text,
    /// A name that exists or does not.
    Name(NameOf),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    Number,
    /// An object with fields of any type, fields of a known type, and no others.
    Object(&'static [Fields]),
    /// A list with elements of this type.
    List(&'static ValueType),
    /// A map from text to values of this type.
    Map(&'static ValueType),
    /// The effective policies by policy kind: a map from `Kind.group`.
    ByKind,
}

/// The type of object that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameOf {
    Protection,
    /// The kind of the target of the guardrail.
    TargetKind,
    /// The kind of an element of `policies`.
    PolicyKind,
    /// A policy kind with its group: a key of `effective`.
    KindAndGroup,
}

/// Fields of one type.
type Fields = (ValueType, &'static [&'static str]);

use ValueType::{Any, Bool, ByKind, List, Map, Name, Null, Number, Object, OneOf, Text};

/// A variable of a macro, with its type, and with the texts that it stands for if they are known.
#[derive(Debug)]
pub(crate) struct BoundVariable<'a> {
    pub(crate) name: &'a str,
    pub(crate) value_type: ValueType,
    pub(crate) texts: Vec<&'a str>,
}

/// The types of variables at a place in an expression.
#[derive(Debug)]
pub(crate) struct Types<'a> {
    /// Whether the guardrail names a policy kind.
    pub(crate) is_of_kind: bool,
    /// The variables of the macros around.
    pub(crate) bound: Vec<BoundVariable<'a>>,
}

const IDENTITY: Fields = (Text, &["group", "kind", "namespace", "name"]);
const LABELS: Fields = (Map(&Text), &["labels", "namespaceLabels"]);
const HOSTNAMES: Fields = (List(&Text), &["hostnames"]);

/// A target may be a Gateway, a route, or neither.
const TARGET: ValueType = Object(&[
    (Name(NameOf::TargetKind), &["kind"]),
    (Text, &["group", "namespace", "name", "section", "class"]),
    LABELS,
    HOSTNAMES,
]);
const GATEWAY: ValueType = Object(&[IDENTITY, LABELS, (Text, &["class"])]);
const ROUTE: ValueType = Object(&[IDENTITY, LABELS, HOSTNAMES]);
const LISTENER: ValueType = Object(&[
    (Text, &["name", "hostname", "protocol"]),
    (Number, &["port"]),
]);
const PATH: ValueType = Object(&[(
    Text,
    &[
        "class",
        "gateway",
        "listenerSet",
        "listener",
        "service",
        "route",
        "rule",
        "backend",
        "port",
    ],
)]);
/// An element of `policies`.
const POLICY: ValueType = Object(&[
    (Name(NameOf::PolicyKind), &["kind"]),
    (Text, &["group", "namespace", "name"]),
    (Map(&Text), &["labels"]),
    (Bool, &["inForce"]),
    (Object(&[IDENTITY, (Text, &["section"])]), &["attachedTo"]),
]);
const SPEC: Fields = (Any, &["spec"]);
const SOURCES: Fields = (Map(&Object(&[IDENTITY])), &["sources"]);
/// The effective policy of one kind.
const EFFECTIVE: ValueType = Object(&[SPEC, SOURCES]);
const OTHERS: [Fields; 2] = [
    (List(&POLICY), &["policies"]),
    (List(&Name(NameOf::Protection)), &["protections"]),
];
const BEFORE: ValueType = Object(&[SPEC, SOURCES, OTHERS[0], OTHERS[1]]);
const BEFORE_BY_KIND: ValueType = Object(&[(ByKind, &["effective"]), OTHERS[0], OTHERS[1]]);
const REQUEST: ValueType = Object(&[
    (
        OneOf(&["CREATE", "UPDATE", "DELETE", "CONNECT", ""]),
        &["operation"],
    ),
    (Object(&[IDENTITY]), &["object"]),
    (
        Object(&[
            (Text, &["username"]),
            (List(&Text), &["groups"]),
            (Text, &["uid"]),
        ]),
        &["userInfo"],
    ),
]);

/// The functions and operators that return true or false.
const OF_BOOL: &[&str] = &[
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::IN,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    "startsWith",
    "endsWith",
    "contains",
    "matches",
    "isSorted",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "isIP",
    "isCIDR",
    "isQuantity",
    "isInteger",
    "isGreaterThan",
    "isLessThan",
    "containsIP",
    "containsCIDR",
    "ip.isCanonical",
];
/// The functions that return text.
const OF_TEXT: &[&str] = &[
    "string",
    "format",
    "join",
    "lowerAscii",
    "upperAscii",
    "trim",
    "replace",
    "substring",
    "charAt",
    "find",
    "strings.quote",
];
/// The functions that return a number.
const OF_NUMBER: &[&str] = &[
    "size",
    "int",
    "uint",
    "double",
    "indexOf",
    "lastIndexOf",
    "compareTo",
];
/// The functions that return a list.
const OF_LIST: &[&str] = &["split", "findAll", "distinct", "flatten"];

// === impl Types ===

impl<'a> Types<'a> {
    /// The type of an expression.
    pub(crate) fn type_of(&self, expression: &IdedExpr) -> ValueType {
        match &expression.expr {
            Expr::Ident(name) => self
                .bound(name)
                .map_or_else(|| self.of_variable(name), |bound| bound.value_type),
            Expr::Select(select) if select.test => Bool,
            Expr::Select(select) if self.are_as_of_kind(&select.operand, &select.field) => Any,
            Expr::Select(select) => {
                let outer = self.type_of(&select.operand);
                outer.field(&select.field).unwrap_or(Any)
            }
            Expr::Literal(literal) => match literal {
                LiteralValue::String(_) => Text,
                LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_) => Number,
                LiteralValue::Boolean(_) => Bool,
                LiteralValue::Null => Null,
                LiteralValue::Bytes(_) => Any,
            },
            Expr::Call(call) => {
                let arguments = call.args.as_slice();
                match (call.func_name.as_str(), arguments) {
                    (operators::INDEX, [of, _]) => self.type_of(of).value(),
                    (operators::ADD, parts) => {
                        let mut parts = parts.iter().map(|part| self.type_of(part));
                        let is_text = parts.any(ValueType::is_text);
                        if is_text { Text } else { Any }
                    }
                    (operators::CONDITIONAL, [_, one, other]) => {
                        let (one, other) = (self.type_of(one), self.type_of(other));
                        if one.text() == other.text() { one } else { Any }
                    }
                    _ => of_function(&function_name(expression).unwrap_or_default()),
                }
            }
            Expr::Comprehension(inner) => match &inner.accu_init.expr {
                Expr::Literal(LiteralValue::Boolean(_) | LiteralValue::Int(_)) => Bool,
                Expr::List(_) => List(&Any),
                _ => Any,
            },
            Expr::List(_) => List(&Any),
            Expr::Map(_) => Map(&Any),
            Expr::Struct(_) | Expr::Unspecified => Any,
        }
    }

    /// Whether a field is read as if the guardrail named a policy kind.
    pub(crate) fn are_as_of_kind(&self, operand: &IdedExpr, field: &str) -> bool {
        let Expr::Ident(name) = &operand.expr else {
            return false;
        };
        !self.is_of_kind
            && ["spec", "sources"].contains(&field)
            && ["effective", "before"].contains(&name.as_str())
            && self.bound(name).is_none()
    }

    /// The variable of a macro around.
    pub(crate) fn bound(&self, name: &str) -> Option<&BoundVariable<'a>> {
        self.bound.iter().rev().find(|bound| bound.name == name)
    }

    fn of_variable(&self, name: &str) -> ValueType {
        match name {
            "effective" if self.is_of_kind => EFFECTIVE,
            "effective" => ByKind,
            "protections" => List(&Name(NameOf::Protection)),
            "policies" => List(&POLICY),
            "target" => TARGET,
            "path" => PATH,
            "gateway" => GATEWAY,
            "listener" => LISTENER,
            "route" => ROUTE,
            "before" if self.is_of_kind => BEFORE,
            "before" => BEFORE_BY_KIND,
            "request" => REQUEST,
            _ => Any,
        }
    }
}

// === impl ValueType ===

impl ValueType {
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Text | Name(_) | OneOf(_))
    }

    /// The type of the values that a macro iterates over: the elements of a list, or the keys of a
    /// map.
    pub(crate) fn element(self) -> Self {
        match self {
            List(element) => *element,
            Map(_) => Text,
            ByKind => Name(NameOf::KindAndGroup),
            _ => Any,
        }
    }

    /// The type of the values of a list or map.
    fn value(self) -> Self {
        match self {
            List(value) | Map(value) => *value,
            ByKind => EFFECTIVE,
            _ => Any,
        }
    }

    /// The type of a field; `None` if there is no such field.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        match self {
            Map(value) => Some(*value),
            Object(groups) => {
                let mut groups = groups.iter();
                let group = groups.find(|(_, names)| names.contains(&name));
                group.map(|(value_type, _)| *value_type)
            }
            Any => Some(Any),
            // A kind with its group has dots in it.
            ByKind | Null | Bool | Text | Name(_) | OneOf(_) | Number | List(_) => None,
        }
    }

    /// In words, with an article; `None` if it is not known.
    pub(crate) fn text(self) -> Option<&'static str> {
        match self {
            Any => None,
            Null => Some("null"),
            Bool => Some("true or false"),
            Text | Name(_) | OneOf(_) => Some("a string"),
            Number => Some("a number"),
            Object(..) => Some("an object"),
            List(_) => Some("a list"),
            Map(_) | ByKind => Some("a map"),
        }
    }

    /// The fields of an object.
    pub(crate) fn fields(self) -> Vec<&'static str> {
        match self {
            Object(groups) => groups
                .iter()
                .flat_map(|(_, names)| names.iter().copied())
                .collect(),
            _ => Vec::new(),
        }
    }
}

fn of_function(name: &str) -> ValueType {
    if OF_BOOL.contains(&name) {
        Bool
    } else if OF_TEXT.contains(&name) {
        Text
    } else if OF_NUMBER.contains(&name) {
        Number
    } else if OF_LIST.contains(&name) {
        List(&Any)
    } else {
        Any
    }
}

/// The name of the function that is called; `sets.contains` has a dot in it.
pub(crate) fn function_name(expression: &IdedExpr) -> Option<String> {
    let Expr::Call(call) = &expression.expr else {
        return None;
    };
    let name = &call.func_name;
    Some(match call.target.as_ref().map(|target| &target.expr) {
        Some(Expr::Ident(library)) if is_library(library) => format!("{library}.{name}"),
        _ => name.clone(),
    })
}

/// Whether a name precedes the dot of functions.
pub(crate) fn is_library(name: &str) -> bool {
    [
        "sets", "ip", "cidr", "format", "optional", "lists", "strings",
    ]
    .contains(&name)
}
