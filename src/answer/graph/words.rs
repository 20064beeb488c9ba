//! Why a reference does not count, in words.

use crate::answer::policies::reason::selecting_nothing;
use crate::engine::attach::{Reach, reach};
use crate::engine::conditions::{Accepted, Attachment};
use crate::engine::policy::{Policy, entries, spec};
use crate::engine::snapshot::Snapshot;
use crate::engine::topology::not_there;

/// Why a policy is not attached to a target; none when it is.
pub(super) fn not_attached(
    snapshot: &Snapshot,
    policy: &Policy,
    at: &Attachment<'_>,
) -> Option<String> {
    let target = &at.target.object;
    let kind = &policy.key().gk.kind;
    Some(match &at.accepted {
        Accepted::Accepted => return None,
        Accepted::Conflicted(with) => format!("{} has the target for itself", with.path()),
        _ if policy.strategies.is_none() => "its merge strategy cannot be used".to_owned(),
        Accepted::Invalid | Accepted::TargetNotFound => {
            match (
                reach(snapshot, policy, at.entry, target),
                &at.target.section,
            ) {
                (Reach::Forbidden, _) => format!("{kind} stays in its own namespace"),
                (Reach::ClusterScoped, _) => {
                    format!("{kind} has a namespace and {} has none", target.gk)
                }
                (Reach::Untaken, Some(section)) if policy.profile.takes_kind(&target.gk) => {
                    format!("{kind} takes no section of {target}, such as {section}")
                }
                (Reach::Untaken, _) => format!("{kind} cannot target {}", target.gk),
                (Reach::NotGranted, _) => format!(
                    "no ReferenceGrant in namespace {} covers {kind} of namespace {}",
                    target.namespace,
                    policy.key().namespace
                ),
                (Reach::Free | Reach::Consumer, Some(section))
                    if snapshot.get(target).is_some() =>
                {
                    format!("{target} has no section {section}")
                }
                (Reach::Free | Reach::Consumer, _) => not_there(snapshot, target),
            }
        }
    })
}

/// Why a policy has no target at all.
pub(super) fn idle(snapshot: &Snapshot, policy: &Policy) -> String {
    let annotation = policy.profile.annotation.as_ref();
    if policy.strategies.is_none() {
        "its merge strategy cannot be used".to_owned()
    } else if let Some(annotation) = annotation {
        format!("no {} names it in {}", annotation.target, annotation.key)
    } else if let Some(nothing) = selecting_nothing(snapshot, policy) {
        nothing
    } else if policy.is_without_target() {
        "it names no target and needs none".to_owned()
    } else {
        let spec = spec(&policy.object);
        match entries(&spec, &policy.profile).first() {
            Some(entry) => format!("{} names no object", entry.path),
            None => "it names no target".to_owned(),
        }
    }
}
