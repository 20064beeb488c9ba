//! Ranks rules that match a request: by the criteria of the Gateway API, or by those of a controller that differs.

use std::cmp::Ordering;
use std::cmp::Ordering::{Equal, Less};

use super::criterion::Reason;
use super::hostname::Specificity;
use super::path::Path;
use super::spec::MatchSpec;
use super::text_match::TextMatch;
use crate::kinds::profile::{ExpressionPaths, GrpcMethodAlone, RuleLists, RuleOrder};
use crate::model::object::Object;
use crate::policy::Precedence;

/// The specificity of a rule for a request: values by the criteria of one order, the larger first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rank(Vec<(Reason, (usize, usize))>);

/// The rank of a matching rule, with its tie-breakers.
#[derive(Clone, Debug)]
pub(super) struct RankedRule {
    /// Its specificity.
    pub(super) rank: Rank,
    /// The age and name of its route, or of the attached route that delegates to it.
    pub(super) precedence: Precedence,
    /// The age and name of its route.
    pub(super) own: Precedence,
    /// The index of the rule in its route.
    pub(super) rule: usize,
}

/// Facts outside a match that decide its rank, too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RankContext<'r> {
    /// The path of the request.
    pub(super) request_path: &'r str,
    /// The specificity of the hostname.
    pub(super) hostname: Specificity,
    /// The specificity of the hostname in the route.
    pub(super) hostname_of_route: Specificity,
    /// The index of the route's kind in [`KINDS`].
    pub(super) kind: usize,
    /// The place of the list of rules, if they are in several lists.
    pub(super) list: usize,
    /// The order.
    pub(super) order: RuleOrder,
}

/// Kinds of routes, in order of precedence: if routes of several kinds are attached to a Service, only those of the
/// first kind apply.
pub(super) const KINDS: [&str; 5] = ["GRPCRoute", "HTTPRoute", "TLSRoute", "TCPRoute", "UDPRoute"];

/// The index of a route's kind in [`KINDS`].
pub(super) fn kind_of(route: &Object) -> usize {
    let mut kinds = KINDS.iter();
    let place = kinds.position(|kind| route.key.gk.is_gateway_api(kind));
    place.unwrap_or(KINDS.len())
}

// === impl Rank ===

impl Rank {
    /// The rank of a match.
    pub(super) fn for_match(match_spec: &MatchSpec, context: RankContext<'_>) -> Self {
        let order = context.order;
        let mut all = vec![(
            Reason::Hostname,
            (context.hostname.exact, context.hostname.any),
        )];
        if order.hostnames_of_routes != Some(false) {
            let specificity = context.hostname_of_route;
            all.push((
                Reason::HostnameOfRoute,
                (specificity.exact, specificity.any),
            ));
        }
        let first = |index: usize| (usize::MAX - index, 0);
        let mut headers = match_spec.headers.len();
        match order.lists {
            None | Some(RuleLists::GrpcFirst) => {
                let path = match_spec.path.as_ref();
                all.push((Reason::Kind, first(context.kind)));
                all.push((
                    Reason::Path,
                    path.map_or((0, 0), |path| depth(path, context)),
                ));
                all.push((
                    Reason::Service,
                    (characters(match_spec.service.as_ref()), 0),
                ));
                all.push((Reason::Call, (characters(match_spec.call.as_ref()), 0)));
            }
            Some(RuleLists::Together) => {
                all.push((Reason::Path, any_depth(match_spec, context)));
                let is_alone = match_spec.service.is_none() && is_exact(match_spec.call.as_ref());
                let counts = order.grpc_method_alone == GrpcMethodAlone::Header;
                headers += usize::from(is_alone && counts);
            }
            Some(RuleLists::PerHostname) => {
                let last = usize::from(!match_spec.is_everything());
                all.push((Reason::Everything, (last, 0)));
                all.push((Reason::List, first(context.list)));
                all.push((Reason::Path, any_depth(match_spec, context)));
            }
        }
        if order.method_counts_as_header {
            headers += usize::from(match_spec.method.is_some());
        } else {
            all.push((
                Reason::Method,
                (usize::from(match_spec.method.is_some()), 0),
            ));
        }
        all.push((Reason::Headers, (headers, 0)));
        let exact = |pairs: &[(String, TextMatch)]| {
            let exact = pairs.iter().filter(|(_, text)| !text.is_expression());
            (exact.count(), 0)
        };
        if order.exact_values_first {
            let (count, _) = exact(&match_spec.headers);
            let method = usize::from(order.method_counts_as_header && match_spec.method.is_some());
            all.push((Reason::ExactHeaders, (count + method, 0)));
        }
        all.push((Reason::Params, (match_spec.params.len(), 0)));
        if order.exact_values_first {
            all.push((Reason::ExactParams, exact(&match_spec.params)));
        }
        if order.http_routes_win_ties {
            all.push((Reason::Kind, (context.kind, 0)));
        }
        Self(all)
    }

