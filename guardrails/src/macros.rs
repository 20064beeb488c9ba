//! The treatment by `exists` and `all` of elements that cannot be evaluated: as CEL says, an element that decides wins
//! over them, wherever it is. The library stops at the first error.

use std::sync::Arc;

use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

pub(crate) use crate::reason::DECIDED;
use crate::reason::reason;

/// The elements that a macro iterates over: for a map, its keys in order.
pub(crate) const ELEMENTS: &str = "@elements";
/// `||` of the result so far and an element. If the element cannot be evaluated, the result becomes
/// the reason, a text.
pub(crate) const ANY: &str = "@any";
/// The same for `&&`.
pub(crate) const EVERY: &str = "@every";

/// Adds the functions. Users cannot write the sign `@` in their names.
pub(crate) fn add(to: &mut Context<'_>) {
    to.add_function(ELEMENTS, elements);
    to.add_function(ANY, |call: &FunctionContext<'_, '_>| step(call, true));
    to.add_function(EVERY, |call: &FunctionContext<'_, '_>| step(call, false));
    to.add_function(DECIDED, decided);
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the library takes functions that may fail"
)]
fn elements(value: Value) -> Result<Value, ExecutionError> {
    let Value::Map(map) = value else {
        return Ok(value);
    };
    let mut keys: Vec<&Key> = map.map.keys().collect();
    keys.sort();
    let keys = keys.into_iter().map(Value::from);
    Ok(Value::List(Arc::new(keys.collect())))
}

/// One step of a macro, with the value that decides it.
fn step(call: &FunctionContext<'_, '_>, decisive: bool) -> Result<Value, ExecutionError> {
    let [known, element] = call.args else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let known = call.ptx.resolve(known)?;
    let is_open = matches!(known, Value::Bool(_));
    let why = match call.ptx.resolve(element) {
        Ok(Value::Bool(is)) if is == decisive => return Ok(Value::Bool(is)),
        Ok(Value::Bool(_)) => return Ok(known),
        // Only the first reason is kept.
        _ if !is_open => return Ok(known),
        Ok(_) => reason(&ExecutionError::NoSuchOverload),
        Err(error) => reason(&error),
    };
    Ok(Value::String(Arc::new(why)))
}

fn decided(known: Value) -> Result<Value, ExecutionError> {
    match known {
        Value::String(why) => Err(ExecutionError::function_error(DECIDED, why.as_str())),
        known => Ok(known),
    }
}
