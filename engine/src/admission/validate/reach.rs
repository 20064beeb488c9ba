//! Rules on objects that a policy may not name, or that need a grant.

use crate::admission::finding::{Code, Finding};
use crate::attachment::{AttachmentPermission, permission};
use crate::kinds::profile::NamingRestriction;
use crate::model::hint::quoted;
use crate::model::ids::ObjectKey;
use crate::policy::{Policy, TargetEntry, TargetRef};
use crate::state::snapshot::Snapshot;

/// The finding on an object that the policy may not name, or for which a grant is missing.
pub(super) fn out_of_reach(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
    object: &ObjectKey,
) -> Option<Finding> {
    let (kind, own) = (&policy.profile.gk.kind, &policy.key().namespace);
    let (code, field, message, sure) = match permission(snapshot, policy, target, object) {
        // Other rules report this, for the kind or for the section.
        AttachmentPermission::Allowed
        | AttachmentPermission::Consumer
        | AttachmentPermission::OwnPods
        // Other checks report these two.
        | AttachmentPermission::CoreGroup
        | AttachmentPermission::TargetKindNotSupported => return None,
        AttachmentPermission::Forbidden => (
            Code::TargetNamespaceForbidden,
            format!("{}.namespace", entry.path),
            match &entry.field.default_namespace {
                Some(default) => format!(
                    "policies of kind {kind} can only target objects in their own namespace; write namespace {:?} (without it, {:?} is assumed)",
                    &**own, &**default
                ),
                None => format!(
                    "policies of kind {kind} can only target objects in their own namespace; remove namespace {:?}",
                    &*object.namespace
                ),
            },
            policy.profile.cross_namespace.is_stated(),
        ),
        AttachmentPermission::OtherName => (
            Code::TargetKindUnsupported,
            format!("{}.name", entry.path),
            other_name(policy, object),
            false,
        ),
        AttachmentPermission::NoNamesake => (
            Code::TargetNotFound,
            entry.path.clone(),
            format!(
                "{kind} applies to {object} only if {} {own}/{} exists, too",
                object.gk.kind, object.name
            ),
            false,
        ),
        AttachmentPermission::NotGranted => (
            Code::TargetNotGranted,
            entry.path.clone(),
            format!(
                "no ReferenceGrant in {} lets {kind} of {own} name {object}",
                object.namespace
            ),
            true,
        ),
        AttachmentPermission::ClusterScoped => (
            Code::TargetClusterScoped,
            entry.path.clone(),
            match policy.profile.allowed(&object.gk).and_then(|a| a.only) {
                Some(NamingRestriction::OwnNamespace) => format!(
                    "policies of kind {kind} can only target their own Namespace, so this target has no effect; write {:?}",
                    &**own
                ),
                Some(NamingRestriction::RootNamespace) => {
                    let root = policy.profile.root_namespace.as_deref().unwrap_or_default();
                    format!("only policies in {root:?} may name {object}, so this has no effect")
                }
                Some(NamingRestriction::Selectors) | None => {
                    format!("{object} is cluster-scoped and {kind} is not, so this has no effect")
                }
            },
            true,
        ),
    };
    Some(
        Finding::new(code, policy.key(), message)
            .at(field)
            .about(object.to_string())
            .only_if(sure),
    )
}

fn other_name(policy: &Policy, object: &ObjectKey) -> String {
    let kind = &policy.profile.gk.kind;
    let allowed = policy.profile.allowed(&object.gk);
    let names: Vec<&str> = allowed
        .iter()
        .flat_map(|a| &a.names)
        .map(|n| &**n)
        .collect();
    let names = quoted(&names);
    format!(
        "{kind} cannot target {object}; the only targets of kind {} are {names}",
        object.gk.kind
    )
}
