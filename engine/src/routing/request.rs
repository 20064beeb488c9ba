//! A request to match.

use std::borrow::Cow;

use super::hostname;

/// The protocol by which a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// HTTP without TLS.
    Http,
    /// HTTP over TLS.
    Https,
    /// TLS passed through, where only the server name is visible.
    Tls,
    /// A TCP connection with opaque contents.
    Tcp,
    /// A UDP datagram.
    Udp,
}

/// A request. A property that is not given may have any value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Request {
    /// The protocol by which it is sent, if given.
    pub scheme: Option<Scheme>,
    /// The host as given. It is also the TLS server name, unless `sni` has another.
    pub host: Option<String>,
    /// The TLS server name (SNI), if it differs from the host.
    pub sni: Option<String>,
    /// The port, if given.
    pub port: Option<u16>,
    /// The method; by default `GET`, and `POST` for gRPC.
    pub method: Option<String>,
    /// The path as sent.
    pub path: String,
    /// Query parameters, decoded, in order.
    pub query: Vec<(String, String)>,
    /// Headers, in order.
    pub headers: Vec<(String, String)>,
}

// === impl Scheme ===

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 5] = [Self::Http, Self::Https, Self::Tls, Self::Tcp, Self::Udp];

    /// The scheme with this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|scheme| scheme.as_str().eq_ignore_ascii_case(name))
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Tls => "tls",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }

    /// The default port.
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Http => Some(80),
            Self::Https | Self::Tls => Some(443),
            Self::Tcp | Self::Udp => None,
        }
    }

    /// Whether Gateways see the request with its path and headers.
    pub fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }
}

// === impl Request ===

impl Request {
    /// The normalized host.
    pub fn hostname(&self) -> Option<String> {
        let host = self.host.as_deref().map(hostname::normal);
        host.filter(|host| !host.is_empty())
    }

    /// The host, in words.
    pub(super) fn host_words(&self) -> String {
        let host = self.hostname();
        host.unwrap_or_else(|| "of a request without a host".to_owned())
    }

    /// The normalized TLS server name: by default the host.
    pub fn server_name(&self) -> Option<String> {
        let sni = self.sni.as_deref().map(hostname::normal);
        sni.filter(|name| !name.is_empty())
            .or_else(|| self.hostname())
    }

    /// The origin of a CORS preflight request; `None` if it is not one.
    pub fn preflight_of(&self) -> Option<Cow<'_, str>> {
        let asks =
            self.method() == "OPTIONS" && self.header("Access-Control-Request-Method").is_some();
        self.header("Origin").filter(|_| asks)
    }

    /// The method as an HTTP request.
    pub fn method(&self) -> &str {
        self.method.as_deref().unwrap_or("GET")
    }

    /// The value of a header, by case-insensitive name; several values are joined as a list (RFC 9110, section 5.2).
    /// `Host` defaults to the host of the request.
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let of_name = self.headers.iter().filter(|(n, _)| same_header(n, name));
        let values: Vec<&str> = of_name.map(|(_, value)| value.as_str()).collect();
        match values.as_slice() {
            [] if same_header(name, "Host") => self.host.as_deref().map(Cow::Borrowed),
            [] => None,
            [one] => Some(Cow::Borrowed(one)),
            _ => Some(Cow::Owned(values.join(","))),
        }
    }

    /// The first value of a query parameter, by case-sensitive name.
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.query.iter();
        params
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// The gRPC service and method, if the request can be a gRPC call.
    pub fn grpc(&self) -> Option<(&str, &str)> {
        let is_post = self.method.as_deref().is_none_or(|method| method == "POST");
        let content = self.header("content-type");
        let is_grpc = content.is_none_or(|kind| kind.starts_with("application/grpc"));
        let (service, method) = self.path.strip_prefix('/')?.split_once('/')?;
        let named = !service.is_empty() && !method.is_empty() && !method.contains('/');
        (is_post && is_grpc && named).then_some((service, method))
    }
}

/// A method as people type it: in capitals.
///
/// # Errors
/// If no request has such a method.
pub fn read_method(text: &str) -> Result<String, String> {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_of_token) {
        return Err(format!(
            "{text:?} is not an HTTP method: write one such as GET or POST"
        ));
    }
    Ok(text.to_ascii_uppercase())
}

/// Whether two header names are equal.
pub fn same_header(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::Request;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        all.iter().map(owned).collect()
    }

    #[test]
    fn headers_have_no_case_and_repeated_ones_are_a_list() {
        let request = Request {
            host: Some("a.example:80".into()),
            headers: pairs(&[("X-A", "1"), ("x-a", "2"), ("X-B", "3")]),
            ..Request::default()
        };
        assert_eq!(request.header("x-A").as_deref(), Some("1,2"));
        assert_eq!(request.header("x-b").as_deref(), Some("3"));
        assert_eq!(request.header("x-c"), None);
        assert_eq!(request.header("host").as_deref(), Some("a.example:80"));
    }

    #[test]
    fn the_first_of_a_repeated_parameter_counts() {
        let request = Request {
            query: pairs(&[("a", "1"), ("a", "2"), ("A", "3")]),
            ..Request::default()
        };
        assert_eq!(request.param("a"), Some("1"));
        assert_eq!(request.param("A"), Some("3"));
    }

    #[test]
    fn grpc_is_a_post_to_service_and_method() {
        let request = |path: &str, method: Option<&str>, content: &str| Request {
            path: path.to_owned(),
            method: method.map(str::to_owned),
            headers: pairs(&[("content-type", content)]),
            ..Request::default()
        };
        let grpc = "application/grpc+proto";
        let call = request("/a.B/C", None, grpc);
        assert_eq!(call.grpc(), Some(("a.B", "C")));
        assert!(request("/a.B/C", Some("POST"), grpc).grpc().is_some());
        assert!(request("/a.B/C", Some("GET"), grpc).grpc().is_none());
        assert!(request("/a.B/C", None, "text/html").grpc().is_none());
        for path in ["/", "", "/a", "/a/", "//b", "/a/b/c", "a/b"] {
            assert!(request(path, None, grpc).grpc().is_none(), "{path}");
        }
    }
}
