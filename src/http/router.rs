//! Paths, limits and deadlines around a review; everything that is not a review gets a small JSON error.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER,
};
use axum::http::{HeaderMap, StatusCode, Uri, Version};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use futures::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use prometheus::IntGauge;
use tokio::sync::{AcquireError, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use super::admission::{App, Call, Endpoint};
use crate::telemetry::traces::{Side, Trace};

/// The API server's own limit is 3 MiB for an object; an UPDATE carries two, and there is an envelope.
const MAX_BODY: usize = 7 * 1024 * 1024;
/// `timeoutSeconds` where the API server does not say (its default).
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Kept back for the way home: an answer after the API server's deadline is no answer.
const MARGIN: Duration = Duration::from_millis(200);

/// How much is taken on at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests under way; each may hold a body of 7 MiB.
    pub max_in_flight: usize,
    /// Time for a body to arrive; the API server sends it from memory, in one go.
    pub body_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_in_flight: 64,
            body_timeout: Duration::from_secs(5),
        }
    }
}

/// An answer that is not a review.
struct Refused {
    status: StatusCode,
    why: String,
    /// Whether the rest of what the client sends is of no interest.
    close: bool,
}

/// The webhook's routes.
pub fn router(app: Arc<App>) -> Router {
    let not_found = || async { Refused::new(StatusCode::NOT_FOUND, "no such path") };
    let not_allowed =
        || async { Refused::new(StatusCode::METHOD_NOT_ALLOWED, "only POST is allowed") };
    Router::new()
        .route("/validate", post(validate))
        .route("/mutate", post(mutate))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .with_state(app)
}

async fn validate(State(app): State<Arc<App>>, request: Request) -> Response {
    guarded(&app, Endpoint::Validate, request).await
}

async fn mutate(State(app): State<Arc<App>>, request: Request) -> Response {
    guarded(&app, Endpoint::Mutate, request).await
}

/// A panic ends the request, not the connection and not the process.
async fn guarded(app: &App, endpoint: Endpoint, request: Request) -> Response {
    let _in_flight = Counted::new(&app.metrics.in_flight);
    let http1 = request.version() < Version::HTTP_2;
    let mut trace = app.outside.traces.begin(endpoint.word(), request.headers());
    let outcome = AssertUnwindSafe(answer(app, endpoint, request, &mut trace));
    let refused = match outcome.catch_unwind().await {
        Ok(Ok(body)) => return ([(CONTENT_TYPE, "application/json")], body).into_response(),
        Ok(Err(refused)) => refused,
        Err(_) => {
            app.metrics.panics.inc();
            Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error")
        }
    };
    let status = refused.status.as_u16();
    trace.note("http.response.status_code", || usize::from(status));
    trace.failed(refused.reason());
    let close = refused.close && http1;
    let mut response = refused.into_response();
    if close {
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn answer(
    app: &App,
    endpoint: Endpoint,
    request: Request,
    trace: &mut Trace,
) -> Result<Vec<u8>, Refused> {
    let malformed = |reason: &str| app.metrics.malformed.with_label_values(&[reason]).inc();
    let arrived = Instant::now();
    let patience = patience(request.uri());
    let deadline = arrived + patience.saturating_sub(MARGIN);
    let (head, body) = request.into_parts();
    check_headers(&head.headers).inspect_err(|refused| malformed(refused.reason()))?;
    let receiving = trace.part("receive", Side::Within);
    let Ok(Ok(_permit)) = timeout(patience / 4, place(app)).await else {
        app.metrics.shed.inc();
        return Err(Refused::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many requests under way",
        ));
    };
    let until = deadline.min(arrived + app.limits.body_timeout);
    let body = read(body, until).await.inspect_err(|refused| {
        malformed(refused.reason());
        if refused.status == StatusCode::REQUEST_TIMEOUT {
            app.metrics.timeouts.inc();
        }
    })?;
    app.metrics.request_body.observe(size(&body));
    drop(receiving);
    let call = Call {
        endpoint,
        arrived,
        deadline,
    };
    let answer = app.respond(call, &body, trace).await;
    answer.map_err(|why| {
        malformed(why.reason());
        tracing::debug!(%why, "not a review");
        Refused::new(StatusCode::BAD_REQUEST, why.to_string())
    })
}

/// A place among the requests under way; whoever waits for one is counted.
async fn place(app: &App) -> Result<SemaphorePermit<'_>, AcquireError> {
    if let Ok(free) = app.permits.try_acquire() {
        return Ok(free);
    }
    let _queued = Counted::new(&app.metrics.queued);
    app.permits.acquire().await
}

