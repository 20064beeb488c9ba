//! Chooses among the rules of attached routes the one that serves a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::choice::{Choice, MatchingRule, Miss, PathSpecificity};
use super::criterion::Criterion;
use super::delegated::DelegatedRoute;
use super::dropped_rules::is_dropped;
use super::holds::{self, Aspect, Evaluation, Mismatch};
use super::hostname::{self, HostMatch, ListenerHosts};
use super::listener_routes::{Delegation, ListenerRoutes};
use super::messages;
use super::rank::{Rank, RankContext, RankedRule, kind_of};
use super::request::Request;
use super::spec::{MatchSpec, RouteProtocol};
use super::{Matching, NotTaken};
use crate::kinds::profile::{RuleLists, RuleOrder};
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object};
use crate::model::section;
use crate::policy::Precedence;

/// A route whose rules are evaluated.
struct Candidate<'a, 'b> {
    route: &'a Arc<Object>,
    /// The attached route: this one, or one that delegates to it.
    root: &'a Arc<Object>,
    /// The requests that reach each of its rules, if routes delegate to it, and these routes.
    below: Option<&'b DelegatedRoute<'a>>,
    /// The listener, if its controller follows delegation.
    at: Option<&'b ListenerRoutes<'a>>,
}

/// Whether the hostnames of routes matter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hosts<'h> {
    Count(ListenerHosts<'h>),
    /// They do not; rules are tried in this order.
    Ignored(RuleOrder),
}

/// The lists of rules that a controller keeps apart, by the hostname of their routes: the first route of each, and whether it is
/// in another namespace than the Gateway.
type RuleListsByHostname<'a> = BTreeMap<Option<&'a Arc<str>>, (bool, Precedence)>;

