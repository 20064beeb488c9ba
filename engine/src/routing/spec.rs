//! Parses the rules of routes from their specs. An invalid part is reported and does not affect the rest.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::filters::RuleFilters;
use super::path::Path;
use super::request::same_header;
use super::text_match::TextMatch;
use crate::model::literal;
use crate::model::object::{HeaderMatch, RouteMatch};

/// A rule of a route.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSpec {
    /// The matches, any of which suffices; an error for each that cannot be parsed.
    pub(super) matches: Vec<Result<MatchSpec, String>>,
    /// The filters of the rule.
    pub(super) filters: RuleFilters,
    /// The backend references, in order.
    pub(super) backends: Vec<BackendSpec>,
}

/// A backend reference of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BackendSpec {
    /// Its weight.
    pub(super) weight: u64,
    /// The filters on the reference.
    pub(super) filters: RuleFilters,
}

/// A match of a rule; all of its conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchSpec {
    /// The path.
    pub path: Option<Path>,
    /// The method.
    pub method: Option<String>,
    /// The gRPC service.
    pub service: Option<TextMatch>,
    /// The gRPC method.
    pub call: Option<TextMatch>,
    /// Headers, with distinct names.
    pub headers: Vec<(String, TextMatch)>,
    /// Query parameters, with distinct names.
    pub params: Vec<(String, TextMatch)>,
}

