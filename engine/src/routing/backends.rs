//! The backends of a rule, and the response if none of them can be used.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::filters::{RedirectContext, RuleFilters};
use super::spec::BackendSpec;
use crate::model::ids::ObjectKey;
use crate::model::level::Level;
use crate::model::object::{BackendRef, Node, Object};
use crate::model::section;
use crate::state::grants::granted;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::may_stand_for_routes;
use crate::topology::{Unreached, is_of_other_kind, why_rejected};

/// A backend of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The object.
    pub object: ObjectKey,
    /// The port in the reference.
    pub port: Option<u16>,
    /// The label of the port, if it exists.
    pub label: Option<Arc<str>>,
    /// Its weight among the backends of the rule.
    pub weight: u64,
    /// Whether requests reach it.
    pub state: State,
    /// The types of the filters on the reference.
    pub filters: Vec<String>,
    /// The response of a filter, which replaces that of the backend.
    pub answer: Option<Answer>,
}

/// Whether a backend gets requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum State {
    /// It gets requests, according to the routes.
    Used,
    /// Objects of its kind are not looked up.
    NotLooked,
    /// It does not exist.
    Missing,
    /// It is in another namespace and no `ReferenceGrant` allows the reference.
    NotGranted,
    /// It does not have this port.
    NoSuchPort,
    /// It is a Service, and the reference has no port.
    PortUnsaid,
    /// It cannot be a backend: objects of its kind never, or its controller takes no Service of its type.
    NoBackend,
}

/// A response that no backend gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status: a number, or a gRPC code. `None` if there is none, or it is unknown.
    pub status: Option<String>,
    /// The target of a redirect.
    pub location: Option<String>,
    /// The reason.
    pub why: String,
}

// === impl Answer ===

impl Answer {
    /// The error that a client of a route gets, for this reason.
    pub(super) fn error(route: &ObjectKey, why: impl Into<String>) -> Self {
        Self {
            status: failure(route).map(str::to_owned),
            location: None,
            why: why.into(),
        }
    }
}

// === impl State ===

impl State {
    /// Whether requests to it fail.
    pub fn fails(self) -> bool {
        !matches!(self, Self::Used | Self::NotLooked)
    }
}

/// The backends of a rule. In a mesh, a reference to another namespace needs no grant (GEP-1426).
pub(super) fn backends(
    snapshot: &Snapshot,
    route: &Object,
    rule: usize,
    specs: &[BackendSpec],
    in_mesh: bool,
) -> Vec<Backend> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let references = rules.get(rule).map_or(&[][..], |rule| &rule.backends);
    let specs = specs.iter().map(Some).chain(std::iter::repeat(None));
    let all = references.iter().zip(specs);
    all.map(|(reference, spec)| {
        let object = snapshot.get(&reference.object);
        let port = object.zip(reference.port);
        Backend {
            object: reference.object.clone(),
            port: reference.port,
            label: port.and_then(|(object, port)| section::backend_label(object, port)),
            weight: spec.map_or(1, |spec| spec.weight),
            state: state(snapshot, route, reference, in_mesh),
            filters: spec.map_or_else(Vec::new, |spec| spec.filters.types.clone()),
            answer: None,
        }
    })
    .collect()
}

/// The response of a backend's own filter.
pub(super) fn of_backend(
    backend: &Backend,
    filters: &RuleFilters,
    context: &RedirectContext<'_>,
) -> Option<Answer> {
    let redirect = filters
        .redirect
        .as_ref()
        .filter(|_| !backend.state.fails())?;
    Some(Answer {
        status: Some(redirect.status().to_string()),
        location: Some(redirect.location(context)),
        why: format!("the filter RequestRedirect of {} answers", backend.object),
    })
}

