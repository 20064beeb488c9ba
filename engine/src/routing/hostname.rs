//! Matches hosts of requests against hostnames of listeners and routes, and ranks the matches.

use std::sync::Arc;

use crate::kinds::profile::RuleOrder;
use crate::topology::{ListenerHostname, in_common};

/// The specificity of a matching hostname: hostnames without a wildcard rank first, then longer ones. A missing hostname
/// matches everything and ranks last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Specificity {
    /// Length of a hostname without wildcard; 0 with a wildcard.
    pub(super) exact: usize,
    /// Length of the hostname.
    pub(super) any: usize,
}

/// The hostnames and facts that decide which routes of a listener match a request, and which of them takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListenerHosts<'h> {
    /// The host of the request.
    pub(super) host: Option<&'h str>,
    /// The hostname of the listener.
    pub(super) own: Option<&'h Arc<str>>,
    /// The namespace of the Gateway.
    pub(super) namespace: Option<&'h Arc<str>>,
    /// The hostnames that the listener leaves to others; none if absent.
    pub(super) isolated: Option<&'h ListenerHostname>,
    /// The order in which the controller tries rules.
    pub(super) order: RuleOrder,
}

/// A hostname of a route that matches a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostMatch<'a> {
    pub(super) specificity: Specificity,
    /// The same of the hostname in the route alone.
    pub(super) fit_of_route: Specificity,
    /// The hostname, as the route has it; `None` if the route has none.
    pub(super) of_route: Option<&'a Arc<str>>,
    /// The hostname of the listener, if it is more specific.
    pub(super) of_listener: Option<Arc<str>>,
}

/// Normalizes a host: lower case, without port and trailing dot.
pub(super) fn normal(host: &str) -> String {
    let without_port = without_port(host);
    let normalized = without_port.strip_suffix('.').unwrap_or(without_port);
    normalized.to_ascii_lowercase()
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

/// The specificity of a hostname pattern for a host; `None` if it does not match.
pub(super) fn specificity(pattern: &str, host: &str) -> Option<Specificity> {
    covers(pattern, host).then(|| {
        let any = normal(pattern).chars().count();
        let exact = if pattern.starts_with('*') { 0 } else { any };
        Specificity { exact, any }
    })
}

/// The most specific hostname of a route that matches a request, as far as the listener has it too. A route without
/// hostnames has that of its listener. A request without a host matches no hostname.
pub(super) fn best<'a>(patterns: &'a [Arc<str>], at: &ListenerHosts<'_>) -> Option<HostMatch<'a>> {
    let is_left = |name: &Arc<str>| !at.isolated.is_some_and(|listener| listener.gives_up(name));
    if patterns.is_empty() {
        let Some(own) = at.own else {
            return Some(HostMatch::default());
        };
        let specificity = specificity(own, at.host?)?;
        return is_left(own).then(|| HostMatch {
            specificity,
            fit_of_route: Specificity::default(),
            of_route: None,
            of_listener: Some(own.clone()),
        });
    }
    let host = at.host?;
    let is_too_wide = |pattern: &&Arc<str>| {
        at.isolated
            .is_some_and(|listener| listener.is_too_wide(pattern))
    };
    let patterns = patterns.iter().filter(|pattern| !is_too_wide(pattern));
    let matches = patterns.filter_map(|pattern| {
        let name = match at.own {
            Some(own) => in_common(own, pattern)?,
            None => pattern,
        };
        let in_common = specificity(name, host).filter(|_| is_left(name))?;
        Some(HostMatch {
            specificity: in_common,
            fit_of_route: specificity(pattern, host).unwrap_or_default(),
            of_route: Some(pattern),
            of_listener: (name != pattern).then(|| name.clone()),
        })
    });
    matches.max_by(|a, b| {
        let fits = |one: &HostMatch<'_>| (one.specificity, one.fit_of_route);
        fits(a)
            .cmp(&fits(b))
            .then_with(|| b.of_route.cmp(&a.of_route))
    })
}

// === impl HostMatch ===

impl HostMatch<'_> {
    /// The hostname that the route has at the listener; `None` if that is any.
    pub(super) fn name(&self) -> Option<&Arc<str>> {
        self.of_listener.as_ref().or(self.of_route)
    }

    /// The hostname that the route has at the listener, in words.
    pub(super) fn text(&self) -> String {
        match (&self.of_listener, self.of_route) {
            (Some(name), _) => format!("hostname {name} of its listener"),
            (None, Some(name)) => format!("hostname {name}"),
            (None, None) => "no hostname".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ListenerHosts, Specificity, best, covers, normal, specificity};
    use crate::kinds::profile::RuleOrder;

    fn at<'h>(own: Option<&'h Arc<str>>, host: Option<&'h str>) -> ListenerHosts<'h> {
        ListenerHosts {
            host,
            own,
            namespace: None,
            isolated: None,
            order: RuleOrder::default(),
        }
    }

    #[test]
    fn hosts_compare_without_case_port_and_last_dot() {
        for (written, compared) in [
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
            assert_eq!(normal(written), compared, "{written}");
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
        let fits: Vec<_> = order
            .map(|pattern| specificity(pattern, host).unwrap())
            .into();
        assert!(fits.is_sorted_by(|a, b| a > b), "{fits:?}");
        assert!(
            fits.iter()
                .all(|specificity| *specificity > Specificity::default())
        );
        let all = order.map(Arc::from);
        let chosen = best(&all, &at(None, Some(host))).unwrap();
        assert_eq!(
            chosen.of_route.map(|name| &**name),
            Some("a.test.example.com")
        );
    }

    #[test]
    fn without_a_host_only_what_names_none_fits() {
        assert!(best(&[], &at(None, None)).is_some());
        assert!(best(&["*".into()], &at(None, None)).is_none());
    }

    #[test]
    fn the_listener_narrows_the_hostnames_of_a_route() {
        let (own, host) = ("shop.example.com".into(), Some("shop.example.com"));
        let exact = ["shop.example.com".into()];
        let wild = ["*.example.com".into()];
        let specificity =
            |route: &[Arc<str>]| best(route, &at(Some(&own), host)).map(|of| of.specificity);
        assert!(specificity(&exact).is_some());
        assert_eq!(specificity(&[]), specificity(&exact));
        assert_eq!(specificity(&wild), specificity(&exact));
        assert_eq!(specificity(&["blog.example.com".into()]), None);
    }
}
