//! The codes of findings, and their default severities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Severity;

/// The rule that a finding reports. Codes are part of the interface; their order here is the order
/// in which findings of one severity are reported.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Something could not be checked now, and why. It comes first, because it qualifies the rest.
    Unverified,
    /// The change removes a protection from a path.
    ProtectionLost,
    /// A guardrail is broken.
    Guardrail,
    /// The change detaches unchanged routes from listeners.
    RouteDetached,
    /// A parent does not accept the route.
    RouteNotAttached,
    /// Rules with the same match take all requests of a route, or of a rule of it.
    RouteShadowed,
    /// A backend gets no requests from the route.
    BackendNotUsable,
    /// The `GatewayClass` of the Gateway does not exist.
    ClassNotFound,
    /// A listener is not accepted, or a `ListenerSet` is not part of its Gateway.
    ListenerNotAccepted,
    /// The policy kind does not have this merge strategy.
    StrategyUnsupported,
    /// A policy has more than one strategy.
    StrategyMultiple,
    /// The target exists and has no such section.
    SectionUnknown,
    /// The target kind has no sections, or the policy kind does not support them.
    SectionUnsupported,
    /// Two sections have this name.
    SectionAmbiguous,
    /// The kind needs a target and there is none, or a target without kind or name.
    TargetMissingRef,
    /// The kind cannot be a target.
    TargetKindUnsupported,
    /// The same target occurs twice.
    TargetDuplicate,
    /// There are more targets than allowed.
    TargetLimit,
    /// `group` contains a version.
    TargetGroupVersioned,
    /// The target does not exist.
    TargetNotFound,
    /// A kind that only targets its own namespace has a `namespace`.
    TargetNamespaceForbidden,
    /// No `ReferenceGrant` covers the target.
    TargetNotGranted,
    /// A namespaced policy targets a cluster-scoped object.
    TargetClusterScoped,
    /// A kind is in the wrong case, or `core` stands for the empty group.
    TargetSpelling,
    /// A policy, or one target, names targets in two ways.
    TargetBothForms,
    /// A selector selects no object now.
    TargetSelectsNothing,
    /// A policy has targets and no settings.
    SpecEmpty,
    /// The kind does not have this version.
    VersionUnknown,
    /// The CRD of the kind does not have this field.
    FieldUnknown,
    /// In files: an object violates a rule of the CRD.
    FieldInvalid,
    /// Another policy sets the same field of the same target to another value (legacy dialect).
    FieldConflict,
    /// Another policy is attached to the same target and section and takes precedence.
    Conflicted,
    /// The controllers of the kind reject the policy, or attache expects them to.
    Rejected,
    /// No request comes to the route or listener that the policy targets.
    NoEffect,
    /// Other policies override it everywhere.
    Overridden,
    /// Other policies override it somewhere.
    PartlyOverridden,
    /// The policy acts on objects beyond its declared target.
    Affects,
    /// A policy acts on this object.
    AffectedBy,
    /// The change alters an effective policy.
    EffectiveChange,
    /// The change attaches unchanged routes to listeners.
    RouteAttached,
    /// The change removes a section that a policy targets.
    SectionOrphaned,
    /// The change removes the target of a policy.
    TargetOrphaned,
    /// A change of a `ReferenceGrant` closes a reference.
    GrantClosed,
    /// A change of a `ReferenceGrant` opens a reference.
    GrantOpened,
    /// A policy CRD does not have the label of policy kinds.
    CrdLabel,
    /// The label of a policy CRD contradicts its schema.
    CrdLabelMismatch,
    /// The status in a policy CRD does not report the outcome of a policy.
    CrdStatus,
    /// The conditions in a policy CRD are not keyed by type.
    CrdConditions,
    /// A policy CRD has no target references, or incomplete ones.
    CrdTargetRefs,
    /// A policy CRD allows too many targets.
    CrdTargetLimits,
    /// A policy CRD allows the singular and the plural field of targets together.
    CrdBothForms,
    /// A policy CRD does not list its strategies.
    CrdStrategy,
    /// The strategy in a policy CRD has no default.
    CrdStrategyDefault,
    /// The kind of a policy CRD does not end in `Policy`.
    CrdName,
    /// A policy CRD has nothing to set.
    CrdSpecEmpty,
    /// A policy is marked as waiting for its section, which exists.
    PendingOver,
    /// All Gateways that the policy reaches belong to controllers that do not act on the kind.
    ControllerMismatch,
    /// The status of a policy differs from the one that attache expects.
    StatusDisagrees,
    /// In files: only the order of documents decides which of two policies wins.
    OrderDecides,
    /// In files: a document cannot be read.
    Unreadable,
    /// In files: the API server does not accept a field of a target.
    TargetSchema,
    /// In files: an object occurs twice.
    ObjectDuplicate,
    /// In files: a kind looks like a policy kind and is unknown.
    KindUnknown,
    /// In files: an annotation that suppresses findings is malformed.
    SuppressionInvalid,
}

// === impl Code ===

impl Code {
    /// Every code, in the order of [`Code`].
    pub const ALL: [Self; 64] = [
        Self::Unverified,
        Self::ProtectionLost,
        Self::Guardrail,
        Self::RouteDetached,
        Self::RouteNotAttached,
        Self::RouteShadowed,
        Self::BackendNotUsable,
        Self::ClassNotFound,
        Self::ListenerNotAccepted,
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
        Self::NoEffect,
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

    /// The severity unless configured otherwise.
    pub fn default_severity(self) -> Severity {
        self.facts().1
    }

    /// Whether it is reported only if the configuration asks for it.
    pub fn is_off(self) -> bool {
        matches!(self, Self::CrdLabel)
    }

    /// Whether it only informs: nothing is wrong.
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

    /// Whether it depends on objects other than the one that it is about.
    pub fn is_of_others(self) -> bool {
        matches!(
            self,
            Self::SectionUnknown
                | Self::RouteDetached
                | Self::RouteNotAttached
                | Self::RouteShadowed
                | Self::BackendNotUsable
                | Self::ClassNotFound
                | Self::ListenerNotAccepted
                | Self::SectionAmbiguous
                | Self::TargetNotFound
                | Self::TargetNotGranted
                | Self::TargetSelectsNothing
                | Self::FieldConflict
                | Self::Conflicted
                | Self::Rejected
                | Self::NoEffect
                | Self::Overridden
                | Self::PartlyOverridden
                | Self::Affects
                | Self::AffectedBy
                | Self::EffectiveChange
                | Self::RouteAttached
                | Self::ProtectionLost
                | Self::Guardrail
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
            Self::Guardrail => ("guardrail", Warn),
            Self::RouteDetached => ("route-detached", Warn),
            Self::RouteNotAttached => ("route-not-attached", Warn),
            Self::RouteShadowed => ("route-shadowed", Warn),
            Self::BackendNotUsable => ("backend-not-usable", Warn),
            Self::ClassNotFound => ("class-not-found", Warn),
            Self::ListenerNotAccepted => ("listener-not-accepted", Warn),
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
            Self::NoEffect => ("no-effect", Warn),
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
