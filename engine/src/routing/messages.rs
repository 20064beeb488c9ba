//! Messages that explain the choice of a rule.

use std::sync::Arc;

use super::choose::{Hit, Miss};
use super::listeners::Entry;
use super::path::Path;
use super::rank::Criterion;
use super::request::Request;
use super::spec::MatchSpec;
use super::text_match::Text;
use crate::model::object::{Node, Object, ParentRef};
use crate::topology::{Conflict, Refusal};

/// The most alternatives to list.
const SHOWN: usize = 5;

/// Why a rule loses to another.
pub(super) fn behind(by: Criterion, first: &Hit<'_>, hit: &Hit<'_>) -> String {
    let (wins, loses) = (&first.wants, &hit.wants);
    let counts =
        |what: &str, more: usize, less: usize| format!("{}, not {more}", counted(less, what));
    match by {
        Criterion::Hostname => format!(
            "{} is less specific than {}",
            hostname(hit.hostname),
            hostname(first.hostname)
        ),
        Criterion::RouteKind => format!(
            "{}s go before {}s",
            first.route.key.gk.kind, hit.route.key.gk.kind
        ),
        Criterion::Path => format!("{} is less specific than {}", path(loses), path(wins)),
        Criterion::GrpcService => format!("{} is shorter than {}", service(loses), service(wins)),
        Criterion::GrpcMethod => format!("{} is shorter than {}", call(loses), call(wins)),
        Criterion::Method => "it names no method".to_owned(),
        Criterion::Headers => counts("header", wins.headers.len(), loses.headers.len()),
        Criterion::QueryParams => counts("query parameter", wins.params.len(), loses.params.len()),
        Criterion::Age => format!("it is younger than {}", first.route.key),
        Criterion::Name => format!("as old as {}, it comes later by name", first.route.key),
        Criterion::RuleOrder => format!("it comes after {}", rule(&first.label)),
        Criterion::Listener
        | Criterion::ListenerConflict
        | Criterion::Consumer
        | Criterion::NotAttached
        | Criterion::NotEvaluated => String::new(),
    }
}

fn hostname(name: Option<&Arc<str>>) -> String {
    name.map_or_else(
        || "no hostname".to_owned(),
        |name| format!("hostname {name}"),
    )
}

fn path(wants: &MatchSpec) -> String {
    let path = wants.path.as_ref();
    path.map_or_else(String::new, |path| {
        format!("{} {}", path.kind(), path.value())
    })
}

fn service(wants: &MatchSpec) -> String {
    let text = wants.service.as_ref().map(Text::value);
    text.map_or_else(|| "no service".to_owned(), |text| format!("service {text}"))
}

fn call(wants: &MatchSpec) -> String {
    let text = wants.call.as_ref().map(Text::value);
    text.map_or_else(|| "no method".to_owned(), |text| format!("method {text}"))
}

fn counted(n: usize, what: &str) -> String {
    match n {
        0 => format!("it names no {what}"),
        1 => format!("it names 1 {what}"),
        n => format!("it names {n} {what}s"),
    }
}

/// `rule checkout`; the label of an unnamed rule stays as it is.
fn rule(label: &str) -> String {
    if label.starts_with("rule-") || label.starts_with("unnamed ") {
        label.to_owned()
    } else {
        format!("rule {label}")
    }
}

/// Why a listener does not take a route.
pub(super) fn refused(
    entry: &Entry<'_>,
    route: &Object,
    parent: &ParentRef,
    why: Refusal,
) -> String {
    let listener = &entry.listener.name;
    match why {
        Refusal::Section => format!(
            "it is attached to listener {}, not {listener}",
            parent.section.as_deref().unwrap_or_default()
        ),
        Refusal::Port => format!(
            "it is attached to port {}, not {}",
            parent.port.unwrap_or_default(),
            entry.listener.port
        ),
        Refusal::Protocol => format!(
            "listener {listener} has the protocol {}, which {}s do not fit",
            entry.listener.protocol, route.key.gk.kind
        ),
        Refusal::Kind => format!("listener {listener} takes no {}s", route.key.gk.kind),
        Refusal::Hostname => format!("listener {listener} has none of its hostnames"),
        Refusal::Isolated => format!(
            "listener {listener} leaves its hostnames to listeners of the port with more specific ones"
        ),
        Refusal::Namespace => format!(
            "listener {listener} takes no routes of namespace {}",
            route.key.namespace
        ),
        Refusal::Unread => format!(
            "which namespaces listener {listener} takes routes of cannot be read: its selector is none"
        ),
        Refusal::Conflict(why) => format!("listener {listener} is not accepted: {why}"),
        Refusal::Reported => "its status says that it is not accepted".to_owned(),
    }
}

