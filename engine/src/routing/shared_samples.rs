//! Requests that meet the matches of two routes, to see which of them takes them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Matching;
use super::choose::route_protocol;
use super::common_text::{Automata, common_text};
use super::expression_example::example;
use super::path::{Path, elements};
use super::request::Request;
use super::samples::{ANY_PATH, SampleRequest, SampledRoute, at_each, meeting};
use super::spec::MatchSpec;
use super::text_match::TextMatch;
use crate::attachment::rejection::{RequestEntry, routes_of, share_a_host};
use crate::kinds::profile::RuleOrder;
use crate::model::ids::ObjectKey;
use crate::model::object::Object;
use crate::topology::{RouteKindConflicts, controller_facts, gateway_of, in_common};

impl Matching<'_> {
    /// The other routes that name a Gateway of a route or one of its `ListenerSets`.
    pub fn neighbours(&self, route: &Object) -> BTreeSet<ObjectKey> {
        let parents = route.parents().iter().map(|parent| &parent.object);
        let gateways = parents.map(|parent| gateway_of(self.snapshot, parent));
        let gateways: BTreeSet<&ObjectKey> = gateways.collect();
        let routes = gateways
            .into_iter()
            .flat_map(|gateway| routes_of(self.snapshot, gateway));
        let others = routes.filter(|other| other.key != route.key);
        others.map(|other| other.key.clone()).collect()
    }

    /// Requests that meet a match of each of two routes, at hostnames, ports and Gateways that both have. None if the routes
    /// are of different kinds. Where the controller tries only rules for the most specific hostname, and that is one of the first
    /// route, also those that meet a match of the other route alone.
    pub fn shared_samples(
        &self,
        route_kind_conflicts: &mut RouteKindConflicts<'_>,
        (route, own): (&Object, &SampledRoute),
        other: &ObjectKey,
    ) -> Vec<SampleRequest> {
        let other = self.snapshot.get(other);
        let other = other.filter(|other| {
            route_protocol(other) == own.route_protocol
                && share_a_host(route.hostnames(), other.hostnames())
        });
        let Some(other) = other else {
            return Vec::new();
        };
        let other = self.sampled(route_kind_conflicts, other);
        let entries = shared_entries(&own.entries, &other.entries);
        let order = RuleOrder {
            partial_expressions: entries
                .iter()
                .any(|(gateway, ..)| self.rule_order(gateway).partial_expressions),
            ..RuleOrder::default()
        };
        let both = own.match_spec.iter().flat_map(|match_spec| {
            let theirs = other.match_spec.iter();
            theirs.filter_map(move |their| both((&self.automata, order), match_spec, their))
        });
        let requests: Vec<Request> = both
            .flat_map(|both| meeting(own.route_protocol, &both, &[]))
            .collect();
        let mut samples = at_each(&entries, &requests);
        let hidden = entries.intersection(&own.entries);
        let hidden = hidden.filter(|entry| !other.entries.contains(*entry));
        let hidden = hidden.filter(|(gateway, ..)| self.tries_one_hostname(gateway));
        let hidden: BTreeSet<RequestEntry> = hidden.cloned().collect();
        if !hidden.is_empty() {
            let theirs = other.match_spec.iter();
            let theirs = theirs.flat_map(|match_spec| meeting(own.route_protocol, match_spec, &[]));
            samples.extend(at_each(&hidden, &theirs.collect::<Vec<_>>()));
        }
        samples
    }

    fn tries_one_hostname(&self, gateway: &ObjectKey) -> bool {
        self.rule_order(gateway).one_hostname == Some(true)
    }

    fn rule_order(&self, gateway: &ObjectKey) -> RuleOrder {
        let facts = controller_facts(self.snapshot, gateway);
        facts.map(|facts| facts.rule_order).unwrap_or_default()
    }
}

/// Gateways, ports and hostnames that two routes have in common.
fn shared_entries(
    own: &BTreeSet<RequestEntry>,
    theirs: &BTreeSet<RequestEntry>,
) -> BTreeSet<RequestEntry> {
    let shared = own.iter().flat_map(|(gateway, port, host)| {
        let there = theirs
            .iter()
            .filter(move |their| their.0 == *gateway && their.1 == *port);
        there.filter_map(move |their| Some((gateway.clone(), *port, common(host, &their.2)?)))
    });
    shared.collect()
}

/// The hostname that two have in common; an empty one is every host.
fn common(one: &Arc<str>, other: &Arc<str>) -> Option<Arc<str>> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => Some(other.clone()),
        (_, true) => Some(one.clone()),
        _ => in_common(one, other).cloned(),
    }
}

/// No request meets both conditions, or none is found.
struct Disjoint;

/// A match that both matches cover; `None` if none is found.
fn both(
    (automata, order): (&Automata, RuleOrder),
    one: &MatchSpec,
    other: &MatchSpec,
) -> Option<MatchSpec> {
    let path_of_both = |one: &Path, other: &Path| path((automata, order), one, other);
    let text_of_both = |one: &TextMatch, other: &TextMatch| text(automata, one, other);
    let same = |a: &String, b: &String| (a == b).then(|| a.clone());
    let path = either(one.path.as_ref(), other.path.as_ref(), path_of_both);
    let method = either(one.method.as_ref(), other.method.as_ref(), same);
    let service = either(one.service.as_ref(), other.service.as_ref(), text_of_both);
    let call = either(one.call.as_ref(), other.call.as_ref(), text_of_both);
    Some(MatchSpec {
        path: path.ok()?,
        method: method.ok()?,
        service: service.ok()?,
        call: call.ok()?,
        headers: pairs(automata, &one.headers, &other.headers)?,
        params: pairs(automata, &one.params, &other.params)?,
    })
}

