//! The route, backends and status that a request gets, in the form in which a test expects them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::file::{OneOrMore, Status, Taken, Takes};
use crate::answer::explanation::{self, Step};
use crate::engine::model::ids::{GroupKind, Place};
use crate::engine::routing::State as BackendState;

/// The expectation as a value.
pub(super) fn expected(takes: &Takes) -> Value {
    let Takes::Something(expected) = takes else {
        return json!("none");
    };
    let mut fields = Map::new();
    if let Some(route) = &expected.route {
        fields.insert("route".to_owned(), json!(route));
    }
    if let Some(backend) = &expected.backend {
        let all: BTreeSet<&String> = backend.all().iter().collect();
        fields.insert(
            "backend".to_owned(),
            list(all.into_iter().cloned().collect()),
        );
    }
    if let Some(status) = &expected.status {
        fields.insert("status".to_owned(), json!(status.text()));
    }
    Value::Object(fields)
}

/// Everything that can be expected of a request that is served.
pub(super) fn all_of(step: &Step) -> Taken {
    Taken {
        route: step.route.as_ref().map(|_| "#".to_owned()),
        backend: (!step.backends.is_empty()).then(|| OneOrMore::More(Vec::new())),
        status: step.answer.as_ref().map(|_| Status::default()),
    }
}

/// The route, backends and status of a request, as far as the test expects some; in the same form.
pub(super) fn taken(step: &Step, expected: &Taken) -> Value {
    let mut fields = Map::new();
    if let Some(expected) = &expected.route {
        let place = if expected.contains('#') {
            &step.rule
        } else {
            &step.route
        };
        let place = place.as_ref().map(|named| &named.0);
        let form = place.map_or_else(|| "none".to_owned(), |place| form(place, expected));
        fields.insert("route".to_owned(), json!(form));
    }
    if let Some(expected) = &expected.backend {
        let reached = step.backends.iter().filter(|backend| backend.weight > 0);
        let reached: BTreeSet<String> = reached
            .map(|backend| self::backend(backend, expected.all()))
            .collect();
        fields.insert("backend".to_owned(), list(reached.into_iter().collect()));
    }
    if expected.status.is_some() {
        let status = step
            .answer
            .as_ref()
            .and_then(|answer| answer.status.clone());
        fields.insert(
            "status".to_owned(),
            json!(status.unwrap_or_else(|| "none".to_owned())),
        );
    }
    Value::Object(fields)
}

/// An object or section, with its kind if the expectation has one.
fn form(place: &Place, expected: &str) -> String {
    let path = place.object.path();
    let section = place.section.as_ref().map(|section| format!("#{section}"));
    let section = section.unwrap_or_default();
    let (plain, _) = expected.split_once('#').unwrap_or((expected, ""));
    let parts: Vec<&str> = plain.split('/').collect();
    match parts.as_slice() {
        [kind, _, _] if is_called(&place.object.gk, kind) => format!("{kind}/{path}{section}"),
        [_, _, _] => format!("{}/{path}{section}", place.object.gk.kind),
        _ => format!("{path}{section}"),
    }
}

fn is_called(gk: &GroupKind, word: &str) -> bool {
    gk.kind.eq_ignore_ascii_case(word) || gk.to_string().eq_ignore_ascii_case(word)
}

/// A backend in the form of the expectation that names it, else with everything that is known.
fn backend(backend: &explanation::Backend, expected: &[String]) -> String {
    let object = backend.backend.0.object.whole();
    let port = backend
        .port
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    let state = match backend.state {
        BackendState::Used | BackendState::NotLooked => "",
        BackendState::Missing => " (does not exist)",
        BackendState::NotGranted => " (not granted)",
        BackendState::NoSuchPort => " (no such port)",
        BackendState::PortUnsaid => " (the reference has no port)",
        BackendState::NoBackend => " (cannot be a backend)",
    };
    let forms = expected.iter().map(|expected| {
        let (plain, ported) = match expected.rsplit_once(':') {
            Some((plain, _)) => (plain, true),
            None => (expected.as_str(), false),
        };
        let form = form(&object, plain);
        let form = if ported { form + &port } else { form };
        (form == *expected).then_some(form)
    });
    let named = forms.flatten().next();
    let exact = match expected.first() {
        None => form(&object, "") + &port,
        Some(first) if first.contains(':') => form(&object, first) + &port,
        Some(first) => form(&object, first),
    };
    named.unwrap_or(exact) + state
}

/// One text, or a list of several.
fn list(mut all: Vec<String>) -> Value {
    match (all.len(), all.pop()) {
        (1, Some(one)) => json!(one),
        (_, None) => json!("none"),
        (_, Some(last)) => {
            all.push(last);
            json!(all)
        }
    }
}
