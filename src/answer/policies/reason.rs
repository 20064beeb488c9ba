//! Why a policy has no effect, or not on all of its target, in words.

use crate::answer::controller_status::in_words;
use crate::answer::state::why_idle_or_unknown;
use crate::engine::admission::validate::{missing_section, why_misspelt};
use crate::engine::attachment::{AttachmentPermission, permission};
use crate::engine::kinds::profile::{NamingRestriction, Violation};
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::policy::{Fault, Policy, Select, StrategyFault, TargetRef, entries, stanzas};
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Accepted, PolicyStatus, State, TargetStatus};
use crate::engine::topology::not_there;

/// Why a policy has no effect, or not everywhere: a fault in its strategy or target entries, targets that it is not
/// attached to or does not apply to, sections on which its controllers leave it out, and what they report against it.
/// `None` if there is nothing to report.
pub(in crate::answer) fn reason(
    snapshot: &Snapshot,
    policy: &Policy,
    status: &PolicyStatus,
) -> Option<String> {
    if let Some(why) = unusable(policy) {
        return Some(why);
    }
    if let Some(why) = of_strategy(policy) {
        return Some(why);
    }
    let spec = policy.spec();
    let mut reasons = Vec::new();
    let mut add = |reason: String| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    let is_idle = matches!(status.state, Some(State::NoEffect(_) | State::Unknown(_)));
    if let Some(why) = why_idle_or_unknown(status.state.as_ref()) {
        add(why.to_owned());
    }
    if status.accepted != Accepted::Accepted || is_idle {
        let targets = status.targets.iter();
        let reasons = targets.filter_map(|target| of_target(snapshot, policy, target));
        reasons.for_each(&mut add);
    } else {
        for target in &status.targets {
            let (place, accepted) = (&target.target, &target.accepted);
            if let Some(why) = not_attached(snapshot, policy, place, accepted) {
                add(format!("not attached to {place}: {why}"));
            }
        }
    }
    let left_out = status.targets.iter().filter_map(left_out);
    left_out.for_each(&mut add);
    if status.state == Some(State::PartiallyEnforced) {
        let limits = status.limits().into_iter();
        limits.for_each(|limit| add(format!("it {limit}")));
    }
    let entries = entries(&spec, &policy.profile);
    for entry in &entries {
        if let Err(fault) = &entry.target {
            add(wrong(&entry.path, fault));
        }
    }
    // A rejected policy has its controllers' reason on its targets.
    if !matches!(status.accepted, Accepted::Rejected(_))
        && let Some(report) = in_words(&status.controllers, status.disagreement())
    {
        add(report);
    }
    if reasons.is_empty() && status.targets.is_empty() {
        let idle = selecting_nothing(snapshot, policy);
        let why = || by_filter_of_a_backend(snapshot, policy);
        let why = idle.or_else(why);
        reasons.push(why.unwrap_or_else(|| "it names no target".to_owned()));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Why the API server or the controller refuses a policy for its version or fields. `None` if neither does.
pub(in crate::answer) fn unusable(policy: &Policy) -> Option<String> {
    let version = policy.unknown_version();
    let version = version.map(|version| format!("the kind has no version {version:?}"));
    let unmet = || policy.unmet().map(|needs| format!("it {needs}"));
    let violation = || {
        let Violation { path, message } = policy.violation()?;
        Some(format!("refused by the API server: {path}: {message}"))
    };
    version.or_else(violation).or_else(unmet)
}

/// Why a policy is not attached to a target, has no effect there or is left out on a part of it. `None` if it is in
/// force.
pub(in crate::answer) fn of_target(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &TargetStatus,
) -> Option<String> {
    let idle = why_idle_or_unknown(target.state.as_ref()).map(str::to_owned);
    let left_out = left_out(target);
    let is_partly = target.state == Some(State::PartiallyEnforced);
    let limits = target.limits().into_iter().filter(|_| is_partly);
    let limits = limits.map(|limit| format!("it {limit}"));
    not_attached(snapshot, policy, &target.target, &target.accepted).or_else(|| {
        idle.into_iter()
            .chain(left_out)
            .chain(limits)
            .reduce(|one, other| format!("{one}; {other}"))
    })
}

fn left_out(target: &TargetStatus) -> Option<String> {
    let left_out = target.left_out()?;
    Some(format!(
        "attache expects its controller to leave out {left_out}"
    ))
}

/// Why a policy is not attached to a target. `None` if it is.
pub(in crate::answer) fn not_attached(
    snapshot: &Snapshot,
    policy: &Policy,
    place: &Place,
    accepted: &Accepted,
) -> Option<String> {
    let target = &place.object;
    let kind = &policy.key().gk.kind;
    let object = snapshot.get(target);
    let own = &policy.key().namespace;
    let names = |entry: &&TargetRef| {
        let object = object.map(|object| &**object);
        entry.is_whole() == place.section.is_none() && entry.matches(own, target, object)
    };
    let entry = policy.targets.iter().find(names);
    let reach = entry.map(|entry| permission(snapshot, policy, entry, target));
    Some(match accepted {
        Accepted::Accepted => return None,
        Accepted::Conflicted(with) => format!("{target} already has {}", with.path()),
        Accepted::Rejected(report) => format!("its controller reports {report}"),
        Accepted::ExpectedRejection(why) => why.sentence(),
        _ if let Some(why) = unusable(policy) => why,
        _ if policy.strategies.is_none() => "its merge strategy cannot be used".to_owned(),
        Accepted::Invalid | Accepted::TargetNotFound => match (reach, &place.section) {
            (Some(AttachmentPermission::Forbidden), _) => {
                format!("policies of kind {kind} can only target objects in their own namespace")
            }
            (Some(AttachmentPermission::ClusterScoped), _) => cluster_scoped(policy, target),
            (Some(AttachmentPermission::TargetKindNotSupported), _)
                if let Some(why) =
                    entry.and_then(|entry| why_misspelt(snapshot, policy, entry)) =>
            {
                why
            }
            (Some(AttachmentPermission::TargetKindNotSupported), Some(section))
                if policy.profile.takes_kind(&target.gk) =>
            {
                format!("{kind} takes no section of {target}, such as {section}")
            }
            (Some(AttachmentPermission::TargetKindNotSupported), _) => {
                format!("{kind} cannot target {}", target.gk)
            }
            (Some(AttachmentPermission::OtherName), _) => format!("{kind} cannot target {target}"),
            (Some(AttachmentPermission::NoNamesake), _) => {
                format!("{kind} needs {} {own}/{}, too", target.gk.kind, target.name)
            }
            (Some(AttachmentPermission::CoreGroup), _) => format!(
                "the controllers that send requests to {target} take no target with the group core; write \"\""
            ),
            (Some(AttachmentPermission::NotGranted), _) => format!(
                "no ReferenceGrant in namespace {} covers {kind} of namespace {own}",
                target.namespace,
            ),
            (
                Some(
                    AttachmentPermission::Allowed
                    | AttachmentPermission::Consumer
                    | AttachmentPermission::OwnPods,
                )
                | None,
                section,
            ) => match (section, object) {
                (Some(section), Some(object)) => {
                    let section = missing_section(snapshot, policy, object, section);
                    format!("{target} has no {section}")
                }
                _ => not_there(snapshot, target),
            },
        },
    })
}

/// Why a policy in a namespace cannot target a cluster-scoped object.
fn cluster_scoped(policy: &Policy, target: &ObjectKey) -> String {
    match policy.profile.allowed(&target.gk).and_then(|a| a.only) {
        Some(NamingRestriction::OwnNamespace) => {
            let own = &policy.key().namespace;
            format!("it can only target its own Namespace, {own}")
        }
        Some(NamingRestriction::RootNamespace) => {
            let root = policy.profile.root_namespace.as_deref().unwrap_or_default();
            format!("only policies in {root:?} may name {target}")
        }
        Some(NamingRestriction::Selectors) | None => {
            format!("a policy in a namespace cannot target {target}, which is cluster-scoped")
        }
    }
}

/// Why the selectors of a policy select nothing. `None` if it has no selectors.
pub(in crate::answer) fn selecting_nothing(snapshot: &Snapshot, policy: &Policy) -> Option<String> {
    // Gateways are selected beside Pods, by the same selector.
    let is_written = |target: &&TargetRef| !matches!(target.select, Select::Pods(_));
    let targets = policy.targets.iter().filter(|target| target.selects());
    let targets = targets.filter(is_written);
    let (seen, unseen): (Vec<_>, Vec<_>) = targets.partition(|target| snapshot.knows(&target.gk));
    let names = |targets: Vec<&TargetRef>, between: &str| {
        let names: Vec<String> = targets.iter().map(|target| target.gk.to_string()).collect();
        names.join(between)
    };
    if !unseen.is_empty() {
        let kinds = names(unseen, " or ");
        return Some(format!(
            "attache has read no {kinds}, so it cannot tell what the selector selects"
        ));
    }
    (!seen.is_empty()).then(|| {
        format!(
            "its selector matches no {} that it may target",
            names(seen, " and no ")
        )
    })
}

/// The fault in the strategy of a policy.
pub(in crate::answer) fn of_strategy(policy: &Policy) -> Option<String> {
    let fault = stanzas(&policy.spec(), &policy.profile).err()?;
    Some(match fault {
        StrategyFault::Unknown { path, name, .. } => {
            format!("{path} {name:?} is not a strategy of the kind")
        }
        StrategyFault::Multiple { first, second } => {
            format!("{first} and {second} are two strategies")
        }
    })
}

fn wrong(path: &str, fault: &Fault) -> String {
    match fault {
        Fault::NotAnObject(kind) => format!("{path} is {kind}, not an object"),
        Fault::Missing(part) => format!("{path} has no {part}"),
        Fault::Versioned(group) => format!("{path}.group {group:?} contains a version"),
        Fault::NotText(member) => format!("{path}.{member} is not a string"),
    }
}

/// The reason if only filters of backends name a policy.
fn by_filter_of_a_backend(snapshot: &Snapshot, policy: &Policy) -> Option<String> {
    if policy.profile.named_by_filters_of.is_empty() {
        return None;
    }
    let route = snapshot.filtering_backends(policy.key()).next()?;
    Some(format!(
        "it names no target; a filter of a backend of {} names it, which attache does not follow",
        route.key
    ))
}
