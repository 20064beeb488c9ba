//! What a review came to: findings in order, and the lines that are said of them.

use super::finding::{Finding, Severity};
use super::ids::ObjectKey;

/// What a review came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Everything found, in the order in which it is said.
    pub findings: Vec<Finding>,
}

/// One refusal, for `status.details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Code of the finding.
    pub reason: &'static str,
    /// Field path.
    pub field: String,
    /// One line.
    pub message: String,
}

impl Verdict {
    /// Whether the request may pass.
    pub fn allowed(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Deny)
    }
    /// Lines for `warnings`: escaped, sorted, within the budget of design 3.3.
    pub fn warnings(&self) -> Vec<String> {
        todo!()
    }
    /// Every refusal.
    pub fn causes(&self) -> Vec<Cause> {
        todo!()
    }
    /// The text of `status.message` of a refusal.
    pub fn message(&self) -> String {
        todo!()
    }
    /// Objects whose absence (or lack of a section) something here rests on, not yet read live.
    pub fn rests_on(&self) -> Vec<ObjectKey> {
        todo!()
    }
}
