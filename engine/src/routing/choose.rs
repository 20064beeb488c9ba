//! Chooses among the rules of attached routes the one that serves a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::criterion::Criterion;
use super::holds::{self, Holds, Mismatch};
use super::hostname::{self, HostMatch, ListenerHosts};
use super::messages;
use super::rank::{Rank, RankContext, RankedRule, kind_of};
use super::request::Request;
use super::spec::{self, Dialect, MatchSpec, Rule};
use super::{Matching, NotTaken};
use crate::kinds::profile::RuleOrder;
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object};
use crate::model::section;
use crate::policy::Precedence;

/// A rule with a match for the request; of several matches, the best.
#[derive(Clone, Debug)]
pub(super) struct Hit<'a> {
    pub(super) route: &'a Arc<Object>,
    pub(super) standing: RankedRule,
    pub(super) label: Arc<str>,
    pub(super) hostname: HostMatch<'a>,
    pub(super) wants: MatchSpec,
    pub(super) rule: Rule,
}

/// A rule without a match for the request, and the first failed condition of its closest match.
#[derive(Clone, Debug)]
pub(super) struct Miss<'a> {
    pub(super) route: &'a Arc<Object>,
    pub(super) label: Arc<str>,
    pub(super) against: Mismatch,
    /// The number of leading characters that its path has in common with that of the request.
    pub(super) alike: usize,
}

/// How routes relate to a request.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    /// Rules with a match, the winner first.
    pub(super) hits: Vec<Hit<'a>>,
    /// Rules that cannot be evaluated.
    pub(super) unknown: Vec<NotTaken>,
    /// Rules without a match, the closest first.
    pub(super) misses: Vec<Miss<'a>>,
    /// Routes whose hostnames do not match.
    pub(super) elsewhere: Vec<&'a Arc<Object>>,
    /// The order in which rules are tried.
    pub(super) order: RuleOrder,
}

/// Whether the hostnames of routes matter. In a mesh they do not (GEP-1426).
#[derive(Clone, Copy, Debug)]
pub(super) enum Hosts<'h> {
    Count(ListenerHosts<'h>),
    Ignored,
}

/// The lists of rules that a controller keeps apart, by the kind and the hostname of their routes: the first route of each.
type Lists<'a> = BTreeMap<(usize, Option<&'a Arc<str>>), Precedence>;

pub(super) fn dialect(route: &Object) -> Dialect {
    if route.key.gk.is_gateway_api("HTTPRoute") {
        Dialect::Http
    } else if route.key.gk.is_gateway_api("GRPCRoute") {
        Dialect::Grpc
    } else {
        Dialect::None
    }
}

impl<'a> Matching<'a> {
    /// Evaluates the rules of routes for a request.
    pub(super) fn choose(
        &self,
        request: &Request,
        hosts: Hosts<'_>,
        routes: impl IntoIterator<Item = &'a Arc<Object>>,
    ) -> Choice<'a> {
        let mut choice = Choice {
            order: hosts.order(),
            ..Choice::default()
        };
        let mut matching = Vec::new();
        let mut lists: Lists<'a> = BTreeMap::new();
        for route in routes {
            let hostnames = match &route.node {
                Node::Route { hostnames, .. } => &**hostnames,
                _ => &[],
            };
            let matched = match hosts {
                Hosts::Count(at) => hostname::best(hostnames, &at),
                Hosts::Ignored => Some(HostMatch::default()),
            };
            let Some(matched) = matched else {
                choice.elsewhere.push(route);
                continue;
            };
            let precedence = Precedence::of(route);
            let first = lists.entry((kind_of(route), matched.of_route));
            let first = first.or_insert_with(|| precedence.clone());
            if precedence < *first {
                *first = precedence;
            }
            matching.push((route, matched));
        }
        for (route, matched) in matching {
            let own = lists.get(&(kind_of(route), matched.of_route));
            let before = lists.values().filter(|first| Some(*first) < own);
            let list = before.count();
            self.rules(request, route, &matched, list, &mut choice);
        }
        choice.sort();
        choice
    }

    fn rules(
        &self,
        request: &Request,
        route: &'a Arc<Object>,
        hostname: &HostMatch<'a>,
        list: usize,
        choice: &mut Choice<'a>,
    ) {
        let dialect = dialect(route);
        let spec = self.specs.get(&route.key).copied();
        let rules = match spec.map(|spec| spec::rules(dialect, spec)) {
            Some(Ok(rules)) => rules,
            Some(Err(why)) => {
                return choice.unknown.push(unread(route, None, &why));
            }
            None => {
                return choice
                    .unknown
                    .push(unread(route, None, "its spec is not known"));
            }
        };
        let precedence = Precedence::of(route);
        let context = RankContext {
            hostname: hostname.fit,
            kind: kind_of(route),
            list,
            order: choice.order,
        };
        for (index, mut rule) in rules.into_iter().enumerate() {
            let label = section::rule_label(route, index);
            let mut best: Option<(RankedRule, MatchSpec)> = None;
            let mut nearest: Option<(Mismatch, usize)> = None;
            for wants in std::mem::take(&mut rule.matches) {
                let judged = wants.and_then(|wants| Ok((holds(dialect, &wants, request)?, wants)));
                match judged {
                    Ok((None, wants)) => {
                        let here = RankedRule {
                            rank: Rank::of(&wants, context),
                            precedence: precedence.clone(),
                            rule: index,
                        };
                        if best.as_ref().is_none_or(|(known, _)| here.is_before(known)) {
                            best = Some((here, wants));
                        }
                    }
                    Ok((Some(against), wants)) => {
                        let alike = messages::alike(&wants, request);
                        let nearer = nearest.as_ref().is_none_or(|(known, before)| {
                            (known.at, *before) < (against.at, alike)
                        });
                        if nearer {
                            nearest = Some((against, alike));
                        }
                    }
                    Err(why) => {
                        let at = Some((index, label.clone()));
                        choice.unknown.push(unread(route, at, &why));
                    }
                }
            }
            match (best, nearest) {
                (Some((standing, wants)), _) => choice.hits.push(Hit {
                    route,
                    standing,
                    label,
                    hostname: hostname.clone(),
                    wants,
                    rule,
                }),
                (None, Some((against, alike))) => choice.misses.push(Miss {
                    route,
                    label,
                    against,
                    alike,
                }),
                (None, None) => {}
            }
        }
    }
}

