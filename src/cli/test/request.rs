//! A test of a request: which route, rule and backend it takes, as `attache explain` answers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::json;

use super::difference::Differences;
use super::file::{OneOrMore, RequestFile, RequestTest, Taken, Takes};
use super::subject;
use super::taken::{all_of, expected, taken};
use super::test_result::TestResult;
use super::test_state::TestState;
use crate::answer::explanation::{
    EnteredAt, ExplainUnserved, Explanation, at_gateways, at_service,
};
use crate::answer::tested::TestFailure;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::{Node, is_route};
use crate::engine::routing::{Matching, Request, Scheme, of_path, read_method};

/// Runs the test.
pub(super) fn run(test_state: &TestState, test: &RequestTest) -> TestResult {
    let explanation = explain(test_state, &test.request)?;
    let expected = expected(&test.takes);
    let mut differences = Differences::default();
    let mut notes = BTreeSet::new();
    for step in &explanation.steps {
        notes.extend(step.notes.iter().map(|note| escape(note)));
        let result = match &test.takes {
            Takes::Nothing(_) => taken(step, &all_of(step)),
            Takes::Something(expected) => taken(step, expected),
        };
        if result != expected {
            differences.note(place(&step.entered_at), result);
        }
    }
    for unserved in arriving(&explanation) {
        notes.extend(unserved.notes.iter().map(|note| escape(note)));
        if matches!(test.takes, Takes::Something(_)) {
            let place = format!("{}: {}", place(&unserved.entered_at), unserved.message);
            differences.note(escape(&place), json!("none"));
        }
    }
    if differences.is_empty() {
        return Ok(notes.into_iter().collect());
    }
    let mut message = match &test.takes {
        Takes::Something(taken) => missing(test_state, taken),
        Takes::Nothing(_) => Some("the request is served".to_owned()),
    }
    .unwrap_or_else(|| {
        let who = if explanation.served {
            "something else"
        } else {
            "nothing"
        };
        format!("{who} serves the request")
    });
    if explanation.steps.len() + arriving(&explanation).count() > 1 {
        message.push_str(
            "; the request could arrive at several listeners: name one with scheme, port or gateway",
        );
    }
    Err(TestFailure {
        message,
        differences: differences.from(&expected, "taken")?,
    })
}

/// The places at which the request may arrive and is not served: on the Gateways that serve it elsewhere, because its host
/// leads to them; on all Gateways if none serves it.
fn arriving(explanation: &Explanation) -> impl Iterator<Item = &ExplainUnserved> {
    let serving = explanation.steps.iter();
    let serving: Vec<_> = serving.map(|step| &step.entered_at.gateway).collect();
    let unserved = explanation.unserved.iter();
    unserved.filter(move |unserved| {
        serving.is_empty() || serving.contains(&&unserved.entered_at.gateway)
    })
}

fn explain(test_state: &TestState, file: &RequestFile) -> Result<Explanation, TestFailure> {
    let request = request(file)?;
    has_listener(test_state, file)?;
    let matching = Matching::new(&test_state.snapshot, &test_state.objects);
    let object = |kind: GroupKind, path: &str| {
        let key = match path.split_once('/') {
            Some((namespace, name)) => ObjectKey::new(kind, namespace, name),
            None => return Err(format!("{path:?} is not an object: write NAMESPACE/NAME")),
        };
        subject::exists(test_state, &key).map(|()| key)
    };
    if let Some(service) = &file.service {
        let key = object(GroupKind::core("Service"), service)?;
        let from = file.from_namespace.as_deref();
        return Ok(at_service(&matching, &request, &key, from));
    }
    let gateway = file.gateway.as_deref();
    let gateway = gateway.map(|path| object(GroupKind::gateway_api("Gateway"), path));
    let gateway = gateway.transpose()?;
    Ok(at_gateways(&matching, &request, |key| {
        gateway.as_ref().is_none_or(|gateway| gateway == key)
    }))
}

