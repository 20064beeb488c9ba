//! Why requests do not reach an object: parents that do not accept a route, backends that get no requests, listeners
//! that are not accepted.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::named::Named;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::object::{Node, Object};
use crate::engine::model::section;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::topology::reports::{faults, of_whole};
use crate::engine::topology::{
    ParentAttachment, RouteKindConflicts, listeners_of, not_usable, parent_attachment,
    reason_for_all_listeners, unusable, why_unaccepted,
};

/// A parent, backend, listener or route that gets no requests or passes none on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Problem {
    /// The subject of the problem.
    pub what: ProblemSubject,
    /// The parent, the backend, the listener, the other route, or the rule of this one.
    pub object: Named,
    /// Why.
    pub reason: String,
}

/// The subject of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProblemWith")]
pub enum ProblemSubject {
    /// A parent that does not accept the route.
    Parent,
    /// A backend that gets no requests from the route.
    Backend,
    /// A listener that is not accepted; the object, if none of its listeners is accepted for one reason.
    Listener,
    /// Another route, which takes all requests that the route matches.
    Route,
    /// A rule of the route. Other rules take all requests that it matches.
    Rule,
    /// A `GatewayClass` that its controller does not accept.
    Class,
    /// A reference of the route that leads nowhere: a filter names a policy that does not exist, or the controller of a
    /// parent reports it.
    Reference,
}

/// The problems of an object or section.
pub(super) fn problems(resolver: &mut Resolver<'_>, place: &Place) -> Vec<Problem> {
    let mut route_kind_conflicts = RouteKindConflicts::new(resolver.snapshot());
    of_object(resolver, &mut route_kind_conflicts, place)
}

/// [`problems`] for callers that ask about many objects and share `route_kind_conflicts`.
pub(super) fn of_object(
    resolver: &mut Resolver<'_>,
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    place: &Place,
) -> Vec<Problem> {
    let snapshot = resolver.snapshot();
    let Some(object) = snapshot.get(&place.object) else {
        return Vec::new();
    };
    let mut problems = BTreeSet::new();
    let problem = |what, object: Place, reason| Problem {
        what,
        object: Named::from(&object),
        reason,
    };
    match &object.node {
        Node::Gateway { .. } | Node::ListenerSet { .. } => {
            let owner = &object.key;
            let of_owner = reason_for_all_listeners(snapshot, object);
            if let Some(why) = of_owner.filter(|_| place.section.is_none()) {
                problems.insert(problem(ProblemSubject::Listener, owner.whole(), why));
            } else {
                let names = listeners_of(object).iter().map(|listener| &listener.name);
                let asked = names.filter(|name| place.section.as_ref().is_none_or(|s| s == *name));
                let places = asked.map(|name| owner.section(name.clone()));
                let refused = places.filter_map(|place| {
                    let why = why_unaccepted(snapshot, &place)?;
                    Some(problem(ProblemSubject::Listener, place, why))
                });
                problems.extend(refused);
            }
        }
        Node::Route { parents, rules, .. } => {
            let taken = resolver.taken_by(&object.key.whole());
            if let Some(by) = &taken {
                let route = by.routes.first().unwrap_or(&object.key);
                problems.insert(problem(ProblemSubject::Route, route.whole(), by.why()));
            }
            for parent in parents {
                if let ParentAttachment::NotAttached { why, .. } =
                    parent_attachment(route_kind_conflicts, object, parent)
                {
                    let parent = Place {
                        object: parent.object.clone(),
                        section: parent.section.clone(),
                    };
                    problems.insert(problem(ProblemSubject::Parent, parent, why));
                }
            }
            problems.extend(references(snapshot, object));
            for (i, rule) in rules.iter().enumerate() {
                let label = section::rule_label(object, i);
                if place.section.as_ref().is_some_and(|asked| *asked != label) {
                    continue;
                }
                let rule_place = object.key.section(label);
                if taken.is_none()
                    && let Some(by) = resolver.taken_by(&rule_place)
                {
                    problems.insert(problem(ProblemSubject::Rule, rule_place, by.why()));
                }
                for reference in &rule.backends {
                    let backend: &ObjectKey = &reference.object;
                    if let Some(why) = unusable(snapshot, object, reference) {
                        let why = not_usable(why, &object.key, backend);
                        problems.insert(problem(ProblemSubject::Backend, backend.whole(), why));
                    }
                }
            }
        }
        Node::GatewayClass { .. } => {
            if let Some(report) = of_whole(object) {
                let why = format!("its controller reports {report}");
                problems.insert(problem(ProblemSubject::Class, object.key.whole(), why));
            }
        }
        _ => {}
    }
    problems.into_iter().collect()
}

/// References of a route that lead nowhere.
fn references(snapshot: &Snapshot, route: &Object) -> Vec<Problem> {
    let problem = |object: Place, reason| Problem {
        what: ProblemSubject::Reference,
        object: Named::from(&object),
        reason,
    };
    let missing = snapshot.missing_filters(route).into_iter();
    let missing = missing.map(|(i, policy)| {
        let rule = section::rule_label(route, i);
        let why = format!(
            "requests to rule {rule} fail: its filter names {policy}, which does not exist"
        );
        problem(policy.whole(), why)
    });
    let faults = faults(snapshot, route).map(|(parent, report)| {
        let why = format!("the controller of {} reports {report}", parent.object);
        problem(parent.object.whole(), why)
    });
    missing.chain(faults).collect()
}
