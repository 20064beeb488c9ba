//! Matches a request at the listeners of one port whose routes may take it.

use std::collections::BTreeSet;

use super::choice::{Choice, MatchingRule};
use super::choose::Hosts;
use super::criterion::Criterion;
use super::hostname::ListenerHosts;
use super::listener_routes::{ListenerRoutes, listener_routes};
use super::listeners::ListenerCandidate;
use super::messages;
use super::request::Request;
use super::{MatchResult, Matching, NotTaken, Stage};
use crate::kinds::profile::{ListenerIsolation, RuleOrder};
use crate::model::ids::ObjectKey;
use crate::topology::{ListenerHostname, NotAttachedReason, intersect, kept_out_by};

/// The known facts about the controller of the listeners.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControllerRules {
    /// The isolation of the listeners, if it is known.
    pub(super) isolation: Option<ListenerIsolation>,
    /// Whether the controller rejects requests with the host of another listener than the one that has the connection, if that is known.
    pub(super) rejects_misdirected_requests: Option<bool>,
    /// The order in which it tries rules.
    pub(super) order: RuleOrder,
}

/// The listeners of one port whose routes may take a request.
pub(super) struct AtListeners<'a, 'm> {
    matching: &'m Matching<'a>,
    request: &'m Request,
    /// Those whose routes may take it, the most specific hostname first.
    points: Vec<Point<'a>>,
    /// Those with less specific hostnames, whose routes do not take it.
    others: Vec<Point<'a>>,
    rules: ControllerRules,
}

/// A listener with the routes that refer to it.
struct Point<'a> {
    entry: ListenerCandidate<'a>,
    /// The host of the request, as routes of the listener see it.
    host: Option<String>,
    /// The hostnames that the listener leaves to others.
    hostname: ListenerHostname,
    candidates: ListenerRoutes<'a>,
}

// === impl AtListeners ===

