//! Why a policy has no effect on a target.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::by_hostname::of_other_listeners;
use super::unknown::{unknown, unknown_section};
use super::{NoEffect, State};
use crate::attachment::rejection::routes_of;
use crate::effective::{
    PathGroup, controllers_follow, controllers_follow_parents, gateway_in_front_of, is_excluded,
    narrower_listeners,
};
use crate::kinds::profile::Class;
use crate::kinds::profile::{OnListeners, OnPath};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::level::Level;
use crate::model::object::Node;
use crate::model::section::rule_label;
use crate::model::wording::{first, plural};
use crate::policy::{ListenerFacts, Policy};
use crate::state::snapshot::{Snapshot, namespace_key};
use crate::topology::delegation::{delegates, facts_of, parents_of, unknown_parent, why_not};
use crate::topology::reports::controller;
use crate::topology::{
    ParentAttachment, RouteKindConflicts, delegated, gateway_of, not_usable, parent_attachment,
    too_many_delegations, unusable_by, why_unaccepted,
};

/// The state of a policy that reaches no known effective target, with the reason: first, why no request reaches its target;
/// then, what the policy lacks.
pub(super) fn no_effect(
    snapshot: &Snapshot,
    policy: &Policy,
    groups: &[&PathGroup],
    target: &Place,
) -> State {
    if let Some(why) = no_gateway_in_front_of(snapshot, policy, target) {
        // Manifests may lack the object, or its Namespace, whose label names the Gateway.
        let object = &target.object;
        let namespace = namespace_key(&object.namespace);
        let waits = [object, &namespace]
            .iter()
            .any(|key| snapshot.get(key).is_none());
        return State::NoEffect(NoEffect { why, waits });
    }
    if let Some(why) = lasting(snapshot, policy, groups, target) {
        return State::NoEffect(NoEffect::lasting(why));
    }
    if let Some(why) = unknown(snapshot, policy, target) {
        return State::Unknown(why);
    }
    let mut below = groups.iter().filter(|group| !group.paths.routes.is_empty());
    let incomplete = below.clone().next().is_some();
    let why = if below.any(|group| !group.attached) {
        let object = &target.object;
        match not_attached(snapshot, target) {
            Some(why) => format!("{object} is not attached to a Gateway: {why}"),
            None => format!("{object} is not attached to a Gateway"),
        }
    } else if incomplete || needs_backend(snapshot, policy, target) {
        format!("requests to {target} reach no existing backend")
    } else if let Some(kinds) = routes_of_other_kinds(snapshot, policy, target) {
        format!("it has no effect on {kinds}, and no other routes are attached to {target}")
    } else if *policy.profile.needs_route {
        format!("no route is attached to {target}")
    } else {
        format!("no object that it applies to is below {target}")
    };
    State::NoEffect(NoEffect { why, waits: true })
}

/// The state of a policy on a port, by its number, of a backend whose ports attache does not know, if routes send requests to the
/// backend and none of their references names the port.
pub(super) fn on_unnamed_port(snapshot: &Snapshot, target: &Place) -> Option<State> {
    let port: u16 = unknown_section(snapshot, target)?.parse().ok()?;
    let routes = snapshot.using(&target.object);
    let references = routes.flat_map(|route| route.backends());
    let mut references = references
        .filter(|reference| reference.object == target.object)
        .peekable();
    references.peek()?;
    if references.any(|reference| reference.port == Some(port)) {
        return None;
    }
    let why = format!(
        "no backendRef to {} names its port {port}, so requests to it are sent without the policy",
        target.object
    );
    Some(State::NoEffect(NoEffect::lasting(why)))
}

/// The kinds of the routes below a target, if none of the policy's settings applies to any of them: `TCPRoutes, TLSRoutes`.
fn routes_of_other_kinds(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let routes = routes_of(snapshot, gateway_of(snapshot, &target.object));
    let kinds: BTreeSet<&GroupKind> = routes.map(|route| &route.key.gk).collect();
    let is_idle = |kind: &&GroupKind| {
        let place = policy.profile.on_routes_of(kind).map(|(place, _)| place);
        let there = place.and_then(|place| policy.on_routes(place));
        there.is_some_and(|there| there.has_no_effect() || there.is_empty())
    };
    let names: Vec<String> = kinds.iter().map(|gk| plural(&gk.kind)).collect();
    (!kinds.is_empty() && kinds.iter().all(is_idle)).then(|| names.join(", "))
}

