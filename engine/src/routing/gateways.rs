//! Matches a request at Gateways.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::at_listeners::{AtListeners, ControllerRules};
use super::backends::{Answer, Backend, answer, backends, of_backend, uncovered};
use super::choice::MatchingRule;
use super::filters::RedirectContext;
use super::hostname::Specificity;
use super::listeners::{ListenerCandidate, Socket, of_gateway};
use super::messages;
use super::mirrors::mirrors;
use super::object_filters;
use super::request::{Request, Scheme};
use super::unsupported_filters::UnsupportedFilters;
use super::url::to_query;
use super::{EntryPoint, MatchResult, MatchedRule, Matching, Outcome, Served, Stage};
use crate::kinds::profile::{ControllerFile, ListenerIsolation};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Object;
use crate::state::snapshot::Snapshot;
use crate::topology::{ListenerFault, controller_facts, missing_class, why_not_joined};

impl<'a> Matching<'a> {
    /// Matches a request at the Gateways that `asked` selects, sorted by key.
    pub fn at_gateways(
        &self,
        request: &Request,
        asked: impl Fn(&ObjectKey) -> bool,
    ) -> Vec<MatchResult> {
        let kind = GroupKind::gateway_api("Gateway");
        let all = self.snapshot.objects(&kind);
        let mut gateways: Vec<&Arc<Object>> = all.filter(|gateway| asked(&gateway.key)).collect();
        gateways.sort_by(|a, b| a.key.cmp(&b.key));
        let asked_gateways = gateways.into_iter();
        asked_gateways
            .flat_map(|gateway| self.at_gateway(request, gateway))
            .collect()
    }

