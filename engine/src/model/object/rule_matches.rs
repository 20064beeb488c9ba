//! The matches of each rule in full, of routes that may delegate to other routes or be delegated to.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::bounded_vec::BoundedVec;
use super::matches::{MatchJson, MethodJson, PairJson, TypedJson, read};

/// The matches of each rule of an `HTTPRoute`, with defaults filled in. A match that cannot be read, and with it its
/// rule, matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleMatches(
    /// `None` for routes that cannot take part in delegation: there are many routes.
    Option<Arc<[Box<[RouteMatch]>]>>,
);

/// One entry of `matches`: a request has to meet all conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteMatch {
    /// The type of the path.
    pub path_type: Arc<str>,
    /// The path.
    pub path: Arc<str>,
    /// The method, if it has to be a certain one.
    pub method: Option<Arc<str>>,
    /// Conditions on headers.
    pub headers: Vec<HeaderMatch>,
    /// Conditions on query parameters.
    pub query: Vec<HeaderMatch>,
}

/// A condition on a header or a query parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMatch {
    /// Its name.
    pub name: Arc<str>,
    /// The type of the comparison with the value.
    pub kind: Arc<str>,
    /// The value.
    pub value: Arc<str>,
}

// === impl RuleMatches ===

impl RuleMatches {
    /// Reads the `matches` of all rules.
    pub(super) fn from_rules<'a>(rules: impl Iterator<Item = Option<&'a RawValue>>) -> Self {
        Self(Some(rules.map(of_rule).collect()))
    }

    /// The matches of the rule with this index.
    pub fn of_rule(&self, index: usize) -> &[RouteMatch] {
        let rules = self.0.as_deref().unwrap_or_default();
        rules.get(index).map_or(&[], |matches| matches)
    }
}

fn of_rule(matches: Option<&RawValue>) -> Box<[RouteMatch]> {
    let matches = read(matches).unwrap_or_default();
    matches.into_iter().map(RouteMatch::from_json).collect()
}

// === impl RouteMatch ===

impl RouteMatch {
    fn from_json(json: MatchJson) -> Self {
        let path = json.path.unwrap_or(TypedJson {
            kind: None,
            value: None,
        });
        Self {
            path_type: path.kind.as_deref().unwrap_or("PathPrefix").into(),
            path: path.value.as_deref().unwrap_or("/").into(),
            method: match json.method {
                Some(MethodJson::Http(method)) => Some(method.into()),
                Some(MethodJson::Grpc(_)) | None => None,
            },
            headers: conditions(json.headers),
            query: conditions(json.query_params),
        }
    }
}

fn conditions(pairs: Option<BoundedVec<PairJson>>) -> Vec<HeaderMatch> {
    let pairs = pairs.map(|pairs| pairs.0).unwrap_or_default();
    let condition = |pair: PairJson| HeaderMatch {
        name: pair.name.into(),
        kind: pair.kind.as_deref().unwrap_or("Exact").into(),
        value: pair.value.into(),
    };
    pairs.into_iter().map(condition).collect()
}
