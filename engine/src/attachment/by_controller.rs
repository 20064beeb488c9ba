//! Fields of policies on backends that controllers understand differently: port numbers, the group `core`, settings that some
//! reject. The controllers whose routes send requests to the backend decide.

use std::sync::Arc;

use super::open_targets::{holds_for_parents, holds_for_target};
use super::rejection::{Rejection, RejectionEffect};
use super::requests_to_backend::RequestFilter;
use super::senders::{NamingRoute, SendersOfBackends};
use crate::kinds::profile::{Profile, RejectedIf, WhenRejected};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{Node, Object};
use crate::model::section::{PortsBy, SectionNames};
use crate::policy::{Policy, TargetRef};
use crate::state::snapshot::Snapshot;

/// The form in which references of a kind name the sections of an object.
pub(crate) fn section_names(
    snapshot: &Snapshot,
    profile: &Profile,
    object: &Object,
) -> SectionNames {
    let names = profile.section_names();
    let with = &profile.port_numbers_with;
    if with.is_empty() || !matches!(object.node, Node::Service { .. }) {
        return names;
    }
    let controllers = SendersOfBackends::default().controllers(snapshot, &object.key);
    let by_number = controllers.iter().any(|name| with.contains(name));
    SectionNames {
        ports_by: if by_number {
            PortsBy::Both
        } else {
            names.ports_by
        },
        ..names
    }
}

/// Whether all controllers that send requests to a backend take `core` for the empty group. `false` if none is known.
pub(crate) fn takes_core_group(snapshot: &Snapshot, policy: &Policy, target: &TargetRef) -> bool {
    let backend = target.object(&policy.key().namespace);
    let with = &policy.profile.core_group_with;
    backend.is_some_and(|backend| SendersOfBackends::default().all_are(snapshot, &backend, with))
}

/// Whether no controller that sends requests to a backend takes `core` for the empty group. `false` if one of them is not known
/// for that.
pub(super) fn is_not_taken_as_core(
    snapshot: &Snapshot,
    profile: &Profile,
    backend: &ObjectKey,
) -> bool {
    SendersOfBackends::default().all_are(snapshot, backend, &profile.no_core_group_with)
}

/// The conditions for which the controllers of a target reject a policy, whatever other policies there are. With each, the requests
/// to the target that it concerns; none if it concerns all of them, which is then the only one.
pub(super) fn rejected_at<'p>(
    snapshot: &Snapshot,
    senders: &SendersOfBackends,
    policy: &'p Policy,
    target: &ObjectKey,
) -> Vec<(&'p RejectedIf, Vec<RequestFilter>)> {
    let mut in_part = Vec::new();
    for rejected in policy.rejected_on(&target.gk) {
        let of_target = rejected.of_target.as_ref();
        let of_parents = rejected.of_parents.as_ref();
        let holds = of_target.is_none_or(|fields| holds_for_target(snapshot, target, &fields.when))
            && of_parents.is_none_or(|parents| holds_for_parents(snapshot, target, parents))
            && (!rejected.external_names || is_external_name(snapshot, target))
            && (!rejected.shared_target || is_shared(snapshot, policy, target))
            && (!rejected.only_sections || names_only_sections(policy, target));
        if !holds {
            continue;
        }
        match concerned(snapshot, senders, rejected, target) {
            Concerned::None => {}
            Concerned::All => return vec![(rejected, Vec::new())],
            Concerned::Some(requests) => in_part.push((rejected, requests)),
        }
    }
    in_part
}

pub(super) fn is_external_name(snapshot: &Snapshot, target: &ObjectKey) -> bool {
    let target = snapshot.get(target);
    target.is_some_and(|target| target.node.is_external_name())
}

/// The rejection because of the settings of the policy itself. Controllers may reject it for different reasons, each for requests
/// through its own Gateways.
pub(super) fn by_its_settings(
    snapshot: &Snapshot,
    senders: &SendersOfBackends,
    policy: &Policy,
    target: &Place,
) -> Option<Rejection> {
    let rejected = rejected_at(snapshot, senders, policy, &target.object);
    let (first, _) = rejected.first()?;
    let all = |holds: fn(&RejectedIf) -> bool| rejected.iter().all(|(one, _)| holds(one));
    let mut texts: Vec<&str> = rejected.iter().map(|(one, _)| &*one.text).collect();
    texts.dedup();
    let mut requests: Vec<RequestFilter> = Vec::new();
    for one in rejected.iter().flat_map(|(_, requests)| requests) {
        if !requests.contains(one) {
            requests.push(one.clone());
        }
    }
    let effect = if requests.is_empty() {
        first.then.into()
    } else {
        RejectionEffect::WithoutRequests {
            requests: requests.into(),
            is_accepted: all(|one| one.then == WhenRejected::NotApplied),
        }
    };
    Some(Rejection {
        reason: "Invalid",
        effect,
        requests_fail: all(|one| one.requests_fail),
        reported: None,
        message: texts.join("; "),
    })
}