/// The message if all listeners that match a request are in conflict.
pub(super) fn conflicted(entries: &[Entry<'_>]) -> String {
    let names: Vec<String> = entries.iter().map(Entry::words).collect();
    let names = names.join(" and ");
    let protocol = |entry: &Entry<'_>| entry.conflict == Some(Conflict::Protocol);
    let reported = |entry: &Entry<'_>| entry.conflict == Some(Conflict::Reported);
    if entries.iter().any(reported) {
        return format!("{names}: {}", Conflict::Reported);
    }
    if entries.iter().any(protocol) {
        let port = entries.first().map_or(0, |entry| entry.listener.port);
        format!(
            "{names}: the protocols on port {port} do not go together, so none of them is accepted"
        )
    } else {
        format!("{names} have one port, protocol and hostname: none is accepted")
    }
}

/// Notes on listeners that also match but are not accepted.
pub(super) fn not_accepted(entries: &[Entry<'_>]) -> Vec<String> {
    let of = |conflict: Conflict| {
        let alike = entries.iter().filter(|e| e.conflict == Some(conflict));
        let names: Vec<String> = alike.map(Entry::words).collect();
        let names = names.join(", ");
        (!names.is_empty()).then(|| format!("not accepted, for {conflict}: {names}"))
    };
    let each = [Conflict::Same, Conflict::Protocol, Conflict::Reported].into_iter();
    each.filter_map(of).collect()
}

/// The number of leading characters that two paths have in common.
pub(super) fn alike(wants: &MatchSpec, request: &Request) -> usize {
    let path = wants.path.as_ref().map_or("", |path| path.value());
    let pairs = path.chars().zip(request.path.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Descriptions of the rules that come closest.
pub(super) fn near(misses: &[Miss<'_>]) -> Vec<String> {
    let shown = misses.iter().take(SHOWN);
    shown
        .map(|miss| {
            let Miss {
                route,
                label,
                against,
                ..
            } = miss;
            format!("{} {} wants {}", route.key, rule(label), against.wants)
        })
        .collect()
}

/// Hostnames of routes, those most similar to a host first.
pub(super) fn hostnames<'a>(
    routes: impl IntoIterator<Item = &'a Arc<Object>>,
    host: &str,
) -> Vec<String> {
    let all = routes.into_iter().flat_map(|route| match &route.node {
        Node::Route { hostnames, .. } => hostnames.to_vec(),
        _ => Vec::new(),
    });
    likest(all.map(|name| name.to_string()), host)
}

/// The names most similar to a given one, the most similar first.
pub(super) fn likest(names: impl IntoIterator<Item = String>, like: &str) -> Vec<String> {
    /// Longer texts are cut, because comparing takes quadratic time.
    const COMPARED: usize = 256;
    let short = |text: &str| text.chars().take(COMPARED).collect::<String>();
    let like = short(like);
    let names = names.into_iter();
    let distance = |name: &str| strsim::damerau_levenshtein(&short(name), &like);
    let mut names: Vec<(usize, String)> = names.map(|name| (distance(&name), name)).collect();
    names.sort();
    names.dedup();
    let names = names.into_iter().map(|(_, name)| name);
    names.take(SHOWN).collect()
}

/// Notes on a rule that serves a request.
pub(super) fn notes(hit: &Hit<'_>) -> Vec<String> {
    let filters = hit.rule.filters.odd.iter();
    let mut notes: Vec<String> = filters
        .map(|odd| format!("{} {}: {odd}", hit.route.key, rule(&hit.label)))
        .collect();
    let wants = &hit.wants;
    let texts = wants
        .headers
        .iter()
        .chain(&wants.params)
        .map(|(_, text)| text);
    let mut texts = texts.chain(&wants.service).chain(&wants.call);
    let by_path = matches!(wants.path, Some(Path::Expression(_)));
    if by_path || texts.any(Text::is_expression) {
        notes.push(
            "how regular expressions are read is up to the implementation; here they must match the whole \
             value, and paths by expression are tried last"
                .to_owned(),
        );
    }
    notes
}

/// A note on a path that many Gateways normalize.
pub(super) fn path_note(path: &str) -> Option<String> {
    let route_path = path.to_ascii_lowercase();
    let mut odd = ["//", "/./", "/../", "%2f", "%2e", "\\"].iter();
    let note = "many Gateways put such a path in order before they match it";
    odd.any(|part| route_path.contains(part))
        .then(|| note.to_owned())
}