/// Whether all settings of a policy are for requests to backends. Then it does nothing on routes without any.
fn needs_backend(snapshot: &Snapshot, policy: &Policy, target: &Place) -> bool {
    let path = OnPath {
        without_backend: true,
        ..OnPath::default()
    };
    let there = level_of(target).and_then(|level| policy.at_level(level, path));
    let is_route = matches!(Level::end_for(&target.object.gk), Level::Rule);
    let mut routes = routes_of(snapshot, gateway_of(snapshot, &target.object));
    there.is_some_and(|there| there.has_no_effect() || there.is_empty())
        && (is_route || routes.next().is_some())
}

/// The level at which a policy on a target is attached.
fn level_of(target: &Place) -> Option<Level> {
    let kind = &target.object.gk;
    match (Level::end_for(kind), &target.section) {
        (level @ (Level::Listener | Level::Rule), Some(_)) => Some(level),
        _ => Level::of_kind(kind),
    }
}

/// The settings that a policy lacks without which its kind counts it as empty.
fn lacks_required(policy: &Policy) -> Option<String> {
    let fields = policy.profile.merging.non_empty_if.join(" or ");
    let why = || format!("it has no {fields}, and no policy that has any merges with it");
    policy.lacks_required().then(why)
}

/// The reason if it is not that objects below the target are missing.
fn lasting(
    snapshot: &Snapshot,
    policy: &Policy,
    groups: &[&PathGroup],
    target: &Place,
) -> Option<String> {
    let away = why_unaccepted(snapshot, target).or_else(|| run_by_others(snapshot, policy, target));
    let away = away.or_else(|| delegation(snapshot, target));
    if away.is_some() {
        return away;
    }
    let why = lacks_required(policy)
        .or_else(|| without_effect_on_route(policy, target))
        .or_else(|| without_effect_at_level(snapshot, policy, target))
        .or_else(|| without_effect_on_ports(policy, groups, target))
        .or_else(|| without_effect_by_protocol(policy, groups))
        .or_else(|| of_other_listeners(snapshot, policy, groups, target));
    if why.is_some() {
        return why;
    }
    let of_namespaces = [
        Level::GatewayNamespace,
        Level::RouteNamespace,
        Level::BackendNamespace,
    ];
    let namespaces = of_namespaces
        .into_iter()
        .find(|level| policy.profile.rank(*level).is_some());
    let level = match Level::end_for(&target.object.gk) {
        Level::Port if target.object.gk.is_core("Namespace") => {
            Some(namespaces.unwrap_or(Level::GatewayNamespace))
        }
        Level::Listener if target.section.is_none() => Some(Level::Gateway),
        Level::Rule if target.section.is_none() => Some(Level::Route),
        level => Some(level),
    };
    if level.is_some_and(|level| policy.profile.rank(level).is_none()) {
        let kind = &policy.key().gk.kind;
        return Some(format!("{kind} has no effect at this level"));
    }
    if let Some(parent) = not_followed(snapshot, policy, groups, target) {
        let kind = &policy.key().gk.kind;
        let how = if policy.profile.is_parent_and_target(&parent.gk) {
            format!(
                " unless it exists in the namespace of the route, which names it without port and section, as it does every {}",
                parent.gk.kind
            )
        } else {
            String::new()
        };
        return Some(format!(
            "{kind} does not apply to requests through {parent}{how}"
        ));
    }
    if let Some(why) = by_narrower_listener(snapshot, policy, target) {
        return Some(why);
    }
    let behind = behind_others(policy, groups, target);
    if behind.is_some() {
        return behind;
    }
    without_proxy(snapshot, policy, target)
}

/// The reason if the controller of a Gateway applies only other policy kinds.
fn run_by_others(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let controller = controller(snapshot, &target.object)?;
    let kind = &policy.key().gk.kind;
    let node = snapshot.get(&target.object).map(|object| &object.node);
    let classes = &policy.profile.classes;
    let is_ours = matches!(node, Some(Node::Gateway { class, .. }) if classes.contains(class));
    let others = policy.profile.is_ignored_by(controller) && !is_ours;
    (others && snapshot.knows_controller(controller)).then(|| {
        format!(
            "{controller} runs {} and does not implement {kind}",
            target.object
        )
    })
}

/// The reason if requests reach the target only through Gateways whose controllers do not apply the kind.
fn behind_others(policy: &Policy, groups: &[&PathGroup], target: &Place) -> Option<String> {
    let mut ancestors = groups.iter().flat_map(|group| group.paths.ancestors.iter());
    // The paths of a direct kind are the target alone.
    let is_reached = *policy.profile.class == Class::Direct
        || ancestors.any(|ancestor_path| !ancestor_path.steps.is_empty());
    let is_run = !policy.profile.knows_controllers() || groups.iter().any(|group| group.attached);
    (is_reached && !is_run).then(|| {
        format!(
            "no controller of a Gateway through which requests reach {} implements {}",
            target.object,
            policy.key().gk.kind
        )
    })
}

