//! Delegation of an `HTTPRoute` to others, which some controllers allow: which routes a rule delegates to, and which
//! requests it hands on.

use std::collections::VecDeque;
use std::sync::Arc;

use super::controller_facts;
use super::delegated_matches::handed_on;
use crate::kinds::profile::DelegationFile;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::maps::HashSet;
use crate::model::object::{BackendRef, Node, Object, ParentRef, Rule, is_route};
use crate::policy::fuel;
use crate::state::snapshot::{Snapshot, namespace_key};
use crate::topology::reports::{controller, of_route};

/// The longest chain of routes that delegate to each other that is followed.
pub const MOST_DELEGATIONS: usize = 16;

/// Whether a rule delegates: then all its requests go to other routes.
pub fn delegates(facts: &DelegationFile, rule: &Rule) -> bool {
    let mut backends = rule.backends.iter();
    backends.any(|backend| facts.has_kind(&backend.object.gk))
}

/// Whether a backend of a rule stands for a route.
pub fn selects(facts: &DelegationFile, reference: &BackendRef, child: &Object) -> bool {
    let referenced = &reference.object;
    if !child.key.gk.is_gateway_api("HTTPRoute") {
        return false;
    }
    if referenced.gk.is_gateway_api("HTTPRoute") {
        let has_label = || {
            let label = referenced
                .name
                .split_once('=')
                .filter(|_| facts.labels_as_names);
            label.is_some_and(|(key, value)| {
                let own = child.meta.labels.get(key);
                own.is_some_and(|own| **own == *value)
            })
        };
        let fits_name = matches!(&*referenced.name, "" | "*")
            || referenced.name == child.key.name
            || has_label();
        return fits_name && referenced.namespace == child.key.namespace;
    }
    facts.by_label.as_ref().is_some_and(|by| {
        let is_there = referenced.namespace == child.key.namespace
            || by.any_namespace.as_deref() == Some(&*referenced.namespace);
        let label = child.meta.labels.get(by.label.as_str());
        is_there
            && facts.has_kind(&referenced.gk)
            && label.is_some_and(|value| *value == referenced.name)
    })
}

/// Whether a route lets another delegate to it: it names it as a parent, or has no parents.
pub fn accepts_parent(child: &Object, parent: &ObjectKey) -> bool {
    child.parents().is_empty() || child.parents_to(parent).next().is_some()
}

/// Whether a route serves its own hostnames, so that none can delegate to it.
pub fn has_hostnames(route: &Object) -> bool {
    !route.hostnames().is_empty()
}

/// Whether a rule of `parent` delegates to a route, on a path on which the routes of `chain` delegate down to
/// `parent`. A backend that stands for one of these, too, would be a cycle: then it stands for no route.
pub fn leads_to(
    facts: &DelegationFile,
    (parent, rule): (&Object, &Rule),
    chain: &[&Arc<Object>],
    child: &Object,
) -> bool {
    let may_be_child = |object: &Object| accepts_parent(object, &parent.key);
    let mut references = rule.backends.iter();
    may_be_child(child)
        && references.any(|reference| {
            let returns = |above: &Object| selects(facts, reference, above) && may_be_child(above);
            selects(facts, reference, child)
                && !returns(parent)
                && !chain.iter().any(|above| returns(above))
        })
}

/// Why the delegation of a route is not followed: its controllers follow none, or the controller of
/// a Gateway is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfollowed {
    /// The controllers of its Gateways do not follow delegation.
    NoDelegation,
    /// The controller of a Gateway is not known.
    UnknownController,
}

/// Whether the controllers of a route are known to follow no delegation, or not known; `None` if one follows it, or
/// may because the route is below other routes.
pub fn unfollowed(snapshot: &Snapshot, route: &Object) -> Option<Unfollowed> {
    // As `facts_of`, without the climb to the Gateway that decides which facts count.
    let follows = || snapshot.delegations().next().is_some() && may_delegate(snapshot, route);
    if route.parents().is_empty() || follows() {
        return None;
    }
    let mut parents = route.parents().iter();
    let is_known = parents.all(|parent| controller(snapshot, &parent.object).is_some());
    Some(if is_known {
        Unfollowed::NoDelegation
    } else {
        Unfollowed::UnknownController
    })
}

/// Whether a backend of a route stands for routes if the controller of the route, which is not known, follows delegation.
pub fn may_stand_for_routes(snapshot: &Snapshot, route: &Object, reference: &BackendRef) -> bool {
    let mut all = snapshot.delegations();
    all.any(|facts| facts.has_kind(&reference.object.gk))
        && unfollowed(snapshot, route) == Some(Unfollowed::UnknownController)
}

