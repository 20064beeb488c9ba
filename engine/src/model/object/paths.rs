//! The paths that the rules of a route match, to the extent that controllers compare them with those of other routes.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::bounded_vec::BoundedVec;

/// The values of `matches[].path.value` of an `HTTPRoute`, regardless of their type, and `/service/method` of the
/// matches of a `GRPCRoute`. A rule without one matches `/`, and so does a route without rules.
///
/// They are kept as sorted hashes: there are many routes, and paths are only compared for equality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths(
    /// `None` for `/` alone, which is the usual case.
    Option<Arc<[u64]>>,
);

/// One entry of `matches`; its other fields are not read.
#[derive(Deserialize)]
struct MatchJson {
    path: Option<PathJson>,
    method: Option<MethodJson>,
}

/// A string for an `HTTPRoute`.
#[derive(Deserialize)]
#[serde(untagged)]
enum MethodJson {
    Grpc {
        service: Option<String>,
        method: Option<String>,
    },
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct PathJson {
    value: Option<String>,
}

// === impl Paths ===

impl Paths {
    /// Reads the `matches` of all rules. Matches that cannot be read match nothing.
    pub(super) fn from_rules<'a>(rules: impl Iterator<Item = Option<&'a RawValue>>) -> Self {
        let mut hashes: Vec<u64> = Vec::new();
        let mut has_rules = false;
        for matches in rules {
            has_rules = true;
            let Some(matches) = matches.filter(|matches| matches.get() != "null") else {
                hashes.push(hash("/"));
                continue;
            };
            let Ok(BoundedVec(matches)) =
                serde_json::from_str::<BoundedVec<MatchJson>>(matches.get())
            else {
                continue;
            };
            if matches.is_empty() {
                hashes.push(hash("/"));
            }
            hashes.extend(matches.iter().map(MatchJson::hash));
        }
        hashes.sort_unstable();
        hashes.dedup();
        let root = hash("/");
        if !has_rules || *hashes == [root] {
            return Self(None);
        }
        Self(Some(hashes.into()))
    }

    /// The hashes, for an interner.
    pub(crate) fn hashes_mut(&mut self) -> Option<&mut Arc<[u64]>> {
        self.0.as_mut()
    }

    /// Whether two routes have a path in common.
    pub fn meet(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(paths), None) | (None, Some(paths)) => paths.binary_search(&hash("/")).is_ok(),
            (Some(one), Some(other)) => one.iter().any(|hash| other.binary_search(hash).is_ok()),
        }
    }
}

// === impl MatchJson ===

impl MatchJson {
    fn hash(&self) -> u64 {
        let path = self.path.as_ref().and_then(|path| path.value.as_deref());
        match (path, &self.method) {
            (Some(path), _) => hash(path),
            (None, Some(MethodJson::Grpc { service, method })) => {
                let part = |part: &Option<String>| part.clone().unwrap_or_default();
                hash(&format!("/{}/{}", part(service), part(method)))
            }
            (None, Some(MethodJson::Other(_)) | None) => hash("/"),
        }
    }
}

/// A hash that is equal for equal strings, in every process.
fn hash(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::Paths;

    fn paths(rules: &[Value]) -> Paths {
        let texts: Vec<_> = rules.iter().map(|r| to_raw_value(r).unwrap()).collect();
        Paths::from_rules(texts.iter().map(|text| Some(&**text)))
    }

    #[test]
    fn matches_that_cannot_be_read_match_nothing() {
        let root = paths(&[json!([])]);
        let unreadable = paths(&[json!("all"), json!([7])]);
        assert!(!unreadable.meet(&root));
        assert!(!root.meet(&unreadable));
        assert!(!unreadable.meet(&unreadable));
        // The other matches of the route count.
        let shop = json!([{"path": {"value": "/shop"}}]);
        let partly = paths(&[json!("all"), shop.clone()]);
        assert!(partly.meet(&paths(&[shop])));
        assert!(!partly.meet(&root));
    }

    #[test]
    fn a_route_without_rules_or_matches_matches_the_root() {
        let none = Paths::from_rules(std::iter::empty());
        let no_matches = Paths::from_rules(std::iter::once(None));
        let root = paths(&[json!([{"path": {"value": "/"}}])]);
        assert!(none.meet(&root) && no_matches.meet(&root) && none.meet(&no_matches));
    }
}
