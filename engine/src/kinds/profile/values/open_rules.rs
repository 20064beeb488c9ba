//! Rules that match every request: an authorization with such a rule keeps nobody out, whatever else it says.

use std::collections::BTreeMap;
use std::ptr;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::addresses;
use super::at_path::collect;
use super::paths::SpecPath;
use super::wanted::ValuePattern;
use crate::kinds::cel::{CelBudget, CelRule, PartialValue};

/// A list of rules that let requests pass, and what such a rule may ask for without keeping any request out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "OpenRulesFile", deny_unknown_fields)]
pub(in crate::kinds::profile) struct OpenRules {
    /// The field with the list: `spec.authorization.rules`.
    #[serde(deserialize_with = "read_items")]
    #[schemars(with = "String")]
    path: Vec<String>,
    /// The fields that mark a rule as one that denies requests. It affects only the rules after it.
    deny: Option<BTreeMap<String, ValuePattern>>,
    /// The rules that match every request.
    open: Open,
}

/// Values that match every request. A field that is not there, `null` and an empty list always do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = describe)]
pub(super) enum Open {
    /// Any value: the field is no condition.
    Any,
    /// An object with no other fields than these, each of which matches every request.
    Fields(BTreeMap<String, Open>),
    /// A list of alternatives: one of them, or some of them together, match every request.
    AnyOf(Box<Open>),
    /// A list of conditions: all of them match every request.
    AllOf(Box<Open>),
    /// A value that is as one of these says.
    Either(Vec<Open>),
    /// One of these values. `null` and objects are read as in `when`.
    OneOf(Vec<ValuePattern>),
    /// A list with all of these values.
    ContainsAll(Vec<String>),
    /// A range of addresses, or a list of ranges, with every IPv4 address.
    Addresses,
    /// An expression in CEL that is true whatever the request is.
    Cel,
    /// A regular expression that matches every path.
    Regex,
}

/// The requests that rules let pass, if these are all or nearly all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kinds::profile) enum Passing {
    /// Every request.
    All,
    /// Every request that no rule denies.
    NotDenied,
}

/// The requests that a value matches.
enum MatchedRequests<'a> {
    Every,
    /// Requests with these values at one condition. Further values at the same condition may
    /// complete them.
    Part(&'a Open, Vec<&'a str>),
    /// Possibly not all requests.
    Other,
}

/// Very different paths: an expression that matches all of them counts as one for every path.
const PATHS: [&str; 4] = [
    "/",
    "/a",
    "/Ab/c-d_e.f~0123456789",
    "/%7E!$&'()*+,;=:@//..;/é?q=/#",
];

/// Gives the one property of each form the description of the form.
fn describe(schema: &mut Schema) {
    let forms = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for form in forms.into_iter().flatten() {
        let description = form.get("description").cloned();
        let properties = form.get_mut("properties").and_then(Value::as_object_mut);
        let properties = properties.into_iter().flat_map(|all| all.values_mut());
        for property in properties.filter_map(Value::as_object_mut) {
            property.extend(description.clone().map(|text| ("description".into(), text)));
        }
    }
}

// === impl OpenRules ===

impl OpenRules {
    /// The requests that the rules in these settings let pass, if these are all or nearly all. The
    /// first rule that matches decides.
    pub(in crate::kinds::profile) fn passing(&self, settings: &Value) -> Option<Passing> {
        let mut rules = Vec::new();
        collect(settings, &self.path, &mut rules);
        let mut passing = Passing::All;
        let mut allowed = Vec::new();
        let rules = rules.into_iter().flat_map(|rule| match rule {
            // Lists of several policies beside each other.
            Value::Array(rules) => rules.as_slice(),
            rule => std::slice::from_ref(rule),
        });
        for rule in rules {
            let extent = self.open.extent(rule);
            let denies = self.denies(rule);
            match extent {
                MatchedRequests::Every if denies => return None,
                _ if denies => passing = Passing::NotDenied,
                extent => allowed.push(extent),
            }
            if matches!(union(&mut allowed), MatchedRequests::Every) {
                return Some(passing);
            }
        }
        None
    }

    /// Whether a rule has the fields of one that denies requests.
    fn denies(&self, rule: &Value) -> bool {
        let has = |(key, wanted): (&String, &ValuePattern)| {
            wanted.matches(rule.get(key).unwrap_or(&Value::Null))
        };
        let deny = self.deny.as_ref().filter(|_| rule.is_object());
        deny.is_some_and(|deny| deny.iter().all(has))
    }
}