/// The reason if no Gateway is in front of an object that clients call, for kinds whose policies apply at such
/// Gateways.
fn no_gateway_in_front_of(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let by_label = policy.profile.gateway_by_label.as_ref()?;
    let object = &target.object;
    if !Level::is_of_backend(&object.gk)
        || gateway_in_front_of(snapshot, by_label, object).is_some()
    {
        return None;
    }
    let label = &by_label.label;
    if is_excluded(snapshot, by_label, object) {
        let called = snapshot.get(object)?;
        let is = if let Some(label) = by_label.excluding_label(&called.meta.labels) {
            format!("belongs to a Gateway (label {label})")
        } else if called.node.is_headless() {
            "is headless".to_owned()
        } else {
            "has type ExternalName".to_owned()
        };
        return Some(format!(
            "{object} {is}, and the Gateway that {label} names does not serve such Services"
        ));
    }
    Some(format!(
        "no Gateway serves {object} by its label {label} or that of its Namespace"
    ))
}

/// The reason if a policy without a target is in a Namespace in which no proxy reads it.
fn without_proxy(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let namespace = &target.object;
    let is_namespace = namespace.gk.is_core("Namespace");
    let object = snapshot.get(namespace).filter(|_| is_namespace)?;
    let (label, value) = policy.unread_by(&object.meta.labels)?;
    let kind = &policy.key().gk.kind;
    Some(format!(
        "{namespace} has the label {label}={value}: no proxy in front of its Services reads {} without a target",
        plural(kind)
    ))
}

/// Why no route gets the requests of a rule that delegates, or of a route all of whose rules do; or why a route does
/// not get those of the route above it.
fn delegation(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let route = snapshot.get(&target.object)?;
    let Node::Route { rules, .. } = &route.node else {
        return None;
    };
    if let Some(facts) = facts_of(snapshot, route) {
        let is_meant = |i: usize| {
            let section = target.section.as_ref();
            section.is_none_or(|section| rule_label(route, i) == *section)
        };
        let mut meant = rules.iter().enumerate().filter(|(i, _)| is_meant(*i));
        let first = meant.clone().next();
        if let Some((_, rule)) = first
            && meant.all(|(_, rule)| delegates(facts, rule))
        {
            let mut backends = rule.backends.iter();
            return backends.find_map(|reference| {
                let why = unusable_by(snapshot, Some(facts), route, reference)?;
                Some(not_usable(why, &route.key, &reference.object))
            });
        }
    }
    let parents = parents_of(snapshot, route);
    let parent = parents
        .first()
        .filter(|_| unknown_parent(snapshot, route).is_none())?;
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    if !delegated(&mut route_kind_conflicts, route).is_empty()
        || too_many_delegations(&mut route_kind_conflicts, route).is_some()
    {
        return None;
    }
    let is_attached = |reference| {
        let result = parent_attachment(&mut route_kind_conflicts, route, reference);
        matches!(result, ParentAttachment::Attached(_))
    };
    let nowhere = !route.parents().iter().any(is_attached);
    nowhere.then(|| why_not(snapshot, parent, route))
}

/// Why a route is not attached, according to its first parentRef.
fn not_attached(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let route = snapshot.get(&target.object)?;
    let Node::Route { parents, .. } = &route.node else {
        return None;
    };
    match parent_attachment(
        &mut RouteKindConflicts::new(snapshot),
        route,
        parents.first()?,
    ) {
        ParentAttachment::NotAttached { why, .. } => Some(why),
        ParentAttachment::Attached(_)
        | ParentAttachment::Delegated(_)
        | ParentAttachment::Unknown(_) => None,
    }
}

/// The reason if the hostnames of the routes are wider than those of their listeners, and the controllers of the kind skip such routes.
fn by_narrower_listener(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let narrower = narrower_listeners(snapshot, &policy.profile, target);
    let (listener, route) = narrower.first_key_value()?;
    let kind = &policy.key().gk.kind;
    Some(format!(
        "{kind} applies only for hostnames of a route that lie within that of the listener: {route} has one that is wider than that of \
         {listener}"
    ))
}

/// A parent whose routes the controllers of the kind do not follow.
fn not_followed(
    snapshot: &Snapshot,
    policy: &Policy,
    groups: &[&PathGroup],
    target: &Place,
) -> Option<ObjectKey> {
    if *policy.profile.class == Class::Direct {
        let route = snapshot.get(&target.object);
        let is_followed = controllers_follow_parents(snapshot, &policy.profile, &target.object);
        let parent = route.filter(|_| !is_followed)?.parents().first()?;
        return Some(parent.object.clone());
    }
    let ancestor_paths = groups.iter().flat_map(|group| group.paths.ancestors.iter());
    let mut others =
        ancestor_paths.filter(|ancestor_path| !controllers_follow(&policy.profile, ancestor_path));
    others
        .find_map(|ancestor_path| ancestor_path.last())
        .map(|place| place.object.clone())
}

