//! The matches of the rules of a route, to find rules that match the same requests.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bounded_vec::BoundedVec;

/// The `matches` of each rule of an `HTTPRoute` or a `GRPCRoute`, with defaults filled in.
///
/// They are kept as hashes: there are many routes, and matches are only compared for equality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches(
    /// For each rule the number of its matches and then the hash of each; 0 if one of them cannot be read. `None` if
    /// every rule matches everything, which is the usual case.
    Option<Arc<[u64]>>,
);

/// One entry of `matches`. An entry that cannot be read makes its rule incomparable.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MatchJson {
    pub(super) path: Option<TypedJson>,
    pub(super) method: Option<MethodJson>,
    pub(super) headers: Option<BoundedVec<PairJson>>,
    pub(super) query_params: Option<BoundedVec<PairJson>>,
}

/// A string for an `HTTPRoute`; a service and its method for a `GRPCRoute`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum MethodJson {
    Http(String),
    Grpc(CallJson),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypedJson {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) value: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallJson {
    #[serde(rename = "type")]
    kind: Option<String>,
    service: Option<String>,
    method: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairJson {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) value: String,
}

/// The entries of the `matches` of a rule; one that matches every request if there are none. `None` if they cannot be
/// read.
pub(super) fn read(matches: Option<&RawValue>) -> Option<Vec<MatchJson>> {
    let mut all = match matches.filter(|matches| matches.get() != "null") {
        None => Vec::new(),
        Some(matches) => {
            serde_json::from_str::<BoundedVec<MatchJson>>(matches.get())
                .ok()?
                .0
        }
    };
    if all.is_empty() {
        all.push(MatchJson::default());
    }
    Some(all)
}

// === impl Matches ===

impl Matches {
    /// Reads the `matches` of all rules.
    pub(super) fn from_rules<'a>(rules: impl Iterator<Item = Option<&'a RawValue>>) -> Self {
        let everything = MatchJson::default().hashed();
        let mut is_everything = true;
        let mut numbers: Vec<u64> = Vec::new();
        for matches in rules {
            let matches = read(matches).unwrap_or_default();
            let mut hashes: Vec<u64> = matches.into_iter().map(MatchJson::hashed).collect();
            hashes.sort_unstable();
            hashes.dedup();
            is_everything &= *hashes == [everything];
            numbers.push(u64::try_from(hashes.len()).unwrap_or_default());
            numbers.extend(hashes);
        }
        Self((!is_everything).then(|| numbers.into()))
    }

    /// The hashes, for an interner.
    pub(crate) fn hashes_mut(&mut self) -> Option<&mut Arc<[u64]>> {
        self.0.as_mut()
    }

    /// The hash of each match of the rule with this index. Empty if one of them cannot be read: the rule may match
    /// anything then.
    pub fn of_rule(&self, index: usize) -> Vec<u64> {
        let Some(numbers) = &self.0 else {
            return vec![MatchJson::default().hashed()];
        };
        by_rule(numbers).nth(index).unwrap_or_default().to_vec()
    }

    /// Those of [`Matches::of_rule`] of this many rules.
    pub fn of_rules(&self, count: usize) -> Vec<Vec<u64>> {
        let Some(numbers) = &self.0 else {
            return vec![self.of_rule(0); count];
        };
        let mut all: Vec<Vec<u64>> = by_rule(numbers).map(<[u64]>::to_vec).collect();
        all.resize(count, Vec::new());
        all
    }
}

/// The hashes of each rule.
fn by_rule(mut numbers: &[u64]) -> impl Iterator<Item = &[u64]> {
    std::iter::from_fn(move || {
        let (count, numbers_left) = numbers.split_first()?;
        let (hashes, numbers_left) =
            numbers_left.split_at_checked(usize::try_from(*count).ok()?)?;
        numbers = numbers_left;
        Some(hashes)
    })
}

// === impl CallJson ===

impl CallJson {
    /// The path of the same calls in an `HTTPRoute`, with its type. `None` if an expression or a method of any service is
    /// named: controllers differ in what they make of it.
    fn path(&self) -> Option<(&'static str, String)> {
        let is_exact = self.kind.as_deref().is_none_or(|kind| kind == "Exact");
        let service = self.service.as_ref().filter(|_| is_exact)?;
        Some(match &self.method {
            Some(method) => ("Exact", format!("/{service}/{method}")),
            None => ("PathPrefix", format!("/{service}")),
        })
    }
}

// === impl MatchJson ===

