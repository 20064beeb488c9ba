//! `attache describe` for a target: the policies that apply to an object or section, and the effective policies on its
//! paths.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::overview::overview;
use super::paths::on;
use super::policies_at_or_above::{PoliciesAtOrAbove, PolicyAtOrAbove};
use super::rejected_above::add_rejected_above;
use super::routes::{on_routes, using};
use super::{PoliciesOnBackend, PolicyOnObject, Relation, TargetDescription};
use crate::answer::controller_status::{FromStatus, in_words};
use crate::answer::effective::{EffectiveOnPaths, through};
use crate::answer::named::{Named, named};
use crate::answer::policies::reason::{of_strategy, of_target};
use crate::answer::problems::problems;
use crate::answer::state::PolicyState;
use crate::answer::strategy::{as_written, strategy};
use crate::engine::attachment::conflict::conflict_winner;
use crate::engine::attachment::reports::ControllerStatus;
use crate::engine::effective::{PathGroup, Resolver};
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::level::Level;
use crate::engine::model::object::{Node, Object, is_route};
use crate::engine::model::section;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{
    Accepted, State, TargetAttachment, attachments, disagreement, mark_unreachable,
    partly_rejected, rejections_on, status_on_paths,
};
use crate::engine::topology::{ParentAttachment, RouteKindConflicts, parent_attachment};

/// Describes an object or section, with the effective policies on the routes to it.
pub fn target(resolver: &mut Resolver<'_>, place: &Place) -> TargetDescription {
    let about = on_its_own(resolver, place);
    TargetDescription {
        on_routes: on_routes(resolver, place),
        ..about
    }
}

/// Describes an object or section without the routes to it.
pub(in crate::answer) fn on_its_own(
    resolver: &mut Resolver<'_>,
    place: &Place,
) -> TargetDescription {
    let key = &place.object;
    let mut policies_over = PoliciesAtOrAbove::new();
    let mut effective: Vec<EffectiveOnPaths> = Vec::new();
    let mut without: Vec<EffectiveOnPaths> = Vec::new();
    let mut all_paths: Vec<PathGroup> = Vec::new();
    let is_upper = Level::end_for(&key.gk).is_above_routes();
    for kind in kinds(resolver, key) {
        let all = on(resolver, place, &kind);
        let (without_policies, mut groups): (Vec<PathGroup>, Vec<PathGroup>) =
            all.into_iter().partition(|group| group.stack.is_empty());
        // No request takes a path that begins at no listener.
        all_paths.extend(without_policies.iter().chain(&groups).cloned());
        let taken = without_policies.iter().filter(|group| group.attached);
        without.extend(taken.map(|group| EffectiveOnPaths::from((&kind, group))));
        groups.sort_by_cached_key(|group| group.path().into_iter().cloned().collect::<Vec<_>>());
        over(resolver.snapshot(), place, &groups, &mut policies_over);
        if is_upper {
            // Requests that come to the routes below without the policies.
            let unserved = groups.extract_if(.., |group| !group.attached);
            let reached = unserved.filter_map(PathGroup::for_requests);
            without.extend(reached.map(|group| EffectiveOnPaths::from((&kind, &group))));
        }
        effective.extend(
            groups
                .iter()
                .map(|group| EffectiveOnPaths::from((&kind, group))),
        );
    }
    without.retain(|on_paths| {
        let kind = &on_paths.effective.policy_kind;
        let mut others = effective.iter();
        others.any(|other| other.effective.policy_kind == *kind)
    });
    for over in policies_over.values_mut() {
        partly_rejected(
            resolver.snapshot(),
            &over.policy,
            &all_paths,
            &mut over.status,
        );
        let target = over.status.target.clone();
        let own = if target.object == *key {
            &target
        } else {
            place
        };
        mark_unreachable(resolver, own, &mut over.status);
    }
    refused(resolver, place, &mut policies_over);
    let listeners = listeners_reaching(resolver, key);
    if is_route(&key.gk) {
        add_rejected_above(resolver, &listeners, &mut policies_over);
    }
    let object = resolver.snapshot().get(key).cloned();
    let hostnames = match object.as_ref().map(|object| &object.node) {
        Some(Node::Route { hostnames, .. }) => hostnames.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    TargetDescription {
        object: Named::from(place),
        not_looked_up: object.is_none() && !resolver.snapshot().lacks(key),
        overview: overview(resolver, place),
        hostnames,
        not_attached_to: not_attached_to(resolver, key, &listeners),
        attached_to: listeners.iter().map(Named::from).collect(),
        problems: problems(resolver, place),
        policies: sorted(resolver.snapshot(), key, policies_over),
        unread: Vec::new(),
        effective,
        without,
        backends: object.map_or_else(Vec::new, |route| backends(resolver, place, &route)),
        on_routes: Vec::new(),
        used_by: using(resolver.snapshot(), place)
            .map(|route| Named::from(&route.key))
            .collect(),
    }
}

/// The policies on the backends of a route or rule.
fn backends(resolver: &mut Resolver<'_>, place: &Place, route: &Object) -> Vec<PoliciesOnBackend> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let asked = |index: &usize| {
        let label = section::rule_label(route, *index);
        place
            .section
            .as_ref()
            .is_none_or(|section| *section == label)
    };
    let rules = rules.iter().enumerate().filter(|(index, _)| asked(index));
    let references = rules.flat_map(|(_, rule)| &rule.backends);
    let objects: BTreeSet<&ObjectKey> = references.map(|backend| &backend.object).collect();
    let mut backends = Vec::new();
    for object in objects {
        let mut policies = on_backend(resolver, object, place);
        policies.retain(|policy| policy.relation == Relation::Attached);
        if !policies.is_empty() {
            let object = Named::from(object);
            backends.push(PoliciesOnBackend { object, policies });
        }
    }
    backends
}

