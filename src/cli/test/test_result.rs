//! The outcome of a test.

use crate::answer::tested::{TestFailure, Tested};

/// The notes of a test that passed (how its result depends on more than the model of attache), or
/// the reason why it failed.
pub(super) type TestResult = Result<Vec<String>, TestFailure>;

/// The outcome as part of the report.
pub(super) fn tested(name: &str, line: u64, outcome: TestResult) -> Tested {
    let (notes, failure) = match outcome {
        Ok(notes) => (notes, None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    Tested {
        name: name.to_owned(),
        line,
        passed: failure.is_none(),
        notes,
        failure,
    }
}
