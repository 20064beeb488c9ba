//! The requests that a rule of a route which delegates hands on: those that a match of the route below takes, within a match of the
//! rule or joined to it.

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
    use super::joined;

    #[test]
    fn a_path_continues_the_one_above() {
        assert_eq!(joined("/shop", "/cart"), "/shop/cart");
        assert_eq!(joined("/shop/", "cart/"), "/shop/cart");
        assert_eq!(joined("/shop", "/"), "/shop");
        assert_eq!(joined("/", "/"), "/");
        assert_eq!(joined("/shop", "/../admin"), "/admin");
    }
}