pub(super) fn state(
    snapshot: &Snapshot,
    route: &Object,
    reference: &BackendRef,
    in_mesh: bool,
) -> State {
    let key = &reference.object;
    if may_stand_for_routes(snapshot, route, reference) {
        return State::NotLooked;
    }
    if !Level::is_of_backend(&key.gk) {
        return State::NoBackend;
    }
    if !in_mesh && !granted(snapshot, &route.key.gk, &route.key.namespace, key) {
        return State::NotGranted;
    }
    if is_of_other_kind(snapshot, route, &key.gk) {
        return State::NoBackend;
    }
    let Some(object) = snapshot.get(key) else {
        return if snapshot.lacks(key) {
            State::Missing
        } else {
            State::NotLooked
        };
    };
    match (&object.node, reference.port) {
        (Node::Service { .. }, None) => State::PortUnsaid,
        _ if let Some(refused) = why_rejected(snapshot, route, reference) => match refused {
            Unreached::OtherProtocol(_) => State::NoSuchPort,
            _ => State::NoBackend,
        },
        // Such a Service need not list its ports.
        (
            Node::Service {
                ports,
                is_external_name: true,
                ..
            },
            Some(_),
        ) if ports.is_empty() => State::Used,
        (Node::Service { .. }, Some(port)) if section::port_label(object, port).is_none() => {
            State::NoSuchPort
        }
        _ => State::Used,
    }
}

/// Notes on backends of a mesh route without a grant: meshes send requests there nevertheless, but the topology does
/// not include them.
pub(super) fn uncovered(snapshot: &Snapshot, route: &Object, backends: &[Backend]) -> Vec<String> {
    let covered = |to: &ObjectKey| granted(snapshot, &route.key.gk, &route.key.namespace, to);
    let objects = backends.iter().map(|backend| &backend.object);
    let objects: BTreeSet<&ObjectKey> = objects.filter(|to| !covered(to)).collect();
    let note = |to: &ObjectKey| {
        format!(
            "no ReferenceGrant covers {to}: most meshes need none, but attache shows no policies there"
        )
    };
    objects.into_iter().map(note).collect()
}

/// The response if no backend gives one; `None` if a backend can be reached.
pub(super) fn answer(
    route: &Object,
    filters: &RuleFilters,
    backends: &[Backend],
    context: &RedirectContext<'_>,
) -> Option<Answer> {
    if let Some(redirect) = &filters.redirect {
        return Some(Answer {
            status: Some(redirect.status().to_string()),
            location: Some(redirect.location(context)),
            why: "the filter RequestRedirect answers".to_owned(),
        });
    }
    if let (Some(cors), Some(origin)) = (&filters.cors, context.preflight_of) {
        let (status, why) = cors.answer(origin);
        return Some(Answer {
            status: Some(status.to_owned()),
            location: None,
            why,
        });
    }
    let mut served = backends.iter().filter(|backend| backend.weight > 0);
    if let Some(first) = served.next().and_then(|backend| backend.answer.as_ref()) {
        let same = |backend: &Backend| {
            let answer = backend.answer.as_ref();
            answer.is_some_and(|a| (&a.status, &a.location) == (&first.status, &first.location))
        };
        if served.all(same) {
            return Some(first.clone());
        }
    }
    let mut served = backends.iter().filter(|backend| backend.weight > 0);
    let gets_none = served.clone().next().is_none();
    let why = if backends.is_empty() {
        "the rule has no backend"
    } else if backends.iter().all(|backend| backend.state.fails()) {
        "no backend of the rule can be used"
    } else if !gets_none && served.all(|backend| backend.state.fails()) {
        "no backend of the rule with a weight can be used"
    } else if gets_none {
        return Some(Answer {
            status: None,
            location: None,
            why: "every backend of the rule has the weight 0: none gets requests".to_owned(),
        });
    } else {
        return None;
    };
    // The effect of an implementation's own filter is unknown.
    if filters.types.iter().any(|kind| kind == "ExtensionRef") {
        return Some(Answer {
            status: None,
            location: None,
            why: format!("{why}: the filter ExtensionRef may answer"),
        });
    }
    Some(Answer::error(&route.key, why))
}

/// The status that a client gets if no backend can be used; `None` for routes of connections, which are closed.
pub fn failure(route: &ObjectKey) -> Option<&'static str> {
    if route.gk.is_gateway_api("HTTPRoute") {
        Some("500")
    } else if route.gk.is_gateway_api("GRPCRoute") {
        Some("UNAVAILABLE")
    } else {
        None
    }
}