/// Reads the path of a list as the path of its items.
fn read_items<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<String>, D::Error> {
    let mut path = SpecPath::deserialize(file)?.to_vec();
    path.push("*".into());
    Ok(path)
}

// === impl Open ===

impl Open {
    fn extent<'a>(&'a self, value: &'a Value) -> MatchedRequests<'a> {
        let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        match (self, value) {
            (Self::OneOf(values), value) => {
                MatchedRequests::whether(values.iter().any(|wanted| wanted.matches(value)))
            }
            _ if is_nothing => MatchedRequests::Every,
            (Self::Any, _) => MatchedRequests::Every,
            (Self::Fields(known), Value::Object(fields)) => {
                let known = |(name, value)| match known.get::<String>(name) {
                    Some(open) => open.extent(value),
                    None => MatchedRequests::whether(Value::is_null(value)),
                };
                intersection(fields.iter().map(known))
            }
            (Self::AnyOf(open), Value::Array(items)) => {
                let mut extents: Vec<_> = items.iter().map(|item| open.extent(item)).collect();
                union(&mut extents)
            }
            (Self::AllOf(open), Value::Array(items)) => {
                intersection(items.iter().map(|item| open.extent(item)))
            }
            (Self::Either(forms), value) => {
                let extents = forms.iter().map(|form| form.extent(value));
                let known = extents.filter(|extent| !matches!(extent, MatchedRequests::Other));
                known
                    .min_by_key(|extent| !matches!(extent, MatchedRequests::Every))
                    .unwrap_or(MatchedRequests::Other)
            }
            (Self::ContainsAll(_) | Self::Addresses, Value::Array(items)) => {
                MatchedRequests::Part(self, items.iter().filter_map(Value::as_str).collect())
            }
            (Self::Addresses, Value::String(range)) => MatchedRequests::Part(self, vec![range]),
            (Self::Cel, Value::String(text)) => MatchedRequests::whether(is_true(text)),
            (Self::Regex, Value::String(text)) => {
                MatchedRequests::whether(matches_every_path(text))
            }
            _ => MatchedRequests::Other,
        }
    }

    /// Whether these values are all that there are.
    fn is_complete(&self, values: &[&str]) -> bool {
        match self {
            Self::ContainsAll(all) => all.iter().all(|value| values.contains(&&**value)),
            Self::Addresses => addresses::are_all(values),
            _ => false,
        }
    }
}

// === impl MatchedRequests ===

impl MatchedRequests<'_> {
    fn whether(every: bool) -> Self {
        if every { Self::Every } else { Self::Other }
    }
}

/// The requests that match all of these conditions.
fn intersection<'a>(conditions: impl Iterator<Item = MatchedRequests<'a>>) -> MatchedRequests<'a> {
    let mut all = MatchedRequests::Every;
    for extent in conditions {
        let extent = match extent {
            MatchedRequests::Part(open, values) if open.is_complete(&values) => {
                MatchedRequests::Every
            }
            extent => extent,
        };
        all = match (all, extent) {
            (all, MatchedRequests::Every) => all,
            (MatchedRequests::Every, extent) => extent,
            _ => return MatchedRequests::Other,
        };
    }
    all
}

/// The requests that match one of these alternatives. Alternatives that differ in one field only
/// become one.
fn union<'a>(alternatives: &mut Vec<MatchedRequests<'a>>) -> MatchedRequests<'a> {
    let mut parts: Vec<(&'a Open, Vec<&'a str>)> = Vec::new();
    for extent in &mut *alternatives {
        match extent {
            MatchedRequests::Every => return MatchedRequests::Every,
            MatchedRequests::Other => {}
            MatchedRequests::Part(open, values) => {
                let mut known = parts.iter_mut();
                match known.find(|(other, _)| ptr::eq(*other, *open)) {
                    Some((_, all)) => all.append(values),
                    None => parts.push((open, std::mem::take(values))),
                }
            }
        }
    }
    if parts.iter().any(|(open, values)| open.is_complete(values)) {
        return MatchedRequests::Every;
    }
    let first = parts.first().cloned();
    *alternatives = parts
        .into_iter()
        .map(|(open, values)| MatchedRequests::Part(open, values))
        .collect();
    first.map_or(MatchedRequests::Other, |(open, values)| {
        MatchedRequests::Part(open, values)
    })
}

