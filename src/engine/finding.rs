//! One thing the engine has to say: code, severity, object, field path, message.

use super::ids::ObjectKey;

/// What a finding is about. Codes are part of the interface (design section 4); their order here is
/// the order in which findings of one severity are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A merge strategy that the kind does not have.
    StrategyUnsupported,
    /// More than one strategy in one policy.
    StrategyMultiple,
    /// The target is there and has no such section.
    SectionUnknown,
    /// The target kind has no sections, or the policy kind does not take them.
    SectionUnsupported,
    /// No target where the kind needs one; kind or name empty.
    TargetMissingRef,
    /// A version in `group`.
    TargetGroupVersioned,
    /// No such object now.
    TargetNotFound,
    /// A policy that acts on this object.
    AffectedBy,
    /// Could not be checked now, and why.
    Unverified,
}

/// What a finding does to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The request is refused.
    Deny,
    /// The user is told.
    Warn,
}

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
    pub field: Option<String>,
    /// One line, without the code and the field.
    pub message: String,
    /// Details that go first when the line is too long (settings of a policy).
    pub detail: String,
    /// The object whose cached state this rests on, when it rests on what is *not* there.
    pub rests_on: Option<ObjectKey>,
}

// === impl Code ===

impl Code {
    /// Every code, in the order of [`Code`].
    pub const ALL: [Self; 9] = [
        Self::StrategyUnsupported,
        Self::StrategyMultiple,
        Self::SectionUnknown,
        Self::SectionUnsupported,
        Self::TargetMissingRef,
        Self::TargetGroupVersioned,
        Self::TargetNotFound,
        Self::AffectedBy,
        Self::Unverified,
    ];

    /// The name in messages, metrics and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StrategyUnsupported => "strategy-unsupported",
            Self::StrategyMultiple => "strategy-multiple",
            Self::SectionUnknown => "section-unknown",
            Self::SectionUnsupported => "section-unsupported",
            Self::TargetMissingRef => "target-missing-ref",
            Self::TargetGroupVersioned => "target-group-versioned",
            Self::TargetNotFound => "target-not-found",
            Self::AffectedBy => "affected-by",
            Self::Unverified => "unverified",
        }
    }

    /// Severity where nothing else is configured (design section 4).
    pub fn default_severity(self) -> Severity {
        match self {
            Self::StrategyUnsupported
            | Self::StrategyMultiple
            | Self::SectionUnknown
            | Self::SectionUnsupported
            | Self::TargetMissingRef
            | Self::TargetGroupVersioned => Severity::Deny,
            Self::TargetNotFound | Self::AffectedBy | Self::Unverified => Severity::Warn,
        }
    }
}