    /// Whether a rule is for all requests. It ends its list.
    pub(super) fn is_end(&self) -> bool {
        self.value(Reason::Everything) == Some((0, 0))
    }

    /// Whether a rule is behind another in the same list, for which being for all requests does not count.
    pub(super) fn is_behind_in_list(&self, other: &Self) -> bool {
        let is_behind = || {
            let compared = other.compare_by(self, |reason| reason != Reason::Everything);
            compared.is_some_and(|(_, order)| order == Less)
        };
        self.value(Reason::List) == other.value(Reason::List) && is_behind()
    }

    /// The specificity of the path.
    pub(super) fn path(&self) -> Option<(usize, usize)> {
        self.value(Reason::Path)
    }

    fn value(&self, wanted: Reason) -> Option<(usize, usize)> {
        let mut values = self.0.iter();
        let value = values.find(|(reason, _)| *reason == wanted);
        value.map(|(_, value)| *value)
    }

    /// The first reason by which two ranks of one order differ, and their order: the winner is less.
    pub(super) fn compare(&self, other: &Self) -> Option<(Reason, Ordering)> {
        self.compare_by(other, |_| true)
    }

    fn compare_by(
        &self,
        other: &Self,
        counts: impl Fn(Reason) -> bool,
    ) -> Option<(Reason, Ordering)> {
        let pairs = self.0.iter().zip(&other.0);
        let pairs = pairs.filter(|((reason, _), _)| counts(*reason));
        let mut orders = pairs.map(|((reason, ours), (_, theirs))| (*reason, theirs.cmp(ours)));
        orders.find(|(_, ordering)| *ordering != Equal)
    }
}

/// The specificity of a path: the place of its type, and its length.
fn depth(path: &Path, context: RankContext<'_>) -> (usize, usize) {
    let order = context.order;
    let is_equal = |prefix: &str| prefix == context.request_path && !prefix.ends_with('/');
    let (expressions, prefixes) = match (order.expression_paths, path) {
        (Some(ExpressionPaths::BeforeLongerPaths), Path::Prefix(prefix)) if is_equal(prefix) => {
            (2, 3)
        }
        (Some(ExpressionPaths::BeforePrefixes | ExpressionPaths::BeforeLongerPaths), _) => (2, 1),
        (None | Some(ExpressionPaths::AfterPrefixes), _) => (1, 2),
    };
    match path {
        Path::Exact(_) => (4, 0),
        Path::Prefix(_) => (prefixes, path.length(order.trailing_slash)),
        Path::Expression(_) if order.longer_expressions_first => {
            (expressions, path.length(order.trailing_slash))
        }
        Path::Expression(_) => (expressions, 0),
    }
}

/// The specificity with which the path of a request is matched, where a gRPC call counts as the path `/service/method`.
fn any_depth(match_spec: &MatchSpec, context: RankContext<'_>) -> (usize, usize) {
    let order = context.order;
    if let Some(path) = &match_spec.path {
        return depth(path, context);
    }
    let (service, call) = (match_spec.service.as_ref(), match_spec.call.as_ref());
    let texts = [service, call].into_iter().flatten();
    let path = texts
        .clone()
        .map(TextMatch::value)
        .fold(String::new(), |path, part| path + "/" + part);
    let path = match (service, call) {
        _ if texts.clone().any(TextMatch::is_expression) => Path::Expression(path.into()),
        (Some(_), Some(_)) => Path::Exact(path),
        (None, Some(_)) if order.grpc_method_alone == GrpcMethodAlone::Expression => {
            Path::Expression(path.into())
        }
        // In such a list, calls without service and method come after all others.
        (None, None) if order.lists == Some(RuleLists::PerHostname) => return (0, 0),
        (None, _) => Path::Prefix("/".to_owned()),
        (Some(_), None) => Path::Prefix(path),
    };
    depth(&path, context)
}

fn is_exact(text: Option<&TextMatch>) -> bool {
    text.is_some_and(|text| !text.is_expression())
}

/// The number of characters of an exact value.
fn characters(text: Option<&TextMatch>) -> usize {
    let exact = text.filter(|text| !text.is_expression());
    exact.map_or(0, |text| text.value().chars().count())
}

// === impl RankedRule ===

impl RankedRule {
    /// The reason that decides between two rules, and their order: the winner is less.
    pub(super) fn compare(&self, other: &Self) -> (Reason, Ordering) {
        if let Some(decided) = self.rank.compare(&other.rank) {
            return decided;
        }
        let pairs = [
            (&self.precedence, &other.precedence),
            (&self.own, &other.own),
        ];
        let mut differ = pairs.into_iter().filter(|(one, other)| one != other);
        match differ.next() {
            None => (Reason::RuleOrder, self.rule.cmp(&other.rule)),
            Some((one, other)) if one.same_age(other) => (Reason::Name, one.cmp(other)),
            Some((one, other)) => (Reason::Age, one.cmp(other)),
        }
    }

    /// Whether it wins against the other.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        self.compare(other).1 == Less
    }
}

#[cfg(test)]
mod tests;
