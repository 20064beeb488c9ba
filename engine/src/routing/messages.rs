//! Messages that explain the choice of a rule.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::choice::{Choice, MatchingRule, Miss, NotTried};
use super::criterion::Reason;
use super::hostname::HostMatch;
use super::listeners::ListenerCandidate;
use super::path::Path;
use super::request::Request;
use super::spec::MatchSpec;
use super::text_match::TextMatch;
use crate::kinds::profile::RuleOrder;
use crate::model::object::{Object, ParentRef};
use crate::state::snapshot::Snapshot;
use crate::topology::{ListenerFault, NotAttachedReason, not_attached_at};

/// The most alternatives to list.
const MAX_ALTERNATIVES: usize = 5;

/// Why a rule loses to another.
pub(super) fn behind(
    by: Reason,
    first: &MatchingRule<'_>,
    matching_rule: &MatchingRule<'_>,
    order: RuleOrder,
) -> String {
    let (wins, loses) = (&first.match_spec, &matching_rule.match_spec);
    let counts =
        |what: &str, more: usize, less: usize| format!("{}, not {more}", counted(less, what));
    match by {
        Reason::Hostname => {
            let (loses, wins) = (matching_rule.hostname.text(), first.hostname.text());
            format!("{loses} is less specific than {wins}")
        }
        Reason::HostnameOfRoute => {
            let own = |matching_rule: &MatchingRule<'_>| match matching_rule.hostname.of_route {
                Some(name) => format!("hostname {name} of its route"),
                None => "a route without hostnames".to_owned(),
            };
            let (loses, wins) = (own(matching_rule), own(first));
            format!("{loses} is less specific than {wins}")
        }
        Reason::Everything => "rules that take every request come last".to_owned(),
        Reason::List => format!(
            "{} come after {}: those of the Gateway's namespace go first, then those with the older route",
            list(matching_rule),
            list(first)
        ),
        Reason::Kind => format!(
            "{}s go before {}s",
            first.route.key.gk.kind, matching_rule.route.key.gk.kind
        ),
        Reason::Path => behind_by_path(wins, loses),
        Reason::Service => format!("{} is shorter than {}", service(loses), service(wins)),
        Reason::Call => format!("{} is shorter than {}", call(loses), call(wins)),
        Reason::Method => "it does not match on the method".to_owned(),
        Reason::Headers if order.method_counts_as_header => {
            let all = |match_spec: &MatchSpec| {
                match_spec.headers.len() + usize::from(match_spec.method.is_some())
            };
            let counts = counts("header", all(wins), all(loses));
            format!("{counts}; a method counts as a header")
        }
        Reason::Headers => counts("header", wins.headers.len(), loses.headers.len()),
        Reason::Params => counts("query parameter", wins.params.len(), loses.params.len()),
        Reason::ExactHeaders => "more of its headers are regular expressions".to_owned(),
        Reason::ExactParams => "more of its query parameters are regular expressions".to_owned(),
        Reason::Age => format!("it is newer than {}", first.route.key),
        Reason::Name => format!("as old as {}, it comes later by name", first.route.key),
        Reason::RuleOrder => format!("it comes after {}", rule(&first.label)),
    }
}

/// Why the controller does not try a rule with a match.
pub(super) fn less_specific_hostname(
    matching_rule: &MatchingRule<'_>,
    best: Option<&HostMatch<'_>>,
) -> String {
    let own = matching_rule.hostname.text();
    let tried = best.map(HostMatch::text).unwrap_or_default();
    format!("it has {own}, and the controller tries only rules with {tried}")
}

/// The rules that are in one list with a rule, in words.
fn list(matching_rule: &MatchingRule<'_>) -> String {
    match matching_rule.hostname.of_route {
        Some(name) => format!("rules for {name}"),
        None => "rules without hostnames".to_owned(),
    }
}

/// Why the path of a rule ranks behind that of another. Regular expressions have a place of their own.
fn behind_by_path(wins: &MatchSpec, loses: &MatchSpec) -> String {
    let is_expression =
        |match_spec: &MatchSpec| matches!(match_spec.path, Some(Path::Expression(_)));
    let (behind, before) = (path(loses), path(wins));
    if is_expression(wins) == is_expression(loses) {
        format!("{behind} is less specific than {before}")
    } else {
        format!("{behind} is tried after {before}")
    }
}

