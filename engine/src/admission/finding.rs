//! A finding: code, severity, object, field path, message.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::ids::{GroupKind, ObjectKey, Place};

mod code;
mod settings;

pub use code::Code;
pub use settings::Settings;

/// The effect of a finding on the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The request is refused.
    Deny,
    /// The user gets a warning.
    Warn,
}

// === impl Severity ===

impl Severity {
    /// The name in JSON and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Warn => "warn",
        }
    }
}

/// A field path, in natural order: `a[2]` before `a[10]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(pub String);

/// One message about an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Whether it refuses or warns.
    pub severity: Severity,
    /// The stable name of the rule.
    pub code: Code,
    /// The object.
    pub object: ObjectKey,
    /// Field path as in API server errors: `spec.targetRefs[0].sectionName`.
    pub field: Option<FieldPath>,
    /// Whether it may refuse a request if its code is configured to. `false` if it is uncertain, could not be
    /// confirmed, or existed before.
    pub may_refuse: bool,
    /// Whether it only informs: nothing is wrong.
    pub notice: bool,
    /// One line, without the code and the field. It is never truncated: it names the objects.
    pub message: String,
    /// Settings of a policy, each `field=value`; the first to be left out if a line is too long.
    pub settings: Settings,
    /// The source of the settings; the next to be left out.
    pub source: String,
    /// The subject within the object. Together with the code it identifies the finding: an UPDATE is refused only for
    /// findings that the old object did not have.
    pub subject: String,
    /// The places where it holds, of a finding that may come to hold at more: rules of a route, each with the listener if it holds only
    /// there. Empty for other findings.
    pub places: Vec<(Place, Option<Place>)>,
    /// The policies that it mentions, other than the user's own object.
    pub mentions: BTreeSet<ObjectKey>,
    /// The object whose absence, or lack of something, in the cache it depends on.
    pub depends_on_absence_of: Option<ObjectKey>,
    /// The kinds of which an object that the cache does not have could refute it. It refuses only after live lists.
    pub refuted_by_kinds: BTreeSet<GroupKind>,
    /// The objects of the cache without which it would not hold. It refuses only after a live read of the first of them.
    pub refuted_by_absence_of: BTreeSet<ObjectKey>,
    /// The part of the message that only users who may read its objects see.
    pub hint: Option<Box<Hint>>,
}

/// A part of a message that mentions objects which the user did not name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hint {
    /// The text, as it is in the message.
    pub text: String,
    /// The objects that it mentions.
    pub mentioned: BTreeSet<ObjectKey>,
}

// === impl Finding ===

impl Finding {
    /// A finding with the default severity of the code.
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
            places: Vec::new(),
            mentions: BTreeSet::new(),
            depends_on_absence_of: None,
            refuted_by_kinds: BTreeSet::new(),
            refuted_by_absence_of: BTreeSet::new(),
            hint: None,
        }
    }

    /// Sets the field.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(FieldPath(field.into()));
        self
    }

    /// The finding that something was not worked out because it is too much for one request; a command works it out.
    pub fn too_much(object: &ObjectKey, what: &str, command: &str) -> Self {
        let message = format!("computing {what} exceeds the work limit of a review; run {command}");
        Self::new(Code::Unverified, object, message).about(what)
    }

    /// Sets the subject.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Turns it into a warning unless the fact that it depends on is certain.
    #[must_use]
    pub fn only_if(mut self, sure: bool) -> Self {
        if !sure {
            self.warn();
        }
        self
    }

    /// Appends a hint to the message.
    #[must_use]
    pub fn hinting(mut self, hint: Hint) -> Self {
        self.message.push_str(&hint.text);
        self.hint = (!hint.mentioned.is_empty()).then(|| Box::new(hint));
        self
    }

    /// Removes the hint from the message, and the source, which may mention the same objects.
    pub fn leave_out_hint(&mut self) {
        let Some(hint) = self.hint.take() else {
            return;
        };
        self.source.clear();
        if let Some(at) = self.message.rfind(&hint.text) {
            self.message.replace_range(at..at + hint.text.len(), "");
        }
    }

    /// Whether the finding refuses the request.
    pub fn refuses(&self) -> bool {
        self.severity == Severity::Deny
    }

    /// Turns it into a warning, whatever is configured.
    pub fn warn(&mut self) {
        self.severity = Severity::Warn;
        self.may_refuse = false;
    }

    /// Makes the finding depend on the absence of an object, or of a part of it, because the cache
    /// may lag behind.
    #[must_use]
    pub fn depending_on_absence_of(mut self, object: &ObjectKey) -> Self {
        self.depends_on_absence_of = Some(object.clone());
        self
    }

    /// Makes it depend on objects that the cache has and that may be gone.
    #[must_use]
    pub fn refuted_by_absence_of(mut self, objects: impl IntoIterator<Item = ObjectKey>) -> Self {
        self.refuted_by_absence_of.extend(objects);
        self
    }

    /// Makes it depend on the cache having all objects of these kinds.
    #[must_use]
    pub fn refuted_by<'k>(mut self, kinds: impl IntoIterator<Item = &'k GroupKind>) -> Self {
        self.refuted_by_kinds.extend(kinds.into_iter().cloned());
        self
    }
}

// === impl FieldPath ===

impl FieldPath {
    /// The words and numbers of the path; words sort before numbers.
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
