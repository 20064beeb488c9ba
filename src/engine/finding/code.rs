//! What findings can be about, and how severe each is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Severity;

/// What a finding is about. Codes are part of the interface (design section 4); their order here is
/// the order in which findings of one severity are said.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Could not be checked now, and why. First, for it says how the rest is to be taken.
    Unverified,
    /// A path had a protection, and this change leaves it without.
    ProtectionLost,
    /// This change takes the listeners from routes that stay.
    RouteDetached,
    /// A parent that does not take the route.
    RouteNotAttached,
    /// A backend that gets no requests from the route.
    BackendNotUsable,
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
    /// A version that the kind does not have.
    VersionUnknown,
    /// A field that the definition of the kind does not have.
    FieldUnknown,
    /// Of files: a rule of the definition that the object breaks.
    FieldInvalid,
    /// The same field of the same target with another value (the older dialect).
    FieldConflict,
    /// Another policy has the same target and section for itself.
    Conflicted,
    /// The controllers of the kind reject it.
    Rejected,
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
    /// This change brings requests to routes that do not change.
    RouteAttached,
    /// This change takes a section from under a policy.
    SectionOrphaned,
    /// This change takes the target from under a policy.
    TargetOrphaned,
    /// A `ReferenceGrant` change cuts off a reference.
    GrantClosed,
    /// A `ReferenceGrant` change lets a reference through.
    GrantOpened,
    /// A policy CRD without the label of policy kinds.
    CrdLabel,
    /// The label of a policy CRD and its schema contradict each other.
    CrdLabelMismatch,
    /// A policy CRD whose status does not say what became of a policy.
    CrdStatus,
    /// A policy CRD whose conditions are not keyed by type.
    CrdConditions,
    /// A policy CRD without target references, or with parts of them missing.
    CrdTargetRefs,
    /// A policy CRD that takes too many targets.
    CrdTargetLimits,
    /// A policy CRD in which nothing keeps the singular and the plural field apart.
    CrdBothForms,
    /// A policy CRD that does not say its strategies.
    CrdStrategy,
    /// A policy CRD whose strategy has no default.
    CrdStrategyDefault,
    /// A policy CRD whose kind does not end in `Policy`.
    CrdName,
    /// A policy CRD with nothing to set.
    CrdSpecEmpty,
    /// A policy says that its section comes later, and it is there.
    PendingOver,
    /// Only controllers that do not act on the kind run the Gateways that it reaches.
    ControllerMismatch,
    /// The status of a policy says something else than what attache expects.
    StatusDisagrees,
    /// Of files: only the order of documents decides which of two policies wins.
    OrderDecides,
    /// Of files: a document that cannot be read.
    Unreadable,
    /// Of files: a field of a target that the API server does not take.
    TargetSchema,
    /// Of files: an object that stands twice.
    ObjectDuplicate,
    /// Of files: a kind that looks like a policy kind and that nobody knows.
    KindUnknown,
    /// Of files: an annotation that leaves out findings and is not in order.
    SuppressionInvalid,
}

// === impl Code ===

impl Code {
    /// Every code, in the order of [`Code`].
    pub const ALL: [Self; 59] = [
        Self::Unverified,
        Self::ProtectionLost,
        Self::RouteDetached,
        Self::RouteNotAttached,
        Self::BackendNotUsable,
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
        Self::VersionUnknown,
        Self::FieldUnknown,
        Self::FieldInvalid,
        Self::FieldConflict,
        Self::Conflicted,
        Self::Rejected,
        Self::Overridden,
        Self::PartlyOverridden,
        Self::Affects,
        Self::AffectedBy,
        Self::EffectiveChange,
        Self::RouteAttached,
        Self::SectionOrphaned,
        Self::TargetOrphaned,
        Self::GrantClosed,
        Self::GrantOpened,
        Self::CrdLabel,
        Self::CrdLabelMismatch,
        Self::CrdStatus,
        Self::CrdConditions,
        Self::CrdTargetRefs,
        Self::CrdTargetLimits,
        Self::CrdBothForms,
        Self::CrdStrategy,
        Self::CrdStrategyDefault,
        Self::CrdName,
        Self::CrdSpecEmpty,
        Self::PendingOver,
        Self::ControllerMismatch,
        Self::StatusDisagrees,
        Self::OrderDecides,
        Self::Unreadable,
        Self::TargetSchema,
        Self::ObjectDuplicate,
        Self::KindUnknown,
        Self::SuppressionInvalid,
    ];

