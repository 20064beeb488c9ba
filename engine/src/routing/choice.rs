//! The rules that match a request, and those that nearly do.

use std::cmp::Reverse;
use std::sync::Arc;

use super::NotTaken;
use super::holds::Mismatch;
use super::hostname::{HostMatch, Specificity};
use super::path::Path;
use super::rank::{Rank, RankedRule};
use super::spec::{MatchSpec, RuleSpec};
use crate::kinds::profile::RuleOrder;
use crate::model::level::Step;
use crate::model::object::Object;

/// A rule with a match for the request; of several matches, the best.
#[derive(Clone, Debug)]
pub(super) struct MatchingRule<'a> {
    pub(super) route: &'a Arc<Object>,
    pub(super) rank: RankedRule,
    pub(super) label: Arc<str>,
    pub(super) hostname: HostMatch<'a>,
    pub(super) match_spec: MatchSpec,
    pub(super) rule: RuleSpec,
    /// The routes that delegate to the route, and their rules, from the top down.
    pub(super) above: Vec<Step>,
    /// Whether the rule delegates, and a backend of it stands for no route that takes its requests.
    pub(super) is_dead_end: bool,
}

/// A rule without a match for the request, and the first failed condition of its closest match.
#[derive(Clone, Debug)]
pub(super) struct Miss<'a> {
    pub(super) route: &'a Arc<Object>,
    pub(super) label: Arc<str>,
    /// The specificity of the hostname of its route.
    pub(super) hostname: Specificity,
    pub(super) against: Mismatch,
    /// The number of leading characters that its path has in common with that of the request.
    pub(super) alike: usize,
}

/// A path by its specificity: the place of its type, its length, and the text of an expression, of which the first in order
/// precedes others of its length.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathSpecificity((usize, usize), Reverse<String>);

// === impl PathSpecificity ===

impl PathSpecificity {
    /// The path of a match that has this rank; `None` if its order does not ask for paths.
    pub(super) fn of(rule: &RankedRule, match_spec: &MatchSpec) -> Option<Self> {
        let text = match &match_spec.path {
            Some(Path::Expression(expression)) => expression.to_string(),
            _ => String::new(),
        };
        Some(Self(rule.rank.path()?, Reverse(text)))
    }
}

/// Why a controller does not try a rule, although it has a match for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTried {
    /// In its list it is behind a rule for all requests.
    AfterCatchAll,
    /// A more specific path fits.
    LessSpecificPath,
}

/// The rules that match a request, and the others with the reasons.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    /// Rules with a match, the winner first.
    pub(super) matching_rules: Vec<MatchingRule<'a>>,
    /// Rules with a match that the controller does not try, because other routes have a more specific hostname.
    pub(super) less_specific_hostname: Vec<MatchingRule<'a>>,
    /// Rules with a match that the controller does not try, and why.
    pub(super) not_tried: Vec<(MatchingRule<'a>, NotTried)>,
    /// The specificity of each path that fits, whether or not the rest of its match does, by that of the hostname. Kept only if the
    /// controller tries rules of one path alone.
    pub(super) paths: Vec<(Specificity, PathSpecificity)>,
    /// The most specific hostname of a route that matches.
    pub(super) best_hostname: Option<HostMatch<'a>>,
    /// Rules that cannot be evaluated.
    pub(super) unknown: Vec<NotTaken>,
    /// Rules without a match, the closest first.
    pub(super) misses: Vec<Miss<'a>>,
    /// Routes whose hostnames do not match.
    pub(super) other_hostname: Vec<&'a Arc<Object>>,
    /// The order in which rules are tried.
    pub(super) order: RuleOrder,
}

// === impl Choice ===

impl<'a> Choice<'a> {
    /// Notes a hostname of a route that matches.
    pub(super) fn note_hostname(&mut self, matched: &HostMatch<'a>) {
        let is_better = |known: &HostMatch<'_>| matched.specificity > known.specificity;
        if self.best_hostname.as_ref().is_none_or(is_better) {
            self.best_hostname = Some(matched.clone());
        }
    }

    /// Hides the rules for less specific hostnames, if the controller does not try them.
    pub(super) fn hide_less_specific(&mut self) {
        let Some(best) = self.best_hostname.as_ref().map(|best| best.specificity) else {
            return;
        };
        if self.order.one_hostname != Some(true) {
            return;
        }
        let all = std::mem::take(&mut self.matching_rules).into_iter();
        let (tried, hidden): (Vec<_>, Vec<_>) =
            all.partition(|rule| rule.hostname.specificity == best);
        self.matching_rules = tried;
        self.less_specific_hostname.extend(hidden);
        self.misses.retain(|miss| miss.hostname == best);
    }

    /// Sets the rules apart that are behind a rule for all requests in their list.
    pub(super) fn cut_lists(&mut self) {
        let all = std::mem::take(&mut self.matching_rules);
        let ranks = all.iter().map(|rule| &rule.rank.rank);
        let ends: Vec<Rank> = ranks.filter(|rank| rank.is_end()).cloned().collect();
        let is_behind = |rule: &MatchingRule<'_>| {
            let rank = &rule.rank.rank;
            !rank.is_end() && ends.iter().any(|end| rank.is_behind_in_list(end))
        };
        let (behind, tried): (Vec<_>, Vec<_>) = all.into_iter().partition(is_behind);
        self.matching_rules = tried;
        let behind = behind
            .into_iter()
            .map(|rule| (rule, NotTried::AfterCatchAll));
        self.not_tried.extend(behind);
    }

    /// The most specific path that fits, if the controller tries the rules with that path alone.
    pub(super) fn only_path(&self) -> Option<PathSpecificity> {
        let best = self.best_hostname.as_ref()?.specificity;
        let is_tried = |hostname| self.order.one_hostname != Some(true) || hostname == best;
        let paths = self.paths.iter();
        let paths = paths.filter(|(hostname, _)| is_tried(*hostname));
        paths.map(|(_, path)| path).max().cloned()
    }

    /// Sets the rules apart that have another path.
    pub(super) fn keep_path(&mut self, only: &PathSpecificity) {
        let all = std::mem::take(&mut self.matching_rules).into_iter();
        let (tried, others): (Vec<_>, Vec<_>) = all.partition(|rule| {
            PathSpecificity::of(&rule.rank, &rule.match_spec).as_ref() == Some(only)
        });
        self.matching_rules = tried;
        let others = others.into_iter();
        self.not_tried
            .extend(others.map(|rule| (rule, NotTried::LessSpecificPath)));
    }
}