/// The fields that the matches of a kind of route have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteProtocol {
    /// Those of `HTTPRoute`.
    Http,
    /// Those of `GRPCRoute`.
    Grpc,
    /// No matches: attached routes take everything.
    None,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpecJson {
    rules: Option<Vec<RuleJson>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RuleJson {
    #[serde(deserialize_with = "literal::optional")]
    matches: Option<Value>,
    #[serde(deserialize_with = "literal::optional")]
    filters: Option<Value>,
    #[serde(deserialize_with = "literal::optional_list")]
    backend_refs: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HttpJson {
    path: Option<PathJson>,
    method: Option<String>,
    headers: Option<Vec<PairJson>>,
    query_params: Option<Vec<PairJson>>,
    #[serde(flatten, deserialize_with = "literal::object")]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
struct GrpcJson {
    method: Option<CallJson>,
    headers: Option<Vec<PairJson>>,
    #[serde(flatten, deserialize_with = "literal::object")]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
struct PathJson {
    #[serde(rename = "type")]
    kind: Option<String>,
    value: Option<String>,
}

#[derive(Deserialize)]
struct PairJson {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct CallJson {
    #[serde(rename = "type")]
    kind: Option<String>,
    service: Option<String>,
    method: Option<String>,
}

/// Parses the rules of a route. An `HTTPRoute` without rules gets the default rule of its CRD, which matches
/// everything.
///
/// # Errors
/// Fails if the spec cannot be parsed.
pub(super) fn rules(route_protocol: RouteProtocol, spec: &str) -> Result<Vec<RuleSpec>, String> {
    let spec: SpecJson = serde_json::from_str(spec).map_err(|e| e.to_string())?;
    let mut rules = spec.rules.unwrap_or_default();
    if rules.is_empty() && route_protocol == RouteProtocol::Http {
        rules.push(RuleJson::default());
    }
    Ok(rules
        .into_iter()
        .map(|json| rule(route_protocol, json))
        .collect())
}

fn rule(route_protocol: RouteProtocol, json: RuleJson) -> RuleSpec {
    let matches = match json.matches {
        _ if route_protocol == RouteProtocol::None => vec![Ok(MatchSpec::default())],
        None | Some(Value::Null) => vec![Ok(MatchSpec::anything(route_protocol))],
        Some(Value::Array(all)) if all.is_empty() => vec![Ok(MatchSpec::anything(route_protocol))],
        Some(Value::Array(all)) => all
            .into_iter()
            .map(|m| read_match(route_protocol, m))
            .collect(),
        Some(_) => vec![Err("matches is not a list".to_owned())],
    };
    let backend = |mut backend: Value| BackendSpec {
        weight: match backend.get("weight") {
            None | Some(Value::Null) => 1,
            Some(weight) => weight.as_u64().unwrap_or_default(),
        },
        filters: RuleFilters::read(backend.get_mut("filters").map(Value::take)),
    };
    let backends = json.backend_refs.unwrap_or_default();
    RuleSpec {
        matches,
        filters: RuleFilters::read(json.filters),
        backends: backends.into_iter().map(backend).collect(),
    }
}

fn read_match(route_protocol: RouteProtocol, json: Value) -> Result<MatchSpec, String> {
    let (match_spec, others) = match route_protocol {
        RouteProtocol::Grpc => of_grpc(parsed(json)?)?,
        RouteProtocol::Http | RouteProtocol::None => of_http(parsed(json)?)?,
    };
    // An unknown field may be a further condition, so the match cannot be evaluated.
    match others.keys().next() {
        Some(field) => Err(format!("its field {field} is not known")),
        None => Ok(match_spec),
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(json: Value) -> Result<T, String> {
    serde_json::from_value(json).map_err(|e| e.to_string())
}

fn of_http(json: HttpJson) -> Result<(MatchSpec, Map<String, Value>), String> {
    let path = json.path.map(path).transpose()?;
    let match_spec = MatchSpec {
        path: Some(path.unwrap_or_else(|| Path::Prefix("/".to_owned()))),
        method: json.method,
        headers: pairs(json.headers, same_header)?,
        params: pairs(json.query_params, |a, b| a == b)?,
        ..MatchSpec::default()
    };
    Ok((match_spec, json.others))
}

fn of_grpc(json: GrpcJson) -> Result<(MatchSpec, Map<String, Value>), String> {
    let call = json.method.unwrap_or(CallJson {
        kind: None,
        service: None,
        method: None,
    });
    let text_match = |text: Option<String>| {
        let text = text.filter(|text| !text.is_empty());
        text.map(|text| value(call.kind.as_deref(), text))
            .transpose()
    };
    let match_spec = MatchSpec {
        service: text_match(call.service)?,
        call: text_match(call.method)?,
        headers: pairs(json.headers, same_header)?,
        ..MatchSpec::default()
    };
    Ok((match_spec, json.others))
}

fn path(json: PathJson) -> Result<Path, String> {
    let value = json.value.unwrap_or_else(|| "/".to_owned());
    match json.kind.as_deref() {
        None | Some("PathPrefix") => Ok(Path::Prefix(value)),
        Some("Exact") => Ok(Path::Exact(value)),
        Some("RegularExpression") => Ok(Path::Expression(value.into())),
        Some(other) => Err(format!("the path type {other:?} is not known")),
    }
}

fn value(kind: Option<&str>, text: String) -> Result<TextMatch, String> {
    match kind {
        None | Some("Exact") => Ok(TextMatch::Exact(text)),
        Some("RegularExpression") => Ok(TextMatch::Expression(text.into())),
        Some(other) => Err(format!("the type {other:?} is not known")),
    }
}

/// Parses name-value conditions. If several entries have one name, the first one counts.
fn pairs(
    json: Option<Vec<PairJson>>,
    same: impl Fn(&str, &str) -> bool,
) -> Result<Vec<(String, TextMatch)>, String> {
    let mut texts: Vec<(String, TextMatch)> = Vec::new();
    for pair in json.unwrap_or_default() {
        if texts.iter().all(|(name, _)| !same(name, &pair.name)) {
            texts.push((pair.name, value(pair.kind.as_deref(), pair.value)?));
        }
    }
    Ok(texts)
}

// === impl MatchSpec ===

impl MatchSpec {
    /// Whether it takes every request of its kind.
    pub(super) fn is_everything(&self) -> bool {
        let by_path = match &self.path {
            Some(Path::Exact(_)) => true,
            Some(Path::Prefix(value)) => value != "/",
            Some(Path::Expression(value)) => **value != *".*",
            None => self.service.is_some() || self.call.is_some(),
        };
        !by_path && self.method.is_none() && self.headers.is_empty() && self.params.is_empty()
    }

    /// A match that is known in full.
    ///
    /// # Errors
    /// Fails if the type of a condition is unknown.
    pub(super) fn of_request(request: &RouteMatch) -> Result<Self, String> {
        let conditions = |all: &[HeaderMatch]| -> Vec<Value> {
            let json =
                |c: &HeaderMatch| json!({"name": *c.name, "type": *c.kind, "value": *c.value});
            all.iter().map(json).collect()
        };
        let path = json!({"type": *request.path_type, "value": *request.path});
        let json = json!({
            "path": path,
            "method": request.method.as_deref(),
            "headers": conditions(&request.headers),
            "queryParams": conditions(&request.query),
        });
        read_match(RouteProtocol::Http, json)
    }

    /// The match of a rule without matches.
    fn anything(route_protocol: RouteProtocol) -> Self {
        let path = (route_protocol == RouteProtocol::Http).then(|| Path::Prefix("/".to_owned()));
        Self {
            path,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MatchSpec, Path, RouteProtocol, TextMatch, rules};

    fn read(route_protocol: RouteProtocol, matches: &Value) -> Vec<Result<MatchSpec, String>> {
        let spec = json!({"rules": [{"matches": matches}]}).to_string();
        rules(route_protocol, &spec).unwrap().remove(0).matches
    }

    #[test]
    fn a_rule_without_matches_takes_everything() {
        let everything = Some(Path::Prefix("/".into()));
        for matches in [json!([]), json!(null), json!([{}]), json!([{"path": {}}])] {
            let spec = read(RouteProtocol::Http, &matches).remove(0).unwrap();
            assert_eq!(spec.path, everything, "{matches}");
        }
        let grpc = read(RouteProtocol::Grpc, &json!([])).remove(0).unwrap();
        assert_eq!(grpc, MatchSpec::default());
        let none = rules(RouteProtocol::Http, "{}").unwrap();
        assert_eq!(none.len(), 1);
        assert_eq!(rules(RouteProtocol::Grpc, "{}").unwrap().len(), 0);
    }

    #[test]
    fn the_first_of_entries_with_one_name_counts() {
        let spec = read(
            RouteProtocol::Http,
            &json!([{
                "headers": [{"name": "a", "value": "1"}, {"name": "A", "value": "2"}],
                "queryParams": [{"name": "a", "value": "1"}, {"name": "A", "value": "2"},
                    {"name": "a", "value": "3"}],
            }]),
        );
        let match_spec = spec[0].clone().unwrap();
        assert_eq!(
            match_spec.headers,
            [("a".into(), TextMatch::Exact("1".into()))]
        );
        assert_eq!(match_spec.params.len(), 2);
    }

    #[test]
    fn unusual_entries_are_noted_and_skipped() {
        for (odd, why) in [
            (
                json!({"path": {"type": "Glob"}}),
                "the path type \"Glob\" is not known",
            ),
            (json!({"cookies": []}), "its field cookies is not known"),
            (json!({"headers": [{"name": "a"}]}), "missing field `value`"),
            (json!("x"), "invalid type"),
        ] {
            let specs = read(RouteProtocol::Http, &json!([odd, {"method": "GET"}]));
            let notes = specs[0].clone().unwrap_err();
            assert!(notes.contains(why), "{notes}");
            assert_eq!(specs[1].clone().unwrap().method.as_deref(), Some("GET"));
        }
        let spec = read(RouteProtocol::Http, &json!(7)).remove(0);
        assert_eq!(spec.unwrap_err(), "matches is not a list");
    }

    #[test]
    fn a_backend_without_weight_has_one() {
        let spec = json!({"rules": [{"backendRefs": [{}, {"weight": 0}, {"weight": 9}]}]});
        let rules_read = rules(RouteProtocol::Http, &spec.to_string()).unwrap();
        let weights: Vec<u64> = rules_read[0].backends.iter().map(|b| b.weight).collect();
        assert_eq!(weights, [1, 0, 9]);
    }
}