/// The facts about delegation of a controller of a route: that of one of its Gateways, or any if other routes may
/// delegate to it.
pub fn facts_of<'a>(snapshot: &'a Snapshot, route: &Object) -> Option<&'a DelegationFile> {
    let mut all = snapshot.delegations().peekable();
    all.peek()?;
    let mut parents = route.parents().iter().map(|parent| &parent.object);
    if route.parents().is_empty() || parents.any(|parent| is_route(&parent.gk)) {
        return facts_above(snapshot, route).or_else(|| all.next());
    }
    facts_by_gateway(snapshot, route)
}

/// The facts about delegation of the controller of a Gateway that a route names.
fn facts_by_gateway<'a>(snapshot: &'a Snapshot, route: &Object) -> Option<&'a DelegationFile> {
    let mut parents = route.parents().iter();
    let facts = |parent: &ParentRef| controller_facts(snapshot, &parent.object);
    parents.find_map(|parent| facts(parent)?.delegation.as_ref())
}

/// The facts about delegation of the controller of a Gateway through which requests reach a route below others.
fn facts_above<'a>(snapshot: &'a Snapshot, route: &Object) -> Option<&'a DelegationFile> {
    climb(snapshot, route, |above| facts_by_gateway(snapshot, above))
}

/// The first that is found of the routes that may delegate to a route, directly or through others; the nearest are asked first.
///
/// Routes may delegate to each other in a cycle, and each to all others, so each is asked once, and those above are looked for from
/// the first ones alone.
fn climb<T>(
    snapshot: &Snapshot,
    route: &Object,
    mut find: impl FnMut(&Arc<Object>) -> Option<T>,
) -> Option<T> {
    let mut above = parents_of(snapshot, route);
    let mut met: HashSet<ObjectKey> = above.iter().map(|one| one.key.clone()).collect();
    let mut next = 0;
    while let Some(parent) = above.get(next).cloned() {
        let found = find(&parent);
        if found.is_some() {
            return found;
        }
        next += 1;
        if next < MOST_DELEGATIONS {
            let further = parents_of(snapshot, &parent).into_iter();
            above.extend(further.filter(|one| met.insert(one.key.clone())));
        }
    }
    None
}

/// Whether a backend, which does not stand for routes itself, is in a rule that delegates.
pub fn is_in_delegating_rule(
    facts: &DelegationFile,
    route: &Object,
    reference: &BackendRef,
) -> bool {
    let mut rules = rules_of(route).iter();
    let has = |rule: &Rule| rule.backends.iter().any(|own| std::ptr::eq(own, reference));
    rules.any(|rule| has(rule) && delegates(facts, rule))
}

/// Whether some route may take the requests of a rule that delegates by a reference.
pub fn takes_requests(
    snapshot: &Snapshot,
    facts: &DelegationFile,
    parent: &Object,
    reference: &BackendRef,
) -> bool {
    let children = selected(snapshot, facts, reference);
    let mut children = children.into_iter().filter(|child| {
        accepts_parent(child, &parent.key) && !has_hostnames(child) && child.key != parent.key
    });
    let rules = rules_of(parent).iter().enumerate();
    let rules = rules.filter(|(_, rule)| rule.backends.contains(reference));
    let rules: Vec<usize> = rules.map(|(i, _)| i).collect();
    children.any(|child| {
        let mut rules = rules.iter();
        rules.any(|i| is_within_rule(facts, parent, *i, child))
    })
}

/// Whether a rule that delegates answers with an error if no route below takes the requests: some
/// of its backends stand for no route, or for none that takes requests of the rule.
pub fn is_dead_end(
    snapshot: &Snapshot,
    facts: &DelegationFile,
    rule: &Rule,
    below: &[&Arc<Object>],
) -> bool {
    let mut backends = rule.backends.iter();
    let mut takes = false;
    backends.any(|reference| {
        if !facts.has_kind(&reference.object.gk) {
            return false;
        }
        // The routes of earlier backends count, too.
        takes |= below.iter().any(|route| selects(facts, reference, route));
        !takes || selected(snapshot, facts, reference).is_empty()
    })
}

/// Whether requests of a rule reach some rule of a route below, as far as the two rules decide
/// that.
fn is_within_rule(facts: &DelegationFile, parent: &Object, rule: usize, child: &Object) -> bool {
    let Node::Route { rule_matches, .. } = &parent.node else {
        return false;
    };
    // The matches of a route that inherits those above are known only together with them.
    facts.inherits_matches(parent)
        || handed_on(facts, rule_matches.of_rule(rule), child)
            .iter()
            .any(|matches| !matches.is_empty())
}

