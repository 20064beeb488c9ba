//! The policies that are attached to an object, and the reasons why others that name it are not.

mod affected_objects;
mod by_controller;
mod caveats;
mod cleartext_listeners;
pub mod conflict;
pub(crate) mod conflict_at_another_target;
mod dependents;
mod gateways_with_unknown_pods;
mod open_targets;
pub mod rejection;
mod rejection_of_another_target;
mod reported_invalid;
pub mod reported_rejections;
pub mod reports;
pub mod requests_to_backend;
mod senders;
mod unresolved;
mod weakening_objects;

pub use affected_objects::affected_objects;
pub(crate) use by_controller::{section_names, takes_core_group};
pub use dependents::Dependents;

use std::sync::Arc;

use crate::attachment::by_controller::is_not_taken_as_core;
use crate::attachment::rejection::{Rejection, RejectionEffect, RejectionFinder};
use crate::kinds::profile::{Classes, CrossNamespace, NamingRestriction, Profile, Reference};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{From, Node, Object};
use crate::model::section;
use crate::policy::{Policy, Select, TargetRef, is_cluster_scoped};
use crate::state::grants::granted;
use crate::state::snapshot::{Snapshot, class_key, namespace_key};
pub(crate) use gateways_with_unknown_pods::gateway_of_pods;
use gateways_with_unknown_pods::has_unknown_pods;
pub use open_targets::{may_open, opened_by_target};
pub use rejection_of_another_target::is_of_another_target;
use reported_rejections::Rejected;

/// A policy that is attached to an object or to a section of it.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The section, by its label.
    pub section: Option<Arc<str>>,
    /// Members of its target whose meaning is unknown. Policies that differ in them have different targets: they do not
    /// conflict, and it is unknown how they combine.
    pub unknown: Option<Arc<str>>,
    /// Whether the policy applies only to requests from its own namespace.
    pub consumer: bool,
    /// Whether the policy is attached to every Namespace; policies attached to one Namespace are more specific.
    pub all_namespaces: bool,
    /// Whether the controllers of the policy reject it on some paths.
    pub rejected_on_some_paths: bool,
    /// The sections of the object, by label, on which the controllers of the policy leave it out.
    pub left_out: Arc<[Arc<str>]>,
}

/// Whether a policy may attach to an object, given its kind, namespace and scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentPermission {
    /// It may attach.
    Allowed,
    /// It may attach, for requests from its own namespace.
    Consumer,
    /// It needs a `ReferenceGrant`, and none covers it.
    NotGranted,
    /// The kind may not target objects in other namespaces.
    Forbidden,
    /// The policy is namespaced and the object is cluster-scoped.
    ClusterScoped,
    /// The kind does not support such targets.
    TargetKindNotSupported,
    /// The kind supports only other names of this target kind.
    OtherName,
    /// It needs an object of that kind and name in its own namespace, too, and there is none.
    NoNamesake,
    /// It has `core` for the empty group, and no controller that sends requests to the object
    /// accepts that.
    CoreGroup,
    /// The controller did not make the Pods of the Gateway, and applies the policy only if they
    /// have a label. It is unknown whether they have it.
    OwnPods,
}

/// Why it is unknown whether a policy applies to a Gateway with its own Pods
/// ([`AttachmentPermission::OwnPods`]).
pub fn own_pods(policy: &Policy, gateway: &ObjectKey) -> String {
    let pods = policy.profile.gateway_pods.as_ref();
    let label = pods.map_or("", |pods| &*pods.name_label);
    format!(
        "{gateway} has Pods of your own (addresses other than one IP address): {} applies only if they have the label {label}={}, and none are known",
        policy.profile.gk.kind, gateway.name,
    )
}

// === impl Attachment ===

impl Attachment {
    /// Whether the policy applies to only a part of the requests to its object.
    pub fn is_partial(&self) -> bool {
        self.consumer || self.rejected_on_some_paths || !self.left_out.is_empty()
    }

    /// Whether its controllers leave it out on a path with these places.
    pub fn is_rejected_at_section<'a>(
        &self,
        object: &ObjectKey,
        mut path: impl Iterator<Item = &'a Place>,
    ) -> bool {
        let is_left_out = |place: &Place| {
            let mut left_out = self.left_out.iter();
            place.object == *object && left_out.any(|name| place.section.as_ref() == Some(name))
        };
        !self.left_out.is_empty() && path.any(is_left_out)
    }

    fn order(&self) -> impl Ord {
        let policy = &self.policy;
        let target = (self.section.as_ref(), self.unknown.as_ref());
        (
            &policy.key().gk,
            !self.all_namespaces,
            policy.precedence(),
            target,
        )
    }
}

