//! Hostnames with wildcards.

use std::sync::Arc;

/// Whether two hostnames have a host in common. `*.` matches one or more labels.
pub(crate) fn intersect(a: &str, b: &str) -> bool {
    match (a.strip_prefix('*'), b.strip_prefix('*')) {
        (None, None) => a.eq_ignore_ascii_case(b),
        (Some(suffix), None) => under(b, suffix),
        (None, Some(suffix)) => under(a, suffix),
        (Some(x), Some(y)) => x.eq_ignore_ascii_case(y) || under(x, y) || under(y, x),
    }
}

/// The parent domains of a name: `b.c` and `c` for `a.b.c` and for `*.b.c`.
pub(super) fn above(name: &str) -> impl Iterator<Item = &str> {
    let mut domain = name;
    std::iter::from_fn(move || {
        domain = domain.split_once('.')?.1;
        Some(domain)
    })
}

/// The hosts that a hostname of a listener and one of a route have in common: the more specific of the two. `None` if
/// there are none.
pub(crate) fn in_common<'n>(theirs: &'n Arc<str>, ours: &'n Arc<str>) -> Option<&'n Arc<str>> {
    if !intersect(theirs, ours) {
        return None;
    }
    Some(match (theirs.starts_with('*'), ours.starts_with('*')) {
        (true, false) => ours,
        (false, true) => theirs,
        _ if theirs.len() > ours.len() => theirs,
        _ => ours,
    })
}

/// The hostnames that a listener and a route have in common, the more specific one of each pair; an empty name means
/// all.
pub(crate) fn all_in_common(listener: Option<&Arc<str>>, route: &[Arc<str>]) -> Vec<Arc<str>> {
    let Some(theirs) = listener else {
        return if route.is_empty() {
            vec![Arc::default()]
        } else {
            route.to_vec()
        };
    };
    if route.is_empty() {
        return vec![theirs.clone()];
    }
    let ours = route.iter();
    ours.filter_map(|ours| in_common(theirs, ours).cloned())
        .collect()
}

fn under(host: &str, suffix: &str) -> bool {
    let (host, suffix) = (host.as_bytes(), suffix.as_bytes());
    let Some(start) = host.len().checked_sub(suffix.len()) else {
        return false;
    };
    start > 0
        && host
            .get(start..)
            .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

#[cfg(test)]
mod tests {
    use super::{in_common, intersect};

    #[test]
    fn a_wildcard_matches_one_label_or_more() {
        assert!(intersect("*.example.com", "shop.example.com"));
        assert!(intersect("a.b.example.com", "*.example.com"));
        assert!(intersect("*.example.com", "*.shop.example.com"));
        assert!(intersect("Shop.example.com", "shop.EXAMPLE.com"));
        assert!(!intersect("*.example.com", "example.com"));
        assert!(!intersect("*.example.com", "*.example.org"));
        assert!(!intersect("shop.example.com", "blog.example.com"));
    }

    #[test]
    fn a_listener_and_a_route_have_the_more_specific_hostname_in_common() {
        let common = |theirs: &str, ours: &str| {
            in_common(&theirs.into(), &ours.into()).map(ToString::to_string)
        };
        for (theirs, ours, both) in [
            (
                "*.example.com",
                "shop.example.com",
                Some("shop.example.com"),
            ),
            (
                "shop.example.com",
                "*.example.com",
                Some("shop.example.com"),
            ),
            (
                "*.shop.example.com",
                "*.example.com",
                Some("*.shop.example.com"),
            ),
            (
                "*.example.com",
                "*.shop.example.com",
                Some("*.shop.example.com"),
            ),
            ("shop.example.com", "blog.example.com", None),
        ] {
            assert_eq!(common(theirs, ours).as_deref(), both, "{theirs} {ours}");
        }
    }
}