impl MatchJson {
    /// A hash that is equal for equivalent matches, in every process.
    fn hashed(self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let path = self.path.map(|path| (path.kind, path.value));
        let (mut kind, mut value) = path.unwrap_or_default();
        match self.method {
            Some(MethodJson::Grpc(call)) => {
                if let Some((of_call, path)) = call.path() {
                    (kind, value) = (Some(of_call.to_owned()), Some(path));
                } else {
                    let kind = call.kind.unwrap_or_else(|| "Exact".to_owned());
                    (kind, call.service, call.method).hash(&mut hasher);
                }
            }
            Some(MethodJson::Http(method)) => method.hash(&mut hasher),
            None => {}
        }
        let kind = kind.unwrap_or_else(|| "PathPrefix".to_owned());
        let value = value.unwrap_or_else(|| "/".to_owned());
        (kind, value).hash(&mut hasher);
        for pairs in [self.headers, self.query_params] {
            let pairs = pairs.map(|pairs| pairs.0).unwrap_or_default();
            let normal = |pair: PairJson| {
                let kind = pair.kind.unwrap_or_else(|| "Exact".to_owned());
                (pair.name.to_ascii_lowercase(), kind, pair.value)
            };
            let mut pairs: Vec<(String, String, String)> = pairs.into_iter().map(normal).collect();
            pairs.sort();
            pairs.hash(&mut hasher);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Matches;

    fn matches_of(rules: &[Option<&str>]) -> Matches {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let rules: Vec<Option<Box<RawValue>>> =
            rules.iter().map(|rule| Some(raw((*rule)?))).collect();
        Matches::from_rules(rules.iter().map(Option::as_deref))
    }

    #[test]
    fn what_is_left_out_counts_as_its_default() {
        let explicit = r#"[{"path": {"type": "PathPrefix", "value": "/"}}]"#;
        assert_eq!(matches_of(&[Some(explicit)]), matches_of(&[None]));
        assert_eq!(matches_of(&[Some("[]")]), matches_of(&[Some("null")]));
        let header =
            r#"[{"headers": [{"name": "X-Stage", "value": "a"}, {"name": "b", "value": "b"}]}]"#;
        let other = r#"[{"headers": [{"name": "b", "type": "Exact", "value": "b"}, {"name": "x-stage", "value": "a"}]}]"#;
        assert_eq!(matches_of(&[Some(header)]), matches_of(&[Some(other)]));
    }

    #[test]
    fn types_values_and_methods_tell_them_apart() {
        let all = [
            r#"[{"path": {"value": "/a"}}]"#,
            r#"[{"path": {"type": "Exact", "value": "/a"}}]"#,
            r#"[{"path": {"value": "/a"}, "method": "GET"}]"#,
            r#"[{"path": {"value": "/a"}, "queryParams": [{"name": "q", "value": "1"}]}]"#,
            r#"[{"path": {"value": "/a"}, "headers": [{"name": "q", "value": "1"}]}]"#,
            r#"[{"method": {"service": "b"}}]"#,
            r#"[{"method": {"method": "a"}}]"#,
        ];
        for one in all {
            let same = all
                .iter()
                .filter(|other| matches_of(&[Some(one)]) == matches_of(&[Some(other)]));
            assert_eq!(same.count(), 1, "{one}");
        }
    }

    #[test]
    fn a_call_equals_the_path_that_it_has_over_http() {
        let call = r#"[{"method": {"service": "shop.Cart", "method": "Add"}}]"#;
        let path = r#"[{"path": {"type": "Exact", "value": "/shop.Cart/Add"}}]"#;
        assert_eq!(matches_of(&[Some(call)]), matches_of(&[Some(path)]));
        let service = r#"[{"method": {"service": "shop.Cart", "type": "Exact"}}]"#;
        let prefix = r#"[{"path": {"type": "PathPrefix", "value": "/shop.Cart"}}]"#;
        assert_eq!(matches_of(&[Some(service)]), matches_of(&[Some(prefix)]));
        let expression = r#"[{"method": {"service": "shop.Cart", "type": "RegularExpression"}}]"#;
        assert_ne!(matches_of(&[Some(expression)]), matches_of(&[Some(prefix)]));
    }

    #[test]
    fn each_rule_has_its_own_matches() {
        let (a, b) = (
            r#"[{"path": {"value": "/a"}}]"#,
            r#"[{"path": {"value": "/b"}}]"#,
        );
        let both = r#"[{"path": {"value": "/a"}}, {"path": {"value": "/b"}}]"#;
        let all = matches_of(&[Some(a), Some(both), None]);
        assert_eq!(all.of_rule(0), matches_of(&[Some(a)]).of_rule(0));
        let mut each = [
            matches_of(&[Some(a)]).of_rule(0),
            matches_of(&[Some(b)]).of_rule(0),
        ]
        .concat();
        each.sort_unstable();
        assert_eq!(all.of_rule(1), each);
        assert_eq!(all.of_rule(2), matches_of(&[None]).of_rule(0));
        assert!(all.of_rule(3).is_empty());
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_compared_with_nothing() {
        let odd = matches_of(&[Some(r#"[{"cookies": []}]"#), None]);
        assert!(odd.of_rule(0).is_empty());
        assert_eq!(odd.of_rule(1), matches_of(&[None]).of_rule(0));
    }
}