pub(super) fn route_protocol(route: &Object) -> RouteProtocol {
    if route.key.gk.is_gateway_api("HTTPRoute") {
        RouteProtocol::Http
    } else if route.key.gk.is_gateway_api("GRPCRoute") {
        RouteProtocol::Grpc
    } else {
        RouteProtocol::None
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
        let candidates = routes.into_iter().map(|route| Candidate {
            route,
            root: route,
            below: None,
            at: None,
        });
        self.among(request, hosts, candidates)
    }

    /// Evaluates the rules of the routes of a listener for a request, and of those that they delegate to.
    pub(super) fn choose_at(
        &self,
        request: &Request,
        hosts: Hosts<'_>,
        at_listener: &ListenerRoutes<'a>,
    ) -> Choice<'a> {
        let at = at_listener.facts.map(|_| at_listener);
        let attached = at_listener.routes.iter().map(|route| Candidate {
            route,
            root: route,
            below: None,
            at,
        });
        let delegated = at_listener.delegated.iter().map(|below| Candidate {
            route: below.route,
            root: below.root,
            below: Some(below),
            at,
        });
        self.among(request, hosts, attached.chain(delegated))
    }

    fn among<'b>(
        &self,
        request: &Request,
        hosts: Hosts<'_>,
        candidates: impl Iterator<Item = Candidate<'a, 'b>>,
    ) -> Choice<'a>
    where
        'a: 'b,
    {
        let mut choice = Choice {
            order: hosts.order(),
            ..Choice::default()
        };
        let mut matching = Vec::new();
        let mut lists: RuleListsByHostname<'a> = BTreeMap::new();
        for candidate in candidates {
            if self.drops_all_rules(choice.order, candidate.route) {
                continue;
            }
            let matched = match hosts {
                Hosts::Count(at) => hostname::best(candidate.root.hostnames(), &at),
                Hosts::Ignored(_) => Some(HostMatch::default()),
            };
            let Some(matched) = matched else {
                choice.other_hostname.push(candidate.route);
                continue;
            };
            choice.note_hostname(&matched);
            let precedence = Precedence::by(candidate.root, choice.order);
            let is_elsewhere = hosts.namespace() != Some(&candidate.root.key.namespace);
            let place = (is_elsewhere, precedence);
            let first = lists.entry(matched.of_route);
            let first = first.or_insert_with(|| place.clone());
            if place.1 < first.1 {
                *first = place;
            }
            matching.push((candidate, matched));
        }
        for (candidate, matched) in matching {
            let own = lists.get(&matched.of_route);
            let before = lists.values().filter(|first| Some(*first) < own);
            let list = before.count();
            self.rules(request, &candidate, (&matched, list), &mut choice);
        }
        choice.hide_less_specific();
        if choice.order.lists == Some(RuleLists::PerHostname) {
            choice.cut_lists();
        }
        if let Some(only) = choice.only_path() {
            choice.keep_path(&only);
        }
        choice.sort();
        choice
    }

    fn rules(
        &self,
        request: &Request,
        candidate: &Candidate<'a, '_>,
        (hostname, list): (&HostMatch<'a>, usize),
        choice: &mut Choice<'a>,
    ) {
        let route = candidate.route;
        let route_protocol = route_protocol(route);
        let rules = self.rules_of(route);
        let rules = match &*rules {
            Ok(rules) => rules,
            Err(why) => return choice.unknown.push(unread(route, None, why)),
        };
        let of = |route: &Object| Precedence::by(route, choice.order);
        let (precedence, own) = (of(candidate.root), of(route));
        let context = RankContext {
            request_path: &request.path,
            hostname: hostname.specificity,
            hostname_of_route: hostname.fit_of_route,
            kind: kind_of(route),
            list,
            order: choice.order,
        };
        for (index, rule) in rules.iter().enumerate() {
            if is_dropped(choice.order, &rule.matches) {
                continue;
            }
            let label = section::rule_label(route, index);
            let delegation = candidate.delegation_of(index, &label);
            if delegation == Delegation::Delegates {
                continue;
            }
            let delegated = candidate.below.map(|below| {
                let matches = below.matches.get(index).into_iter().flatten();
                matches.map(MatchSpec::of_request).collect::<Vec<_>>()
            });
            let ranked = |match_spec: &MatchSpec| RankedRule {
                rank: Rank::for_match(match_spec, context),
                precedence: precedence.clone(),
                own: own.clone(),
                rule: index,
            };
            let matches = delegated.as_deref().unwrap_or(&rule.matches);
            let judged = judge((route_protocol, choice.order), matches, request, ranked);
            let paths = judged.paths.iter();
            choice
                .paths
                .extend(paths.map(|path| (hostname.specificity, path.clone())));
            let unknown = judged.unknown.iter();
            choice.unknown.extend(unknown.map(|why| {
                let at = Some((index, label.clone()));
                unread(route, at, why)
            }));
            match (judged.best, judged.nearest) {
                (Some((rank, match_spec)), _) => choice.matching_rules.push(MatchingRule {
                    route,
                    rank,
                    label,
                    hostname: hostname.clone(),
                    match_spec,
                    rule: rule.clone(),
                    above: candidate
                        .below
                        .map_or_else(Vec::new, |below| below.above.clone()),
                    is_dead_end: delegation == Delegation::DeadEnd,
                }),
                (None, Some((against, alike))) => choice.misses.push(Miss {
                    route,
                    label,
                    hostname: hostname.specificity,
                    against,
                    alike,
                }),
                (None, None) => {}
            }
        }
    }
}

// === impl Candidate ===

impl Candidate<'_, '_> {
    /// The delegation by the rule at an index.
    fn delegation_of(&self, index: usize, label: &Arc<str>) -> Delegation {
        let Node::Route { rules, .. } = &self.route.node else {
            return Delegation::None;
        };
        let Some((attached, rule)) = self.at.zip(rules.get(index)) else {
            return Delegation::None;
        };
        let above = self.below.map_or(&[][..], |below| &below.above);
        let place = self.route.key.section(label.clone());
        attached.delegation_of(rule, &place, above)
    }
}

