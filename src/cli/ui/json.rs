//! Answers as JSON.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::answer::{self, Answer};
use crate::engine::model::printable;
use crate::ui::Refusal;

/// JSON text with all characters visible.
pub(super) fn written(answer: &impl Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string(answer);
    text.map(printable::json).map_err(|error| fault(&error))
}

/// An answer as JSON text.
pub(super) fn document<T: Answer>(answer: &T) -> Result<String, Refusal> {
    written(&answer::document(answer))
}

/// An answer as a value.
pub(super) fn value<T: Answer>(answer: &T) -> Result<Value, Refusal> {
    serde_json::to_value(answer::document(answer)).map_err(|error| fault(&error))
}

fn fault(error: &serde_json::Error) -> Refusal {
    Refusal::fault(format!("the answer cannot be written: {error}"))
}

/// A time as JSON.
pub(super) fn time(time: Timestamp) -> String {
    format!("{time:.3}")
}
