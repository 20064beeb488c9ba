//! The codes of findings, and their default severities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Severity;

/// Calls a macro with the list of codes. A line has the code, its name in messages, and its severity unless configured
/// otherwise. The order of the lines is the order in which findings of one severity are reported.
#[macro_export]
macro_rules! with_codes {
    ($macro:ident) => {
        $macro! {
            /// Something could not be checked now, and why. It comes first, because it qualifies the rest.
            Unverified "unverified" Warn,
            /// The change removes a protection from a path.
            ProtectionLost "protection-lost" Warn,
            /// A guardrail is broken.
            Guardrail "guardrail" Warn,
            /// The change detaches unchanged routes from listeners.
            RouteDetached "route-detached" Warn,
            /// A parent does not accept the route.
            RouteNotAttached "route-not-attached" Warn,
            /// Rules with the same match take all requests of a route, or of a rule of it.
            RouteShadowed "route-shadowed" Warn,
            /// A backend gets no requests from the route.
            BackendNotUsable "backend-not-usable" Warn,
            /// The `GatewayClass` of the Gateway does not exist.
            ClassNotFound "class-not-found" Warn,
            /// A listener is not accepted, or a `ListenerSet` is not part of its Gateway.
            ListenerNotAccepted "listener-not-accepted" Warn,
            /// The policy kind does not have this merge strategy.
            StrategyUnsupported "strategy-unsupported" Deny,
            /// A policy has more than one strategy.
            StrategyMultiple "strategy-multiple" Deny,
            /// The target exists and has no such section.
            SectionUnknown "section-unknown" Deny,
            /// The target kind has no sections, or the policy kind does not support them.
            SectionUnsupported "section-unsupported" Deny,
            /// Two sections have this name.
            SectionAmbiguous "section-ambiguous" Warn,
            /// The kind needs a target and there is none, or a target without kind or name.
            TargetMissingRef "target-missing-ref" Deny,
            /// The kind cannot be a target.
            TargetKindUnsupported "target-kind-unsupported" Deny,
            /// The same target occurs twice.
            TargetDuplicate "target-duplicate" Deny,
            /// There are more targets than allowed.
            TargetLimit "target-limit" Deny,
            /// `group` contains a version.
            TargetGroupVersioned "target-group-versioned" Deny,
            /// The target does not exist.
            TargetNotFound "target-not-found" Warn,
            /// A kind that only targets its own namespace has a `namespace`.
            TargetNamespaceForbidden "target-namespace-forbidden" Deny,
            /// No `ReferenceGrant` covers the target.
            TargetNotGranted "target-not-granted" Warn,
            /// A namespaced policy targets a cluster-scoped object.
            TargetClusterScoped "target-cluster-scoped" Warn,
            /// A kind is in the wrong case, or `core` stands for the empty group.
            TargetSpelling "target-spelling" Warn,
            /// A policy, or one target, names targets in two ways.
            TargetBothForms "target-both-forms" Warn,
            /// A selector selects no object now.
            TargetSelectsNothing "target-selects-nothing" Warn,
            /// A policy has targets and no settings.
            SpecEmpty "spec-empty" Warn,
            /// The kind does not have this version.
            VersionUnknown "version-unknown" Warn,
            /// The CRD of the kind does not have this field.
            FieldUnknown "field-unknown" Warn,
            /// In files: an object violates a rule of the CRD.
            FieldInvalid "field-invalid" Deny,
            /// Another policy sets the same field of the same target to another value (GEP-713 of 2021).
            FieldConflict "field-conflict" Warn,
            /// Another policy is attached to the same target and section and takes precedence.
            Conflicted "conflicted" Warn,
            /// The controllers of the kind reject the policy, or attache expects them to.
            Rejected "rejected" Warn,
            /// No request comes to the route or listener that the policy targets.
            NoEffect "no-effect" Warn,
            /// Other policies override it everywhere.
            Overridden "overridden" Warn,
            /// Other policies override it somewhere.
            PartlyOverridden "partly-overridden" Warn,
            /// The policy applies to objects beyond its declared target.
            Affects "affects" Warn,
            /// A policy applies to this object.
            AffectedBy "affected-by" Warn,
            /// The change alters an effective policy.
            EffectiveChange "effective-change" Warn,
            /// The change attaches unchanged routes to listeners.
            RouteAttached "route-attached" Warn,
            /// The change removes a section that a policy targets.
            SectionOrphaned "section-orphaned" Warn,
            /// The change removes the target of a policy.
            TargetOrphaned "target-orphaned" Warn,
            /// A change of a `ReferenceGrant` closes a reference.
            GrantClosed "grant-closed" Warn,
            /// A change of a `ReferenceGrant` opens a reference.
            GrantOpened "grant-opened" Warn,
            /// A policy CRD does not have the label of policy kinds.
            CrdLabel "crd-label" Warn,
            /// The label of a policy CRD contradicts its schema.
            CrdLabelMismatch "crd-label-mismatch" Warn,
            /// The status in a policy CRD does not report the outcome of a policy.
            CrdStatus "crd-status" Warn,
            /// The conditions in a policy CRD are not keyed by type.
            CrdConditions "crd-conditions" Warn,
            /// A policy CRD has no target references, or incomplete ones.
            CrdTargetRefs "crd-target-refs" Warn,
            /// A policy CRD allows too many targets.
            CrdTargetLimits "crd-target-limits" Warn,
            /// A policy CRD allows the singular and the plural field of targets together.
            CrdBothForms "crd-both-forms" Warn,
            /// A policy CRD does not list its strategies.
            CrdStrategy "crd-strategy" Warn,
            /// The strategy in a policy CRD has no default.
            CrdStrategyDefault "crd-strategy-default" Warn,
            /// The kind of a policy CRD does not end in `Policy`.
            CrdName "crd-name" Warn,
            /// A policy CRD has nothing to set.
            CrdSpecEmpty "crd-spec-empty" Warn,
            /// A policy is marked as waiting for its section, which exists.
            PendingOver "pending-over" Warn,
            /// All Gateways that the policy reaches belong to controllers that do not implement the kind.
            ControllerMismatch "controller-mismatch" Warn,
            /// The status of a policy differs from the one that attache expects.
            StatusDisagrees "status-disagrees" Warn,
            /// In files: only the order of documents decides which of two policies wins.
            OrderDecides "order-decides" Warn,
            /// In files: a document cannot be read.
            Unreadable "unreadable" Deny,
            /// In files: the API server does not accept a field of a target.
            TargetSchema "target-schema" Deny,
            /// In files: an object occurs twice.
            ObjectDuplicate "object-duplicate" Warn,
            /// In files: a kind looks like a policy kind and is unknown.
            KindUnknown "kind-unknown" Warn,
            /// In files: an annotation that suppresses findings is malformed.
            SuppressionInvalid "suppression-invalid" Warn,
        }
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $code:ident $name:literal $severity:ident,)*) => {
        /// The rule that a finding reports. Codes are part of the interface; their order here is the order
        /// in which findings of one severity are reported.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum Code {
            $($(#[$doc])* $code,)*
        }

        impl Code {
            /// Every code, in the order of [`Code`].
            pub const ALL: [Self; 64] = [$(Self::$code,)*];

            /// The name in messages, metrics and JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }

            /// The severity unless configured otherwise.
            pub fn default_severity(self) -> Severity {
                match self {
                    $(Self::$code => Severity::$severity,)*
                }
            }
        }
    };
}

with_codes!(define);

// === impl Code ===

impl Code {
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
}
