//! Parses URLs as people type them: `https://shop.example.com/cart?x=1`, or parts of one.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::request::Scheme;

/// The parts of a URL, each optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// Its scheme.
    pub scheme: Option<Scheme>,
    /// Its host.
    pub host: Option<String>,
    /// Its port; by default that of the scheme.
    pub port: Option<u16>,
    /// Its path.
    pub path: Option<String>,
    /// Its query parameters, decoded.
    pub query: Vec<(String, String)>,
}

// === impl Url ===

impl Url {
    /// Parses a URL, `host/path`, or `/path`.
    ///
    /// # Errors
    /// Fails if the scheme is unknown or the port is invalid.
    pub fn read(text: &str) -> Result<Self, String> {
        let (scheme, after_scheme) = match text.split_once("://") {
            // A `://` may also be part of the path or the query.
            Some((name, rest)) if !name.contains(['/', '?', '#']) => {
                let scheme = Scheme::named(name).ok_or_else(|| unknown(name))?;
                (Some(scheme), rest)
            }
            _ => (None, text),
        };
        // Fragments are not sent.
        let without_fragment = after_scheme.split('#').next().unwrap_or_default();
        let start = without_fragment
            .find(['/', '?'])
            .unwrap_or(without_fragment.len());
        let (authority, path_and_query) = without_fragment.split_at(start);
        let (host, port) = authority_of(authority)?;
        let (path, query) = of_path(path_and_query);
        Ok(Self {
            scheme,
            port: port.or_else(|| scheme.and_then(Scheme::port)),
            host: Some(host).filter(|host| !host.is_empty()),
            path: Some(path).filter(|path| !path.is_empty()),
            query,
        })
    }
}

/// Splits the target of a request into its path and query parameters.
pub fn of_path(text: &str) -> (String, Vec<(String, String)>) {
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    });
    (path.to_owned(), pairs.collect())
}

/// Writes query parameters as the query of a URL, without `?`.
pub(super) fn to_query(pairs: &[(String, String)]) -> String {
    const VALUE: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'#')
        .add(b'%')
        .add(b'&')
        .add(b'+');
    const NAME: &AsciiSet = &VALUE.add(b'=');
    let pair = |(name, value): &(String, String)| {
        let name = utf8_percent_encode(name, NAME);
        match value.as_str() {
            "" => name.to_string(),
            value => format!("{name}={}", utf8_percent_encode(value, VALUE)),
        }
    };
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    pairs.join("&")
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = Scheme::ALL.map(Scheme::as_str).into();
    format!(
        "the scheme {name:?} is not known; there are {}",
        known.join(", ")
    )
}

/// Splits `user@host:port` into host and port.
fn authority_of(text: &str) -> Result<(String, Option<u16>), String> {
    let text = text
        .rsplit_once('@')
        .map_or(text, |(_, after_user)| after_user);
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port),
        _ => (text, ""),
    };
    if port.is_empty() {
        return Ok((host.to_owned(), None));
    }
    match port.parse::<u16>() {
        Ok(number) if number > 0 => Ok((host.to_owned(), Some(number))),
        _ => Err(format!("{port:?} is not a port")),
    }
}

/// Decodes percent escapes; text that does not decode to UTF-8 stays unchanged.
fn decoded(text: &str) -> String {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded.map_or_else(|_| text.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::{Scheme, Url, decoded, of_path, to_query};

    #[test]
    fn a_url_says_where_and_what() {
        let url = Url::read("https://me@Shop.example.com/cart/%2F?x=1&y=a%20b&z#top").unwrap();
        assert_eq!(url.scheme, Some(Scheme::Https));
        assert_eq!(url.host.as_deref(), Some("Shop.example.com"));
        assert_eq!(url.port, Some(443));
        assert_eq!(url.path.as_deref(), Some("/cart/%2F"));
        let query = [("x", "1"), ("y", "a b"), ("z", "")];
        assert_eq!(url.query, query.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn a_query_is_written_as_it_was_read() {
        for query in [
            "",
            "a=1",
            "a=1&b=2&a=3",
            "flag",
            "a=b%20c&d%3De=%26",
            "to=http://x/?y=z",
        ] {
            let (_, pairs) = of_path(&format!("/?{query}"));
            assert_eq!(to_query(&pairs), query);
        }
    }

    #[test]
    fn parts_may_be_missing() {
        for (text, scheme, host, port, path) in [
            ("shop.example.com", "", "shop.example.com", 0, ""),
            (
                "shop.example.com:8080/a",
                "",
                "shop.example.com",
                8080,
                "/a",
            ),
            ("/a?b=http://c", "", "", 0, "/a"),
            ("http://h?a", "http", "h", 80, ""),
            ("tcp://db:5432", "tcp", "db", 5432, ""),
            ("tls://db", "tls", "db", 443, ""),
            ("http://[::1]:81/", "http", "[::1]", 81, "/"),
            ("http://[::1]/", "http", "[::1]", 80, "/"),
            ("", "", "", 0, ""),
        ] {
            let url = Url::read(text).unwrap();
            assert_eq!(url.scheme.map_or("", Scheme::as_str), scheme, "{text}");
            assert_eq!(url.host.unwrap_or_default(), host, "{text}");
            assert_eq!(url.port.unwrap_or_default(), port, "{text}");
            assert_eq!(url.path.unwrap_or_default(), path, "{text}");
        }
    }

    #[test]
    fn an_unusable_url_is_an_error() {
        let scheme = Url::read("gopher://x/").unwrap_err();
        assert!(
            scheme.contains("\"gopher\" is not known; there are http"),
            "{scheme}"
        );
        for port in ["http://h:x/", "http://h:0/", "http://h:65536/"] {
            assert!(Url::read(port).unwrap_err().ends_with("is not a port"));
        }
    }

    #[test]
    fn wrong_escapes_stay_as_they_are() {
        for (text, is) in [
            ("%41+%42", "A B"),
            ("%", "%"),
            ("%4", "%4"),
            ("%zz", "%zz"),
            ("%ff", "%ff"),
            ("ä%C3%A4", "ää"),
        ] {
            assert_eq!(decoded(text), is, "{text}");
        }
    }
}
