//! Matches a request at a Service of a mesh (GEP-1426).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::backends::{Backend, State};
use super::choice::Choice;
use super::choose::Hosts;
use super::criterion::Criterion;
use super::filters::RedirectContext;
use super::messages;
use super::rank::kind_of;
use super::request::{Request, Scheme};
use super::url::to_query;
use super::{EntryPoint, MatchResult, Matching, NotTaken, Outcome, Served, Stage};
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object, ParentRef, Port, is_route};
use crate::model::section;
use crate::policy::Precedence;
use crate::topology::fits_service;

/// The Service that a request is for.
#[derive(Clone, Copy)]
struct CalledService<'a, 's> {
    service: &'a Arc<Object>,
    /// The port; `None` if all ports are equivalent.
    port: Option<&'a Port>,
    /// The namespace of the client, if given.
    from: Option<&'s str>,
}

impl<'a> Matching<'a> {
    /// Matches a request at a Service, from clients in the namespace `from` if given.
    pub fn at_service(
        &self,
        request: &Request,
        key: &ObjectKey,
        from: Option<&str>,
    ) -> Vec<MatchResult> {
        let entry_point = EntryPoint::Service {
            service: key.clone(),
            port: None,
            consumer: None,
        };
        let service = self.snapshot.get(key);
        let Some((service, Node::Service { ports, .. })) = service.map(|s| (s, &s.node)) else {
            let why = format!("{key} does not exist");
            let there = self
                .snapshot
                .objects(&key.gk)
                .map(|service| service.key.path());
            let near = messages::nearest_names(there, &key.path());
            return vec![MatchResult::missed(
                entry_point,
                Stage::EntryPoint,
                why,
                near,
            )];
        };
        let below = self.snapshot.below(key).filter(|o| is_route(&o.key.gk));
        let mut routes: Vec<&Arc<Object>> = below.collect();
        routes.sort_by_cached_key(|route| Precedence::of(route));
        let asked = ports
            .iter()
            .filter(|port| request.port.is_none_or(|p| p == port.number));
        let asked: Vec<&Port> = asked.collect();
        if asked.is_empty() && request.port.is_some() {
            let why = format!(
                "the Service does not have port {}",
                request.port.unwrap_or_default()
            );
            let near = ports.iter().map(|port| port.number.to_string()).collect();
            return vec![MatchResult::missed(entry_point, Stage::Port, why, near)];
        }
        // If no route refers to a port or section, all ports are equivalent.
        let mut parents = routes.iter().flat_map(|route| route.parents_to(key));
        let alike = parents.all(|parent| parent.port.is_none() && parent.section.is_none());
        let called = |port| CalledService {
            service,
            port,
            from,
        };
        match asked.as_slice() {
            [one] => vec![self.called(request, called(Some(one)), &routes)],
            several if alike || several.is_empty() => {
                vec![self.called(request, called(None), &routes)]
            }
            several => {
                let called_ports = several.iter();
                called_ports
                    .map(|port| self.called(request, called(Some(port)), &routes))
                    .collect()
            }
        }
    }