/// The policies at a backend or above it, with their outcome on the paths through this route only.
fn on_backend(
    resolver: &mut Resolver<'_>,
    object: &ObjectKey,
    route: &Place,
) -> Vec<PolicyOnObject> {
    let backend = object.whole();
    let mut policies_over = PoliciesAtOrAbove::new();
    for kind in kinds(resolver, object) {
        let mut groups = on(resolver, &backend, &kind);
        let profile = resolver.snapshot().profile(&kind);
        if profile.is_some_and(|profile| profile.is_inherited()) {
            groups = groups.iter().filter_map(|g| through(g, route)).collect();
        }
        groups.retain(|group| !group.stack.is_empty());
        over(resolver.snapshot(), &backend, &groups, &mut policies_over);
    }
    refused(resolver, &backend, &mut policies_over);
    sorted(resolver.snapshot(), object, policies_over)
}

/// The kinds with policies attached at the object or on paths through it.
fn kinds(resolver: &mut Resolver<'_>, key: &ObjectKey) -> BTreeSet<GroupKind> {
    // Descendants of the object are on paths through it too, so every kind in use counts.
    let used: Vec<GroupKind> = resolver.snapshot().used_kinds().cloned().collect();
    let mut kinds = resolver.kinds_through(key);
    kinds.extend(used);
    kinds
}

/// Adds the policies of these path groups that are attached at the place or above it.
fn over(
    snapshot: &Snapshot,
    place: &Place,
    groups: &[PathGroup],
    policies_over: &mut PoliciesAtOrAbove,
) {
    for group in groups {
        let Some(own) = group.position(&place.object) else {
            continue;
        };
        for above in group.stack.iter() {
            let attached_to = &above.step.place;
            let is_on_object = attached_to.object == place.object;
            let of_namespace = place.object.gk.is_core("Namespace");
            if !is_on_object && (of_namespace || above.step.position() > own) {
                continue;
            }
            if is_on_object
                && place.section.is_some()
                && attached_to.section.is_some()
                && attached_to != place
            {
                continue;
            }
            for policy in above.policies.iter() {
                let id = (policy.key().clone(), attached_to.clone());
                if policies_over.contains_key(&id) {
                    continue;
                }
                let mut status = status_on_paths(snapshot, policy, attached_to, groups);
                if let Some(winner) = conflict_winner(&above.policies, policy) {
                    status.accepted = Accepted::Conflicted(winner.key().clone());
                    status.state = None;
                    status.overridden_by.clear();
                }
                let over = PolicyAtOrAbove {
                    policy: policy.clone(),
                    level: above.step.level,
                    status,
                };
                policies_over.insert(id, over);
            }
        }
    }
}

/// Adds the policies that name the object but are not attached to it.
fn refused(resolver: &mut Resolver<'_>, place: &Place, policies_over: &mut PoliciesAtOrAbove) {
    let snapshot = resolver.snapshot();
    let naming: Vec<Arc<Policy>> = snapshot.policies_naming(&place.object).cloned().collect();
    for policy in naming {
        let all = attachments(resolver, &policy).into_iter();
        let on_object = all.filter(|attachment| attachment.target.object == place.object);
        let accepted = |at: TargetAttachment<'_>| {
            let left_out = at.left_out.map(Accepted::ExpectedRejection);
            (at.target, left_out.unwrap_or(at.accepted), at.known)
        };
        let accepted_by_place: Vec<(Place, Accepted, Option<State>)> =
            on_object.map(accepted).collect();
        for (attached_to, accepted, known) in accepted_by_place {
            let id = (policy.key().clone(), attached_to.clone());
            let elsewhere =
                place.section.is_some() && attached_to.section.is_some() && attached_to != *place;
            if elsewhere || policies_over.contains_key(&id) {
                continue;
            }
            let mut status = status_on_paths(snapshot, &policy, &attached_to, &[]);
            if known.is_some() {
                status.state = known;
            } else if accepted == Accepted::Accepted {
                status.reject_in_part(rejections_on(snapshot, &policy, &attached_to));
            } else {
                status.accepted = accepted;
                status.state = None;
            }
            let over = PolicyAtOrAbove {
                policy: policy.clone(),
                level: Level::Port,
                status,
            };
            policies_over.insert(id, over);
        }
    }
}

