//! Hostnames with wildcards.

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
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.split_once('.')?.1;
        Some(rest)
    })
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
    use super::intersect;

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
}
