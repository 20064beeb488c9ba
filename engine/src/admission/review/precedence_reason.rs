//! Why one of two policies takes precedence, in words.

use crate::model::file_order::is_order;
use crate::policy::Policy;

/// Why a policy wins against another one.
pub(super) struct PrecedenceReason {
    /// `is older`.
    pub(super) verb: &'static str,
    /// `older`.
    pub(super) noun: &'static str,
}

/// Why a policy takes precedence over another one on the same target.
pub(super) fn precedence_reason(winner: &Policy, other: &Policy) -> PrecedenceReason {
    let in_files = |policy: &Policy| policy.object.meta.created.is_some_and(is_order);
    let is_by_files = in_files(winner) && in_files(other);
    let created = |policy: &Policy| policy.object.meta.created;
    let is_same_age = created(winner).is_some() && created(winner) == created(other);
    let (one, other) = (winner.precedence(), other.precedence());
    let (verb, noun) = match (one.same_weight(other), one > other) {
        (true, true) if is_by_files => ("comes last in the files", "last in the files"),
        (true, false) if is_by_files => ("comes first in the files", "first in the files"),
        (true, true) if is_same_age => ("has the same age and comes last by name", "last by name"),
        (true, false) if is_same_age => {
            ("has the same age and comes first by name", "first by name")
        }
        (true, true) => ("is newer", "newer"),
        (true, false) => ("is older", "older"),
        (false, true) => ("has the lower weight", "one with the lower weight"),
        (false, false) => ("has the higher weight", "one with the higher weight"),
    };
    PrecedenceReason { verb, noun }
}