fn path(match_spec: &MatchSpec) -> String {
    if let Some(path) = &match_spec.path {
        return format!("{} {}", path.kind(), path.value());
    }
    match (&match_spec.service, &match_spec.call) {
        (None, None) => "any gRPC call".to_owned(),
        (Some(service), None) => format!("gRPC service {}", service.value()),
        (None, Some(call)) => format!("gRPC method {}", call.value()),
        (Some(service), Some(call)) => format!("gRPC call {}/{}", service.value(), call.value()),
    }
}

fn service(match_spec: &MatchSpec) -> String {
    let text = match_spec.service.as_ref().map(TextMatch::value);
    text.map_or_else(|| "no service".to_owned(), |text| format!("service {text}"))
}

fn call(match_spec: &MatchSpec) -> String {
    let text = match_spec.call.as_ref().map(TextMatch::value);
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
pub(super) fn not_attached(
    snapshot: &Snapshot,
    entry: &ListenerCandidate<'_>,
    route: &Object,
    parent: &ParentRef,
    why: NotAttachedReason,
) -> String {
    let listener = &entry.listener.name;
    match why {
        NotAttachedReason::Section => format!(
            "it names listener {}, not {listener}",
            parent.section.as_deref().unwrap_or_default()
        ),
        NotAttachedReason::Port => format!(
            "it names port {}, not {}",
            parent.port.unwrap_or_default(),
            entry.listener.port
        ),
        why => not_attached_at(snapshot, (entry.owner, entry.listener), route, parent, why),
    }
}

/// The message if all listeners that match a request are in conflict.
pub(super) fn conflicted(entries: &[ListenerCandidate<'_>]) -> String {
    let names: Vec<String> = entries.iter().map(ListenerCandidate::text).collect();
    let names = names.join(" and ");
    let protocol =
        |entry: &ListenerCandidate<'_>| entry.fault == Some(ListenerFault::IncompatibleProtocol);
    let is_between_listeners = |why: &ListenerFault| {
        matches!(
            why,
            ListenerFault::SameHostname | ListenerFault::IncompatibleProtocol
        )
    };
    let other =
        |entry: &ListenerCandidate<'_>| entry.fault.filter(|why| !is_between_listeners(why));
    if let Some(why) = entries.iter().find_map(other) {
        return format!("{names}: {why}");
    }
    if entries.iter().any(protocol) {
        let port = entries.first().map_or(0, |entry| entry.listener.port);
        format!(
            "{names}: the protocols on port {port} are incompatible, so none of these listeners is accepted"
        )
    } else if let [one] = entries {
        let conflict = one.fault.unwrap_or(ListenerFault::SameHostname);
        format!("{names} is not accepted: {conflict}")
    } else {
        format!("{names} have the same port, protocol and hostname, so none of them is accepted")
    }
}

/// Notes on listeners that also match but are not accepted.
pub(super) fn not_accepted(entries: &[ListenerCandidate<'_>]) -> Vec<String> {
    let conflicts: BTreeSet<ListenerFault> = entries.iter().filter_map(|e| e.fault).collect();
    let notes = conflicts.into_iter().map(|conflict| {
        let alike = entries.iter().filter(|e| e.fault == Some(conflict));
        let names: Vec<String> = alike.map(ListenerCandidate::text).collect();
        format!("not accepted, for {conflict}: {}", names.join(", "))
    });
    notes.collect()
}

/// The number of leading characters that two paths have in common.
pub(super) fn alike(match_spec: &MatchSpec, request: &Request) -> usize {
    let path = match_spec.path.as_ref().map_or("", |path| path.value());
    let pairs = path.chars().zip(request.path.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Descriptions of the rules that come closest.
pub(super) fn near(misses: &[Miss<'_>]) -> Vec<String> {
    let shown = misses.iter().take(MAX_ALTERNATIVES);
    shown
        .map(|miss| {
            let Miss {
                route,
                label,
                against,
                ..
            } = miss;
            format!(
                "{} {} matches {}",
                route.key,
                rule(label),
                against.match_spec
            )
        })
        .collect()
}

/// Hostnames of routes, those most similar to a host first.
pub(super) fn hostnames<'a>(
    routes: impl IntoIterator<Item = &'a Arc<Object>>,
    host: &str,
) -> Vec<String> {
    let all = routes.into_iter().flat_map(|route| route.hostnames());
    nearest_names(all.map(ToString::to_string), host)
}

/// The names most similar to a given one, the most similar first.
pub(super) fn nearest_names(names: impl IntoIterator<Item = String>, like: &str) -> Vec<String> {
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
    names.take(MAX_ALTERNATIVES).collect()
}

/// Why the controller does not try a rule that has a match for the request.
pub(super) fn not_tried(
    why: NotTried,
    winner: Option<&MatchingRule<'_>>,
    rule: &MatchingRule<'_>,
    order: RuleOrder,
) -> String {
    match (why, winner) {
        (NotTried::AfterCatchAll, _) => {
            "in its list it is behind a rule that takes every request".to_owned()
        }
        (NotTried::LessSpecificPath, Some(winner)) => behind(Reason::Path, winner, rule, order),
        (NotTried::LessSpecificPath, None) => {
            "a more specific path fits, and the controller tries only the rules with that path"
                .to_owned()
        }
    }
}

/// Notes on a rule that serves a request.
pub(super) fn notes(matching_rule: &MatchingRule<'_>, order: RuleOrder) -> Vec<String> {
    let filters = matching_rule.rule.filters.parse_errors.iter();
    let mut notes: Vec<String> = filters
        .map(|odd| {
            format!(
                "{} {}: {odd}",
                matching_rule.route.key,
                rule(&matching_rule.label)
            )
        })
        .collect();
    let match_spec = &matching_rule.match_spec;
    let texts = match_spec
        .headers
        .iter()
        .chain(&match_spec.params)
        .map(|(_, text)| text);
    let mut texts = texts.chain(&match_spec.service).chain(&match_spec.call);
    let is_path_known = order.partial_expressions;
    if has_expression_path(matching_rule) && !is_path_known || texts.any(TextMatch::is_expression) {
        notes.push(
            "how regular expressions are read is up to the implementation; here they must match the whole value"
                .to_owned(),
        );
    }
    notes
}

fn has_expression_path(matching_rule: &MatchingRule<'_>) -> bool {
    matches!(matching_rule.match_spec.path, Some(Path::Expression(_)))
}

/// Notes where the Gateway API leaves the order of matching rules to the implementation, and nothing is known of it.
pub(super) fn order_notes(choice: &Choice<'_>) -> Vec<String> {
    let Some((first, others)) = choice.matching_rules.split_first() else {
        return Vec::new();
    };
    let best = choice.best_hostname.as_ref();
    let narrower = best.filter(|best| best.specificity > first.hostname.specificity);
    let narrower = narrower.filter(|_| choice.order.one_hostname.is_none());
    let by = |other: &MatchingRule<'_>| first.rank.compare(&other.rank).0;
    let decided = |reason: Reason| others.iter().filter(move |other| by(other) == reason);
    let mut notes = Vec::new();
    if let Some(best) = narrower {
        notes.push(format!(
            "many implementations try only rules with {}, of which none takes the request: there it is not served",
            best.text()
        ));
    }
    let is_unknown = choice.order.hostnames_of_routes.is_none();
    if is_unknown && decided(Reason::HostnameOfRoute).next().is_some() {
        notes.push(
            "whether routes that have one hostname in common with the listener go by their own hostnames is up to the \
             implementation; here the more specific one goes first"
                .to_owned(),
        );
    }
    let is_other =
        |other: &MatchingRule<'_>| has_expression_path(other) != has_expression_path(first);
    let is_open = choice.order.expression_paths.is_none();
    if is_open && decided(Reason::Path).any(is_other) {
        notes.push(
            "whether paths by regular expression are tried before other paths is up to the implementation; here they \
             are tried last"
                .to_owned(),
        );
    }
    if choice.order.lists.is_none() && decided(Reason::Kind).next().is_some() {
        notes.push(
            "in which order rules of GRPCRoutes and HTTPRoutes are tried is up to the implementation; here those of \
             GRPCRoutes go first"
                .to_owned(),
        );
    }
    notes
}

/// A note on a rule whose route shares a hostname with an older route of another kind.
pub(super) fn doubt(matching_rule: &MatchingRule<'_>, other: &Object) -> String {
    format!(
        "{} shares a hostname with the older {}: Gateway API lets a controller refuse it for that",
        matching_rule.route.key, other.key
    )
}

/// A note on a path that many Gateways normalize.
pub(super) fn path_note(path: &str) -> Option<String> {
    let lowercase = path.to_ascii_lowercase();
    let mut odd = ["//", "/./", "/../", "%2f", "%2e", "\\"].iter();
    let note = "many Gateways normalize such a path before they match it";
    let ends_in_dots = ["/.", "/.."].iter().any(|end| lowercase.ends_with(end));
    (ends_in_dots || odd.any(|part| lowercase.contains(part))).then(|| note.to_owned())
}