/// The policies attached to an object and its sections: by kind, the established first (oldest, then
/// `namespace/name`).
///
/// Not attached are policies that may not reach the object or that name a section that does not exist, those that their
/// controllers reject, and those without a usable strategy. Those that their controllers do not enforce are without
/// settings.
pub fn attached_to(
    snapshot: &Snapshot,
    key: &ObjectKey,
    rejections: &RejectionFinder,
) -> Vec<Attachment> {
    let mut policies = snapshot.policies_naming(key).peekable();
    if policies.peek().is_none() {
        return Vec::new();
    }
    let object = snapshot.get(key);
    if snapshot.lacks(key) {
        // Nothing is attached to an object that does not exist. Objects of kinds that are not watched may exist.
        return Vec::new();
    }
    let node = object.map(|object| &**object);
    let mut attachments: Vec<Attachment> = Vec::new();
    for policy in policies {
        if policy.strategies.is_none() {
            continue;
        }
        let own = &policy.key().namespace;
        let mut rejected = reported_rejections::rejected(snapshot, policy);
        if rejected != Rejected::Nowhere && is_of_another_target(snapshot, policy, key) {
            rejected = Rejected::Nowhere;
        }
        let is_rejected = rejected.at(key);
        let leaves_attached = || {
            let profile = &policy.profile;
            let mut references = profile.references.iter();
            profile
                .rejected_because
                .iter()
                .any(|cause| cause.leaves_attached())
                || references.any(Reference::may_leave_attached)
                || policy.rejected_on(&key.gk).next().is_some()
                || policy.may_be_reported_invalid()
        };
        let accepted = is_rejected.then(|| reported_rejections::not_enforced(snapshot, policy));
        let not_enforced = accepted.flatten().and_then(|_| policy.not_enforced());
        if is_rejected && not_enforced.is_none() && !leaves_attached() {
            continue;
        }
        let not_enforced = not_enforced.map(Arc::new);
        for target in policy.targets.iter().filter(|t| t.matches(own, key, node)) {
            let permission = permission(snapshot, policy, target, key);
            if !permission.is_attached() {
                continue;
            }
            let labels = if target.is_whole() {
                vec![None]
            } else {
                let object = object.map(|object| &**object);
                let labels = sections(snapshot, &policy.profile, target, object).into_iter();
                labels.map(Some).collect()
            };
            let places = labels.into_iter().map(|section| Place {
                object: key.clone(),
                section,
            });
            attachments.extend(places.filter_map(|place| {
                let rejection = rejections.rejection_of(snapshot, policy, &place);
                let explains = || explains_report(snapshot, policy, key, rejection.as_ref());
                if is_rejected && not_enforced.is_none() && !explains() {
                    return None;
                }
                let rejected_on_some_paths =
                    matches!(rejected, Rejected::Through(_)) && rejection.is_none();
                let policy = not_enforced.as_ref().unwrap_or(policy);
                let attachment = attachment(policy, target, permission, place.section, rejection)?;
                Some(Attachment {
                    rejected_on_some_paths,
                    ..attachment
                })
            }));
        }
    }
    if attachments.len() < 2 {
        return attachments;
    }
    // Policies that select come after policies that name.
    attachments.sort_by(|a, b| a.order().cmp(&b.order()));
    attachments.dedup_by(|a, b| {
        a.policy.key() == b.policy.key() && a.section == b.section && a.unknown == b.unknown
    });
    attachments
}

/// The attachment of a policy to a section of a target, with the effect of a rejection; `None` if it is not attached.
fn attachment(
    policy: &Arc<Policy>,
    target: &TargetRef,
    permission: AttachmentPermission,
    section: Option<Arc<str>>,
    rejection: Option<Rejection>,
) -> Option<Attachment> {
    let reported = rejection
        .as_ref()
        .is_some_and(|rejection| rejection.reported.is_some());
    let (attached, left_out) = match rejection.map(|rejection| rejection.effect) {
        None | Some(RejectionEffect::InForce | RejectionEffect::WithoutRequests { .. }) => {
            (policy.clone(), Arc::default())
        }
        Some(RejectionEffect::NotAttached) => return None,
        Some(RejectionEffect::WithoutSettings) => {
            (Arc::new(policy.without_settings(reported)), Arc::default())
        }
        Some(RejectionEffect::WithoutSetting(path)) => {
            let rest = policy.without_setting(&path);
            let rest = rest.unwrap_or_else(|| policy.without_settings(reported));
            (Arc::new(rest), Arc::default())
        }
        Some(RejectionEffect::WithoutEffect | RejectionEffect::NotApplied) => {
            (Arc::new(policy.without_effect()), Arc::default())
        }
        Some(RejectionEffect::WithoutSections { sections, .. }) => (policy.clone(), sections),
    };
    let attached = match &target.select {
        Select::Filter(_, position) => Arc::new(attached.by_filter(*position)),
        _ => attached,
    };
    let own = &policy.key().namespace;
    Some(Attachment {
        policy: attached,
        left_out,
        section,
        unknown: target.unknown.clone(),
        consumer: permission == AttachmentPermission::Consumer,
        all_namespaces: target.gk.is_core("Namespace") && target.object(own).is_none(),
        rejected_on_some_paths: false,
    })
}