/// The result of comparing the matches of a rule with a request.
#[derive(Default)]
struct Judged {
    /// The best match that takes it.
    best: Option<(RankedRule, MatchSpec)>,
    /// The first failed condition of the closest match that does not.
    nearest: Option<(Mismatch, usize)>,
    /// The specificity of the paths that fit, if the controller tries rules of one path alone.
    paths: Vec<PathSpecificity>,
    /// Why other matches cannot be evaluated.
    unknown: Vec<String>,
}

fn judge(
    reading: (RouteProtocol, RuleOrder),
    matches: &[Result<MatchSpec, String>],
    request: &Request,
    ranked: impl Fn(&MatchSpec) -> RankedRule,
) -> Judged {
    let mut result = Judged::default();
    let (_, order) = reading;
    let keeps_paths = order.one_path;
    for match_spec in matches {
        let judged = match_spec.as_ref().map_err(Clone::clone);
        let judged =
            judged.and_then(|match_spec| Ok((holds(reading, match_spec, request)?, match_spec)));
        match judged {
            Ok((None, match_spec)) => {
                let rank = ranked(match_spec);
                if keeps_paths {
                    result.paths.extend(PathSpecificity::of(&rank, match_spec));
                }
                let best = result.best.as_ref();
                if best.is_none_or(|(known, _)| rank.is_before(known)) {
                    result.best = Some((rank, match_spec.clone()));
                }
            }
            Ok((Some(against), match_spec)) => {
                if keeps_paths && against.at > Aspect::Path {
                    let path = PathSpecificity::of(&ranked(match_spec), match_spec);
                    result.paths.extend(path);
                }
                let alike = messages::alike(match_spec, request);
                let nearest = result.nearest.as_ref();
                let nearer =
                    nearest.is_none_or(|(known, before)| (known.at, *before) < (against.at, alike));
                if nearer {
                    result.nearest = Some((against, alike));
                }
            }
            Err(why) => result.unknown.push(why),
        }
    }
    result
}

