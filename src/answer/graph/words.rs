//! Why a reference does not count, in words.

use crate::answer::policies::reason::selecting_nothing;
use crate::engine::attach::{Reach, reach};
use crate::engine::conditions::{Accepted, Attachment};
use crate::engine::ids::ObjectKey;
use crate::engine::object::{Listener, Object, ParentRef};
use crate::engine::policy::{Policy, entries, spec};
use crate::engine::snapshot::Snapshot;
use crate::engine::topology::{Refusal, Unreached};

/// That an object is not there, or that nobody can know.
pub(super) fn not_there(snapshot: &Snapshot, key: &ObjectKey) -> String {
    if snapshot.knows(&key.gk) {
        format!("there is no {key}")
    } else {
        format!("nothing is known of kind {}", key.gk)
    }
}

/// That nothing can be attached to such an object.
pub(super) fn no_parent(key: &ObjectKey) -> String {
    format!("{} cannot be a parent", key.gk)
}

/// Why no listener of an object takes a route.
pub(super) fn refused(
    nearest: Option<(Refusal, &Listener)>,
    owner: &Object,
    route: &Object,
    parent: &ParentRef,
) -> String {
    let owner = &owner.key;
    let Some((why, listener)) = nearest else {
        return format!("{owner} has no listener");
    };
    let name = &listener.name;
    match (why, &parent.section, parent.port) {
        (_, Some(section), _) if section != name => format!("{owner} has no listener {section}"),
        (Refusal::Port, None, Some(port)) => format!("{owner} has no listener on port {port}"),
        (Refusal::Section | Refusal::Port, ..) => {
            format!("listener {name} has port {}", listener.port)
        }
        (Refusal::Kind | Refusal::Protocol, ..) => {
            format!("listener {name} takes no {}", route.key.gk.kind)
        }
        (Refusal::Hostname, ..) => {
            let own = listener.hostname.as_deref().unwrap_or_default();
            format!("listener {name} serves {own}, the route does not")
        }
        (Refusal::Namespace, ..) => format!(
            "listener {name} takes no routes of namespace {}",
            route.key.namespace
        ),
    }
}

/// Why a reference to a backend leads nowhere.
pub(super) fn unreached(why: Unreached, route: &Object, key: &ObjectKey) -> String {
    match why {
        Unreached::Kind => format!("{} cannot be a backend", key.gk),
        Unreached::Missing => format!("there is no {key}"),
        Unreached::NotGranted => format!(
            "no ReferenceGrant in namespace {} covers {}s of namespace {}",
            key.namespace, route.key.gk.kind, route.key.namespace
        ),
    }
}

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