impl<'a, 'm> AtListeners<'a, 'm> {
    /// The listeners `taking` may take a request; `others` do not.
    pub(super) fn new(
        matching: &'m Matching<'a>,
        request: &'m Request,
        (taking, others): (&[ListenerCandidate<'a>], &[ListenerCandidate<'a>]),
        rules: ControllerRules,
    ) -> Self {
        let point = |entry: &ListenerCandidate<'a>| {
            let own = entry.own(matching.snapshot());
            Point {
                entry: *entry,
                host: entry.name_for_routes(request),
                candidates: listener_routes(matching.snapshot(), &own),
                hostname: own.hostname,
            }
        };
        Self {
            matching,
            request,
            points: taking.iter().map(point).collect(),
            others: others.iter().map(point).collect(),
            rules,
        }
    }

    /// The rule that takes the request; `None` if there is no listener.
    pub(super) fn result(&self) -> Option<MatchResult> {
        let points = self.points.iter();
        let choices = points.map(|point| (point, self.choose(point)));
        let mut choices: Vec<(&Point<'a>, Choice<'a>)> = choices.collect();
        let best = choices
            .iter()
            .filter_map(|(_, choice)| choice.best_hostname.as_ref());
        // Listeners of one port share a server for each hostname.
        if let Some(best) = best.max_by_key(|best| best.specificity).cloned() {
            for (_, choice) in &mut choices {
                choice.note_hostname(&best);
                choice.hide_less_specific();
            }
            let only = choices.iter().filter_map(|(_, choice)| choice.only_path());
            if let Some(only) = only.max() {
                for (_, choice) in &mut choices {
                    choice.keep_path(&only);
                }
            }
        }
        let mut winner: Option<(&Point<'a>, &MatchingRule<'a>)> = None;
        for (point, choice) in &choices {
            let matching_rule = choice.matching_rules.first();
            let wins = |matching_rule: &&MatchingRule<'a>| {
                winner.is_none_or(|(_, best)| matching_rule.rank.is_before(&best.rank))
            };
            if let Some(matching_rule) = matching_rule.filter(wins) {
                winner = Some((point, matching_rule));
            }
        }
        let doubt = winner.and_then(|(point, matching_rule)| {
            let other = point.candidates.doubtful.get(&matching_rule.route.key)?;
            Some(messages::doubt(matching_rule, other))
        });
        let taken = winner.map(|(point, matching_rule)| {
            self.matching
                .taken(self.request, &point.entry, matching_rule)
        });
        let all = Choice::of_all(choices.into_iter().map(|(_, choice)| choice));
        let mut outcome = match taken {
            Some(outcome) => outcome,
            None => self.not_served(&all)?,
        };
        let (apart, known) = self.excluded_by_isolation(&all);
        let mut lost = all.others();
        lost.extend(self.not_attached(&all, known));
        lost.extend(apart);
        outcome.notes.extend(messages::order_notes(&all));
        outcome.notes.extend(doubt);
        if self.may_be_taken_elsewhere(&all) {
            let note = "not every implementation keeps listeners apart: there the less specific one may serve it";
            outcome.notes.push(note.to_owned());
        }
        outcome
            .notes
            .extend(messages::path_note(&self.request.path));
        Some(outcome.losing(lost))
    }

    fn choose(&self, point: &Point<'a>) -> Choice<'a> {
        let hosts = self.hosts(point, Some(&point.hostname));
        self.matching
            .choose_at(self.request, hosts, &point.candidates)
    }

    /// The choice if the listener left no hostname to others.
    fn choose_alone(&self, point: &Point<'a>) -> Choice<'a> {
        let isolated = point.candidates.excluded.iter();
        let isolated = isolated.filter(|(.., why)| *why == NotAttachedReason::Isolated);
        let routes = isolated.map(|(route, ..)| *route);
        let routes = point.candidates.routes.iter().copied().chain(routes);
        let hosts = self.hosts(point, None);
        self.matching.choose(self.request, hosts, routes)
    }

    fn hosts<'h>(&self, point: &'h Point<'a>, isolated: Option<&'h ListenerHostname>) -> Hosts<'h> {
        Hosts::Count(ListenerHosts {
            host: point.host.as_deref(),
            own: point.entry.hostname(),
            namespace: Some(&point.entry.gateway.key.namespace),
            isolated,
            order: self.rules.order,
        })
    }

    /// The result if no rule takes the request.
    fn not_served(&self, choice: &Choice<'_>) -> Option<MatchResult> {
        let first = self.points.first()?;
        let (stage, why, near) = if self.points.iter().all(|p| p.candidates.routes.is_empty()) {
            let why = "no route is attached to the listener".to_owned();
            (Stage::Route, why, Vec::new())
        } else if choice.no_hostname_matches() {
            // The server name, where the listener reads no host.
            let host = first.host.as_deref();
            let words = host.map_or_else(|| self.request.host_words(), ToOwned::to_owned);
            let why = format!("no route of the listener has the hostname {words}");
            let elsewhere = choice.other_hostname.iter().copied();
            let near = messages::hostnames(elsewhere, host.unwrap_or_default());
            (Stage::RouteHostname, why, near)
        } else {
            let why = match &choice.best_hostname {
                Some(best) if !choice.less_specific_hostname.is_empty() => format!(
                    "no rule with {} takes the request, and the controller tries no others",
                    best.text()
                ),
                _ if choice.order.one_path && !choice.not_tried.is_empty() => {
                    "no rule with the most specific path that fits takes the request, and the controller tries no others".to_owned()
                }
                _ => "no rule of the listener's routes takes the request".to_owned(),
            };
            (Stage::Rule, why, messages::near(&choice.misses))
        };
        Some(MatchResult::missed(
            first.entry.entry_point(),
            stage,
            why,
            near,
        ))
    }

    /// The rules that listeners would choose if they left no hostname to others, with the reasons
    /// why they do not; and the ids of all rules among which they would choose.
    fn excluded_by_isolation(&self, choice: &Choice<'a>) -> (Vec<NotTaken>, BTreeSet<Id>) {
        let all = choice
            .matching_rules
            .iter()
            .chain(&choice.less_specific_hostname);
        let mut known: BTreeSet<Id> = all.map(MatchingRule::id).collect();
        let mut lost = Vec::new();
        for point in &self.points {
            let all = self.choose_alone(point);
            let mut limited = all
                .matching_rules
                .iter()
                .filter(|matching_rule| !known.contains(&matching_rule.id()));
            let left = limited.find_map(|matching_rule| {
                Some((matching_rule, self.left_to_another(point, matching_rule)?))
            });
            if let Some((matching_rule, why)) = left {
                lost.push(matching_rule.lost(Criterion::Listener, why));
            }
            known.extend(all.matching_rules.iter().map(MatchingRule::id));
        }
        let Some(first) = self.points.first() else {
            return (lost, known);
        };
        for other in &self.others {
            let there = self.choose_alone(other);
            if let Some(matching_rule) = there.matching_rules.first()
                && known.insert(matching_rule.id())
            {
                let why = format!(
                    "{} is less specific than {}",
                    other.entry.with_hostname(),
                    first.entry.with_hostname()
                );
                lost.push(matching_rule.lost(Criterion::Listener, why));
            }
            known.extend(there.matching_rules.iter().map(MatchingRule::id));
        }
        (lost, known)
    }

    /// Why a route does not have its hostname at a listener.
    fn left_to_another(
        &self,
        point: &Point<'a>,
        matching_rule: &MatchingRule<'_>,
    ) -> Option<String> {
        let name = matching_rule.hostname.name()?;
        let has_it = |other: &&Point<'a>| {
            let theirs = other.entry.hostname();
            theirs.is_some_and(|theirs| intersect(theirs, name))
        };
        let mut narrower = self.points.iter().take_while(|other| !other.is(point));
        let other = narrower.find(has_it)?.entry.text();
        let own = point.entry.text();
        Some(format!("{own} leaves hostname {name} to {other}"))
    }

    /// Whether a controller of which this is not known may take the request at a less specific listener.
    fn may_be_taken_elsewhere(&self, choice: &Choice<'a>) -> bool {
        let best = choice
            .matching_rules
            .first()
            .map(|matching_rule| matching_rule.hostname.specificity);
        let might = |other: &Point<'a>| {
            let there = self.choose_alone(other);
            let specificity = there
                .matching_rules
                .first()
                .map(|matching_rule| matching_rule.hostname.specificity);
            specificity.is_some_and(|specificity| best.is_none_or(|best| specificity >= best))
        };
        self.rules.isolation.is_none() && self.others.iter().any(might)
    }

    /// Routes that would take the request, but are not attached to the listeners. Those `seen` have a better reason.
    fn not_attached(&self, choice: &Choice<'a>, mut seen: BTreeSet<Id>) -> Vec<NotTaken> {
        let mut lost = Vec::new();
        for point in &self.points {
            let hosts = self.hosts(point, None);
            let chosen = |route| self.matching.choose(self.request, hosts, [route]);
            for (route, winner) in &point.candidates.rejected {
                if let Some(matching_rule) = chosen(*route).matching_rules.first()
                    && seen.insert(matching_rule.id())
                {
                    lost.push(matching_rule.lost(Criterion::RouteKind, kept_out_by(winner)));
                }
            }
            for (route, parent, why) in &point.candidates.excluded {
                let named = parent.section.as_ref() == Some(&point.entry.listener.name);
                // References to other listeners are irrelevant.
                let meant = match why {
                    NotAttachedReason::Isolated => false,
                    NotAttachedReason::Protocol => named,
                    NotAttachedReason::Section | NotAttachedReason::Port => {
                        choice.matching_rules.is_empty()
                    }
                    NotAttachedReason::Waypoint
                    | NotAttachedReason::Kind
                    | NotAttachedReason::Hostname
                    | NotAttachedReason::Namespace
                    | NotAttachedReason::SelectorUnreadable
                    | NotAttachedReason::Rules
                    | NotAttachedReason::Filter
                    | NotAttachedReason::ListenerNotAccepted(_)
                    | NotAttachedReason::Reported => true,
                };
                if meant
                    && let Some(matching_rule) = chosen(*route).matching_rules.first()
                    && seen.insert(matching_rule.id())
                {
                    let snapshot = self.matching.snapshot();
                    let why = messages::not_attached(snapshot, &point.entry, route, parent, *why);
                    lost.push(matching_rule.lost(Criterion::NotAttached, why));
                }
            }
        }
        lost
    }
}

/// A route, and the index of a rule.
type Id = (ObjectKey, usize);

// === impl Point ===

impl Point<'_> {
    /// Whether both are the same listener.
    fn is(&self, other: &Self) -> bool {
        self.entry.owner.key == other.entry.owner.key
            && self.entry.listener.name == other.entry.listener.name
    }
}