/// Why the settings of a policy do nothing at a level.
fn without_effect_at_level(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let kind = &target.object.gk;
    let level = level_of(target)?;
    let is_idle = |path: OnPath<'_>| {
        let there = policy.at_level(level, path);
        there.is_some_and(|there| there.has_no_effect() || path.is_some() && there.is_empty())
    };
    let everywhere = is_idle(OnPath::default());
    if !everywhere {
        // It also applies where no route is.
        if !*policy.profile.needs_route {
            return None;
        }
        let paths = paths_at(snapshot, policy, target);
        if paths.is_empty() || !paths.into_iter().all(is_idle) {
            return None;
        }
    }
    let on = match &target.section {
        Some(_) => format!("sections of kind {}", kind.kind),
        None => format!("targets of kind {}", kind.kind),
    };
    let of_requests = if everywhere {
        ""
    } else {
        " for the requests that arrive there"
    };
    Some(format!("none of its settings applies to {on}{of_requests}"))
}

/// The requests that reach the routes of a listener, of all listeners of an object, as facts about settings tell them apart.
fn paths_at<'a>(snapshot: &'a Snapshot, policy: &'a Policy, target: &Place) -> Vec<OnPath<'a>> {
    let Some(owner) = snapshot.get(&target.object) else {
        return Vec::new();
    };
    let section = target.section.as_ref();
    let listeners = owner.listeners().iter();
    let listeners = listeners.filter(|own| section.is_none_or(|name| own.name == *name));
    let profile = &policy.profile;
    let routes = snapshot.naming(&owner.key).filter(|route| {
        let mut parents = route.parents_to(&owner.key);
        let is_named = |name: &Arc<str>| section.is_none_or(|section| section == name);
        parents.any(|parent| parent.section.as_ref().is_none_or(is_named))
    });
    let routes: BTreeSet<&GroupKind> = routes.map(|route| &route.key.gk).collect();
    let paths = listeners.flat_map(|listener| {
        let listener = ListenerFacts::from_listener(profile, listener).protocols(profile);
        routes.iter().map(move |route| OnPath {
            listener,
            route: Some(route),
            without_backend: false,
        })
    });
    paths.collect()
}

/// The reason if all settings of a policy are for ports on which its target has no listener.
fn without_effect_on_ports(
    policy: &Policy,
    groups: &[&PathGroup],
    target: &Place,
) -> Option<String> {
    let ports = policy.only_ports().filter(|_| groups.is_empty())?;
    let ports: BTreeSet<String> = ports.iter().map(|port| format!("port {port}")).collect();
    Some(format!(
        "all its settings are for {}, where {target} has no listener",
        first(&ports)
    ))
}

/// The reason if none of a policy's settings applies to listeners with the protocols of its target.
fn without_effect_by_protocol(policy: &Policy, groups: &[&PathGroup]) -> Option<String> {
    let on_listeners = &policy.profile.merging.on_listeners;
    let facts = groups.iter().map(|group| group.listener);
    let is_idle = |facts: ListenerFacts| {
        let acting = policy.at_listeners(facts);
        acting.is_some_and(|acting| acting.has_no_effect() || acting.is_empty())
    };
    let on = facts
        .clone()
        .map(|facts| on_listeners.get(usize::from(facts.on?)));
    let protocols = on.collect::<Option<Vec<&OnListeners>>>()?;
    let protocols = protocols.iter().flat_map(|on| &on.protocols);
    let protocols: BTreeSet<String> = protocols.map(ToString::to_string).collect();
    (!protocols.is_empty() && facts.clone().all(is_idle)).then(|| {
        format!(
            "none of its settings applies to listeners with protocol {}",
            first(&protocols)
        )
    })
}

/// Why a policy does nothing on a route of a kind that supports few settings.
fn without_effect_on_route(policy: &Policy, target: &Place) -> Option<String> {
    let (place, on) = policy.profile.on_routes_of(&target.object.gk)?;
    let (own, route) = (&policy.key().gk.kind, &target.object.gk.kind);
    if target.section.is_some() && !on.sections {
        return Some(format!("{own} does not apply to single rules of a {route}"));
    }
    let there = policy.on_routes(place)?;
    let is_idle = there.has_no_effect() || (there.is_empty() && !policy.is_empty());
    is_idle.then(|| format!("none of its settings applies to a {route}"))
}
