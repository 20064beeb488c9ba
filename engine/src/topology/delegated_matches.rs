//! The requests that a rule of a route which delegates hands on: those that a match of the route below takes, within a match of the
//! rule or joined to it.

use std::sync::Arc;

use crate::kinds::profile::DelegationFile;
use crate::model::object::{HeaderMatch, Node, Object, RouteMatch};

/// The matches by which requests reach each rule of a route, of the requests that reach the rule that delegates to it.
/// A rule that none of them reaches has none.
pub(super) fn handed_on(
    facts: &DelegationFile,
    above: &[RouteMatch],
    child: &Object,
) -> Vec<Vec<RouteMatch>> {
    let Node::Route {
        rules,
        rule_matches,
        ..
    } = &child.node
    else {
        return Vec::new();
    };
    let inherits = facts.inherits_matches(child);
    let of_rule = |i: usize| {
        let own = rule_matches.of_rule(i).iter();
        let pairs = own.flat_map(|own| above.iter().map(move |above| (above, own)));
        let matches = pairs.filter_map(|(above, own)| {
            if inherits {
                Some(own.joined_to(above))
            } else if facts.independent_matches {
                own.and(above)
            } else {
                own.is_within(above).then(|| own.clone())
            }
        });
        matches.fold(Vec::new(), |mut distinct: Vec<RouteMatch>, one| {
            if !distinct.contains(&one) {
                distinct.push(one);
            }
            distinct
        })
    };
    (0..rules.len()).map(of_rule).collect()
}

// === impl RouteMatch ===

impl RouteMatch {
    /// Whether a rule that delegates with the match `above` hands on the requests of this one: the path begins with
    /// the prefix above, and it has each condition above.
    fn is_within(&self, above: &Self) -> bool {
        let has_all = |above: &[HeaderMatch], own: &[HeaderMatch]| {
            above.iter().all(|condition| own.contains(condition))
        };
        *above.path_type == *"PathPrefix"
            && self.path.starts_with(&*above.path)
            && has_all(&above.headers, &self.headers)
            && has_all(&above.query, &self.query)
            && (above.method.is_none() || above.method == self.method)
    }

    /// The requests that both match; `None` if there are none.
    fn and(&self, above: &Self) -> Option<Self> {
        let method = match (&above.method, &self.method) {
            (Some(above), Some(own)) if above != own => return None,
            (above, own) => own.as_ref().or(above.as_ref()),
        };
        let (path_type, path) = narrower_path([above, self])?;
        let both = |above: &[HeaderMatch], own: &[HeaderMatch]| {
            let new = above.iter().filter(|condition| !own.contains(condition));
            own.iter().chain(new).cloned().collect()
        };
        Some(Self {
            path_type: path_type.clone(),
            path: path.clone(),
            method: method.cloned(),
            headers: both(&above.headers, &self.headers),
            query: both(&above.query, &self.query),
        })
    }

    /// This match combined with that of the rule above: the paths are joined, and all conditions
    /// hold. If both have a condition on one name, the one above counts.
    fn joined_to(&self, above: &Self) -> Self {
        let both = |above: &[HeaderMatch], own: &[HeaderMatch]| {
            let is_above = |name: &str| above.iter().any(|condition| *condition.name == *name);
            let own = own.iter().filter(|condition| !is_above(&condition.name));
            above.iter().chain(own).cloned().collect()
        };
        Self {
            path_type: self.path_type.clone(),
            path: joined(&above.path, &self.path).into(),
            method: above.method.clone().or_else(|| self.method.clone()),
            headers: both(&above.headers, &self.headers),
            query: both(&above.query, &self.query),
        }
    }
}

/// The type and the path that matches what two paths match; `None` if they have no path in common. Of expressions nothing is known:
/// then the path of the route below counts.
fn narrower_path([above, own]: [&RouteMatch; 2]) -> Option<(&Arc<str>, &Arc<str>)> {
    let of = |one: &RouteMatch, name: &str| *one.path_type == *name;
    let is_below = |path: &str, prefix: &str| {
        let rest = path.strip_prefix(prefix.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_narrower = |one: &RouteMatch, other: &RouteMatch| {
        let is_equal = of(one, "Exact") && of(other, "Exact") && one.path == other.path;
        is_equal || of(other, "PathPrefix") && is_below(&one.path, &other.path)
    };
    if of(above, "RegularExpression") || of(own, "RegularExpression") || is_narrower(own, above) {
        Some((&own.path_type, &own.path))
    } else if is_narrower(above, own) {
        Some((&above.path_type, &above.path))
    } else {
        None
    }
}

/// Two paths as one, without empty parts, `.` and `..`.
fn joined(above: &str, below: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in above.split('/').chain(below.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{joined, narrower_path};
    use crate::model::object::RouteMatch;

    fn path(kind: &str, path: &str) -> RouteMatch {
        RouteMatch {
            path_type: kind.into(),
            path: path.into(),
            method: None,
            headers: Vec::new(),
            query: Vec::new(),
        }
    }

    #[test]
    fn of_two_paths_the_narrower_one_matches_what_both_match() {
        let both = |above: (&str, &str), own: (&str, &str)| {
            let [above, own] = [above, own].map(|(kind, value)| path(kind, value));
            narrower_path([&above, &own]).map(|(kind, value)| format!("{kind} {value}"))
        };
        let (shop, all) = (("PathPrefix", "/shop"), ("PathPrefix", "/"));
        assert_eq!(both(shop, all).as_deref(), Some("PathPrefix /shop"));
        assert_eq!(both(all, shop).as_deref(), Some("PathPrefix /shop"));
        assert_eq!(
            both(shop, ("Exact", "/shop/a")).as_deref(),
            Some("Exact /shop/a")
        );
        assert_eq!(
            both(("Exact", "/shop"), shop).as_deref(),
            Some("Exact /shop")
        );
        assert_eq!(both(shop, ("PathPrefix", "/shopping")), None);
        assert_eq!(both(("Exact", "/a"), ("Exact", "/b")), None);
    }

    #[test]
    fn a_path_continues_the_one_above() {
        assert_eq!(joined("/shop", "/cart"), "/shop/cart");
        assert_eq!(joined("/shop/", "cart/"), "/shop/cart");
        assert_eq!(joined("/shop", "/"), "/shop");
        assert_eq!(joined("/", "/"), "/");
        assert_eq!(joined("/shop", "/../admin"), "/admin");
    }
}
