//! The paths that the rules of a route match, as far as controllers compare them with those of other routes.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use serde::Deserialize;

use super::few::Few;

/// The values of `matches[].path.value` of an `HTTPRoute`, whatever their type. A rule without one matches `/`.
///
/// They are kept as hashes, sorted: there are very many routes, and they are only compared for equality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths(
    /// None where they are `/` alone, as they mostly are.
    Option<Arc<[u64]>>,
);

/// `matches` of a rule; what else is in them is not read.
#[derive(Deserialize)]
pub(super) struct MatchJson {
    path: Option<PathJson>,
}

#[derive(Deserialize)]
struct PathJson {
    value: Option<String>,
}

// === impl Paths ===

impl Paths {
    /// Those of the matches of all rules.
    pub(super) fn of<'a>(rules: impl Iterator<Item = Option<&'a Few<MatchJson>>>) -> Self {
        let mut hashes: Vec<u64> = Vec::new();
        for matches in rules {
            let matches = matches.map(|few| &*few.0).unwrap_or_default();
            if matches.is_empty() {
                hashes.push(hash("/"));
            }
            let values = matches.iter().map(|m| m.path.as_ref()?.value.as_ref());
            hashes.extend(values.map(|value| hash(value.map_or("/", String::as_str))));
        }
        hashes.sort_unstable();
        hashes.dedup();
        let root = hash("/");
        if hashes.is_empty() || *hashes == [root] {
            return Self(None);
        }
        Self(Some(hashes.into()))
    }

    /// Whether two routes match a path both.
    pub fn meet(&self, other: &Self) -> bool {
        let root = [hash("/")];
        let hashes = |paths: &Self| paths.0.clone();
        let (one, other) = (hashes(self), hashes(other));
        let (one, other) = (
            one.as_deref().unwrap_or(&root),
            other.as_deref().unwrap_or(&root),
        );
        one.iter().any(|hash| other.binary_search(hash).is_ok())
    }
}

/// The same for equal texts, in every process.
fn hash(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value.as_bytes());
    hasher.finish()
}