/// Refuses a port at which no listener is: nothing serves a request there, whatever the routes say.
fn has_listener(test_state: &TestState, file: &RequestFile) -> Result<(), TestFailure> {
    let (Some(port), None) = (file.port, &file.service) else {
        return Ok(());
    };
    let nodes = test_state.objects.iter().map(|object| &object.node);
    let listeners = nodes.filter_map(|node| match node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => Some(listeners),
        _ => None,
    });
    let ports: BTreeSet<_> = listeners.flatten().map(|listener| listener.port).collect();
    if ports.is_empty() || ports.contains(&port) {
        return Ok(());
    }
    let known: Vec<String> = ports.iter().map(ToString::to_string).collect();
    Err(TestFailure::because(format!(
        "request.port: no listener has port {port}; listeners have {}",
        known.join(", ")
    )))
}

/// A path as clients send it.
fn with_slash(path: &str) -> Cow<'_, str> {
    if path.starts_with('/') {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("/{path}"))
    }
}

fn request(file: &RequestFile) -> Result<Request, TestFailure> {
    let scheme = match &file.scheme {
        None => None,
        Some(name) => Some(Scheme::named(name).ok_or_else(|| {
            let all = Scheme::ALL.map(Scheme::as_str).map(str::to_owned);
            format!(
                "request.scheme: there is no {name:?}; {}",
                subject::suggestion(name, &all)
            )
        })?),
    };
    let (path, mut query) = of_path(&with_slash(file.path.as_deref().unwrap_or("/")));
    let pairs = |(name, value): (&String, &String)| (name.clone(), value.clone());
    query.extend(file.query.iter().map(pairs));
    Ok(Request {
        scheme,
        host: file.host.clone(),
        sni: file.sni.clone(),
        port: file.port,
        method: file
            .method
            .as_deref()
            .map(read_method)
            .transpose()
            .map_err(|why| format!("request.method: {why}"))?,
        path: if path.starts_with('/') {
            path
        } else {
            format!("/{path}")
        },
        query,
        headers: file.headers.iter().map(pairs).collect(),
    })
}

/// The place at which a request arrives, in words.
fn place(at: &EnteredAt) -> String {
    let port = at
        .port
        .map(|port| format!(" port {port}"))
        .unwrap_or_default();
    let text = match (&at.listener, &at.gateway, &at.service) {
        (Some(listener), _, _) => format!("through {}{port}", listener.0),
        (None, Some(gateway), _) => format!("through {}{port}", gateway.0),
        (None, None, Some(service)) => format!("at {}", service.0),
        (None, None, None) => "nowhere".to_owned(),
    };
    escape(&text)
}

/// Says that an object of the expectation does not exist.
fn missing(test_state: &TestState, taken: &Taken) -> Option<String> {
    let path_of = |text: &str| {
        let plain = text.split(['#', ':']).next().unwrap_or_default();
        let mut parts = plain.rsplitn(3, '/');
        let (name, namespace) = (parts.next()?, parts.next()?);
        Some(format!("{namespace}/{name}"))
    };
    let lacks = |path: &str, is: &dyn Fn(&GroupKind) -> bool| {
        let objects = test_state
            .objects
            .iter()
            .filter(|object| is(&object.key.gk));
        let all: Vec<String> = objects.map(|object| object.key.path()).collect();
        let lacks = !all.iter().any(|known| known == path);
        lacks.then(|| subject::suggestion(path, &all))
    };
    let route = taken.route.as_deref().and_then(path_of);
    if let Some(path) = route
        && let Some(hint) = lacks(&path, &is_route)
    {
        return Some(format!("takes.route: no route {path} exists; {hint}"));
    }
    let backends = taken.backend.iter().flat_map(OneOrMore::all);
    backends
        .filter(|text| text.matches('/').count() == 1)
        .find_map(|text| {
            let path = path_of(text)?;
            let hint = lacks(&path, &|gk| gk.is_core("Service"))?;
            Some(format!("takes.backend: no Service {path} exists; {hint}"))
        })
}
