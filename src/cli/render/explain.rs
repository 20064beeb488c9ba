//! The text of `attache explain`: the path of a request, then every setting in force on it.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::style::{Style, Tone};
use super::table::{Cell, Table};
use super::text::paragraph;
use crate::answer::Named;
use crate::answer::explanation::{
    Asked, Backend, Considered, EnteredAt, ExplainUnserved, Explanation, Matched, Step, Wanted,
};
use crate::engine::model::ids::Place;
use crate::engine::routing::{Criterion, Stage, State};

mod settings;

/// The limit of listeners shown that do not serve the request.
const UNSERVED: usize = 5;
/// The limit of rules shown that do not take the request.
const NOT_TAKEN: usize = 5;

/// The explanation as text.
pub(in crate::cli) fn text(explanation: &Explanation, style: Style) -> String {
    let mut text = paragraph(
        style,
        Tone::Heading,
        "",
        &request(&explanation.request),
        "  ",
    );
    let several = explanation.steps.len() > 1;
    if several {
        let n = explanation.steps.len();
        let line =
            format!("{n} paths: the request fits several; choose one with --port or --gateway");
        text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
    }
    for (i, step) in explanation.steps.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        text.push_str(&step_text(step, style));
        text.push_str(&settings::text(step, style));
    }
    text.push_str(&elsewhere(explanation, style));
    text
}