/// Why a route does not get requests from another one that it names as its parent.
pub fn why_not(snapshot: &Snapshot, parent: &Object, child: &Object) -> String {
    let (above, route) = (&parent.key, &child.key);
    let Some(facts) = facts_of(snapshot, parent) else {
        return format!("no rule of {above} delegates to {route}");
    };
    let rules: Vec<(usize, &Rule)> = rules_of(parent).iter().enumerate().collect();
    let leads = |(_, rule): &&(usize, &Rule)| {
        let mut backends = rule.backends.iter();
        backends.any(|reference| selects(facts, reference, child))
    };
    let leading: Vec<&(usize, &Rule)> = rules.iter().filter(leads).collect();
    if leading.is_empty() {
        return format!("no rule of {above} delegates to {route}");
    }
    if has_hostnames(child) {
        return format!(
            "{route} sets hostnames, but a route to which {above} delegates must leave them empty"
        );
    }
    if !leading
        .iter()
        .any(|(i, _)| is_within_rule(facts, parent, *i, child))
    {
        return format!(
            "no match of {route} is within those of the rules of {above} that delegate to it"
        );
    }
    if parent.parents().is_empty() {
        return format!("no route delegates to {above}");
    }
    format!("{above} is not attached itself, or leads back to a route that delegates to it")
}

/// The rules of a route; none for other objects.
pub(crate) fn rules_of(route: &Object) -> &[Rule] {
    match &route.node {
        Node::Route { rules, .. } => rules,
        _ => &[],
    }
}

/// Whether the status of a route says that it does not get the requests of another route that delegates.
pub fn reports_rejection(snapshot: &Snapshot, child: &Object, parent: &Object) -> bool {
    let unnamed = ParentRef {
        object: parent.key.clone(),
        section: None,
        port: None,
    };
    let reports = |reference: &ParentRef| of_route(snapshot, child, reference).is_some();
    match child.parents() {
        [] => reports(&unnamed),
        _ => child.parents_to(&parent.key).all(reports),
    }
}

/// Whether requests may reach a route through a controller that follows delegation.
fn may_delegate(snapshot: &Snapshot, route: &Object) -> bool {
    let mut parents = route.parents().iter().map(|parent| &parent.object);
    let follows = |parent: &ObjectKey| {
        is_route(&parent.gk)
            || controller_facts(snapshot, parent).is_some_and(|facts| facts.delegation.is_some())
    };
    route.parents().is_empty() || parents.any(follows)
}

/// The routes that may delegate to a route, by any facts; each once.
pub fn parents_of(snapshot: &Snapshot, child: &Object) -> Vec<Arc<Object>> {
    let (gk, namespace) = (&child.key.gk, &child.key.namespace);
    let mut delegations = snapshot.delegations().peekable();
    if !gk.is_gateway_api("HTTPRoute") || delegations.peek().is_none() {
        return Vec::new();
    }
    let mut keys = vec![child.key.clone()];
    let in_namespace = |name: &str| ObjectKey::new(gk.clone(), namespace.clone(), name);
    keys.extend(["*", ""].map(in_namespace));
    for facts in delegations {
        if facts.labels_as_names {
            let labels = child.meta.labels.iter();
            keys.extend(labels.map(|(key, value)| in_namespace(&format!("{key}={value}"))));
        }
        if let Some(by) = &facts.by_label
            && let Some(value) = child.meta.labels.get(by.label.as_str())
        {
            let kind = GroupKind::new(by.group.as_str(), by.kind.as_str());
            let anywhere = by.any_namespace.as_deref().map(Arc::from);
            let namespaces = std::iter::once(namespace.clone()).chain(anywhere);
            let key = |namespace| ObjectKey::new(kind.clone(), namespace, value.clone());
            keys.extend(namespaces.map(key));
        }
    }
    let mut known: HashSet<&ObjectKey> = HashSet::default();
    let parents = keys.iter().flat_map(|key| snapshot.using(key));
    let parents = parents.filter(|parent| {
        parent.key.gk.is_gateway_api("HTTPRoute")
            && accepts_parent(child, &parent.key)
            && known.insert(&parent.key)
    });
    parents.cloned().collect()
}

