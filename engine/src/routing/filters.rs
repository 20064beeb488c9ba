//! Filters of rules, as far as they redirect, mirror or answer requests.

use serde::Deserialize;
use serde_json::Value;

use super::cors::Cors;
use super::path::{Path, elements};

/// The filters of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleFilters {
    /// Their types, in order.
    pub(super) types: Vec<String>,
    /// The redirect, if there is one. It answers the request by itself.
    pub(super) redirect: Option<Redirect>,
    /// The first CORS filter, which answers preflight requests.
    pub(super) cors: Option<Cors>,
    /// The mirror filters.
    pub(super) mirrors: Vec<Mirror>,
    /// Errors of entries that cannot be parsed.
    pub(super) parse_errors: Vec<String>,
}

/// A `RequestRedirect` filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Redirect {
    scheme: Option<String>,
    hostname: Option<String>,
    path: Option<Replace>,
    port: Option<u16>,
    status_code: Option<u16>,
}

/// A `RequestMirror` filter, which sends copies of requests to another backend and ignores its responses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Mirror {
    /// The backend.
    pub(super) backend_ref: MirrorRef,
    /// Percentage of the requests to copy.
    pub(super) percent: Option<u64>,
    /// Fraction of the requests to copy.
    pub(super) fraction: Option<Fraction>,
}

/// A backend reference of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct MirrorRef {
    pub(super) group: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) port: Option<u16>,
}

/// A fraction of all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Fraction {
    numerator: u64,
    denominator: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Replace {
    replace_full_path: Option<String>,
    replace_prefix_match: Option<String>,
}

/// The request properties that a redirect or a preflight response depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct RedirectContext<'a> {
    /// The scheme of the request.
    pub(super) scheme: &'a str,
    /// Its host.
    pub(super) host: &'a str,
    /// The port of the listener.
    pub(super) port: u16,
    /// The path of the request.
    pub(super) path: &'a str,
    /// Its query, without `?`.
    pub(super) query: &'a str,
    /// The path match of the rule.
    pub(super) wanted: Option<&'a Path>,
    /// The origin of a CORS preflight request; `None` if it is not one.
    pub(super) preflight_of: Option<&'a str>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FilterJson {
    #[serde(rename = "type")]
    kind: Option<String>,
    request_redirect: Option<Redirect>,
    request_mirror: Option<Mirror>,
    cors: Option<Cors>,
}

// === impl RuleFilters ===

impl RuleFilters {
    /// Parses the filters of a rule.
    pub(super) fn read(json: Option<Value>) -> Self {
        let mut filters = Self::default();
        let entries = match json {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => entries,
            Some(_) => {
                filters
                    .parse_errors
                    .push("filters is not a list".to_owned());
                Vec::new()
            }
        };
        for entry in entries {
            match serde_json::from_value::<FilterJson>(entry) {
                Ok(filter) => {
                    let kind = filter.kind.unwrap_or_default();
                    if kind == "RequestRedirect" && filters.redirect.is_none() {
                        filters.redirect = Some(filter.request_redirect.unwrap_or_default());
                    }
                    if kind == "CORS" && filters.cors.is_none() {
                        filters.cors = Some(filter.cors.unwrap_or_default());
                    }
                    if kind == "RequestMirror" {
                        filters.mirrors.extend(filter.request_mirror);
                    }
                    filters.types.push(kind);
                }
                Err(why) => filters
                    .parse_errors
                    .push(format!("a filter cannot be read: {why}")),
            }
        }
        filters
    }
}

// === impl Mirror ===

impl Mirror {
    /// The share of requests that are copied, in words; `None` for all.
    pub(super) fn part(&self) -> Option<String> {
        match (&self.percent, &self.fraction) {
            (Some(percent), _) => Some(format!("{percent} of 100 requests")),
            (None, Some(part)) => {
                let denominator = part.denominator.unwrap_or(100);
                Some(format!("{} of {denominator} requests", part.numerator))
            }
            (None, None) => None,
        }
    }
}

// === impl Redirect ===

impl Redirect {
    /// The status of the response.
    pub(super) fn status(&self) -> u16 {
        self.status_code.unwrap_or(302)
    }

    /// The location of the redirect. The query of the request stays, unless the filter sets another.
    pub(super) fn location(&self, context: &RedirectContext<'_>) -> String {
        let scheme = self.scheme.as_deref().unwrap_or(context.scheme);
        let host = self.hostname.as_deref().unwrap_or(context.host);
        let usual = match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let from_scheme = self.scheme.as_ref().and(usual);
        let port = self.port.or(from_scheme).unwrap_or(context.port);
        let port = if usual == Some(port) {
            String::new()
        } else {
            format!(":{port}")
        };
        let path = self.new_path(context);
        let query = match context.query {
            "" => String::new(),
            _ if path.contains('?') => String::new(),
            query => format!("?{query}"),
        };
        format!("{scheme}://{host}{port}{path}{query}")
    }