/// The first condition of a match that a request fails; `None` if the match takes it. An error
/// names an expression that cannot be read.
fn holds(
    (route_protocol, order): (RouteProtocol, RuleOrder),
    match_spec: &MatchSpec,
    request: &Request,
) -> Result<Option<Mismatch>, String> {
    let holds = match route_protocol {
        RouteProtocol::Http => holds::http(match_spec, request, order),
        RouteProtocol::Grpc => match order.grpc_calls_as_paths {
            Some(calls) => holds::grpc_path(match_spec, request, calls),
            None => holds::grpc(match_spec, request),
        },
        RouteProtocol::None => Evaluation::Yes,
    };
    match holds {
        Evaluation::Yes => Ok(None),
        Evaluation::No(against) => Ok(Some(against)),
        Evaluation::Unknown(what) => {
            Err(format!("{what} is an expression that cannot be read here"))
        }
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

impl<'h> Hosts<'h> {
    /// In a mesh they do not (GEP-1426). The order of meshes is not known: that of the Gateway API.
    pub(super) fn of_mesh() -> Self {
        Self::Ignored(RuleOrder::default())
    }

    /// The order in which rules are tried.
    fn order(self) -> RuleOrder {
        match self {
            Self::Count(at) => at.order,
            Self::Ignored(order) => order,
        }
    }

    /// The namespace of the Gateway.
    fn namespace(self) -> Option<&'h Arc<str>> {
        match self {
            Self::Count(at) => at.namespace,
            Self::Ignored(_) => None,
        }
    }
}

// === impl Choice ===

impl Choice<'_> {
    /// The choice among the routes of several listeners with one order. A route that is attached to
    /// several of them counts once.
    pub(super) fn of_all(choices: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for choice in choices {
            all.matching_rules.extend(choice.matching_rules);
            all.unknown.extend(choice.unknown);
            all.misses.extend(choice.misses);
            all.less_specific_hostname
                .extend(choice.less_specific_hostname);
            all.not_tried.extend(choice.not_tried);
            all.paths.extend(choice.paths);
            all.other_hostname.extend(choice.other_hostname);
            all.order = choice.order;
            if let Some(best) = &choice.best_hostname {
                all.note_hostname(best);
            }
        }
        all.sort();
        let mut seen = BTreeSet::new();
        all.matching_rules
            .retain(|matching_rule| seen.insert(matching_rule.id()));
        all.not_tried
            .retain(|(matching_rule, _)| seen.insert(matching_rule.id()));
        all.less_specific_hostname
            .retain(|matching_rule| seen.insert(matching_rule.id()));
        all.unknown.dedup();
        all.misses
            .dedup_by(|a, b| (&a.route.key, &a.label) == (&b.route.key, &b.label));
        all
    }

    fn sort(&mut self) {
        let in_order = |a: &MatchingRule<'_>, b: &MatchingRule<'_>| {
            let by_rank = a.rank.compare(&b.rank).1;
            by_rank.then_with(|| a.route.key.cmp(&b.route.key))
        };
        self.matching_rules.sort_by(in_order);
        self.less_specific_hostname.sort_by(in_order);
        self.not_tried.sort_by(|(a, _), (b, _)| in_order(a, b));
        self.unknown
            .sort_by(|a, b| (&a.route, &a.rule).cmp(&(&b.route, &b.rule)));
        self.misses.sort_by(|a, b| {
            (b.against.at, b.alike)
                .cmp(&(a.against.at, a.alike))
                .then_with(|| (&a.route.key, &a.label).cmp(&(&b.route.key, &b.label)))
        });
    }

    /// Whether there are routes, but none of them has the hostname.
    pub(super) fn no_hostname_matches(&self) -> bool {
        self.misses.is_empty() && self.unknown.is_empty() && !self.other_hostname.is_empty()
    }

    /// The matching rules after the winner, those that the controller does not try, and the rules that cannot be evaluated.
    pub(super) fn others(&self) -> Vec<NotTaken> {
        let hidden = self.less_specific_hostname.iter().map(|matching_rule| {
            let why = messages::less_specific_hostname(matching_rule, self.best_hostname.as_ref());
            matching_rule.lost(Criterion::Hostname, why)
        });
        let winner = self.matching_rules.first();
        let set_apart = self.not_tried.iter().map(|(matching_rule, why)| {
            let why = messages::not_tried(*why, winner, matching_rule, self.order);
            matching_rule.lost(Criterion::Path, why)
        });
        let hidden = set_apart.chain(hidden);
        let mut matching_rules = self.matching_rules.iter();
        let Some(first) = matching_rules.next() else {
            return self.unknown.iter().cloned().chain(hidden).collect();
        };
        let behind = matching_rules.map(|matching_rule| {
            let (by, _) = first.rank.compare(&matching_rule.rank);
            let why = messages::behind(by, first, matching_rule, self.order);
            matching_rule.lost(by.criterion(), why)
        });
        // A match of the winner that cannot be evaluated makes no difference.
        let wins = |lost: &&NotTaken| {
            let rule = lost.rule.as_ref().map(|(index, _)| *index);
            lost.route == first.route.key && rule == Some(first.rank.rule)
        };
        let unknown = self.unknown.iter().filter(|lost| !wins(lost));
        unknown.cloned().chain(behind).chain(hidden).collect()
    }
}

// === impl MatchingRule ===

impl MatchingRule<'_> {
    /// The route, and the index of the rule.
    pub(super) fn id(&self) -> (ObjectKey, usize) {
        (self.route.key.clone(), self.rank.rule)
    }

    /// Reports this rule as losing.
    pub(super) fn lost(&self, by: Criterion, why: String) -> NotTaken {
        NotTaken {
            route: self.route.key.clone(),
            rule: Some((self.rank.rule, self.label.clone())),
            by,
            why,
        }
    }
}