    fn called(
        &self,
        request: &Request,
        at: CalledService<'a, '_>,
        routes: &[&'a Arc<Object>],
    ) -> MatchResult {
        let attached = routes.iter().copied().filter(|route| at.takes(route));
        let attached: Vec<&'a Arc<Object>> = attached.collect();
        let own = |route: &Object| route.key.namespace == at.service.key.namespace;
        let calls = |route: &Object| !own(route) && at.from == Some(&*route.key.namespace);
        // Consumer routes in the client's namespace replace the routes in the Service's namespace.
        let consumer = attached.iter().find(|route| calls(route));
        let consumer = consumer.map(|route| route.key.namespace.clone());
        let counts = |route: &Object| match consumer {
            Some(_) => calls(route),
            None => own(route),
        };
        let in_force = attached.iter().copied().filter(|route| counts(route));
        let first = in_force.clone().map(|route| kind_of(route)).min();
        let is_udp = request.scheme == Some(Scheme::Udp);
        let in_force = in_force.filter(|route| {
            let datagrams = route.key.gk.is_gateway_api("UDPRoute");
            if is_udp {
                datagrams
            } else {
                Some(kind_of(route)) == first
            }
        });
        let in_force: Vec<&'a Arc<Object>> = in_force.collect();
        let choice = self.choose(request, Hosts::of_mesh(), in_force.iter().copied());
        let mut lost = choice.others();
        let chosen: BTreeSet<&ObjectKey> = in_force.iter().map(|route| &route.key).collect();
        for route in attached.iter().filter(|route| !chosen.contains(&route.key)) {
            let why = if counts(route) {
                (Criterion::RouteKind, "routes of only one kind apply to a Service: the first of GRPCRoute, HTTPRoute, TLSRoute and TCPRoute that exists".to_owned())
            } else if own(route) {
                let why = format!(
                    "namespace {} has routes of its own",
                    consumer.as_deref().unwrap_or_default()
                );
                (Criterion::Consumer, why)
            } else {
                continue;
            };
            lost.extend(self.left_out(request, route, why));
        }
        let mut outcome = self.outcome(request, at, consumer, &choice, &in_force);
        outcome.notes.extend(messages::order_notes(&choice));
        outcome.notes.extend(others(at, &attached));
        outcome.notes.extend(messages::path_note(&request.path));
        outcome.losing(lost)
    }

    fn left_out(
        &self,
        request: &Request,
        route: &'a Arc<Object>,
        (by, why): (Criterion, String),
    ) -> Option<NotTaken> {
        let choice = self.choose(request, Hosts::of_mesh(), [route]);
        choice
            .matching_rules
            .first()
            .map(|matching_rule| matching_rule.lost(by, why))
    }

    fn outcome(
        &self,
        request: &Request,
        at: CalledService<'a, '_>,
        consumer: Option<Arc<str>>,
        choice: &Choice<'a>,
        in_force: &[&'a Arc<Object>],
    ) -> MatchResult {
        let entry_point = EntryPoint::Service {
            service: at.service.key.clone(),
            port: at.label(),
            consumer,
        };
        let Some(matching_rule) = choice.matching_rules.first() else {
            if in_force.is_empty() {
                return at.without_route(entry_point);
            }
            let why = "no rule of the Service's routes takes the request".to_owned();
            let near = messages::near(&choice.misses);
            return MatchResult::missed(entry_point, Stage::Rule, why, near);
        };
        let host = request
            .host
            .clone()
            .unwrap_or_else(|| format!("{}.{}", at.service.key.name, at.service.key.namespace));
        let port = at.port.map(|port| port.number).or(request.port);
        let origin = request.preflight_of();
        let query = to_query(&request.query);
        let context = RedirectContext {
            scheme: request.scheme.map_or("http", Scheme::as_str),
            host: &host,
            port: port.unwrap_or(80),
            path: &request.path,
            query: &query,
            wanted: matching_rule.match_spec.path.as_ref(),
            preflight_of: origin.as_deref(),
        };
        self.by_rule(entry_point, matching_rule, &context, true)
    }
}

/// A note on other namespaces with consumer routes, which apply to requests of clients there.
fn others(at: CalledService<'_, '_>, attached: &[&Arc<Object>]) -> Option<String> {
    let consumers: BTreeSet<String> = attached
        .iter()
        .map(|route| &route.key.namespace)
        .filter(|namespace| **namespace != at.service.key.namespace)
        .filter(|namespace| at.from != Some(&***namespace))
        .map(ToString::to_string)
        .collect();
    let names: Vec<String> = consumers.into_iter().collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("requests from these namespaces take routes of their own: {names}")
    })
}

// === impl CalledService ===

impl CalledService<'_, '_> {
    /// Whether a route is attached to the Service and this port.
    fn takes(&self, route: &Object) -> bool {
        let mut parents = route.parents_to(&self.service.key);
        parents.any(|parent| fits_service(self.service, parent) && self.is_port(parent))
    }

    fn is_port(&self, parent: &ParentRef) -> bool {
        let Some(port) = self.port else { return true };
        let section = parent.section.as_ref();
        parent.port.is_none_or(|number| number == port.number)
            && section.is_none_or(|name| port.name.as_ref() == Some(name))
    }

    fn label(&self) -> Option<Arc<str>> {
        section::port_label(self.service, self.port?.number)
    }

    /// Without routes, a Service forwards requests to its own endpoints.
    fn without_route(&self, entry_point: EntryPoint) -> MatchResult {
        let backend = Backend {
            object: self.service.key.clone(),
            port: self.port.map(|port| port.number),
            label: self.label(),
            weight: 1,
            state: State::Used,
            filters: Vec::new(),
            answer: None,
        };
        let taken = Served {
            rule: None,
            backends: vec![backend],
            mirrors: Vec::new(),
            answer: None,
        };
        MatchResult {
            entry_point,
            outcome: Outcome::Taken(Box::new(taken)),
            lost: Vec::new(),
            more: 0,
            notes: vec![
                "no accepted route has this Service as its parent: requests go to its own endpoints"
                    .to_owned(),
            ],
        }
    }
}