/// What a match has against a request; `None` if it takes it. An error says what cannot be read.
fn holds(
    dialect: Dialect,
    wants: &MatchSpec,
    request: &Request,
) -> Result<Option<Mismatch>, String> {
    let holds = match dialect {
        Dialect::Http => holds::http(wants, request),
        Dialect::Grpc => holds::grpc(wants, request),
        Dialect::None => Holds::Yes,
    };
    match holds {
        Holds::Yes => Ok(None),
        Holds::No(against) => Ok(Some(against)),
        Holds::Unknown(what) => Err(format!("{what} is an expression that cannot be read here")),
    }
}

fn unread(route: &Object, rule: Option<(usize, Arc<str>)>, why: &str) -> NotTaken {
    NotTaken {
        route: route.key.clone(),
        rule,
        by: Criterion::NotEvaluated,
        why: format!("attache cannot decide whether it takes the request: {why}"),
    }
}

// === impl Hosts ===

impl Hosts<'_> {
    /// The order in which rules are tried. Nothing is known of that of meshes.
    fn order(self) -> RuleOrder {
        match self {
            Self::Count(at) => at.order,
            Self::Ignored => RuleOrder::default(),
        }
    }
}

// === impl Choice ===

impl Choice<'_> {
    /// The choice among the routes of several listeners with one order. A route of several of them counts once.
    pub(super) fn of_all(choices: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for choice in choices {
            all.hits.extend(choice.hits);
            all.unknown.extend(choice.unknown);
            all.misses.extend(choice.misses);
            all.elsewhere.extend(choice.elsewhere);
            all.order = choice.order;
        }
        all.sort();
        let mut seen = BTreeSet::new();
        all.hits.retain(|hit| seen.insert(hit.id()));
        all.unknown.dedup();
        all.misses
            .dedup_by(|a, b| (&a.route.key, &a.label) == (&b.route.key, &b.label));
        all
    }

    fn sort(&mut self) {
        self.hits.sort_by(|a, b| {
            a.standing
                .compare(&b.standing)
                .1
                .then_with(|| a.route.key.cmp(&b.route.key))
        });
        self.unknown
            .sort_by(|a, b| (&a.route, &a.rule).cmp(&(&b.route, &b.rule)));
        self.misses.sort_by(|a, b| {
            (b.against.at, b.alike)
                .cmp(&(a.against.at, a.alike))
                .then_with(|| (&a.route.key, &a.label).cmp(&(&b.route.key, &b.label)))
        });
    }

    /// Whether there are routes, but none of them has the hostname.
    pub(super) fn says_nothing(&self) -> bool {
        self.misses.is_empty() && self.unknown.is_empty() && !self.elsewhere.is_empty()
    }

    /// The matching rules after the winner, and the rules that cannot be evaluated.
    pub(super) fn others(&self) -> Vec<NotTaken> {
        let mut hits = self.hits.iter();
        let Some(first) = hits.next() else {
            return self.unknown.clone();
        };
        let behind = hits.map(|hit| {
            let (by, _) = first.standing.compare(&hit.standing);
            let why = messages::behind(by, first, hit, self.order);
            hit.lost(by.criterion(), why)
        });
        // A match of the winner that cannot be evaluated makes no difference.
        let wins = |lost: &&NotTaken| {
            let rule = lost.rule.as_ref().map(|(index, _)| *index);
            lost.route == first.route.key && rule == Some(first.standing.rule)
        };
        let unknown = self.unknown.iter().filter(|lost| !wins(lost));
        unknown.cloned().chain(behind).collect()
    }
}

// === impl Hit ===

impl Hit<'_> {
    /// The route, and the index of the rule.
    pub(super) fn id(&self) -> (ObjectKey, usize) {
        (self.route.key.clone(), self.standing.rule)
    }

    /// Reports this rule as losing.
    pub(super) fn lost(&self, by: Criterion, why: String) -> NotTaken {
        NotTaken {
            route: self.route.key.clone(),
            rule: Some((self.standing.rule, self.label.clone())),
            by,
            why,
        }
    }
}
