//! One thing the engine has to say: code, severity, object, field path, message.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::ids::ObjectKey;

mod code;
mod settings;

pub use code::Code;
pub use settings::Settings;

/// What a finding does to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The request is refused.
    Deny,
    /// The user is told.
    Warn,
}

/// A field path, in the order in which people count: `a[2]` before `a[10]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(pub String);

/// One thing to say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Refused or told.
    pub severity: Severity,
    /// What it is about.
    pub code: Code,
    /// The object that it is about.
    pub object: ObjectKey,
    /// Field path as in API server errors: `spec.targetRefs[0].sectionName`.
    pub field: Option<FieldPath>,
    /// Whether it may refuse a request, where its code is configured to: not what is unsure, what
    /// could not be confirmed, or what was wrong before.
    pub may_refuse: bool,
    /// Whether it only tells what is in force, and nothing is wrong.
    pub notice: bool,
    /// One line, without the code and the field. It is never cut: it names the objects.
    pub message: String,
    /// Settings of a policy, each `field=value`; the first to go when a line is too long.
    pub settings: Settings,
    /// Where it comes from; the next to go.
    pub source: String,
    /// What it is about within the object. With the code it is the identity of the finding: an
    /// UPDATE is refused only for findings that the old object did not have (ruling 14).
    pub subject: String,
    /// The policies that it tells of, beside the user's own object (design 3.4).
    pub tells_of: BTreeSet<ObjectKey>,
    /// The object whose cached state this rests on, when it rests on what is *not* there.
    pub rests_on: Option<ObjectKey>,
}

// === impl Finding ===

impl Finding {
    /// A finding of the code's own severity.
    pub fn new(code: Code, object: &ObjectKey, message: impl Into<String>) -> Self {
        Self {
            severity: code.default_severity(),
            code,
            object: object.clone(),
            field: None,
            may_refuse: true,
            notice: code.is_notice(),
            message: message.into(),
            settings: Settings::default(),
            source: String::new(),
            subject: String::new(),
            tells_of: BTreeSet::new(),
            rests_on: None,
        }
    }

    /// The same, about a field.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(FieldPath(field.into()));
        self
    }

    /// The same, with its identity.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// The same as a warning where the fact that it rests on is not sure (design 2.2).
    #[must_use]
    pub fn only_if(mut self, sure: bool) -> Self {
        if !sure {
            self.warn();
        }
        self
    }

    /// Whether it refuses the request.
    pub fn refuses(&self) -> bool {
        self.severity == Severity::Deny
    }

    /// From now on a warning, whatever is configured.
    pub fn warn(&mut self) {
        self.severity = Severity::Warn;
        self.may_refuse = false;
    }

    /// The same, resting on what the cached state of an object does not show.
    #[must_use]
    pub fn resting_on(mut self, object: &ObjectKey) -> Self {
        self.rests_on = Some(object.clone());
        self
    }
}

// === impl FieldPath ===

impl FieldPath {
    /// Words and numbers of it; words come before numbers.
    fn parts(&self) -> impl Iterator<Item = Result<u64, &str>> {
        let parts = self.0.split(['[', ']']);
        parts.map(|part| part.parse().map_err(|_| part))
    }
}

impl Ord for FieldPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts()
            .cmp(other.parts())
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for FieldPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