/// Whether another policy of the kind names this object or another one that the policy names.
fn is_shared(snapshot: &Snapshot, policy: &Policy, target: &ObjectKey) -> bool {
    let own = &policy.key().namespace;
    let named = policy.targets.iter().filter_map(|named| named.object(own));
    let mut all = std::iter::once(target.clone()).chain(named);
    all.any(|target| {
        let object = snapshot.get(&target).map(|object| &**object);
        let mut others = snapshot.policies_naming(&target);
        others.any(|other| {
            other.key().gk == policy.key().gk
                && other.key() != policy.key()
                && other.has_target(&target, object)
        })
    })
}

/// Whether a policy names nothing but sections of an object.
fn names_only_sections(policy: &Policy, object: &ObjectKey) -> bool {
    let own = &policy.key().namespace;
    let mut named = policy.targets.iter();
    named.all(|target| target.section.is_some() || target.object(own).as_ref() != Some(object))
}

/// The requests to a target that a condition concerns.
enum Concerned {
    None,
    Some(Vec<RequestFilter>),
    All,
}

/// The requests for which controllers reject a policy, by the kinds and namespaces of the routes that lead to the target and the
/// controllers of their Gateways.
fn concerned(
    snapshot: &Snapshot,
    senders_of_backends: &SendersOfBackends,
    rejected: &RejectedIf,
    target: &ObjectKey,
) -> Concerned {
    let (kinds, only) = (&rejected.only_for_routes, &rejected.controllers);
    let of_any_route = kinds.is_empty() && !rejected.other_namespaces;
    if of_any_route && only.is_empty() {
        return Concerned::All;
    }
    let is_concerned = |route: &Object| {
        let is_of_kinds = kinds.is_empty() || kinds.iter().any(|kind| **kind == *route.key.gk.kind);
        is_of_kinds && (!rejected.other_namespaces || route.key.namespace != target.namespace)
    };
    let is_of_controllers = |controller: &Option<Arc<str>>| {
        only.is_empty() || controller.as_ref().is_some_and(|name| only.contains(name))
    };
    // Whether routes are accepted is resolved only where it decides.
    let may_concern = |naming: &NamingRoute| {
        is_concerned(&naming.route)
            && (naming.is_below_route || naming.controllers.iter().any(is_of_controllers))
    };
    let senders = senders_of_backends.of(snapshot, target);
    if !of_any_route && !senders.naming().iter().any(may_concern) {
        return Concerned::None;
    }
    let named = senders.named();
    if of_any_route && named.len() < 2 {
        return if senders_of_backends.all_are(snapshot, target, only) {
            Concerned::All
        } else {
            Concerned::None
        };
    }
    let (mut with, mut without) = (Vec::new(), 0);
    for leading in senders_of_backends.leading(snapshot, &senders) {
        if is_concerned(&leading.route) && is_of_controllers(&leading.controller) {
            with.push(RequestFilter {
                route: (!of_any_route).then(|| leading.route.key.whole()),
                parent: (!only.is_empty()).then(|| leading.parent.clone()),
            });
        } else {
            without += 1;
        }
    }
    with.sort();
    with.dedup();
    match (with.is_empty(), without) {
        (false, 0) => Concerned::All,
        (false, _) => Concerned::Some(with),
        // Nothing leads there yet: the routes that name it may.
        (true, 0) if of_any_route && named.iter().all(|name| only.contains(name)) => Concerned::All,
        (true, _) => Concerned::None,
    }
}

/// Whether the routes that lead to a target of a kind decide whether controllers reject a policy there.
pub(super) fn depends_on_routes_to(policy: &Policy, target: &GroupKind) -> bool {
    let mut rejected = policy.rejected_on(target);
    rejected.any(|one| {
        !one.only_for_routes.is_empty() || one.other_namespaces || !one.controllers.is_empty()
    })
}
