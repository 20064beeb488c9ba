//! The page on this machine, for the user who started it: a token in the URL, then a cookie.
//!
//! Other programs can reach the port too: pages of other sites in the same browser, also under a name that an attacker
//! points to 127.0.0.1, and other users of the machine. The first have the wrong `Host` or `Origin`, the last no token.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN, SET_COOKIE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Router, serve};
use tokio::net::TcpListener;

use super::api::{Reader, is_data, router};
use super::question::Parameters;
use super::token::{Token, bearer};
use super::{Answers, Refusal, cookie, headers};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The page for requests without the token.
const UNKNOWN: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>attache</title>\n\
     <p>Open the URL that <code>attache ui</code> has printed: it has a token, by which the page knows you.</p>\n</html>\n";

/// The page, before it is served.
#[derive(Debug)]
pub struct Loopback {
    listener: TcpListener,
    address: SocketAddr,
    access: Arc<AccessCheck>,
}

#[derive(Debug)]
struct AccessCheck {
    /// The permitted values of `Host`, in lower case.
    hosts: Vec<String>,
    cookie: String,
    token: Token,
    /// For the browser that attache opens: other users may read the arguments of a program, so it counts once.
    once: Mutex<Option<Token>>,
}

// === impl Loopback ===

impl Loopback {
    /// Binds an address of this machine; port 0 takes a free port.
    ///
    /// # Errors
    /// If the address is not one of loopback, or cannot be bound.
    pub async fn bind(address: SocketAddr) -> Result<Self, String> {
        if !address.ip().is_loopback() {
            return Err(format!(
                "{address} can be reached from other machines, and the page shows what you may read to everyone who has its URL: \
                 choose an address of loopback, such as 127.0.0.1:0. For others, attache serve --ui asks each for a token"
            ));
        }
        let wrong = |error| {
            format!("failed to listen on {address}: {error}; choose another with --address")
        };
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let port = address.port();
        let mut hosts = vec![address.to_string(), format!("localhost:{port}")];
        if port == 80 {
            hosts.extend([address.ip().to_string(), "localhost".to_owned()]);
        }
        let access = AccessCheck {
            hosts,
            cookie: format!("attache_{port}"),
            token: Token::new()?,
            once: Mutex::new(Some(Token::new()?)),
        };
        Ok(Self {
            listener,
            address,
            access: Arc::new(access),
        })
    }

    /// The URL to print.
    pub fn url(&self) -> String {
        self.with(self.access.token.as_str())
    }

    /// A URL that can be opened once.
    pub fn url_to_open(&self) -> String {
        let once = self.access.once.lock();
        let once = once.unwrap_or_else(PoisonError::into_inner);
        self.with(once.as_ref().map_or("", Token::as_str))
    }

    fn with(&self, token: &str) -> String {
        format!("http://{}/?token={token}", self.address)
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(self, answers: Arc<dyn Answers>) -> std::io::Result<()> {
        let guarded = from_fn_with_state((self.access, Reader(answers)), guard);
        let router: Router = router().layer(guarded).layer(from_fn(headers::add));
        serve(self.listener, router).await
    }
}

/// Lets requests through that come from the page, of the user.
async fn guard(
    State((access, reader)): State<(Arc<AccessCheck>, Reader)>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = access.is_own(request.headers()) {
        return refusal.into_response();
    }
    let given = (request.uri().path() == "/")
        .then(|| {
            Parameters::read(request.uri().query())
                .ok()?
                .one("token")
                .ok()?
        })
        .flatten();
    if let Some(given) = given {
        return if access.admits(&given) {
            access.welcome()
        } else {
            unknown(&request)
        };
    }
    if !access.knows(request.headers()) {
        return unknown(&request);
    }
    request.extensions_mut().insert(reader);
    next.run(request).await
}

/// The answer to a request without a token.
fn unknown(request: &Request) -> Response {
    let refusal =
        Refusal::unknown("the token is missing or wrong: open the URL that attache ui has printed");
    if is_data(request.uri().path()) {
        return refusal.into_response();
    }
    let mut response = refusal.into_response();
    *response.body_mut() = UNKNOWN.into();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
        .headers_mut()
        .remove(axum::http::header::CONTENT_LENGTH);
    response
}

// === impl AccessCheck ===

impl AccessCheck {
    /// Checks that a request is addressed to this page, and not sent by the page of another site.
    fn is_own(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = one(headers, &HOST).filter(|host| self.is_host(host));
        if host.is_none() {
            return Err(Refusal::forbidden(
                "the request names another host: open the URL that attache ui has printed",
            ));
        }
        let from_elsewhere =
            || Refusal::forbidden("the request comes from the page of another site");
        if headers.contains_key(ORIGIN) {
            let origin = one(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
            if !origin.is_some_and(|origin| self.is_host(origin)) {
                return Err(from_elsewhere());
            }
        }
        if headers.contains_key(FETCH_SITE) {
            let site = one(headers, &FETCH_SITE);
            if !site.is_some_and(|site| matches!(site, "same-origin" | "none")) {
                return Err(from_elsewhere());
            }
        }
        Ok(())
    }

    fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Whether a token is that of the printed URL, or that of the URL that is opened, which counts once.
    fn admits(&self, given: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        if once.as_ref().is_some_and(|once| once.is(given)) {
            *once = None;
            return true;
        }
        self.token.is(given)
    }

    /// Whether a request has the token, in the cookie or as a bearer token.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let given = one(headers, &AUTHORIZATION).and_then(bearer);
        given.is_some_and(|token| self.token.is(token))
            || cookie::values(headers, &self.cookie).any(|value| self.token.is(value))
    }

    /// Sends the browser to the page without the token in the URL, which stays in its history, and with the cookie.
    fn welcome(&self) -> Response {
        let (name, token) = (&self.cookie, self.token.as_str());
        let cookie = format!("{name}={token}; HttpOnly; SameSite=Strict; Path=/");
        let mut response = StatusCode::SEE_OTHER.into_response();
        let headers = response.headers_mut();
        headers.insert(LOCATION, HeaderValue::from_static("./"));
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            headers.insert(SET_COOKIE, cookie);
        }
        response
    }
}

/// The value of a header that occurs once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
