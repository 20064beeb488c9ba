//! The functions that rules may call: those of CEL and of Kubernetes.

use std::fmt;
use std::sync::{Arc, LazyLock};

use attache_engine::model::hint::nearest;
use kube_cel::KubeCelExt as _;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};
use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use crate::macros;

/// The functions that rules may call.
#[derive(Clone)]
pub struct Functions(Arc<Context<'static>>);

/// A call of a function.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    /// Whether it is called on a value: `a.size()`.
    pub(crate) has_target: bool,
    pub(crate) arguments: &'a [IdedExpr],
}

static ALL: LazyLock<Functions> = LazyLock::new(|| {
    let mut all = Context::default().with_all();
    all.add_function(HAS, has);
    all.add_function(ABSENT, absent);
    all.add_function("size", size);
    macros::add(&mut all);
    Functions(Arc::new(all))
});

/// The name of `has()` in expressions as they are evaluated. Users cannot write the sign `@`.
pub(crate) const HAS: &str = "@has";
/// The name of a function that is `false` for a map, which thus lacks the field that was looked
/// for.
pub(crate) const ABSENT: &str = "@absent";

/// A function that is left out, because a small argument could make it use up the memory.
const WITHOUT: &str = "lists.range";
/// The macros, with their arguments. As functions they do not exist.
const MACROS: [(&str, &str); 6] = [
    (operators::HAS, "a field: has(target.labels.team)"),
    (
        operators::ALL,
        "a name and a condition: policies.all(one, …)",
    ),
    (
        operators::EXISTS,
        "a name and a condition: policies.exists(one, …)",
    ),
    (
        operators::EXISTS_ONE,
        "a name and a condition: policies.exists_one(one, …)",
    ),
    (
        operators::FILTER,
        "a name and a condition: policies.filter(one, …)",
    ),
    (
        operators::MAP,
        "a name and an expression: policies.map(one, …)",
    ),
];
/// The functions that take a regular expression.
const OF_PATTERNS: [&str; 3] = ["matches", "find", "findAll"];
/// Names that may be meant by others.
const NAMES: &[&str] = &[
    "charAt",
    "compareTo",
    "contains",
    "containsCIDR",
    "containsIP",
    "cidr",
    "distinct",
    "double",
    "duration",
    "endsWith",
    "find",
    "findAll",
    "flatten",
    "format",
    "getDate",
    "getFullYear",
    "getHours",
    "indexOf",
    "int",
    "ip",
    "isCIDR",
    "isGreaterThan",
    "isIP",
    "isInteger",
    "isLessThan",
    "isQuantity",
    "isSorted",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "max",
    "min",
    "quantity",
    "replace",
    "reverse",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "size",
    "slice",
    "sort",
    "split",
    "startsWith",
    "string",
    "substring",
    "sum",
    "timestamp",
    "trim",
    "uint",
    "upperAscii",
];

// === impl Functions ===

impl Default for Functions {
    fn default() -> Self {
        ALL.clone()
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Functions").finish_non_exhaustive()
    }
}

impl Functions {
    /// A scope for variables.
    pub(crate) fn scope(&self) -> Context<'_> {
        self.0.new_inner_scope()
    }
}

fn has(value: Value, field: Arc<String>) -> Result<bool, ExecutionError> {
    match value {
        Value::Map(map) => Ok(map.map.contains_key(&Key::String(field))),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the library passes values")]
fn absent(value: Value) -> Result<bool, ExecutionError> {
    match value {
        Value::Map(_) => Ok(false),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// `size()` as CEL defines it: the number of characters of a text, not that of its bytes.
fn size(call: &FunctionContext<'_, '_>, This(of): This<Value>) -> Result<i64, ExecutionError> {
    let size = match &of {
        Value::List(list) => list.len(),
        Value::Map(map) => map.map.len(),
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        _ => return Err(call.error("there is no size of such a value")),
    };
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
}

/// The mistake in a call, if there is one.
pub(crate) fn why_wrong(call: &Call<'_>) -> Option<String> {
    let name = call.name;
    if !exists(name) {
        let mut macros = MACROS.iter();
        if let Some((_, wanted)) = macros.find(|(known, _)| *known == name) {
            return Some(format!("{name}() takes {wanted}"));
        }
        let known = NAMES.iter().chain(MACROS.iter().map(|(name, _)| name));
        let known: Vec<&str> = known.copied().collect();
        let why = format!("there is no function {name:?}");
        return Some(match nearest(name, &known) {
            Some(near) => format!("{why}; did you mean {near:?}?"),
            None => why,
        });
    }
    if !OF_PATTERNS.contains(&name) {
        return None;
    }
    let pattern = call.arguments.get(usize::from(!call.has_target))?;
    no_pattern(pattern)
}

/// Whether a function exists. The library reports that only for a call: this one is without
/// arguments, so it fails for another reason if the function exists.
fn exists(name: &str) -> bool {
    let result = called(name, Vec::new());
    name != WITHOUT
        && !matches!(&result, Err(ExecutionError::UndeclaredReference(unknown)) if **unknown == name)
}

/// Why a text that is written in an expression is not a regular expression.
fn no_pattern(pattern: &IdedExpr) -> Option<String> {
    let Expr::Literal(LiteralValue::String(text)) = &pattern.expr else {
        return None;
    };
    let nothing = Expr::Literal(LiteralValue::String(String::new().into()));
    let nothing = IdedExpr {
        id: 0,
        expr: nothing,
    };
    let failed = called("matches", vec![nothing, pattern.clone()]).err()?;
    let why = match &failed {
        ExecutionError::FunctionError { message, .. } => {
            let mut reasons = message
                .lines()
                .filter_map(|line| line.strip_prefix("error: "));
            reasons.next().unwrap_or("it cannot be read")
        }
        _ => "it cannot be read",
    };
    Some(format!(
        "{:?} is not a regular expression: {why}",
        text.inner()
    ))
}

fn called(name: &str, arguments: Vec<IdedExpr>) -> Result<Value, ExecutionError> {
    let call = CallExpr {
        func_name: name.to_owned(),
        target: None,
        args: arguments,
    };
    let call = IdedExpr {
        id: 0,
        expr: Expr::Call(call),
    };
    ALL.0.resolve(&call)
}

#[cfg(test)]
mod tests {
    use super::{NAMES, WITHOUT, exists};

    #[test]
    fn what_is_proposed_exists() {
        for name in NAMES {
            assert!(exists(name), "{name}");
        }
        for name in ["nwo", "sets.contain", "type", "all", WITHOUT] {
            assert!(!exists(name), "{name}");
        }
    }
}