fn on_object(snapshot: &Snapshot, object: &ObjectKey, over: &PolicyAtOrAbove) -> PolicyOnObject {
    let (policy, status) = (&over.policy, &over.status);
    let mut by = named(status.overridden_by.keys());
    if let Accepted::Conflicted(with) = &status.accepted {
        by.push(Named::from(with));
    }
    let reported = ControllerStatus::collect(snapshot, policy);
    let differs = disagreement(&status.accepted, status.state.as_ref(), &reported);
    let mut reasons: Vec<String> = of_strategy(policy)
        .or_else(|| of_target(snapshot, policy, status))
        .into_iter()
        .collect();
    if !matches!(status.accepted, Accepted::Rejected(_)) {
        reasons.extend(in_words(&reported, differs));
    }
    PolicyOnObject {
        policy: Named::from(policy.key()),
        relation: relation(object, over),
        class: policy.profile.class.value,
        target: Named::from(&status.target),
        strategy: strategy(policy),
        written_strategy: as_written(policy),
        state: PolicyState::from_acceptance(&status.accepted, status.state.as_ref())
            .unwrap_or(PolicyState::NoEffect),
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        by,
        caveats: policy.caveats(snapshot).map(str::to_owned).collect(),
        status: FromStatus::with(&reported, differs),
    }
}

fn relation(object: &ObjectKey, over: &PolicyAtOrAbove) -> Relation {
    if over.status.target.object == *object {
        Relation::Attached
    } else {
        Relation::Inherited
    }
}

/// By kind, from the least specific place to the object itself.
fn sorted(
    snapshot: &Snapshot,
    object: &ObjectKey,
    policies_over: PoliciesAtOrAbove,
) -> Vec<PolicyOnObject> {
    let mut sorted: Vec<PolicyAtOrAbove> = policies_over.into_values().collect();
    sorted.sort_by_cached_key(|over| {
        let (policy, place) = (over.policy.key().clone(), over.status.target.clone());
        let attached = relation(object, over) == Relation::Attached;
        (policy.gk.clone(), attached, over.level, place, policy)
    });
    let policies = sorted.iter().map(|over| on_object(snapshot, object, over));
    policies.collect()
}

/// The listeners and mesh Services through which requests reach an object, without the object itself. Empty for objects
/// above the routes.
fn listeners_reaching(resolver: &mut Resolver<'_>, key: &ObjectKey) -> BTreeSet<Place> {
    if Level::end_for(&key.gk).is_above_routes() {
        return BTreeSet::new();
    }
    let mut listeners = resolver.listeners_reaching(key);
    listeners.retain(|listener| listener.object != *key);
    listeners
}

/// The parents of a route that do not accept it. Of parents of which nothing is known, `problems` says so.
fn not_attached_to(
    resolver: &Resolver<'_>,
    key: &ObjectKey,
    listeners: &BTreeSet<Place>,
) -> Vec<Named> {
    let snapshot = resolver.snapshot();
    let Some(route) = snapshot.get(key) else {
        return Vec::new();
    };
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    let not_taken = route.parents().iter().filter(|parent| {
        let mut listeners = listeners.iter();
        let is_reached = listeners.any(|listener| {
            let section = parent.section.as_ref();
            listener.object == parent.object
                && section.is_none_or(|name| listener.section.as_ref() == Some(name))
        });
        !is_reached
            && match parent_attachment(&mut route_kind_conflicts, route, parent) {
                ParentAttachment::Unknown(_) => false,
                // Neither a Service nor a route has listeners.
                ParentAttachment::Attached(_) | ParentAttachment::Delegated(_) => {
                    parent.object.gk.has_listeners()
                }
                ParentAttachment::NotAttached { .. } => true,
            }
    });
    let places: BTreeSet<Place> = not_taken
        .map(|parent| Place {
            object: parent.object.clone(),
            section: parent.section.clone(),
        })
        .collect();
    places.iter().map(Named::from).collect()
}