/// The condition for requests that meet both conditions; one of them alone if the other is missing.
/// An error if no request meets both.
fn either<T: Clone>(
    one: Option<&T>,
    other: Option<&T>,
    both: impl Fn(&T, &T) -> Option<T>,
) -> Result<Option<T>, Disjoint> {
    match (one, other) {
        (Some(one), Some(other)) => both(one, other).map(Some).ok_or(Disjoint),
        (one, other) => Ok(one.or(other).cloned()),
    }
}

/// A path that both take. Where expressions take what is below them, one below a prefix comes first: a prefix that is equal to the
/// path may precede an expression.
fn path((automata, order): (&Automata, RuleOrder), one: &Path, other: &Path) -> Option<Path> {
    let examples = |path: &Path, other: &Path| match path {
        Path::Prefix(prefix) if matches!(other, Path::Expression(_)) => {
            let below = format!("{}/{ANY_PATH}", elements(prefix));
            let mut both = vec![Path::Exact(prefix.clone()), Path::Exact(below)];
            if order.partial_expressions {
                both.reverse();
            }
            both
        }
        Path::Exact(_) | Path::Prefix(_) => vec![path.clone()],
        Path::Expression(expression) => {
            let text = example(expression, ANY_PATH);
            let fits = text.filter(|text| text.starts_with('/'));
            fits.map(Path::Exact).into_iter().collect()
        }
    };
    let of_one = examples(one, other).into_iter();
    let found = of_one.chain(examples(other, one));
    let fits = |path: &Path| {
        let covers = |wider: &Path| wider.covers_with(path.value(), order) == Some(true);
        covers(one) && covers(other)
    };
    let is_expression = |path: &Path| matches!(path, Path::Expression(_));
    { found }.find(fits).or_else(|| {
        // Two paths that are no expressions have no other common example than the longer one.
        if !is_expression(one) && !is_expression(other) {
            return None;
        }
        let [one_text, other_text] = [one, other].map(|path| expression_of(path, order));
        let text = common_text(automata, &one_text, &other_text)?;
        Some(Path::Exact(text)).filter(|path| path.value().starts_with('/') && fits(path))
    })
}

/// The paths that a match takes, as a regular expression.
fn expression_of(path: &Path, order: RuleOrder) -> String {
    match path {
        Path::Exact(value) => regex::escape(value),
        Path::Prefix(value) => format!("{}(?:/.*)?", regex::escape(elements(value))),
        Path::Expression(value) if order.partial_expressions => format!("(?:{})(?:.*)", &**value),
        Path::Expression(value) => value.to_string(),
    }
}

fn text(automata: &Automata, one: &TextMatch, other: &TextMatch) -> Option<TextMatch> {
    let value = |text: &TextMatch| match text {
        TextMatch::Exact(value) => Some(value.clone()),
        TextMatch::Expression(expression) => example(expression, "any"),
    };
    let values = [value(one), value(other)].into_iter().flatten();
    let fits =
        |value: &String| one.covers(value) == Some(true) && other.covers(value) == Some(true);
    let found = { values }.find(fits).or_else(|| {
        if !one.is_expression() && !other.is_expression() {
            return None;
        }
        let [one, other] = [one, other].map(|text| match text {
            TextMatch::Exact(value) => regex::escape(value),
            TextMatch::Expression(value) => value.to_string(),
        });
        common_text(automata, &one, &other)
    });
    found.filter(fits).map(TextMatch::Exact)
}

/// The conditions of both on headers or parameters.
fn pairs(
    automata: &Automata,
    one: &[(String, TextMatch)],
    other: &[(String, TextMatch)],
) -> Option<Vec<(String, TextMatch)>> {
    let mut all = one.to_vec();
    for (name, value) in other {
        match all
            .iter_mut()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
        {
            Some((_, own)) => *own = text(automata, own, value)?,
            None => all.push((name.clone(), value.clone())),
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::common_text::Automata;
    use super::super::spec::{MatchSpec, RouteProtocol, rules};
    use super::both;
    use crate::kinds::profile::RuleOrder;

    fn match_spec(json: &Value) -> MatchSpec {
        let spec = json!({"rules": [{"matches": [json]}]}).to_string();
        let mut rules = rules(RouteProtocol::Http, &spec).unwrap();
        rules.remove(0).matches.remove(0).unwrap()
    }

    #[test]
    fn a_match_that_both_cover_has_the_conditions_of_both() {
        let prefix = |value: &str| json!({"path": {"value": value}});
        let api_of_one =
            json!({"path": {"value": "/api"}, "headers": [{"name": "x", "value": "1"}]});
        let posts = json!({"path": {"value": "/"}, "method": "POST"});
        let all = both(
            (&Automata::default(), RuleOrder::default()),
            &match_spec(&api_of_one),
            &match_spec(&posts),
        )
        .unwrap();
        assert_eq!(all.path.unwrap().value(), "/api");
        assert_eq!(all.method.as_deref(), Some("POST"));
        assert_eq!(all.headers.len(), 1);
        assert!(
            both(
                (&Automata::default(), RuleOrder::default()),
                &match_spec(&prefix("/a")),
                &match_spec(&prefix("/b"))
            )
            .is_none()
        );
        let expression = json!({"path": {"type": "RegularExpression", "value": "/.*"}});
        let all = both(
            (&Automata::default(), RuleOrder::default()),
            &match_spec(&prefix("/api")),
            &match_spec(&expression),
        )
        .unwrap();
        assert_eq!(all.path.unwrap().value(), "/api");
        let get = json!({"method": "GET"});
        assert!(
            both(
                (&Automata::default(), RuleOrder::default()),
                &match_spec(&get),
                &match_spec(&posts)
            )
            .is_none()
        );
    }
}
