//! Why an expression cannot be evaluated, in words.

use kube_cel::cel::ExecutionError;

/// The function that ends a macro. Its error is the reason why one of the elements cannot be
/// evaluated.
pub(crate) const DECIDED: &str = "@decided";

/// The message that a value does not have a field.
pub(crate) fn no_field(name: &str) -> String {
    format!("there is no field {name:?}; test it with has() first")
}

/// Why an evaluation failed. The values in it are left out, for they may be settings that the user may not see.
pub(crate) fn reason(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => no_field(key),
        ExecutionError::UndeclaredReference(name) => format!("there is no function {name:?}"),
        ExecutionError::NoSuchOverload => {
            "it reads a field of a value that has no fields, or combines values of incompatible types"
                .to_owned()
        }
        ExecutionError::FunctionError { function, message } if function == DECIDED => {
            message.clone()
        }
        ExecutionError::FunctionError { function, .. } => format!("{function}() fails"),
        ExecutionError::InvalidArgumentCount { expected, actual } => {
            format!("a function takes {expected} arguments, not {actual}")
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number is too large".to_owned(),
        ExecutionError::IndexOutOfBounds(_) => "a list has no such element".to_owned(),
        _ => "values are not of the types that it needs".to_owned(),
    }
}