/// Whether the reports that reject a policy at an object mean a rejection that leaves the policy attached.
pub fn explains_report(
    snapshot: &Snapshot,
    policy: &Policy,
    object: &ObjectKey,
    rejection: Option<&Rejection>,
) -> bool {
    rejection.is_some_and(|rejection| {
        rejection.effect != RejectionEffect::NotAttached
            && reported_rejections::is_rejected_only_for(snapshot, policy, object, rejection.reason)
    })
}

/// The number of policy targets that [`attached_to`] compares with an object.
pub(crate) fn compared_targets(snapshot: &Snapshot, key: &ObjectKey) -> usize {
    let policies = snapshot.policies_naming(key);
    policies.map(|policy| policy.targets.len()).sum()
}

/// The sections of an object that a target names, by label; empty if the object has none of them. If nothing is known
/// of the object, the section that the target names.
pub(crate) fn sections(
    snapshot: &Snapshot,
    profile: &Profile,
    target: &TargetRef,
    object: Option<&Object>,
) -> Vec<Arc<str>> {
    let known = object.filter(|object| has_sections(&object.node));
    match (&target.section, target.port, known) {
        // A filter is part of its rule, which needs no name.
        (Some(label), ..) if target.is_by_filter() => vec![label.clone()],
        (Some(name), _, Some(object)) => {
            let names = section_names(snapshot, profile, object);
            let label = section::resolve(object, name, names);
            label.into_iter().collect()
        }
        (Some(name), _, None) => vec![name.clone()],
        (None, Some(port), Some(object)) => section::on_port(object, port),
        (None, Some(port), None) => vec![port.to_string().into()],
        (None, None, _) => Vec::new(),
    }
}

fn has_sections(node: &Node) -> bool {
    !matches!(node, Node::Other)
}

// === impl AttachmentPermission ===

impl AttachmentPermission {
    /// Whether the policy attaches.
    pub fn is_attached(self) -> bool {
        matches!(self, Self::Allowed | Self::Consumer)
    }
}

/// The objects that a target of a policy in namespace `own` names, whether they exist or not, or that it selects now;
/// sorted.
pub fn targets_of(snapshot: &Snapshot, own: &Arc<str>, target: &TargetRef) -> Vec<ObjectKey> {
    if let Some(object) = target.object(own) {
        return vec![object];
    }
    let selected = selected(snapshot, own, target);
    let mut keys: Vec<ObjectKey> = selected.map(|object| object.key.clone()).collect();
    keys.sort();
    keys
}

/// The objects that a target of a policy in namespace `own` selects now, in no particular order.
pub fn selected<'a>(
    snapshot: &'a Snapshot,
    own: &'a Arc<str>,
    target: &'a TargetRef,
) -> impl Iterator<Item = &'a Arc<Object>> {
    let objects = snapshot.objects(&target.gk);
    objects.filter(move |object| {
        target.matches(own, &object.key, Some(&**object))
            && looks_there(snapshot, target, own, &object.key.namespace)
    })
}

