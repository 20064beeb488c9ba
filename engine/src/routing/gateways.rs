//! Matches a request at Gateways.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attached::{Attached, attached};
use super::backends::{answer, backends, mirrors, of_backend, uncovered};
use super::choose::{Choice, Hit, Hosts};
use super::filters::RedirectContext;
use super::hostname::Fit;
use super::listeners::{Entry, Socket, of_gateway};
use super::messages;
use super::rank::Criterion;
use super::request::{Request, Scheme};
use super::{EntryPoint, MatchedRule, Matching, NotTaken, Outcome, RequestMatch, Served, Stage};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Node, Object};
use crate::state::snapshot::class_key;
use crate::topology::{Conflict, Refusal, kept_out_by};

impl<'a> Matching<'a> {
    /// Matches a request at the Gateways that `asked` selects, sorted by key.
    pub fn at_gateways(
        &self,
        request: &Request,
        asked: impl Fn(&ObjectKey) -> bool,
    ) -> Vec<RequestMatch> {
        let kind = GroupKind::gateway_api("Gateway");
        let all = self.snapshot.objects(&kind);
        let mut gateways: Vec<&Arc<Object>> = all.filter(|gateway| asked(&gateway.key)).collect();
        gateways.sort_by(|a, b| a.key.cmp(&b.key));
        let ways = gateways.into_iter();
        ways.flat_map(|gateway| self.at_gateway(request, gateway))
            .collect()
    }