/// `GET https://shop.example.com/cart?x=1`; without a host, the parts one by one.
fn request(asked: &Asked) -> String {
    let scheme = asked.scheme.as_deref();
    let method = asked.method.as_ref().map(|method| format!("{method} "));
    let mut text = method.clone().unwrap_or_default();
    text.extend(scheme.map(|scheme| format!("{scheme}://")));
    text.push_str(asked.host.as_deref().unwrap_or_default());
    let usual = match scheme {
        Some("http") => Some(80),
        Some("https" | "tls") => Some(443),
        _ => None,
    };
    let port = asked.port.filter(|port| Some(*port) != usual);
    if let (Some(port), Some(_)) = (port, &asked.host) {
        let _ = write!(text, ":{port}");
    }
    if method.is_some() {
        text.push_str(&asked.path);
        let query = asked.query.iter();
        let query: Vec<String> = query.map(|p| format!("{}={}", p.name, p.value)).collect();
        if !query.is_empty() {
            let _ = write!(text, "?{}", query.join("&"));
        }
    }
    let service = asked.service.as_ref();
    let parts = [
        service.map(|Named(service)| format!("at {service}")),
        port.filter(|_| asked.host.is_none())
            .map(|port| format!("port {port}")),
        asked
            .server_name
            .as_ref()
            .map(|name| format!("server name {name}")),
        asked
            .from_namespace
            .as_ref()
            .map(|from| format!("from namespace {from}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let gap = if text.is_empty() || parts.is_empty() {
        ""
    } else {
        " "
    };
    format!("{text}{gap}{}", parts.join(", "))
}

/// One path: listener, route and rule, backends.
fn step_text(step: &Step, style: Style) -> String {
    let mut table = Table::new(&[]);
    entry_point(&step.entered_at, &mut table);
    for Named(rule) in &step.delegated_by {
        let route = rule.object.to_string();
        table.row([
            "Via".into(),
            route.into(),
            rule_name(rule).into(),
            "delegates".into(),
        ]);
    }
    if let (Some(Named(route)), Some(Named(rule))) = (&step.route, &step.rule) {
        table.row([
            "Route".into(),
            route.to_string().into(),
            rule_name(rule).into(),
            step.matched
                .as_ref()
                .map(matched)
                .unwrap_or_default()
                .into(),
        ]);
    }
    for backend in &step.backends {
        backend_row(step, backend, &mut table);
    }
    for (i, mirror) in step.mirrors.iter().enumerate() {
        let Named(place) = &mirror.backend;
        let port = mirror.port.map(|port| format!(":{port}"));
        table.row([
            if i == 0 { "Mirror" } else { "" }.into(),
            format!("{}{}", place.object, port.unwrap_or_default()).into(),
            mirror
                .part
                .clone()
                .unwrap_or_else(|| "a copy of each".to_owned())
                .into(),
            Cell::toned(why_unused(mirror.state, mirror.port), Tone::Bad),
        ]);
    }
    for (i, other) in step.considered.iter().take(NOT_TAKEN).enumerate() {
        let label = if i == 0 { "Not taken" } else { "" };
        not_taken(label, other, &mut table);
    }
    let mut text = table.show(style, "  ");
    let width = if step.considered.is_empty() { 7 } else { 9 };
    let mut more = Table::new(&[]);
    let mut line = |label: &str, cell: Cell| more.row([format!("{label:width$}").into(), cell]);
    let left = step.considered.len().saturating_sub(NOT_TAKEN) + step.considered_more;
    if left > 0 {
        line("", format!("and {left} more").into());
    }
    if !step.filters.is_empty() {
        line("Filters", step.filters.join(", ").into());
    }
    if let Some(answer) = &step.answer {
        let status = answer.status.iter().cloned();
        let location = answer.location.iter().map(|to| format!("to {to}"));
        let parts: Vec<String> = status.chain(location).collect();
        let parts = parts.join(" ");
        let parts_text = if parts.is_empty() {
            answer.message.clone()
        } else {
            format!("{parts}: {}", answer.message)
        };
        let tone = if answer.location.is_some() {
            Tone::Good
        } else {
            Tone::Bad
        };
        line("Answer", Cell::toned(parts_text, tone));
    }
    for note in &step.notes {
        line("Note", Cell::toned(note.clone(), Tone::Warning));
    }
    text.push_str(&more.show(style, "  "));
    text
}

fn entry_point(entry_point: &EnteredAt, table: &mut Table) {
    if let Some(Named(service)) = &entry_point.service {
        let port = service.section.as_deref();
        let from = entry_point.consumer.as_deref();
        table.row([
            "Service".into(),
            service.object.path().into(),
            port.map(|port| format!("port {port}"))
                .unwrap_or_default()
                .into(),
            from.map(|from| format!("routes of namespace {from}"))
                .unwrap_or_default()
                .into(),
        ]);
    }
    if let (Some(Named(gateway)), Some(Named(listener))) =
        (&entry_point.gateway, &entry_point.listener)
    {
        let name = listener.section.as_deref().unwrap_or_default();
        let owner = if listener.object == gateway.object {
            format!("listener {name}")
        } else {
            format!("{} listener {name}", listener.object)
        };
        table.row([
            "Gateway".into(),
            gateway.object.path().into(),
            owner.into(),
            format!("{}, {}", socket(entry_point), hostname(entry_point)).into(),
        ]);
    }
}

fn socket(entry_point: &EnteredAt) -> String {
    let protocol = entry_point.protocol.as_deref().unwrap_or("port");
    let port = entry_point.port.unwrap_or_default();
    format!("{protocol} {port}")
}

fn hostname(entry_point: &EnteredAt) -> String {
    let name = entry_point.hostname.as_deref();
    name.map_or_else(
        || "any hostname".to_owned(),
        |name| format!("hostname {name}"),
    )
}

/// `rule checkout`. A rule without a name is already called `rule-1`.
fn rule_name(place: &Place) -> String {
    match place.section.as_deref() {
        None => String::new(),
        Some(label) if label.starts_with("rule-") || label.starts_with("unnamed ") => {
            label.to_owned()
        }
        Some(name) => format!("rule {name}"),
    }
}

/// The match of a rule, in words.
fn matched(matched: &Matched) -> String {
    let pair = |what: &str, wanted: &Wanted| {
        let sign = if wanted.kind == "Exact" { "=" } else { "=~" };
        format!("{what} {}{sign}{}", wanted.name, wanted.value)
    };
    let condition = |what: &str, value: &Option<String>| {
        let value = value.as_ref();
        value.map(|value| format!("{what} {value}"))
    };
    let path = matched.path.as_ref();
    let parts = condition("hostname", &matched.hostname)
        .into_iter()
        .chain(path.map(|path| format!("{} {}", path.kind, path.value)))
        .chain(condition("service", &matched.grpc_service))
        .chain(condition("method", &matched.grpc_method))
        .chain(condition("method", &matched.method))
        .chain(matched.headers.iter().map(|h| pair("header", h)))
        .chain(matched.query.iter().map(|q| pair("query parameter", q)));
    parts.collect::<Vec<_>>().join(", ")
}

fn backend_row(step: &Step, backend: &Backend, table: &mut Table) {
    let Named(place) = &backend.backend;
    let port = backend
        .port
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    let total: u64 = step.backends.iter().map(|b| b.weight).sum();
    let weight = (step.backends.len() > 1 || backend.weight != 1)
        .then(|| format!("weight {} of {total}", backend.weight));
    let filters =
        (!backend.filters.is_empty()).then(|| format!("filters {}", backend.filters.join(", ")));
    let redirect = backend.location.as_ref().map(|to| {
        let status = backend.answer.as_deref().unwrap_or_default();
        format!("answered: {status} to {to}")
    });
    let error = backend
        .answer
        .as_ref()
        .filter(|_| backend.location.is_none() && backend.state == State::Used);
    let error = error.map(|status| {
        format!("answered: {status}, because the controller does not support its filters")
    });
    let parts = [weight, filters, redirect.or(error)];
    let weight = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let is_first = step
        .backends
        .first()
        .is_some_and(|first| std::ptr::eq(first, backend));
    table.row([
        if is_first { "Backend" } else { "" }.into(),
        format!("{}{port}", place.object).into(),
        weight.into(),
        Cell::toned(state(backend), Tone::Bad),
    ]);
}

/// Why requests do not reach a backend, or might not.
fn why_unused(state: State, port: Option<u16>) -> String {
    match state {
        State::Used => String::new(),
        State::NotLooked => "objects of its kind are not looked up".to_owned(),
        State::Missing => "it does not exist".to_owned(),
        State::NotGranted => "no ReferenceGrant covers the reference".to_owned(),
        State::NoSuchPort => format!("it has no port {}", port.unwrap_or_default()),
        State::PortUnsaid => "the reference names no port".to_owned(),
        State::NoBackend => "it cannot be a backend".to_owned(),
    }
}

/// Why requests do not reach a backend, and the answer that the client gets instead.
fn state(backend: &Backend) -> String {
    let why = why_unused(backend.state, backend.port);
    if !backend.state.fails() {
        return why;
    }
    match &backend.answer {
        Some(status) => format!("{why}: its requests get {status}"),
        None => format!("{why}: its connections are closed"),
    }
}

fn not_taken(label: &str, other: &Considered, table: &mut Table) {
    let Named(place) = &other.route;
    table.row([
        label.into(),
        place.object.to_string().into(),
        rule_name(place).into(),
        other.message.as_str().into(),
    ]);
}

/// The listeners at which the request is not served. If it is served elsewhere, only listeners that match its host are shown.
fn elsewhere(explanation: &Explanation, style: Style) -> String {
    let unserved = explanation.unserved.iter().filter(|unserved| {
        !explanation.served || matches!(unserved.at, Stage::Rule | Stage::ListenerConflict)
    });
    let mut unserved: Vec<&ExplainUnserved> = unserved.collect();
    // Failures at a later stage say more.
    unserved.sort_by_key(|unserved| Reverse(unserved.at));
    let mut text = String::new();
    if unserved.is_empty() {
        return text;
    }
    if explanation.served {
        text.push('\n');
    }
    let tone = if explanation.served {
        Tone::Faint
    } else {
        Tone::Bad
    };
    for unserved in unserved.iter().take(UNSERVED) {
        let line = format!("Not served by {}: {}", place(unserved), unserved.message);
        text.push_str(&paragraph(style, tone, "  ", &line, "    "));
        let considered = unserved.considered.iter().take(NOT_TAKEN).map(|other| {
            let Named(place) = &other.route;
            let would = if other.by == Criterion::NotEvaluated {
                ":"
            } else {
                " would take it, but"
            };
            format!(
                "{} {}{would} {}",
                place.object,
                rule_name(place),
                other.message
            )
        });
        let nearest = nearest(unserved);
        let notes = unserved.notes.iter().cloned();
        for line in considered.chain(nearest).chain(notes) {
            text.push_str(&paragraph(style, Tone::Faint, "    ", &line, "      "));
        }
    }
    if unserved.len() > UNSERVED {
        let line = format!("and {} more: -o json", unserved.len() - UNSERVED);
        text.push_str(&paragraph(style, tone, "  ", &line, "    "));
    }
    text
}

/// The nearest alternatives: names in one line, rules one by one.
fn nearest(unserved: &ExplainUnserved) -> Vec<String> {
    let all = &unserved.nearest;
    if unserved.at == Stage::Rule {
        return all.iter().map(|near| format!("nearest: {near}")).collect();
    }
    let label = match (unserved.at, &unserved.entered_at.service) {
        (Stage::Port, Some(_)) => "ports",
        (Stage::Port, None) => "listeners",
        _ => "nearest",
    };
    let one = (!all.is_empty()).then(|| format!("{label}: {}", all.join(", ")));
    one.into_iter().collect()
}

fn place(unserved: &ExplainUnserved) -> String {
    let EnteredAt {
        gateway,
        listener,
        service,
        port,
        ..
    } = &unserved.entered_at;
    match (gateway, listener, service, port) {
        (Some(Named(gateway)), Some(Named(listener)), _, _) => {
            let name = listener.section.as_deref().unwrap_or_default();
            let socket = socket(&unserved.entered_at);
            if listener.object == gateway.object {
                format!("{gateway} listener {name} ({socket})")
            } else {
                format!(
                    "{gateway} with {} listener {name} ({socket})",
                    listener.object
                )
            }
        }
        (Some(Named(gateway)), None, _, Some(port)) => format!("{gateway} on port {port}"),
        (Some(Named(gateway)), None, _, None) => gateway.to_string(),
        (None, _, Some(Named(service)), _) => service.to_string(),
        _ => "anything".to_owned(),
    }
}