/// Whether a policy may attach to an object that one of its targets names.
pub fn permission(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &TargetRef,
    object: &ObjectKey,
) -> AttachmentPermission {
    let own = &policy.key().namespace;
    if !target.is_taken || ignores_pod_selector(snapshot, policy, target, object) {
        return AttachmentPermission::TargetKindNotSupported;
    }
    if matches!(target.select, Select::Pods(_)) {
        return AttachmentPermission::Allowed;
    }
    if target.says_core && is_not_taken_as_core(snapshot, &policy.profile, object) {
        return AttachmentPermission::CoreGroup;
    }
    let allowed = policy.profile.allowed(&object.gk);
    if allowed.is_some_and(|a| !a.names.is_empty() && !a.names.contains(&object.name)) {
        return AttachmentPermission::OtherName;
    }
    if let (Some(pods), Some(gateway)) = (&*policy.profile.gateway_pods, snapshot.get(object))
        && has_unknown_pods(snapshot, pods, gateway)
    {
        return AttachmentPermission::OwnPods;
    }
    if own.is_empty() {
        return AttachmentPermission::Allowed;
    }
    if object.namespace == *own {
        return if looks_there(snapshot, target, own, own) {
            AttachmentPermission::Allowed
        } else {
            AttachmentPermission::Forbidden
        };
    }
    if is_cluster_scoped(&object.gk) {
        let own_namespace = object.gk.is_core("Namespace") && object.name == *own;
        return if own_namespace || may_name(&policy.profile, own, &object.gk) {
            AttachmentPermission::Allowed
        } else {
            AttachmentPermission::ClusterScoped
        };
    }
    if target.namespace.is_none() && !selects_there(snapshot, target, &object.namespace) {
        return AttachmentPermission::Forbidden;
    }
    match policy.profile.cross_namespace.value {
        CrossNamespace::Forbidden | CrossNamespace::Ignored => AttachmentPermission::Forbidden,
        CrossNamespace::Namesake if snapshot.lacks(&namesake(object, own)) => {
            AttachmentPermission::NoNamesake
        }
        CrossNamespace::Any | CrossNamespace::Namesake => AttachmentPermission::Allowed,
        CrossNamespace::Consumer => AttachmentPermission::Consumer,
        CrossNamespace::Grant if granted(snapshot, &policy.key().gk, own, object) => {
            AttachmentPermission::Allowed
        }
        CrossNamespace::Grant => AttachmentPermission::NotGranted,
    }
}

/// The object of this kind and name in a namespace.
fn namesake(object: &ObjectKey, namespace: &Arc<str>) -> ObjectKey {
    ObjectKey::new(object.gk.clone(), namespace.clone(), object.name.clone())
}

/// Whether a selector of Pods does not count for a Gateway: to Gateways in front of Services,
/// controllers apply only policies that name them.
fn ignores_pod_selector(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &TargetRef,
    object: &ObjectKey,
) -> bool {
    let node = snapshot.get(object).map(|object| &object.node);
    let (Select::Pods(_), Some(Node::Gateway { class, .. })) = (&target.select, node) else {
        return false;
    };
    let in_front = policy.profile.gateway_by_label.as_ref();
    in_front.is_some_and(|by_label| is_of_classes(snapshot, &by_label.classes, &class_key(class)))
}

/// Whether a class of Gateways, or its controller, is among these.
pub(crate) fn is_of_classes(snapshot: &Snapshot, classes: &Classes, class: &ObjectKey) -> bool {
    let controller = || snapshot.controller_of(class);
    let runs = || controller().is_some_and(|name| classes.controllers.contains(name));
    classes.names.contains(&class.name) || !classes.controllers.is_empty() && runs()
}

/// Whether policies of a namespace may name an object of a cluster-scoped kind other than their own Namespace.
fn may_name(profile: &Profile, own: &Arc<str>, gk: &GroupKind) -> bool {
    let is_root = profile.root_namespace.as_ref() == Some(own);
    let restriction = profile.allowed(gk).map(|allowed| allowed.only);
    match restriction {
        Some(None | Some(NamingRestriction::Selectors)) => true,
        Some(Some(NamingRestriction::OwnNamespace)) => false,
        Some(Some(NamingRestriction::RootNamespace)) => is_root,
        None => is_root && gk.is_core("Namespace"),
    }
}

/// Whether a target selects in a namespace at all: one that selects Namespaces may exclude its own.
fn looks_there(
    snapshot: &Snapshot,
    target: &TargetRef,
    own: &Arc<str>,
    namespace: &Arc<str>,
) -> bool {
    let at_home = matches!(target.from, From::Same | From::All);
    (at_home && *namespace == target.namespace(own))
        || own.is_empty()
        || selects_there(snapshot, target, namespace)
}

/// Whether a target selects by labels in a namespace other than its own.
fn selects_there(snapshot: &Snapshot, target: &TargetRef, namespace: &Arc<str>) -> bool {
    match &target.from {
        From::Same | From::None | From::Unknown => false,
        From::All => true,
        From::Selector(selector) => {
            let there = snapshot.get(&namespace_key(namespace));
            there.is_some_and(|there| selector.selects(&there.meta.labels))
        }
    }
}
