//! Matches hosts of requests against hostnames of listeners and routes, and ranks the matches.

use std::sync::Arc;

/// How specific a matching hostname is: hostnames without a wildcard rank first, then longer ones. A missing hostname
/// matches everything and ranks last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// Length of a hostname without wildcard; 0 with a wildcard.
    pub(super) exact: usize,
    /// Length of the hostname.
    pub(super) any: usize,
}

/// Normalizes a host: lower case, without port and trailing dot.
pub(super) fn normal(host: &str) -> String {
    let bare = without_port(host);
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    bare.to_ascii_lowercase()
}

fn without_port(host: &str) -> &str {
    if host.starts_with('[') {
        // In an IPv6 address, colons do not separate a port.
        let end = host.find(']').map_or(host.len(), |at| at + 1);
        return host.get(..end).unwrap_or(host);
    }
    match host.rsplit_once(':') {
        Some((bare, port)) if !bare.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => {
            bare
        }
        _ => host,
    }
}

/// Whether a hostname pattern matches a host; `*.` stands for one or more labels.
pub(super) fn covers(pattern: &str, host: &str) -> bool {
    let pattern = normal(pattern);
    match pattern.strip_prefix('*') {
        None => pattern == host,
        Some(suffix) => {
            let label = host.strip_suffix(suffix);
            label.is_some_and(|label| !label.is_empty() && !label.starts_with('.'))
        }
    }
}

/// How specific a hostname pattern is for a host; `None` if it does not match.
pub(super) fn fit(pattern: &str, host: &str) -> Option<Fit> {
    covers(pattern, host).then(|| {
        let any = normal(pattern).chars().count();
        let exact = if pattern.starts_with('*') { 0 } else { any };
        Fit { exact, any }
    })
}

/// The most specific pattern that matches a host. Without patterns everything matches; a request without a host matches
/// nothing else.
pub(super) fn best<'a>(
    patterns: &'a [Arc<str>],
    host: Option<&str>,
) -> Option<(Fit, Option<&'a Arc<str>>)> {
    if patterns.is_empty() {
        return Some((Fit::default(), None));
    }
    let host = host?;
    let fits = patterns
        .iter()
        .filter_map(|pattern| Some((fit(pattern, host)?, Some(pattern))));
    fits.max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| y.cmp(x)))
}

#[cfg(test)]
mod tests {
    use super::{best, covers, fit, normal};

    #[test]
    fn hosts_compare_without_case_port_and_last_dot() {
        for (said, compared) in [
            ("Shop.Example.COM", "shop.example.com"),
            ("shop.example.com:8443", "shop.example.com"),
            ("shop.example.com.", "shop.example.com"),
            ("shop.example.com.:80", "shop.example.com"),
            ("[::1]:80", "[::1]"),
            ("[::1", "[::1"),
            ("::1", "::1"),
            ("", ""),
            (":", ""),
            ("*", "*"),
        ] {
            assert_eq!(normal(said), compared, "{said}");
        }
    }

    #[test]
    fn a_wildcard_matches_one_label_or_more() {
        for (pattern, host, fits) in [
            ("*.example.com", "test.example.com", true),
            ("*.example.com", "foo.test.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false),
            ("*.example.com", "test.example.net", false),
            ("*.example.com", "notexample.com", false),
            ("*.Example.com", "test.example.com", true),
            ("test.example.com", "test.example.com", true),
            ("test.example.com", "a.test.example.com", false),
            ("*", "test.example.com", true),
            ("*.com", "", false),
        ] {
            assert_eq!(covers(pattern, host), fits, "{pattern} {host}");
        }
    }

    #[test]
    fn exact_goes_before_wildcard_and_longer_before_shorter() {
        let host = "a.test.example.com";
        let order = ["a.test.example.com", "*.test.example.com", "*.example.com"];
        let fits: Vec<_> = order.map(|pattern| fit(pattern, host).unwrap()).into();
        assert!(fits.is_sorted_by(|a, b| a > b), "{fits:?}");
        assert!(fits.iter().all(|fit| *fit > super::Fit::default()));
        let all = order.map(std::sync::Arc::from);
        let (_, chosen) = best(&all, Some(host)).unwrap();
        assert_eq!(chosen.map(|name| &**name), Some("a.test.example.com"));
    }

    #[test]
    fn without_a_host_only_what_names_none_fits() {
        assert!(best(&[], None).is_some());
        assert!(best(&["*".into()], None).is_none());
    }
}
