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
            "A section that the target does not have",
            "Correct sectionName, or add the listener, rule or port. If it comes later, annotate the policy with attache.dev/pending: \"true\".",
        ),
        Code::SectionUnsupported => (
            "A section of a target that has none, or of which the kind takes none",
            "Remove sectionName.",
        ),
        Code::SectionAmbiguous => (
            "Two sections of the target have this name",
            "Give the sections of the target names of their own.",
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
            "More targets than the kind takes",
            "Split the policy, or target what the objects have in common.",
        ),
        Code::TargetGroupVersioned => (
            "A version in the group of a target",
            "Write the group alone, without the slash and the version.",
        ),
        Code::TargetNotFound => (
            "A target that is not there",
            "Correct the name or the namespace, or apply the target too.",
        ),
        Code::TargetNamespaceForbidden => (
            "A namespace on a target of a kind that stays in its own",
            "Remove the namespace, or put the policy where its target is.",
        ),
        Code::TargetNotGranted => (
            "A target in another namespace without a ReferenceGrant",
            "Add a ReferenceGrant in the namespace of the target.",
        ),
        Code::TargetClusterScoped => (
            "A policy with a namespace on an object that has none",
            "Target what is in the namespace of the policy; this one has no effect.",
        ),
        Code::TargetSpelling => (
            "A kind or group that is not written to the letter",
            "Write it as the API server knows it: it compares to the letter.",
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
            "Write a version that is served. The API server takes no such object.",
        ),
        Code::FieldUnknown => (
            "A field that the definition does not have",
            "Correct its name, or remove it. The API server drops it, so it has no effect.",
        ),
        Code::FieldInvalid => (
            "A rule of the definition that the object breaks",
            "Change the object as the rule says. The API server refuses it.",
        ),
        Code::FieldConflict => (
            "Another policy sets the same field of the same target otherwise",
            "Set the field in one of the two.",
        ),
        Code::Conflicted => (
            "Another policy has the target for itself",
            "Remove one of the two, or let them target different sections.",
        ),
        Code::Rejected => (
            "The controllers of the kind reject the policy",
            "Nothing of it is in force. The message has the reason: change what it names, or the objects that clash with it.",
        ),
        Code::Overridden => (
            "Other policies win everywhere",
            "Nothing of the policy is in force. Change the policy that wins, or remove this one.",
        ),
        Code::PartlyOverridden => (
            "Other policies win somewhere",
            "Part of the policy is not in force. Compare it with the policy that wins.",
        ),
        Code::Affects => (
            "What the policy acts on beyond its target",
            "Nothing is wrong. Look whether these are the objects that you mean.",
        ),
        Code::AffectedBy => (
            "A policy that acts on the object",
            "Nothing is wrong. Look whether you count on these settings.",
        ),
        Code::ProtectionLost => (
            "The change leaves requests without a protection that they had",
            "Set the protection in the policy that is in force from now on, or let it merge with the one that gives it.",
        ),
        Code::RouteDetached => (
            "The change takes routes off their listeners",
            "Requests that the routes served fail from then on. Keep the listener, or change the parentRefs of the routes first.",
        ),
        Code::RouteAttached => (
            "The change brings requests to routes",
            "Nothing is wrong. Look whether these routes are to serve requests through these listeners.",
        ),
        Code::RouteNotAttached => (
            "A parent that does not take the route",
            "Correct the parentRef or the hostnames, or let the listener allow the route; if the parent comes later, apply it.",
        ),
        Code::BackendNotUsable => (
            "A backend that gets no requests from the route",
            "Correct the backendRef, apply the backend, or add a ReferenceGrant in its namespace.",
        ),
        Code::EffectiveChange => (
            "The change alters what is in force",
            "Nothing is wrong. Look whether these are the changes that you mean.",
        ),
        Code::SectionOrphaned => (
            "The change takes a section from under a policy",
            "Change the policy too, or keep the section.",
        ),
        Code::TargetOrphaned => (
            "The change takes the target from under a policy",
            "Change or remove the policy too, or keep the target.",
        ),
        Code::GrantClosed => (
            "A ReferenceGrant no longer covers a reference",
            "Keep the entry of the ReferenceGrant, or remove the reference.",
        ),
        Code::GrantOpened => (
            "A ReferenceGrant covers a reference from now on",
            "Nothing is wrong. Look whether this is the reference that you mean to allow.",
        ),
        Code::CrdLabel => (
            "The definition of a policy kind has no label",
            "Add the label gateway.networking.k8s.io/policy with the value Direct or Inherited.",
        ),
        Code::CrdLabelMismatch => (
            "The label says direct and the schema has merge strategies or targets of several levels",
            "Direct policies act on their target alone and do not merge. Write Inherited, or remove the strategies.",
        ),
        Code::CrdStatus => (
            "The status does not say what became of a policy",
            "Add status.ancestors as PolicyStatus of Gateway API has it, and the status subresource.",
        ),
        Code::CrdConditions => (
            "Conditions that are not keyed by type",
            "Make the conditions a list map with the key type.",
        ),
        Code::CrdTargetRefs => (
            "No target references, or parts of them are missing",
            "Add targetRefs, a list of group, kind and name.",
        ),
        Code::CrdTargetLimits => ("Too many targets", "Limit the targets to 16 with maxItems."),
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
            "Let the name end in Policy, so that the kind is told from others.",
        ),
        Code::CrdSpecEmpty => (
            "There is nothing to set",
            "Add settings beside the targets.",
        ),
        Code::PendingOver => (
            "A policy that waits for a section that is there",
            "Remove the annotation attache.dev/pending.",
        ),
        Code::ControllerMismatch => (
            "Only other controllers run the Gateways that the policy reaches",
            "Target a Gateway of the controller that acts on the kind, or use a kind of the other.",
        ),
        Code::StatusDisagrees => (
            "The status of the policy says something else than attache expects",
            "Look at the condition that the finding names: what the controller reports counts.",
        ),
        Code::OrderDecides => (
            "Only the order of documents decides which of two policies wins",
            "Let only one of the two be there, or expect in a cluster that the older one wins, and of two of one age the \
             first by namespace and name.",
        ),
        Code::Unverified => (
            "Something could not be checked",
            "See the finding for the reason, and check again.",
        ),
        Code::Unreadable => (
            "A file or document that cannot be read",
            "Correct it at the place that the finding names. Nothing in the document was checked.",
        ),
        Code::TargetSchema => (
            "A field of a target that the API server does not take",
            "Write the fields of a target as texts: group, kind, name, namespace, sectionName.",
        ),
        Code::ObjectDuplicate => (
            "An object that stands twice",
            "Remove one of the two; the later one counts.",
        ),
        Code::KindUnknown => (
            "A kind that looks like a policy kind and is not known",
            "Add the definition of the kind to the files, or a profile to the configuration.",
        ),
        Code::SuppressionInvalid => (
            "An annotation that leaves out findings and is not in order",
            "Write attache.dev/ignore: \"<code>[,<code>] [until YYYY-MM-DD]: <reason>\". The reason is required.",
        ),
    };
    Rule { title, help }
}
