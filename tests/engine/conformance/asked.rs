//! Compares what a test of the suite expects with attache's answer.

use std::sync::Arc;

use attache::engine::model::ids::{GroupKind, ObjectKey, Place};
use attache::engine::model::object::{Node, Object, ROUTES};
use attache::engine::topology::{
    ParentAttachment, RouteKindConflicts, Unreached, listeners_of, parent_attachment, unaccepted,
    unusable,
};
use serde_json::Value;

use super::requests;
use super::test_state::{TestState, key};

pub(crate) enum Answer {
    /// The number of questions, all answered as expected.
    Agrees(usize),
    Differs(String),
    /// The question cannot be answered from manifests alone.
    NotAsked,
}

/// Checks what a call in the suite expects.
pub(crate) fn ask(state: &TestState, call: &Value) -> Answer {
    let func = call["func"].as_str().unwrap();
    let args = call["args"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<&Value> = of_type(args, "NamespacedName").collect();
    let conditions = of_type(args, "Condition");
    let (package, name) = func.split_once('.').unwrap();
    if package != "kubernetes" {
        return requests::ask(state, func, args);
    }
    let kind = ROUTES.iter().find(|kind| name.starts_with(**kind)).copied();
    match (name, kind) {
        (_, Some(kind)) => match name.trim_start_matches(kind) {
            "MustHaveCondition" => {
                let mut conditions = conditions;
                let (Some(route), Some(gateway), Some(condition)) =
                    (names.first(), names.get(1), conditions.next())
                else {
                    return Answer::NotAsked;
                };
                let parent = ["Gateway", "ListenerSet"].map(|kind| key(kind, gateway));
                let object = state.get(kind, route);
                let is_parent =
                    |key: &&ObjectKey| object.is_some_and(|r| r.parents_to(key).next().is_some());
                let there = |key: &&ObjectKey| state.snapshot.get(key).is_some();
                let parent = parent.iter().find(is_parent).or(parent.iter().find(there));
                let Some(parent) = parent else {
                    return Answer::NotAsked;
                };
                of_route(state, kind, route, parent, condition)
            }
            "MustHaveResolvedRefsConditionsTrue" => resolved(state, kind, names[0], None),
            "MustHaveNoAcceptedParents" => {
                let attached = attached(state, kind, names[0]);
                said(attached.is_empty(), || {
                    format!("{kind} is attached to {attached:?}")
                })
            }
            "MustHaveParents" => parents(state, kind, names[0], args),
            _ => Answer::NotAsked,
        },
        ("GatewayAndHTTPRoutesMustBeAccepted", _) => accepted(state, "HTTPRoute", args),
        ("GatewayAndTLSRoutesMustBeAccepted", _) => accepted(state, "TLSRoute", args),
        ("GatewayAndTCPRoutesMustBeAccepted", _) => accepted(state, "TCPRoute", args),
        ("GatewayAndUDPRoutesMustBeAccepted", _) => accepted(state, "UDPRoute", args),
        ("GatewayAndRoutesMustBeAccepted" | "RoutesAndParentMustBeAccepted", _) => {
            let kind = ROUTES
                .iter()
                .find(|kind| of_type(args, kind).next().is_some());
            kind.map_or(Answer::NotAsked, |kind| accepted(state, kind, args))
        }
        ("GatewayStatusMustHaveListeners", _) => statuses(state, "Gateway", &names, args),
        ("ListenerSetStatusMustHaveListeners", _) => statuses(state, "ListenerSet", &names, args),
        ("GatewayListenersMustHaveConditions" | "GatewayListenerMustHaveConditions", _) => {
            listener(state, "Gateway", &names, args)
        }
        ("ListenerSetListenersMustHaveConditions", _) => {
            listener(state, "ListenerSet", &names, args)
        }
        ("ListenerSetMustHaveCondition", _) => {
            let mut conditions = conditions;
            let condition = conditions.next().filter(|c| c["Type"] == "Accepted");
            let Some(condition) = condition else {
                return Answer::NotAsked;
            };
            let set = key("ListenerSet", names[0]);
            let why = unaccepted(&state.snapshot, &set.whole());
            let should = condition["Status"] == "True";
            said(why.is_none() == should, || format!("{set}: {why:?}"))
        }
        ("GatewayMustHaveAttachedListeners", _) => {
            let gateway = key("Gateway", names[0]);
            let sets = state.snapshot.below(&gateway);
            let sets = sets.filter(|o| matches!(o.node, Node::ListenerSet { .. }));
            let accepted =
                sets.filter(|set| unaccepted(&state.snapshot, &set.key.whole()).is_none());
            let (found, should) = (accepted.count(), args.iter().find_map(Value::as_u64));
            said(Some(found as u64) == should, || {
                format!("{gateway} has {found} sets, not {should:?}")
            })
        }
        ("GatewayMustHaveZeroRoutes", _) => {
            let gateway = state.get("Gateway", names[0]).unwrap();
            let counts = listeners_of(gateway).iter();
            let counts = counts.map(|l| count(state, &gateway.key.section(l.name.clone())));
            let all: usize = counts.sum();
            said(all == 0, || format!("{} has {all} routes", gateway.key))
        }
        _ => Answer::NotAsked,
    }
}

pub(crate) fn said(agrees: bool, why: impl FnOnce() -> String) -> Answer {
    if agrees {
        Answer::Agrees(1)
    } else {
        Answer::Differs(why())
    }
}

pub(crate) fn of_type<'a>(args: &'a [Value], name: &str) -> impl Iterator<Item = &'a Value> {
    args.iter().filter(move |arg| arg["_type"] == name)
}