/// A number of bytes as a histogram takes it; a body is far below the limit of the conversion.
fn size(body: &Bytes) -> f64 {
    u32::try_from(body.len()).map_or(f64::INFINITY, f64::from)
}

/// How long the API server waits: `?timeout=10s`, never more than the default.
fn patience(uri: &Uri) -> Duration {
    let pairs = uri.query().unwrap_or_default().split('&');
    let named = pairs.filter_map(|pair| pair.strip_prefix("timeout="));
    let seconds = named.filter_map(|text| text.strip_suffix('s')?.parse::<u64>().ok());
    let asked = seconds
        .map(Duration::from_secs)
        .find(|asked| !asked.is_zero());
    asked.unwrap_or(DEFAULT_TIMEOUT).min(DEFAULT_TIMEOUT)
}

fn check_headers(headers: &HeaderMap) -> Result<(), Refused> {
    let unsupported = |why| Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why).closing();
    // Nothing is inflated: a few bytes could become gigabytes.
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(unsupported("Content-Encoding is not supported"));
    }
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = kind
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Err(unsupported("Content-Type must be application/json"));
    }
    let length: Option<u64> = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    match length {
        Some(length) if length > MAX_BODY as u64 => Err(too_large()),
        _ => Ok(()),
    }
}

fn too_large() -> Refused {
    let why = format!("the body is larger than {MAX_BODY} bytes");
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, why).closing()
}

async fn read(body: Body, until: Instant) -> Result<Bytes, Refused> {
    match timeout_at(until, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => {
            Err(Refused::new(StatusCode::BAD_REQUEST, "the body could not be read").closing())
        }
        Err(_) => Err(
            Refused::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time").closing(),
        ),
    }
}

/// Counts a request in a gauge until it is dropped, which is also how a client that goes away ends it.
struct Counted<'a>(&'a IntGauge);

impl<'a> Counted<'a> {
    fn new(gauge: &'a IntGauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

// === impl Refused ===

impl Refused {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self {
            status,
            why: why.into(),
            close: false,
        }
    }

    fn closing(self) -> Self {
        Self {
            close: true,
            ..self
        }
    }

    fn reason(&self) -> &'static str {
        match self.status {
            StatusCode::PAYLOAD_TOO_LARGE => "size",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "media-type",
            StatusCode::REQUEST_TIMEOUT => "slow",
            StatusCode::SERVICE_UNAVAILABLE => "shed",
            StatusCode::INTERNAL_SERVER_ERROR => "panic",
            _ => "body",
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.why }).to_string();
        let kind = [(CONTENT_TYPE, "application/json")];
        let mut response = (self.status, kind, body).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            // The API server tries again, within its own deadline.
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_the_callers_up_to_ten_seconds() {
        let seconds = |uri: &'static str| patience(&Uri::from_static(uri)).as_secs();
        assert_eq!(seconds("/validate?timeout=3s"), 3);
        assert_eq!(seconds("/validate?a=b&timeout=1s"), 1);
        for odd in [
            "/validate",
            "/validate?timeout=0s",
            "/validate?timeout=abc",
            "/validate?timeout=3600s",
            "/validate?timeout=-1s",
            "/validate?timeout=99999999999999999999s",
        ] {
            assert_eq!(seconds(odd), 10, "{odd}");
        }
    }
}
