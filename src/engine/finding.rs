//! One thing the engine has to say: code, severity, object, field path, message.

use std::cmp::Ordering;
use std::collections::BTreeSet;

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
    /// Two sections of that name.
    SectionAmbiguous,
    /// No target where the kind needs one; kind or name empty.
    TargetMissingRef,
    /// The kind cannot be a target.
    TargetKindUnsupported,
    /// The same target twice.
    TargetDuplicate,
    /// More targets than allowed.
    TargetLimit,
    /// A version in `group`.
    TargetGroupVersioned,
    /// No such object now.
    TargetNotFound,
    /// `namespace` on a kind that stays local.
    TargetNamespaceForbidden,
    /// No `ReferenceGrant` covers it.
    TargetNotGranted,
    /// A namespaced policy on a cluster-scoped object.
    TargetClusterScoped,
    /// A kind in the wrong case, or `core` for the empty group.
    TargetSpelling,
    /// Two ways of naming targets in one policy, or in one target.
    TargetBothForms,
    /// A selector that selects no object now.
    TargetSelectsNothing,
    /// Targets and no settings.
    SpecEmpty,
    /// The same field of the same target with another value (the older dialect).
    FieldConflict,
    /// Another policy has the same target and section for itself.
    Conflicted,
    /// Other policies win everywhere.
    Overridden,
    /// Other policies win somewhere.
    PartlyOverridden,
    /// What this policy acts on beyond its declared target.
    Affects,
    /// A policy that acts on this object.
    AffectedBy,
    /// This change alters an effective policy.
    EffectiveChange,
    /// This change takes a section from under a policy.
    SectionOrphaned,
    /// This change takes the target from under a policy.
    TargetOrphaned,
    /// A `ReferenceGrant` change cuts off a reference.
    GrantClosed,
    /// A `ReferenceGrant` change lets a reference through.
    GrantOpened,
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
    /// One line, without the code and the field. It is never cut: it names the objects.
    pub message: String,
    /// Settings of a policy, each `field=value`; the first to go when a line is too long.
    pub settings: Vec<String>,
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
            message: message.into(),
            settings: Vec::new(),
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
            self.severity = Severity::Warn;
        }
        self
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

// === impl Code ===

impl Code {
    /// Every code, in the order of [`Code`].
    pub const ALL: [Self; 30] = [
        Self::StrategyUnsupported,
        Self::StrategyMultiple,
        Self::SectionUnknown,
        Self::SectionUnsupported,
        Self::SectionAmbiguous,
        Self::TargetMissingRef,
        Self::TargetKindUnsupported,
        Self::TargetDuplicate,
        Self::TargetLimit,
        Self::TargetGroupVersioned,
        Self::TargetNotFound,
        Self::TargetNamespaceForbidden,
        Self::TargetNotGranted,
        Self::TargetClusterScoped,
        Self::TargetSpelling,
        Self::TargetBothForms,
        Self::TargetSelectsNothing,
        Self::SpecEmpty,
        Self::FieldConflict,
        Self::Conflicted,
        Self::Overridden,
        Self::PartlyOverridden,
        Self::Affects,
        Self::AffectedBy,
        Self::EffectiveChange,
        Self::SectionOrphaned,
        Self::TargetOrphaned,
        Self::GrantClosed,
        Self::GrantOpened,
        Self::Unverified,
    ];

    /// The name in messages, metrics and JSON.
    pub fn as_str(self) -> &'static str {
        self.facts().0
    }

    /// Severity where nothing else is configured (design section 4).
    pub fn default_severity(self) -> Severity {
        self.facts().1
    }

    fn facts(self) -> (&'static str, Severity) {
        use Severity::{Deny, Warn};
        match self {
            Self::StrategyUnsupported => ("strategy-unsupported", Deny),
            Self::StrategyMultiple => ("strategy-multiple", Deny),
            Self::SectionUnknown => ("section-unknown", Deny),
            Self::SectionUnsupported => ("section-unsupported", Deny),
            Self::SectionAmbiguous => ("section-ambiguous", Warn),
            Self::TargetMissingRef => ("target-missing-ref", Deny),
            Self::TargetKindUnsupported => ("target-kind-unsupported", Deny),
            Self::TargetDuplicate => ("target-duplicate", Deny),
            Self::TargetLimit => ("target-limit", Deny),
            Self::TargetGroupVersioned => ("target-group-versioned", Deny),
            Self::TargetNotFound => ("target-not-found", Warn),
            Self::TargetNamespaceForbidden => ("target-namespace-forbidden", Deny),
            Self::TargetNotGranted => ("target-not-granted", Warn),
            Self::TargetClusterScoped => ("target-cluster-scoped", Warn),
            Self::TargetSpelling => ("target-spelling", Warn),
            Self::TargetBothForms => ("target-both-forms", Warn),
            Self::TargetSelectsNothing => ("target-selects-nothing", Warn),
            Self::SpecEmpty => ("spec-empty", Warn),
            Self::FieldConflict => ("field-conflict", Warn),
            Self::Conflicted => ("conflicted", Warn),
            Self::Overridden => ("overridden", Warn),
            Self::PartlyOverridden => ("partly-overridden", Warn),
            Self::Affects => ("affects", Warn),
            Self::AffectedBy => ("affected-by", Warn),
            Self::EffectiveChange => ("effective-change", Warn),
            Self::SectionOrphaned => ("section-orphaned", Warn),
            Self::TargetOrphaned => ("target-orphaned", Warn),
            Self::GrantClosed => ("grant-closed", Warn),
            Self::GrantOpened => ("grant-opened", Warn),
            Self::Unverified => ("unverified", Warn),
        }
    }
}