    /// The name in messages, metrics and JSON.
    pub fn as_str(self) -> &'static str {
        self.facts().0
    }

    /// Severity where nothing else is configured (design section 4).
    pub fn default_severity(self) -> Severity {
        self.facts().1
    }

    /// Whether it is only said where the configuration asks for it.
    pub fn is_off(self) -> bool {
        matches!(self, Self::CrdLabel)
    }

    /// Whether it only tells what is in force, and nothing is wrong.
    pub fn is_notice(self) -> bool {
        matches!(
            self,
            Self::Affects
                | Self::AffectedBy
                | Self::EffectiveChange
                | Self::RouteAttached
                | Self::GrantOpened
                | Self::StatusDisagrees
                | Self::OrderDecides
        )
    }

    /// Whether it rests on other objects than the one that it is about.
    pub fn is_of_others(self) -> bool {
        matches!(
            self,
            Self::SectionUnknown
                | Self::RouteDetached
                | Self::RouteNotAttached
                | Self::BackendNotUsable
                | Self::SectionAmbiguous
                | Self::TargetNotFound
                | Self::TargetNotGranted
                | Self::TargetSelectsNothing
                | Self::FieldConflict
                | Self::Conflicted
                | Self::Rejected
                | Self::Overridden
                | Self::PartlyOverridden
                | Self::Affects
                | Self::AffectedBy
                | Self::EffectiveChange
                | Self::RouteAttached
                | Self::ProtectionLost
                | Self::SectionOrphaned
                | Self::TargetOrphaned
                | Self::GrantClosed
                | Self::GrantOpened
                | Self::PendingOver
                | Self::ControllerMismatch
                | Self::StatusDisagrees
                | Self::OrderDecides
        )
    }

    fn facts(self) -> (&'static str, Severity) {
        use Severity::{Deny, Warn};
        match self {
            Self::ProtectionLost => ("protection-lost", Warn),
            Self::RouteDetached => ("route-detached", Warn),
            Self::RouteNotAttached => ("route-not-attached", Warn),
            Self::BackendNotUsable => ("backend-not-usable", Warn),
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
            Self::VersionUnknown => ("version-unknown", Warn),
            Self::FieldUnknown => ("field-unknown", Warn),
            Self::FieldInvalid => ("field-invalid", Deny),
            Self::FieldConflict => ("field-conflict", Warn),
            Self::Conflicted => ("conflicted", Warn),
            Self::Rejected => ("rejected", Warn),
            Self::Overridden => ("overridden", Warn),
            Self::PartlyOverridden => ("partly-overridden", Warn),
            Self::Affects => ("affects", Warn),
            Self::AffectedBy => ("affected-by", Warn),
            Self::EffectiveChange => ("effective-change", Warn),
            Self::RouteAttached => ("route-attached", Warn),
            Self::SectionOrphaned => ("section-orphaned", Warn),
            Self::TargetOrphaned => ("target-orphaned", Warn),
            Self::GrantClosed => ("grant-closed", Warn),
            Self::GrantOpened => ("grant-opened", Warn),
            Self::CrdLabel => ("crd-label", Warn),
            Self::CrdLabelMismatch => ("crd-label-mismatch", Warn),
            Self::CrdStatus => ("crd-status", Warn),
            Self::CrdConditions => ("crd-conditions", Warn),
            Self::CrdTargetRefs => ("crd-target-refs", Warn),
            Self::CrdTargetLimits => ("crd-target-limits", Warn),
            Self::CrdBothForms => ("crd-both-forms", Warn),
            Self::CrdStrategy => ("crd-strategy", Warn),
            Self::CrdStrategyDefault => ("crd-strategy-default", Warn),
            Self::CrdName => ("crd-name", Warn),
            Self::CrdSpecEmpty => ("crd-spec-empty", Warn),
            Self::PendingOver => ("pending-over", Warn),
            Self::ControllerMismatch => ("controller-mismatch", Warn),
            Self::StatusDisagrees => ("status-disagrees", Warn),
            Self::OrderDecides => ("order-decides", Warn),
            Self::Unverified => ("unverified", Warn),
            Self::Unreadable => ("unreadable", Deny),
            Self::TargetSchema => ("target-schema", Deny),
            Self::ObjectDuplicate => ("object-duplicate", Warn),
            Self::KindUnknown => ("kind-unknown", Warn),
            Self::SuppressionInvalid => ("suppression-invalid", Warn),
        }
    }
}