/// The listeners that a route is attached to.
fn attached(state: &TestState, kind: &str, name: &Value) -> Vec<Place> {
    let route = state.get(kind, name);
    route.map_or_else(Vec::new, |route| places(state, route))
}

fn places(state: &TestState, route: &Arc<Object>) -> Vec<Place> {
    let Node::Route { parents, .. } = &route.node else {
        return Vec::new();
    };
    let mut route_kind_conflicts = RouteKindConflicts::new(&state.snapshot);
    let mut found = Vec::new();
    for parent in parents {
        if let ParentAttachment::Attached(places) =
            parent_attachment(&mut route_kind_conflicts, route, parent)
        {
            found.extend(places);
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The number of routes attached to a listener.
fn count(state: &TestState, listener: &Place) -> usize {
    let kinds = ROUTES.iter().map(|kind| GroupKind::gateway_api(kind));
    let routes = kinds.flat_map(|kind| state.snapshot.objects(&kind).cloned().collect::<Vec<_>>());
    routes
        .filter(|route| places(state, route).contains(listener))
        .count()
}

fn accepted(state: &TestState, kind: &str, args: &[Value]) -> Answer {
    let gateway = of_type(args, "GatewayRef")
        .next()
        .map(|r| key("Gateway", &r["gateway"]));
    let parent = of_type(args, "ResourceRef").next();
    let parent = parent.map(|r| key(r["kind"].as_str().unwrap_or_default(), &r["name"]));
    let Some(gateway) = gateway.or(parent) else {
        return Answer::NotAsked;
    };
    let mut n = 0;
    for name in of_type(args, "NamespacedName") {
        let places = attached(state, kind, name);
        if !places.iter().any(|place| place.object == gateway) {
            return Answer::Differs(format!("{kind} {name} is not attached to {gateway}"));
        }
        n += 1;
    }
    Answer::Agrees(n)
}

fn of_route(
    state: &TestState,
    kind: &str,
    name: &Value,
    gateway: &ObjectKey,
    condition: &Value,
) -> Answer {
    let should = condition["Status"] == "True";
    match condition["Type"].as_str() {
        Some("Accepted") => {
            let places = attached(state, kind, name);
            let is = places.iter().any(|place| place.object == *gateway);
            said(is == should, || {
                format!("{kind} {name} accepted by {gateway}: {is}")
            })
        }
        Some("ResolvedRefs") if should => resolved(state, kind, name, None),
        Some("ResolvedRefs") => resolved(state, kind, name, condition["Reason"].as_str()),
        _ => Answer::NotAsked,
    }
}

/// Whether all backends of a route can be used, or one cannot for this reason.
fn resolved(state: &TestState, kind: &str, name: &Value, reason: Option<&str>) -> Answer {
    let Some(route) = state.get(kind, name) else {
        return Answer::NotAsked;
    };
    let why: Vec<Unreached> = route
        .backends()
        .filter_map(|reference| unusable(&state.snapshot, route, reference))
        .collect();
    let agrees = match reason {
        None => why.is_empty(),
        Some("RefNotPermitted") => why.contains(&Unreached::NotGranted),
        Some("BackendNotFound") => why.contains(&Unreached::Missing),
        Some("InvalidKind") => why.contains(&Unreached::Kind),
        // For any reason.
        Some("") => !why.is_empty(),
        Some(_) => return Answer::NotAsked,
    };
    said(agrees, || {
        format!("{} backends: {why:?}, not {reason:?}", route.key)
    })
}

/// Whether each parent of a route is accepted as the status says.
fn parents(state: &TestState, kind: &str, name: &Value, args: &[Value]) -> Answer {
    let statuses = args.iter().filter_map(Value::as_array).flatten();
    let mut n = 0;
    for status in statuses {
        let parent = &status["ParentRef"];
        let conditions = status["Conditions"].as_array().into_iter().flatten();
        // Kinds that the test computes at run time are not known.
        let Some(kind_of) = parent["Kind"].as_str() else {
            continue;
        };
        for condition in conditions.filter(|c| c["Type"] == "Accepted") {
            let mut name_of = parent.clone();
            if name_of["Namespace"].is_null() {
                name_of["Namespace"] = name["Namespace"].clone();
            }
            match of_route(state, kind, name, &key(kind_of, &name_of), condition) {
                Answer::Agrees(_) => n += 1,
                other => return other,
            }
        }
    }
    if n == 0 {
        Answer::NotAsked
    } else {
        Answer::Agrees(n)
    }
}

/// The attached routes and the conditions of listeners.
fn statuses(state: &TestState, kind: &str, names: &[&Value], args: &[Value]) -> Answer {
    let owner = key(kind, names[0]);
    let listeners = args.iter().filter_map(Value::as_array).flatten();
    let mut n = 0;
    for status in listeners {
        let place = owner.section(status["Name"].as_str().unwrap_or_default());
        let conditions = status["Conditions"].as_array();
        if let Answer::Differs(why) = conditions_of(state, &place, conditions.into_iter().flatten())
        {
            return Answer::Differs(why);
        }
        let accepted = unaccepted(&state.snapshot, &place).is_none();
        let should = status["AttachedRoutes"].as_u64().unwrap_or_default();
        if accepted {
            let found = count(state, &place) as u64;
            if found != should {
                return Answer::Differs(format!("{place} has {found} routes, not {should}"));
            }
        }
        n += 1;
    }
    if n == 0 {
        Answer::NotAsked
    } else {
        Answer::Agrees(n)
    }
}

fn listener(state: &TestState, kind: &str, names: &[&Value], args: &[Value]) -> Answer {
    let owner = key(kind, names[0]);
    let name = args.iter().rev().filter_map(Value::as_str);
    let mut name = name.filter(|name| !["Client", "TimeoutConfig"].contains(name));
    let (Some(name), Some(conditions)) = (name.next(), args.iter().find_map(Value::as_array))
    else {
        return Answer::NotAsked;
    };
    conditions_of(state, &owner.section(name), conditions)
}

/// Whether a listener is accepted as these conditions say, if attache can know: it does not check certificates or the
/// features of an implementation.
fn conditions_of<'a>(
    state: &TestState,
    place: &Place,
    conditions: impl IntoIterator<Item = &'a Value>,
) -> Answer {
    let why = unaccepted(&state.snapshot, place);
    let mut asked = false;
    for condition in conditions {
        let holds = condition["Status"] == "True";
        let agrees = match (condition["Type"].as_str(), condition["Reason"].as_str()) {
            (Some("Conflicted"), _) => why.is_some() == holds,
            (Some("Accepted"), _) if holds => why.is_none(),
            (Some("Accepted"), Some("HostnameConflict" | "ProtocolConflict")) => why.is_some(),
            _ => continue,
        };
        asked = true;
        if !agrees {
            return Answer::Differs(format!("{place}: {why:?}, not {condition}"));
        }
    }
    if asked {
        Answer::Agrees(1)
    } else {
        Answer::NotAsked
    }
}
