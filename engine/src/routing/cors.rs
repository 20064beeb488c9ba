//! Evaluates the origins of a CORS filter (Gateway API 1.7, `HTTPCORSFilter`).

use serde::Deserialize;

/// The most origins to list in an answer.
const MAX_ORIGINS: usize = 3;

/// A filter that answers CORS preflight requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Cors {
    allow_origins: Option<Vec<String>>,
}

/// A parsed origin, with its default port filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin<'a> {
    scheme: &'a str,
    host: &'a str,
    port: u16,
}

// === impl Cors ===

impl Cors {
    /// Whether the filter allows requests from pages of this origin.
    pub(super) fn allows(&self, origin: &str) -> bool {
        let asks = Origin::parse(origin);
        self.origins().iter().any(|allowed| {
            let allows_origin = || Some(Origin::parse(allowed)?.takes(&asks?));
            allowed == "*" || allows_origin().unwrap_or_default()
        })
    }

    /// The response to a preflight request from this origin: the status and the reason.
    pub(super) fn answer(&self, origin: &str) -> (&'static str, String) {
        if self.allows(origin) {
            let why =
                format!("the filter CORS answers the preflight and allows the origin {origin}");
            return ("200 or 204", why);
        }
        let allowed = match self.origins() {
            [] => "none".to_owned(),
            all => {
                let shown = all.iter().take(MAX_ORIGINS).map(String::as_str);
                let shown = shown.collect::<Vec<_>>().join(", ");
                match all.len().saturating_sub(MAX_ORIGINS) {
                    0 => shown,
                    more => format!("{shown} and {more} more"),
                }
            }
        };
        let why = format!(
            "the filter CORS does not allow the origin {origin}, so a browser does not send the request; it allows {allowed}"
        );
        ("200, 204 or 403", why)
    }

    fn origins(&self) -> &[String] {
        self.allow_origins.as_deref().unwrap_or_default()
    }
}

// === impl Origin ===

impl<'a> Origin<'a> {
    /// Parses `https://shop.example.com:8443`; `None` if it is not an origin.
    fn parse(text: &'a str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let usual = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let (host, port) = match authority.rsplit_once(':') {
            // The last group of an IPv6 address is not a port.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (authority, usual),
        };
        let is_host = !host.is_empty() && !host.contains('/');
        is_host.then_some(Self { scheme, host, port })
    }

    /// Whether it allows the origin of a request. A `*` matches everything to its left, dots included.
    fn takes(&self, other: &Origin<'_>) -> bool {
        let host = match self.host.split_once('*') {
            None => other.host.eq_ignore_ascii_case(self.host),
            Some((before, end)) => {
                let (asks, end) = (other.host.to_ascii_lowercase(), end.to_ascii_lowercase());
                before.is_empty() && asks.len() > end.len() && asks.ends_with(&end)
            }
        };
        host && (self.scheme, self.port) == (other.scheme, other.port)
    }
}

#[cfg(test)]
mod tests {
    use super::Cors;

    fn allows(allowed: &[&str], origin: &str) -> bool {
        let origins = allowed.iter().map(|&origin| origin.to_owned());
        let cors = Cors {
            allow_origins: Some(origins.collect()),
        };
        cors.allows(origin)
    }

    #[test]
    fn scheme_host_and_port_are_compared() {
        let exact = ["https://www.example.com"];
        assert!(allows(&exact, "https://www.example.com"));
        assert!(allows(&exact, "https://www.example.com:443"));
        assert!(allows(
            &["http://www.example.com:80"],
            "http://WWW.example.com"
        ));
        for other in [
            "http://www.example.com",
            "https://www.example.com:8443",
            "https://example.com",
            "https://evil.example",
            "https://www.example.com.evil.example",
            "null",
            "",
            "https://www.example.com, https://evil.example",
        ] {
            assert!(!allows(&exact, other), "{other}");
        }
    }

    #[test]
    fn a_wildcard_takes_everything_to_its_left() {
        let below = ["https://*.example.com"];
        assert!(allows(&below, "https://a.example.com"));
        assert!(allows(&below, "https://a.b.example.com"));
        assert!(!allows(&below, "https://example.com"));
        assert!(!allows(&below, "https://.example.com.evil.example"));
        assert!(!allows(&below, "https://aexample.com"));
        assert!(allows(&["https://*:8443"], "https://a.example:8443"));
        assert!(!allows(&["https://*:8443"], "https://a.example"));
        assert!(allows(&["*"], "null"));
        assert!(allows(&["*"], "http://anything.example:1234"));
    }

    #[test]
    fn a_filter_that_names_no_origin_allows_none() {
        let (status, why) = Cors::default().answer("https://a.example");
        assert_eq!(status, "200, 204 or 403");
        assert!(why.ends_with("it allows none"), "{why}");
    }
}