    fn at_gateway(&self, request: &Request, gateway: &'a Arc<Object>) -> Vec<MatchResult> {
        let (entries, outside) = of_gateway(self.snapshot, gateway);
        let outside = outside.iter().filter(|entry| entry.would_take(request));
        let outside: BTreeSet<&ObjectKey> = outside.map(|entry| &entry.owner.key).collect();
        let fitting = entries.iter().filter(|entry| entry.fits(request)).copied();
        let (mixed, fitting): (Vec<ListenerCandidate<'a>>, Vec<_>) =
            fitting.partition(|entry| entry.fault == Some(ListenerFault::IncompatibleProtocol));
        if fitting.is_empty() && !mixed.is_empty() {
            let entry_point = EntryPoint::Gateway {
                gateway: gateway.key.clone(),
                port: mixed.first().map(|entry| entry.listener.port),
            };
            let why = messages::conflicted(&mixed);
            let missed = MatchResult::missed(entry_point, Stage::ListenerConflict, why, Vec::new());
            return vec![noting(self.snapshot, missed, outside)];
        }
        let mut sockets: BTreeMap<Socket, Vec<ListenerCandidate<'a>>> = BTreeMap::new();
        for entry in fitting {
            sockets.entry(entry.socket()).or_default().push(entry);
        }
        if sockets.is_empty() {
            let entry_point = EntryPoint::Gateway {
                gateway: gateway.key.clone(),
                port: request.port,
            };
            let near: BTreeSet<(u16, String)> = entries
                .iter()
                .map(ListenerCandidate::socket_words)
                .collect();
            let near = near.into_iter().map(|(_, words)| words).collect();
            let why = format!("no listener takes {}", sent(request));
            let missed = MatchResult::missed(entry_point, Stage::Port, why, near);
            return vec![noting(self.snapshot, missed, outside)];
        }
        let by_socket = sockets.into_values();
        let outcomes = by_socket.flat_map(|entries| self.at_socket(request, gateway, &entries));
        let outcomes_with_notes = outcomes.map(|mut outcome| {
            outcome.notes.extend(self.without_class(gateway));
            outcome.notes.extend(messages::not_accepted(&mixed));
            noting(self.snapshot, outcome, outside.iter().copied())
        });
        outcomes_with_notes.collect()
    }

    /// A note if the `GatewayClass` does not exist, so that no controller serves the Gateway.
    fn without_class(&self, gateway: &Object) -> Option<String> {
        let key = missing_class(self.snapshot, gateway)?;
        Some(format!(
            "{key} does not exist: no controller serves the Gateway"
        ))
    }

    /// Matches a request at listeners that differ only in hostname: the most specific hostname that matches takes it
    /// exclusively.
    fn at_socket(
        &self,
        request: &Request,
        gateway: &'a Arc<Object>,
        entries: &[ListenerCandidate<'a>],
    ) -> Vec<MatchResult> {
        let fitting = entries.iter().filter_map(|entry| {
            let specificity = entry.specificity(request)?;
            Some((specificity, *entry))
        });
        let (conflicted, fitting): (Vec<_>, Vec<(Specificity, ListenerCandidate<'a>)>) =
            fitting.partition(|(_, entry)| entry.fault.is_some());
        let conflicted: Vec<ListenerCandidate<'a>> =
            conflicted.into_iter().map(|(_, entry)| entry).collect();
        let Some(best) = fitting.iter().map(|(specificity, _)| *specificity).max() else {
            let entry_point = EntryPoint::Gateway {
                gateway: gateway.key.clone(),
                port: entries.first().map(|entry| entry.listener.port),
            };
            if !conflicted.is_empty() {
                let why = messages::conflicted(&conflicted);
                let stage = Stage::ListenerConflict;
                return vec![MatchResult::missed(entry_point, stage, why, Vec::new())];
            }
            let there = entries.iter().filter_map(ListenerCandidate::hostname);
            let there = there.map(ToString::to_string);
            let name = entries.first().and_then(|entry| entry.name_of(request));
            let words = name.clone().unwrap_or_else(|| request.host_words());
            let why = format!("no listener has the hostname {words}");
            let near = messages::nearest_names(there, &name.unwrap_or_default());
            return vec![MatchResult::missed(
                entry_point,
                Stage::ListenerHostname,
                why,
                near,
            )];
        };
        let rules = self.controller_rules(gateway);
        let (first, others): (Vec<_>, Vec<_>) = fitting
            .into_iter()
            .partition(|(specificity, _)| *specificity == best);
        let first: Vec<ListenerCandidate<'a>> = first.into_iter().map(|(_, entry)| entry).collect();
        if let Some(entry) = first.iter().find(|entry| reads_only_http(request, entry)) {
            return vec![terminated(request, entry)];
        }
        let mut others: Vec<(Specificity, ListenerCandidate<'a>)> = others;
        others.sort_by(|(one, _), (other, _)| other.cmp(one));
        let others = others.into_iter().map(|(_, entry)| entry);
        let others = others.filter(|entry| !reads_only_http(request, entry));
        let others: Vec<ListenerCandidate<'a>> = others.collect();
        let at = |taking: &[ListenerCandidate<'a>], others: &[ListenerCandidate<'a>]| {
            AtListeners::new(self, request, (taking, others), rules).result()
        };
        let is_full = rules
            .isolation
            .is_none_or(|how| how == ListenerIsolation::Full);
        // With TLS, the server name decides which listener has the connection, unless the controller goes by hosts alone.
        let by_hosts = matches!(
            rules.isolation,
            Some(ListenerIsolation::NoneWithTls | ListenerIsolation::EqualOwnHostnames)
        );
        let is_alone = is_full || !(by_hosts || first.iter().all(ListenerCandidate::is_plain_http));
        let outcomes: Vec<MatchResult> = if is_alone {
            let alone = |entry: &ListenerCandidate<'a>| match rejected_as_misdirected(
                request, entry, entries, rules,
            ) {
                Some(refused) => Some(refused),
                None => at(std::slice::from_ref(entry), &others),
            };
            first.iter().filter_map(alone).collect()
        } else {
            let all: Vec<ListenerCandidate<'a>> = first.into_iter().chain(others).collect();
            at(&all, &[]).into_iter().collect()
        };
        let outcomes_with_notes = outcomes.into_iter().map(|mut outcome| {
            outcome.notes.extend(messages::not_accepted(&conflicted));
            outcome
        });
        outcomes_with_notes.collect()
    }

    /// The known facts about the controller of a Gateway.
    fn controller_rules(&self, gateway: &Object) -> ControllerRules {
        let facts = controller_facts(self.snapshot, &gateway.key);
        ControllerRules {
            isolation: facts.and_then(|facts| facts.listener_isolation),
            rejects_misdirected_requests: facts
                .and_then(|facts| facts.rejects_misdirected_requests),
            order: facts.map(|facts| facts.rule_order).unwrap_or_default(),
        }
    }

    /// The result for a request that a rule of a listener takes.
    pub(super) fn taken(
        &self,
        request: &Request,
        entry: &ListenerCandidate<'a>,
        matching_rule: &MatchingRule<'a>,
    ) -> MatchResult {
        let scheme = request.scheme.map_or_else(
            || match &*entry.listener.protocol {
                "HTTPS" => "https",
                _ => "http",
            },
            Scheme::as_str,
        );
        let host = request.hostname().unwrap_or_default();
        let origin = request.preflight_of();
        let query = to_query(&request.query);
        let context = RedirectContext {
            scheme,
            host: &host,
            port: entry.listener.port,
            path: &request.path,
            query: &query,
            wanted: matching_rule.match_spec.path.as_ref(),
            preflight_of: origin.as_deref(),
        };
        self.by_rule(entry.entry_point(), matching_rule, &context, false)
    }

    /// The backends of a rule, with the answers of their own filters.
    fn backends_of(
        &self,
        matching_rule: &MatchingRule<'a>,
        facts: Option<&ControllerFile>,
        context: &RedirectContext<'_>,
        in_mesh: bool,
    ) -> Vec<Backend> {
        if matching_rule.is_dead_end {
            return Vec::new();
        }
        let (route, index) = (matching_rule.route, matching_rule.rank.rule);
        let specs = &matching_rule.rule.backends;
        let mut backends = backends(self.snapshot, route, index, specs, in_mesh);
        if let [only] = &mut *backends
            && facts.is_some_and(|facts| facts.only_backend_needs_no_weight)
        {
            only.weight = only.weight.max(1);
        }
        let unsupported = UnsupportedFilters::of(facts);
        for (backend, spec) in backends.iter_mut().zip(specs) {
            let error = unsupported.of_backend(route, &backend.filters);
            backend.answer = error.or_else(|| of_backend(backend, &spec.filters, context));
        }
        backends
    }

    /// The result for a request that a rule serves.
    pub(super) fn by_rule(
        &self,
        entry_point: EntryPoint,
        matching_rule: &MatchingRule<'a>,
        context: &RedirectContext<'_>,
        in_mesh: bool,
    ) -> MatchResult {
        let (route, index) = (matching_rule.route, matching_rule.rank.rule);
        let facts = match &entry_point {
            EntryPoint::Listener(entry) => controller_facts(self.snapshot, &entry.gateway),
            _ => None,
        };
        let unsupported = UnsupportedFilters::of(facts);
        let backends = self.backends_of(matching_rule, facts, context, in_mesh);
        let mirrors = mirrors(
            self.snapshot,
            route,
            &matching_rule.rule,
            unsupported,
            in_mesh,
        );
        let of_filter = unsupported.of_rule(route, &matching_rule.rule);
        let of_filter = of_filter
            .or_else(|| object_filters::unresolved(self.snapshot, &entry_point, route, index));
        let of_filter = of_filter.or_else(|| {
            let has_backends = !matching_rule.rule.backends.is_empty();
            object_filters::direct(self.snapshot, &entry_point, route, index, has_backends)
        });
        let by_filter = of_filter.is_some();
        let answer = if matching_rule.is_dead_end {
            let why = "the rule delegates to other routes, and at least one of its backends selects no route that takes the request";
            Some(Answer::error(&route.key, why))
        } else {
            of_filter.or_else(|| answer(route, &matching_rule.rule.filters, &backends, context))
        };
        let is_redirected = matching_rule.rule.filters.redirect.is_some();
        let in_place = by_filter
            || is_redirected
            || matching_rule.rule.filters.cors.is_some() && context.preflight_of.is_some();
        let by_backend = answer.is_some() && backends.iter().any(|b| b.answer.is_some());
        let (backends, mirrors) = if in_place || by_backend {
            // A filter answers before any backend is reached.
            (Vec::new(), Vec::new())
        } else {
            (backends, mirrors)
        };
        let order = facts.map(|facts| facts.rule_order).unwrap_or_default();
        let mut notes = messages::notes(matching_rule, order);
        notes.extend(unsupported.note(&matching_rule.rule));
        if !by_filter {
            notes.extend(object_filters::notes(self.snapshot, route, index));
        }
        if in_mesh {
            notes.extend(uncovered(self.snapshot, route, &backends));
        }
        let rule = MatchedRule {
            route: route.key.clone(),
            index,
            label: matching_rule.label.clone(),
            hostname: matching_rule.hostname.of_route.cloned(),
            match_spec: matching_rule.match_spec.clone(),
            filters: matching_rule.rule.filters.types.clone(),
            above: matching_rule.above.clone(),
        };
        let taken = Served {
            rule: Some(rule),
            backends,
            mirrors,
            answer,
        };
        MatchResult {
            entry_point,
            outcome: Outcome::Taken(Box::new(taken)),
            lost: Vec::new(),
            more: 0,
            notes,
        }
    }
}

/// Adds a note for each `ListenerSet` with a suitable listener that is not part of the Gateway.
fn noting<'k>(
    snapshot: &Snapshot,
    mut outcome: MatchResult,
    outside: impl IntoIterator<Item = &'k ObjectKey>,
) -> MatchResult {
    let note = |set: &ObjectKey| {
        let why = snapshot.get(set).map(|set| why_not_joined(snapshot, set));
        let why = why.unwrap_or_default();
        format!("{set} has such a listener, but it is not part of the Gateway: {why}")
    };
    if !outcome.is_taken() {
        outcome.notes.extend(outside.into_iter().map(note));
    }
    outcome
}

/// Whether a request is a TLS connection that is not for HTTP, and a listener reads HTTP requests alone.
fn reads_only_http(request: &Request, entry: &ListenerCandidate<'_>) -> bool {
    request.scheme == Some(Scheme::Tls) && &*entry.listener.protocol == "HTTPS"
}

/// The result for a TLS connection with the server name of a listener that reads HTTP requests alone.
fn terminated(request: &Request, entry: &ListenerCandidate<'_>) -> MatchResult {
    let name = request.server_name();
    let why = format!(
        "the server name {} is that of {}, which terminates TLS and reads HTTP requests",
        name.unwrap_or_default(),
        entry.text()
    );
    let (entry_point, stage) = (entry.entry_point(), Stage::ListenerHostname);
    MatchResult::missed(entry_point, stage, why, Vec::new())
}

/// The result for a request that arrives on a connection to one listener with the host of another, if the controller rejects it.
fn rejected_as_misdirected(
    request: &Request,
    entry: &ListenerCandidate<'_>,
    all: &[ListenerCandidate<'_>],
    rules: ControllerRules,
) -> Option<MatchResult> {
    let rejects = rules.rejects_misdirected_requests;
    let why = misdirected(request, entry, all).filter(|_| rejects != Some(false))?;
    let (entry_point, stage) = (entry.entry_point(), Stage::ListenerHostname);
    let mut missed = MatchResult::missed(entry_point, stage, why, Vec::new());
    if rejects.is_none() {
        missed.notes.push(
            "not every implementation refuses such a request: others serve it by the routes of the listener that has the connection"
                .to_owned(),
        );
    }
    Some(missed)
}

/// The reason if a request arrives on a connection to one listener with the host of another on its port (RFC 9110,
/// 421).
fn misdirected(
    request: &Request,
    entry: &ListenerCandidate<'_>,
    all: &[ListenerCandidate<'_>],
) -> Option<String> {
    let sni = request.sni.as_ref()?;
    if &*entry.listener.protocol != "HTTPS" {
        return None;
    }
    let host = request.hostname();
    let accepted = all.iter().filter(|other| other.fault.is_none());
    let specificity = |other: &ListenerCandidate<'_>| other.fit_name(host.as_deref());
    let best = accepted.filter_map(|other| Some((specificity(other)?, other)));
    let best = best.max_by_key(|(specificity, _)| *specificity)?;
    let own = specificity(entry);
    (own != Some(best.0)).then(|| {
        format!(
            "the connection is to {} (server name {sni}), and the host {} is that of {}: 421 Misdirected Request",
            entry.text(),
            request.host_words(),
            best.1.text()
        )
    })
}

/// The scheme and port of a request, in words.
fn sent(request: &Request) -> String {
    let scheme = request.scheme.map(|scheme| scheme.as_str().to_uppercase());
    match (scheme, request.port) {
        (Some(scheme), Some(port)) => format!("{scheme} on port {port}"),
        (Some(scheme), None) => scheme,
        (None, Some(port)) => format!("port {port}"),
        (None, None) => "HTTP or TLS".to_owned(),
    }
}