/// The cost of finding the routes above a route and those to which it delegates, in units of fuel.
pub fn delegation_cost(snapshot: &Snapshot, route: &Object) -> usize {
    let above = parents_of(snapshot, route).len();
    let followed: Vec<&DelegationFile> = snapshot.delegations().collect();
    let names_many = |reference: &&BackendRef| {
        let mut facts = followed.iter();
        !names_one(&reference.object) && facts.any(|facts| facts.has_kind(&reference.object.gk))
    };
    let below = match route.backends().filter(names_many).count() {
        0 => 0,
        many => many * snapshot.below(&namespace_key(&route.key.namespace)).count(),
    };
    above * MOST_DELEGATIONS / fuel::ROUTES + below / fuel::SCANNED
}

/// A route that may delegate to a route, directly or through others, and of whose Gateway the controller is not known.
pub fn unknown_parent(snapshot: &Snapshot, route: &Object) -> Option<Arc<Object>> {
    climb(snapshot, route, |above| {
        let is_unknown = unfollowed(snapshot, above) == Some(Unfollowed::UnknownController);
        is_unknown.then(|| above.clone())
    })
}

/// The routes that the rules of a route may delegate to, by any facts; each once.
fn children_of<'a>(snapshot: &'a Snapshot, parent: &Object) -> Vec<&'a Arc<Object>> {
    let mut children: Vec<&'a Arc<Object>> = Vec::new();
    let mut known: HashSet<&ObjectKey> = HashSet::default();
    if !parent.key.gk.is_gateway_api("HTTPRoute") {
        return children;
    }
    for facts in snapshot.delegations() {
        for reference in parent.backends().filter(|b| facts.has_kind(&b.object.gk)) {
            for child in selected(snapshot, facts, reference) {
                if accepts_parent(child, &parent.key) && known.insert(&child.key) {
                    children.push(child);
                }
            }
        }
    }
    children
}

/// The routes that some routes may delegate to, that these may delegate to, and so on: at most `limit`, without the
/// first ones.
pub fn delegated_to<'a>(
    snapshot: &'a Snapshot,
    routes: impl IntoIterator<Item = &'a Arc<Object>>,
    limit: usize,
) -> Vec<Arc<Object>> {
    let mut descendants: Vec<Arc<Object>> = Vec::new();
    let followed: Vec<&DelegationFile> = snapshot.delegations().collect();
    if followed.is_empty() {
        return descendants;
    }
    let names_routes = |reference: &BackendRef| {
        let mut facts = followed.iter();
        facts.any(|facts| facts.has_kind(&reference.object.gk))
    };
    let mut open: VecDeque<&Arc<Object>> = routes.into_iter().collect();
    let met = open.iter().map(|route| &route.key);
    let mut met: HashSet<&ObjectKey> = met.collect();
    while let Some(parent) = open.pop_front() {
        // Few routes have such a backend, so the controller is not asked for the others.
        if !parent.backends().any(names_routes) || !may_delegate(snapshot, parent) {
            continue;
        }
        for child in children_of(snapshot, parent) {
            if descendants.len() >= limit {
                return descendants;
            }
            if met.insert(&child.key) {
                descendants.push(child.clone());
                open.push_back(child);
            }
        }
    }
    descendants
}

/// Whether a backend that stands for routes names a single one. No name of an object has an equals sign.
pub(super) fn names_one(backend: &ObjectKey) -> bool {
    let names_all = matches!(&*backend.name, "" | "*");
    backend.gk.is_gateway_api("HTTPRoute") && !names_all && !backend.name.contains('=')
}

/// The routes that a backend stands for.
fn selected<'a>(
    snapshot: &'a Snapshot,
    facts: &DelegationFile,
    reference: &BackendRef,
) -> Vec<&'a Arc<Object>> {
    let referenced = &reference.object;
    if names_one(referenced) {
        return snapshot.get(referenced).into_iter().collect();
    }
    let kind = GroupKind::gateway_api("HTTPRoute");
    let by_label = facts.by_label.as_ref().filter(|_| referenced.gk != kind);
    let anywhere = by_label.and_then(|by| by.any_namespace.as_deref());
    let namespace = namespace_key(&referenced.namespace);
    let mut routes: Vec<&'a Arc<Object>> = if anywhere == Some(&*referenced.namespace) {
        let all = snapshot.objects(&kind);
        all.filter(|route| selects(facts, reference, route))
            .collect()
    } else {
        let there = snapshot.below(&namespace);
        there
            .filter(|route| selects(facts, reference, route))
            .collect()
    };
    routes.sort_by(|a, b| a.key.cmp(&b.key));
    routes
}

#[cfg(test)]
mod tests;