/// Whether an expression in CEL is true whatever its variables are.
fn is_true(text: &str) -> bool {
    let mut budget = CelBudget::new();
    let rule = CelRule::parse(text, &mut budget);
    rule.and_then(|rule| rule.holds(&PartialValue::Unknown, &mut budget)) == Some(true)
}

fn matches_every_path(expression: &str) -> bool {
    let whole = regex::Regex::new(&format!("^(?:{expression})$"));
    whole.is_ok_and(|regex| PATHS.iter().all(|path| regex.is_match(path)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{OpenRules, Passing};

    fn passing(rules: &Value) -> Option<Passing> {
        let file = json!({
            "path": "spec.rules",
            "deny": {"action": "Deny"},
            "open": {"fields": {
                "action": "any",
                "methods": {"containsAll": ["GET", "POST"]},
                "cidrs": "addresses",
                "path": {"either": [
                    {"oneOf": [{"type": "Prefix", "value": "/"}]},
                    {"fields": {"type": {"oneOf": ["Regex"]}, "value": "regex"}},
                ]},
                "cel": "cel",
                "to": {"anyOf": {"fields": {"paths": {"anyOf": {"oneOf": ["/*"]}}}}},
            }},
        });
        let file: OpenRules = serde_json::from_value(file).unwrap();
        file.passing(&json!({"rules": rules}))
    }

    fn allows_all(rule: &Value) -> bool {
        passing(&json!([rule])) == Some(Passing::All)
    }

    #[test]
    fn a_rule_matches_every_request_if_all_that_it_asks_for_does() {
        assert!(allows_all(&json!({})));
        assert!(allows_all(
            &json!({"cidrs": ["0.0.0.0/0"], "methods": ["POST", "GET"]})
        ));
        assert!(allows_all(&json!({"cidrs": ["128.0.0.0/1", "0.0.0.0/1"]})));
        assert!(allows_all(
            &json!({"path": {"type": "Prefix", "value": "/"}})
        ));
        assert!(!allows_all(
            &json!({"path": {"type": "Prefix", "value": "/a"}})
        ));
        assert!(!allows_all(
            &json!({"cidrs": ["0.0.0.0/0"], "methods": ["POST"]})
        ));
        assert!(!allows_all(
            &json!({"cidrs": ["0.0.0.0/0"], "headers": [{}]})
        ));
    }

    #[test]
    fn one_alternative_is_enough() {
        assert!(allows_all(&json!({"to": [{"paths": ["/health", "/*"]}]})));
        assert!(allows_all(
            &json!({"to": [{"paths": ["/a"]}, {"paths": ["/*"]}]})
        ));
        assert!(!allows_all(
            &json!({"to": [{"paths": ["/a"]}, {"paths": ["/*"], "x": 1}]})
        ));
    }

    #[test]
    fn expressions_may_hold_for_every_request() {
        for always in [
            "true",
            " ( true ) ",
            "1 == 1",
            "true || request.auth",
            "!false",
        ] {
            assert!(allows_all(&json!({"cel": always})), "{always}");
        }
        for sometimes in ["false", "request.path == '/'", "1 == 2", "(", ""] {
            assert!(!allows_all(&json!({"cel": sometimes})), "{sometimes}");
        }
        let path = |regex: &str| allows_all(&json!({"path": {"type": "Regex", "value": regex}}));
        assert!(path(".*") && path("^/.*$") && path("/?.+"));
        assert!(!path("/[a-z]*") && !path("/.*/") && !path("("));
    }

    #[test]
    fn rules_add_up_where_they_differ_in_one_respect() {
        let halves = |second: &str| {
            passing(&json!([{"cidrs": ["0.0.0.0/1"]}, {"methods": ["GET"]}, {"cidrs": [second]}]))
        };
        assert_eq!(halves("128.0.0.0/1"), Some(Passing::All));
        assert_eq!(halves("128.0.0.0/2"), None);
    }

    #[test]
    fn rules_that_deny_count_for_those_after_them() {
        let deny = json!({"action": "Deny", "cidrs": ["192.0.2.0/24"]});
        assert_eq!(passing(&json!([deny, {}])), Some(Passing::NotDenied));
        assert_eq!(passing(&json!([{}, deny])), Some(Passing::All));
        assert_eq!(passing(&json!([{"action": "Deny"}, {}])), None);
        assert_eq!(passing(&json!([deny])), None);
    }
}