    fn at_gateway(&self, request: &Request, gateway: &'a Arc<Object>) -> Vec<RequestMatch> {
        let (entries, outside) = of_gateway(self.snapshot, gateway);
        let outside = outside.iter().filter(|entry| entry.would_take(request));
        let outside: BTreeSet<&ObjectKey> = outside.map(|entry| &entry.owner.key).collect();
        let fitting = entries.iter().filter(|entry| entry.fits(request)).copied();
        let (mixed, fitting): (Vec<Entry<'a>>, Vec<_>) =
            fitting.partition(|entry| entry.conflict == Some(Conflict::Protocol));
        if fitting.is_empty() && !mixed.is_empty() {
            let front = EntryPoint::Gateway {
                gateway: gateway.key.clone(),
                port: mixed.first().map(|entry| entry.listener.port),
            };
            let why = messages::conflicted(&mixed);
            let way = RequestMatch::missed(front, Stage::ListenerConflict, why, Vec::new());
            return vec![noting(way, outside)];
        }
        let mut sockets: BTreeMap<Socket, Vec<Entry<'a>>> = BTreeMap::new();
        for entry in fitting {
            sockets.entry(entry.socket()).or_default().push(entry);
        }
        if sockets.is_empty() {
            let front = EntryPoint::Gateway {
                gateway: gateway.key.clone(),
                port: request.port,
            };
            let near: BTreeSet<(u16, String)> = entries.iter().map(Entry::socket_words).collect();
            let near = near.into_iter().map(|(_, words)| words).collect();
            let why = format!("no listener takes {}", sent(request));
            let way = RequestMatch::missed(front, Stage::Port, why, near);
            return vec![noting(way, outside)];
        }
        let ways = sockets.into_values();
        let ways = ways.flat_map(|entries| self.at_socket(request, gateway, &entries));
        let ways = ways.map(|mut way| {
            way.notes.extend(self.without_class(gateway));
            way.notes.extend(messages::not_accepted(&mixed));
            noting(way, outside.iter().copied())
        });
        ways.collect()
    }

    /// A note if the `GatewayClass` does not exist, so that no controller serves the Gateway.
    fn without_class(&self, gateway: &Object) -> Option<String> {
        let Node::Gateway { class, .. } = &gateway.node else {
            return None;
        };
        let key = class_key(class);
        let missing = self.snapshot.knows(&key.gk) && self.snapshot.get(&key).is_none();
        missing.then(|| format!("{key} does not exist: no controller serves the Gateway"))
    }

    /// Matches a request at listeners that differ only in hostname: the most specific hostname that matches takes it
    /// exclusively.
    fn at_socket(
        &self,
        request: &Request,
        gateway: &'a Arc<Object>,
        entries: &[Entry<'a>],
    ) -> Vec<RequestMatch> {
        let host = request.hostname();
        let fitting = entries.iter().filter_map(|entry| {
            let fit = entry.fit(request)?;
            Some((fit, *entry))
        });
        let (conflicted, fitting): (Vec<_>, Vec<(Fit, Entry<'a>)>) =
            fitting.partition(|(_, entry)| entry.conflict.is_some());
        let conflicted: Vec<Entry<'a>> = conflicted.into_iter().map(|(_, entry)| entry).collect();
        let Some(best) = fitting.iter().map(|(fit, _)| *fit).max() else {
            let front = EntryPoint::Gateway {
                gateway: gateway.key.clone(),
                port: entries.first().map(|entry| entry.listener.port),
            };
            if !conflicted.is_empty() {
                let why = messages::conflicted(&conflicted);
                let stage = Stage::ListenerConflict;
                return vec![RequestMatch::missed(front, stage, why, Vec::new())];
            }
            let there = entries.iter().filter_map(Entry::hostname);
            let there = there.map(ToString::to_string);
            let like = host.as_deref().unwrap_or_default();
            let why = format!("no listener has the hostname {}", said(request));
            let near = messages::likest(there, like);
            return vec![RequestMatch::missed(
                front,
                Stage::ListenerHostname,
                why,
                near,
            )];
        };
        let (first, others): (Vec<_>, Vec<_>) =
            fitting.into_iter().partition(|(fit, _)| *fit == best);
        let others: Vec<Entry<'a>> = others.into_iter().map(|(_, entry)| entry).collect();
        let ways = first.into_iter().map(|(_, entry)| {
            let mut way = match misdirected(request, &entry, entries) {
                Some(why) => {
                    RequestMatch::missed(entry.front(), Stage::ListenerHostname, why, Vec::new())
                }
                None => self.at_listener(request, entry, &others),
            };
            way.notes.extend(messages::not_accepted(&conflicted));
            way
        });
        ways.collect()
    }

    fn at_listener(
        &self,
        request: &Request,
        entry: Entry<'a>,
        others: &[Entry<'a>],
    ) -> RequestMatch {
        let host = entry.name_for_routes(request);
        let hosts = Hosts::Count(host.as_deref());
        let here = attached(self.snapshot, &entry.own(self.snapshot));
        let choice = self.choose(request, hosts, here.routes.iter().copied());
        let mut lost = choice.others();
        lost.extend(self.kept_out(request, hosts, &entry, &here, choice.hits.first()));
        lost.extend(self.less_specific(request, hosts, &entry, others, choice.hits.first()));
        let mut way = match choice.hits.first() {
            Some(hit) => self.taken(request, &entry, hit),
            None => untaken(request, &entry, &here, &choice),
        };
        let is_elsewhere = |lost: &NotTaken| lost.by == Criterion::Listener;
        if !way.is_taken() && lost.iter().any(is_elsewhere) {
            let note = "not every implementation keeps listeners apart: there the less specific one may serve it";
            way.notes.push(note.to_owned());
        }
        way.notes.extend(messages::path_note(&request.path));
        way.losing(lost)
    }

    /// Routes that would take the request, but are not attached to the listener.
    fn kept_out(
        &self,
        request: &Request,
        hosts: Hosts<'_>,
        entry: &Entry<'a>,
        here: &Attached<'a>,
        first: Option<&Hit<'a>>,
    ) -> Vec<NotTaken> {
        let mut lost = Vec::new();
        for (route, winner) in &here.rejected {
            if let Some(hit) = self.choose(request, hosts, [*route]).hits.first() {
                lost.push(hit.lost(Criterion::RouteKind, kept_out_by(winner)));
            }
        }
        for (route, parent, why) in &here.refused {
            let named = parent.section.as_ref() == Some(&entry.listener.name);
            // References to other listeners are irrelevant.
            let meant = match why {
                Refusal::Protocol => named,
                Refusal::Section | Refusal::Port => first.is_none(),
                Refusal::Kind
                | Refusal::Hostname
                | Refusal::Isolated
                | Refusal::Namespace
                | Refusal::Unread
                | Refusal::Conflict(_)
                | Refusal::Reported => true,
            };
            if let (true, Some(hit)) = (meant, self.choose(request, hosts, [*route]).hits.first()) {
                let why = messages::refused(entry, route, parent, *why);
                lost.push(hit.lost(Criterion::NotAttached, why));
            }
        }
        lost
    }

    /// The rules that listeners on the same port with less specific hostnames would have chosen.
    fn less_specific(
        &self,
        request: &Request,
        hosts: Hosts<'_>,
        entry: &Entry<'a>,
        others: &[Entry<'a>],
        first: Option<&Hit<'a>>,
    ) -> Vec<NotTaken> {
        let taken = first.map(|hit| (&hit.route.key, hit.standing.rule));
        let mut seen: BTreeSet<(ObjectKey, usize)> = BTreeSet::new();
        let mut lost = Vec::new();
        for other in others {
            let there = attached(self.snapshot, &other.own(self.snapshot));
            let choice = self.choose(request, hosts, there.routes.iter().copied());
            let Some(hit) = choice.hits.first() else {
                continue;
            };
            let known = (hit.route.key.clone(), hit.standing.rule);
            if taken != Some((&known.0, known.1)) && seen.insert(known) {
                let why = format!(
                    "{} is less specific than {}",
                    other.with_hostname(),
                    entry.with_hostname()
                );
                lost.push(hit.lost(Criterion::Listener, why));
            }
        }
        lost
    }

    fn taken(&self, request: &Request, entry: &Entry<'a>, hit: &Hit<'a>) -> RequestMatch {
        let scheme = request.scheme.map_or_else(
            || match &*entry.listener.protocol {
                "HTTPS" => "https",
                _ => "http",
            },
            Scheme::as_str,
        );
        let host = request.hostname().unwrap_or_default();
        let origin = request.preflight_of();
        let here = RedirectContext {
            scheme,
            host: &host,
            port: entry.listener.port,
            path: &request.path,
            wanted: hit.wants.path.as_ref(),
            preflight_of: origin.as_deref(),
        };
        self.by_rule(entry.front(), hit, &here, false)
    }

    /// The result for a request that a rule serves.
    pub(super) fn by_rule(
        &self,
        front: EntryPoint,
        hit: &Hit<'a>,
        here: &RedirectContext<'_>,
        in_mesh: bool,
    ) -> RequestMatch {
        let (route, index) = (hit.route, hit.standing.rule);
        let mut backends = backends(self.snapshot, route, index, &hit.rule.backends, in_mesh);
        for (backend, spec) in backends.iter_mut().zip(&hit.rule.backends) {
            backend.answer = of_backend(backend, &spec.filters, here);
        }
        let mirrors = mirrors(self.snapshot, route, &hit.rule, in_mesh);
        let answer = answer(route, &hit.rule.filters, &backends, here);
        let in_place = hit.rule.filters.cors.is_some() && here.preflight_of.is_some();
        let by_backend = answer.is_some() && backends.iter().any(|b| b.answer.is_some());
        let (backends, mirrors) = if in_place || by_backend {
            // A filter answers before any backend is reached.
            (Vec::new(), Vec::new())
        } else {
            (backends, mirrors)
        };
        let mut notes = messages::notes(hit);
        if in_mesh {
            notes.extend(uncovered(self.snapshot, route, &backends));
        }
        let rule = MatchedRule {
            route: route.key.clone(),
            index,
            label: hit.label.clone(),
            hostname: hit.hostname.cloned(),
            wants: hit.wants.clone(),
            filters: hit.rule.filters.types.clone(),
        };
        let taken = Served {
            rule: Some(rule),
            backends,
            mirrors,
            answer,
        };
        RequestMatch {
            front,
            outcome: Outcome::Taken(Box::new(taken)),
            lost: Vec::new(),
            more: 0,
            notes,
        }
    }
}

/// Adds a note for each `ListenerSet` with a suitable listener that the Gateway does not allow.
fn noting<'k>(
    mut way: RequestMatch,
    outside: impl IntoIterator<Item = &'k ObjectKey>,
) -> RequestMatch {
    let note = |set: &ObjectKey| {
        format!(
            "{set} has such a listener, but the Gateway does not let it join (spec.allowedListeners)"
        )
    };
    if !way.is_taken() {
        way.notes.extend(outside.into_iter().map(note));
    }
    way
}

/// The result if no rule of a listener serves a request.
fn untaken(
    request: &Request,
    entry: &Entry<'_>,
    here: &Attached<'_>,
    choice: &Choice<'_>,
) -> RequestMatch {
    let (stage, why, near) = if here.routes.is_empty() {
        let why = "no route is attached to the listener".to_owned();
        (Stage::Route, why, Vec::new())
    } else if choice.says_nothing() {
        let host = request.hostname().unwrap_or_default();
        let why = format!(
            "no route of the listener has the hostname {}",
            said(request)
        );
        let near = messages::hostnames(choice.elsewhere.iter().copied(), &host);
        (Stage::RouteHostname, why, near)
    } else {
        let why = "no rule of the listener's routes takes the request".to_owned();
        (Stage::Rule, why, messages::near(&choice.misses))
    };
    RequestMatch::missed(entry.front(), stage, why, near)
}

/// The reason if a request arrives on a connection to one listener with the host of another on its port (RFC 9110,
/// 421).
fn misdirected(request: &Request, entry: &Entry<'_>, all: &[Entry<'_>]) -> Option<String> {
    let sni = request.sni.as_ref()?;
    if &*entry.listener.protocol != "HTTPS" {
        return None;
    }
    let host = request.hostname();
    let accepted = all.iter().filter(|other| other.conflict.is_none());
    let fit = |other: &Entry<'_>| other.fit_name(host.as_deref());
    let best = accepted.filter_map(|other| Some((fit(other)?, other)));
    let best = best.max_by_key(|(fit, _)| *fit)?;
    let own = fit(entry);
    (own != Some(best.0)).then(|| {
        format!(
            "the connection is to {} (server name {sni}), and the host {} is that of {}: 421 Misdirected Request",
            entry.words(),
            said(request),
            best.1.words()
        )
    })
}

/// The host of a request, in words.
fn said(request: &Request) -> String {
    request
        .hostname()
        .unwrap_or_else(|| "of a request without a host".to_owned())
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
