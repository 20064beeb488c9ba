//! A title and a remedy for each code, for reports that other tools show (SARIF).

use crate::engine::admission::finding::Code;

/// A code in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The fault, in a few words.
    pub title: &'static str,
    /// The remedy.
    pub help: &'static str,
}

/// The title and remedy of a code.
#[expect(clippy::too_many_lines, reason = "one list")]
pub fn rule(code: Code) -> Rule {
    let (title, help) = match code {
        Code::StrategyUnsupported => (
            "A merge strategy that the kind does not have",
            "Write one of the strategies that the finding lists, or leave the field out.",
        ),
        Code::StrategyMultiple => (
            "More than one merge strategy in one policy",
            "A policy has one strategy. Keep one of the fields and move the others to a second policy.",
        ),
        Code::SectionUnknown => (
            "The target does not have this section",
            "Correct sectionName, or add the listener, rule or port. If it comes later, annotate the policy with attache.dev/pending: \"true\".",
        ),
        Code::SectionUnsupported => (
            "The target has no sections, or the policy kind does not support them",
            "Remove sectionName.",
        ),
        Code::SectionAmbiguous => (
            "Two sections of the target have this name",
            "Give each section of the target a unique name.",
        ),
        Code::TargetMissingRef => (
            "No target, or one without kind or name",
            "Name the target: group, kind and name.",
        ),
        Code::TargetKindUnsupported => (
            "A kind that cannot be a target of this policy kind",
            "Target one of the kinds that the finding lists, or use another policy kind.",
        ),
        Code::TargetDuplicate => ("The same target twice", "Remove one of the two."),
        Code::TargetLimit => (
            "More targets than the kind allows",
            "Split the policy, or target what the objects have in common.",
        ),
        Code::TargetGroupVersioned => (
            "A version in the group of a target",
            "Write only the group, without the slash and the version.",
        ),
        Code::TargetNotFound => (
            "The target does not exist",
            "Correct the name or the namespace, or apply the target too.",
        ),
        Code::TargetNamespaceForbidden => (
            "A namespace on a target, although the kind only targets its own namespace",
            "Remove the namespace, or put the policy where its target is.",
        ),
        Code::TargetNotGranted => (
            "A target in another namespace without a ReferenceGrant",
            "Add a ReferenceGrant in the namespace of the target.",
        ),
        Code::TargetClusterScoped => (
            "A namespaced policy that targets a cluster-scoped object",
            "Target an object in the namespace of the policy; this target has no effect.",
        ),
        Code::TargetSpelling => (
            "A kind or group that is not spelled exactly",
            "Spell it as the API server does; names are compared exactly.",
        ),
        Code::TargetBothForms => (
            "Two ways of naming targets in one policy or target",
            "Keep one of them: implementations read only one.",
        ),
        Code::TargetSelectsNothing => (
            "A selector that no object matches",
            "Correct the labels, or apply the objects too.",
        ),
        Code::SpecEmpty => (
            "Targets and no settings",
            "Where policies of the kind replace each other, an empty one switches off what a policy above it sets. Add what it is to set, remove it, or keep it if that is what you mean.",
        ),
        Code::VersionUnknown => (
            "A version that the kind does not have",
            "Use a served version. The API server does not accept the object.",
        ),
        Code::FieldUnknown => (
            "The CRD does not define this field",
            "Correct its name, or remove it. The API server drops it, so it has no effect.",
        ),
        Code::FieldInvalid => (
            "The CRD does not allow a value",
            "Change the field to a value that the CRD allows. The API server refuses the object.",
        ),
        Code::FieldConflict => (
            "Another policy sets the same field of the same target to another value",
            "Set the field in one of the two.",
        ),
        Code::Conflicted => (
            "Another policy is already attached to the target and takes precedence",
            "Remove one of the two, or let them target different sections.",
        ),
        Code::Rejected => (
            "The controllers of the kind reject the policy, or attache expects them to",
            "No part of the policy is in force. Change what the message names, or the objects that conflict with it.",
        ),
        Code::Overridden => (
            "Other policies override the policy everywhere",
            "Nothing of the policy is in force. Change the policy that overrides it, or remove this one.",
        ),
        Code::PartlyOverridden => (
            "Other policies override the policy somewhere",
            "Part of the policy is not in force. Compare it with the policy that overrides it.",
        ),
        Code::Affects => (
            "The policy applies to objects beyond its target",
            "For information. Check that these are the objects that you intend.",
        ),
        Code::AffectedBy => (
            "A policy applies to the object",
            "For information. Check that you expect these settings.",
        ),
        Code::ProtectionLost => (
            "The change leaves requests without a protection that they had",
            "Set the protection in the policy that is in force after the change, or let it merge with the policy that provides it.",
        ),
        Code::Guardrail => (
            "The policies in force on a target break a guardrail",
            "Change the policies in force on the target so that the rule holds, or ask the owners of the guardrail for an exception.",
        ),
        Code::RouteDetached => (
            "The change detaches routes from listeners",
            "After this change, requests to these routes fail. Keep the listener, or change the parentRefs of the routes first.",
        ),
        Code::RouteAttached => (
            "The change attaches routes to listeners",
            "For information. Check that these routes should serve requests through these listeners.",
        ),
        Code::RouteNotAttached => (
            "A parent does not accept the route",
            "Correct the parentRef or the hostnames, or let the listener allow the route; if the parent comes later, apply it.",
        ),
        Code::RouteShadowed => (
            "A route or a rule whose requests other rules take",
            "Change the matches or the hostnames, or delete one of the routes; to share requests between backends, write them into one rule with weights.",
        ),
        Code::ClassNotFound => (
            "A GatewayClass that does not exist",
            "Correct spec.gatewayClassName, or install the controller that creates the class.",
        ),
        Code::ListenerNotAccepted => (
            "A listener that is not accepted",
            "Give the listener another port or hostname, or remove one of the two; let the Gateway allow the ListenerSet.",
        ),
        Code::NoEffect => (
            "A policy on a route or listener to which no request comes",
            "Attach the policy to the route, rule or listener that takes the requests, or let this one take them.",
        ),
        Code::BackendNotUsable => (
            "A backend that gets no requests from the route",
            "Correct the backendRef, apply the backend, or add a ReferenceGrant in its namespace.",
        ),
        Code::EffectiveChange => (
            "The change alters effective policies",
            "For information. Check that these are the changes that you intend.",
        ),
        Code::SectionOrphaned => (
            "The change removes a section that a policy targets",
            "Change the policy too, or keep the section.",
        ),
        Code::TargetOrphaned => (
            "The change removes the target of a policy",
            "Change or remove the policy too, or keep the target.",
        ),
        Code::GrantClosed => (
            "A ReferenceGrant no longer covers a reference",
            "Keep the entry of the ReferenceGrant, or remove the reference.",
        ),
        Code::GrantOpened => (
            "A ReferenceGrant covers a reference from now on",
            "For information. Check that you intend to allow this reference.",
        ),
        Code::CrdLabel => (
            "The CRD of a policy kind has no policy label",
            "Add the label gateway.networking.k8s.io/policy with the value Direct or Inherited.",
        ),
        Code::CrdLabelMismatch => (
            "The label says direct and the schema has merge strategies or targets of several levels",
            "Direct policies apply only to their target and do not merge. Write Inherited, or remove the strategies.",
        ),
        Code::CrdStatus => (
            "The status does not report the outcome of a policy",
            "Add status.ancestors as PolicyStatus of Gateway API has it, and the status subresource.",
        ),
        Code::CrdConditions => (
            "The conditions are not keyed by type",
            "Make the conditions a list map with the key type.",
        ),
        Code::CrdTargetRefs => (
            "The kind lacks target references, or parts of them",
            "Add targetRefs, a list of group, kind and name.",
        ),
        Code::CrdTargetLimits => (
            "A policy may name more than 16 targets",
            "Limit the targets to 16 with maxItems.",
        ),
        Code::CrdBothForms => (
            "Nothing keeps targetRef and targetRefs apart",
            "Add a validation rule that refuses both at once.",
        ),
        Code::CrdStrategy => (
            "The strategies have no names, or do not go together",
            "Write the names of the strategies as an enum; None stands alone, and a policy has one stanza.",
        ),
        Code::CrdStrategyDefault => (
            "The strategy has no default",
            "Write a default, so that a policy shows its strategy.",
        ),
        Code::CrdName => (
            "The kind does not end in Policy",
            "Choose a name that ends in Policy, as GEP-713 asks.",
        ),
        Code::CrdSpecEmpty => (
            "The kind has no settings",
            "Add settings beside the targets.",
        ),
        Code::PendingOver => (
            "A policy is marked as waiting for a section that exists",
            "Remove the annotation attache.dev/pending.",
        ),
        Code::ControllerMismatch => (
            "Only other controllers run the Gateways that the policy reaches",
            "Target a Gateway of the controller that implements the kind, or use a policy kind of the controller that runs the Gateway.",
        ),
        Code::StatusDisagrees => (
            "The status of the policy differs from what attache expects",
            "Look at the condition that the finding names: the report of the controller is authoritative.",
        ),
        Code::OrderDecides => (
            "Only the order of documents decides which of two policies wins",
            "Keep only one of the two. In a cluster the older one wins; if both have the same age, the \
             first by namespace and name wins.",
        ),
        Code::Unverified => (
            "Something could not be checked",
            "The finding says why. Mend that and check again; if no order is defined between two policies, put their settings into one of them.",
        ),
        Code::Unreadable => (
            "A file or document cannot be read",
            "Correct it at the place that the finding names, or list a file that is no manifest in .attacheignore. Nothing in the document was checked.",
        ),
        Code::TargetSchema => (
            "The API server does not accept a field of a target",
            "Write the fields of a target as strings: group, kind, name, namespace, sectionName.",
        ),
        Code::ObjectDuplicate => (
            "An object is defined twice",
            "Remove one of the two; attache uses the last definition.",
        ),
        Code::KindUnknown => (
            "A kind looks like a policy kind and is not known",
            "Add the CRD of the kind to the files, or a profile to the configuration.",
        ),
        Code::SuppressionInvalid => (
            "An annotation that suppresses findings is malformed",
            "Write attache.dev/ignore: \"<code>[,<code>] [until YYYY-MM-DD]: <reason>\". The reason is required.",
        ),
    };
    Rule { title, help }
}