    fn new_path(&self, context: &RedirectContext<'_>) -> String {
        let Some(replace) = &self.path else {
            return context.path.to_owned();
        };
        if let Some(full) = &replace.replace_full_path {
            return full.clone();
        }
        let (Some(new), Some(Path::Prefix(prefix))) =
            (&replace.replace_prefix_match, context.wanted)
        else {
            return context.path.to_owned();
        };
        let suffix = context
            .path
            .strip_prefix(elements(prefix))
            .unwrap_or_default();
        match (elements(new), suffix) {
            ("", "") => "/".to_owned(),
            (_, "") => new.clone(),
            (new, rest) => format!("{new}{rest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Path, RedirectContext, RuleFilters};

    fn location(redirect: &Value, scheme: &str, port: u16, path: &str) -> String {
        let json = json!([{"type": "RequestRedirect", "requestRedirect": redirect}]);
        let filters = RuleFilters::read(Some(json));
        let wanted = Path::Prefix("/foo".to_owned());
        filters.redirect.unwrap().location(&RedirectContext {
            scheme,
            host: "a.example",
            port,
            path,
            query: "",
            wanted: Some(&wanted),
            preflight_of: None,
        })
    }

    #[test]
    fn the_port_follows_the_scheme_then_the_listener() {
        let to_https = json!({"scheme": "https"});
        for (redirect, scheme, port, to) in [
            (&to_https, "http", 80, "https://a.example/foo"),
            (&to_https, "http", 8080, "https://a.example/foo"),
            (&json!({}), "http", 8080, "http://a.example:8080/foo"),
            (&json!({}), "https", 443, "https://a.example/foo"),
            (
                &json!({"port": 444, "scheme": "https"}),
                "http",
                80,
                "https://a.example:444/foo",
            ),
            (
                &json!({"hostname": "b.example"}),
                "http",
                80,
                "http://b.example/foo",
            ),
        ] {
            assert_eq!(location(redirect, scheme, port, "/foo"), to, "{redirect}");
        }
    }

    /// The table of `ReplacePrefixMatch` in the CRD of `HTTPRoute`.
    #[test]
    fn a_prefix_is_replaced_by_elements() {
        for (path, replace, to) in [
            ("/foo/bar", "/xyz", "/xyz/bar"),
            ("/foo/bar", "/xyz/", "/xyz/bar"),
            ("/foo", "/xyz", "/xyz"),
            ("/foo/", "/xyz", "/xyz/"),
            ("/foo/bar", "", "/bar"),
            ("/foo/", "", "/"),
            ("/foo", "", "/"),
            ("/foo/", "/", "/"),
            ("/foo", "/", "/"),
        ] {
            let redirect =
                json!({"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": replace}});
            let target = location(&redirect, "http", 80, path);
            assert_eq!(target, format!("http://a.example{to}"), "{path} {replace}");
        }
        let full = json!({"path": {"type": "ReplaceFullPath", "replaceFullPath": "/x"}});
        assert_eq!(
            location(&full, "http", 80, "/foo/bar"),
            "http://a.example/x"
        );
    }

    #[test]
    fn the_query_of_the_request_stays() {
        let wanted = Path::Prefix("/foo".to_owned());
        for (redirect, query, to) in [
            (json!({}), "a=1&b", "http://a.example/foo?a=1&b"),
            (
                json!({"path": {"replaceFullPath": "/x"}}),
                "a=1",
                "http://a.example/x?a=1",
            ),
            (
                json!({"path": {"replaceFullPath": "/x?b=2"}}),
                "a=1",
                "http://a.example/x?b=2",
            ),
            (json!({}), "", "http://a.example/foo"),
        ] {
            let json = json!([{"type": "RequestRedirect", "requestRedirect": redirect}]);
            let redirect = RuleFilters::read(Some(json)).redirect.unwrap();
            let target = redirect.location(&RedirectContext {
                scheme: "http",
                host: "a.example",
                port: 80,
                path: "/foo",
                query,
                wanted: Some(&wanted),
                preflight_of: None,
            });
            assert_eq!(target, to);
        }
    }

    #[test]
    fn unusual_input_is_noted() {
        let filters = RuleFilters::read(Some(json!([{"type": 7}, {"type": "URLRewrite"}])));
        assert_eq!(filters.types, ["URLRewrite"]);
        assert_eq!(filters.parse_errors.len(), 1);
        let filters = RuleFilters::read(Some(json!({})));
        assert_eq!(filters.parse_errors, ["filters is not a list"]);
    }
}
