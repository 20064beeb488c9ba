//! Paths, limits and deadlines around a review. Everything but a review is answered with a small JSON error.

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
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use http_body_util::BodyExt;
use prometheus::IntGauge;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use super::admission::App;
use super::bodies::BodyReservation;
use super::bounds::MAX_BODY;
use super::call::{Call, Endpoint};
use super::connections::ConnectionSlot;
use super::tls::{Callers, Peer};
use crate::telemetry::traces::{SpanKind, Trace};

/// The default of `timeoutSeconds`, if the API server does not send one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of bytes of a body that must arrive before its `Content-Length` is trusted.
const BELIEVED: usize = 64 * 1024;
/// Reserved for sending the answer: the API server ignores an answer after its deadline.
const MARGIN: Duration = Duration::from_millis(200);

/// Marks the answer to a request that was not read completely.
#[derive(Clone, Copy)]
pub(super) struct IncompletelyRead;

/// An answer that is not a review.
struct ErrorAnswer {
    status: StatusCode,
    why: String,
    /// Whether to close the connection without reading the rest of the request.
    close: bool,
}

/// The routes of the webhook.
pub fn router(app: Arc<App>) -> Router {
    let not_found = || async { ErrorAnswer::new(StatusCode::NOT_FOUND, "no such path") };
    let not_allowed =
        || async { ErrorAnswer::new(StatusCode::METHOD_NOT_ALLOWED, "only POST is allowed") };
    Router::new()
        .route("/validate", post(validate))
        .route("/mutate", post(mutate))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .with_state(app)
}

/// Like [`router`], with client authentication: a client is verified again when the client CA changes, and
/// periodically.
pub fn guarded_by(callers: Arc<Callers>, router: Router) -> Router {
    let guard = move |request: Request, next: Next| {
        let callers = callers.clone();
        async move {
            if callers.still(request.extensions().get::<Peer>()) {
                return next.run(request).await;
            }
            let http1 = request.version() < Version::HTTP_2;
            let refused =
                ErrorAnswer::new(StatusCode::UNAUTHORIZED, "client certificate required").closing();
            refused.response(http1)
        }
    };
    router.layer(from_fn(guard))
}

async fn validate(State(app): State<Arc<App>>, request: Request) -> Response {
    answered(&app, Endpoint::Validate, request).await
}

async fn mutate(State(app): State<Arc<App>>, request: Request) -> Response {
    answered(&app, Endpoint::Mutate, request).await
}

/// A panic fails the request, not the connection or the process.
async fn answered(app: &App, endpoint: Endpoint, request: Request) -> Response {
    let _in_flight = Counted::new(&app.metrics.in_flight);
    let http1 = request.version() < Version::HTTP_2;
    let mut trace = app
        .dependencies
        .traces
        .begin(endpoint.word(), request.headers());
    let outcome = AssertUnwindSafe(answer(app, endpoint, request, &mut trace));
    let refused = match outcome.catch_unwind().await {
        Ok(Ok(answer)) => {
            let body = Bytes::from_owner(answer);
            return ([(CONTENT_TYPE, "application/json")], body).into_response();
        }
        Ok(Err(refused)) => refused,
        Err(_) => {
            app.metrics.panics.inc();
            ErrorAnswer::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error")
        }
    };
    let status = refused.status.as_u16();
    trace.note("http.response.status_code", || i64::from(status));
    trace.failed(refused.reason());
    refused.response(http1)
}

async fn answer(
    app: &App,
    endpoint: Endpoint,
    request: Request,
    trace: &mut Trace,
) -> Result<Answer, ErrorAnswer> {
    let malformed = |reason: &str| app.metrics.malformed.with_label_values(&[reason]).inc();
    let arrived = Instant::now();
    let patience = patience(request.uri());
    let deadline = arrived + patience.saturating_sub(MARGIN);
    let (mut head, body) = request.into_parts();
    let length = check_headers(&head.headers).inspect_err(|refused| malformed(refused.reason()))?;
    let receiving = trace.part("receive", SpanKind::Internal);
    let until = deadline.min(arrived + app.limits.body_timeout);
    let read = match app.bodies.begin() {
        Some(mut hold) => match timeout_at(until, read(body, length, &mut hold)).await {
            Ok(read) => read.map(|body| (body, hold)),
            Err(_) => Err(ErrorAnswer::slow()),
        },
        None => Err(ErrorAnswer::busy()),
    };
    let (body, mut hold) = read.inspect_err(|refused| match refused.status {
        StatusCode::SERVICE_UNAVAILABLE => app.metrics.shed.inc(),
        StatusCode::REQUEST_TIMEOUT => {
            malformed(refused.reason());
            app.metrics.timeouts.inc();
        }
        _ => malformed(refused.reason()),
    })?;
    app.metrics.request_body.observe(size(&body));
    let permit = tokio::select! {
        permit = timeout(patience / 4, permit(app)) => permit.ok().flatten(),
        () = hold.given_up() => None,
    };
    let (Some(_permit), true) = (permit, hold.work()) else {
        app.metrics.shed.inc();
        return Err(ErrorAnswer::busy());
    };
    drop(receiving);
    let place: Option<ConnectionSlot> = head.extensions.remove();
    let _working = place.as_ref().map(ConnectionSlot::work);
    let call = Call {
        endpoint,
        arrived,
        deadline,
    };
    let answer = app.respond(call, &body, trace).await;
    let answer = answer.map_err(|why| {
        malformed(why.reason());
        tracing::debug!(%why, "not a review");
        ErrorAnswer::new(StatusCode::BAD_REQUEST, why.to_string())
    })?;
    drop(body);
    hold.answer(answer.len(), place);
    Ok(Answer {
        bytes: answer,
        _hold: hold,
    })
}

/// An answer and its memory reservation, held until it is sent.
struct Answer {
    bytes: Vec<u8>,
    _hold: BodyReservation,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Acquires a permit to review. Waiting requests are counted; if too many are waiting already, it returns `None`.
async fn permit(app: &App) -> Option<SemaphorePermit<'_>> {
    if let Ok(free) = app.permits.try_acquire() {
        return Some(free);
    }
    let _place = app.waiting.try_acquire().ok()?;
    let _queued = Counted::new(&app.metrics.queued);
    app.permits.acquire().await.ok()
}

/// A number of bytes for a histogram; bodies are far below the limit of the conversion.
fn size(body: &Bytes) -> f64 {
    u32::try_from(body.len()).map_or(f64::INFINITY, f64::from)
}

/// The API server's timeout: `?timeout=10s`, but never more than the default.
fn patience(uri: &Uri) -> Duration {
    let pairs = uri.query().unwrap_or_default().split('&');
    let named = pairs.filter_map(|pair| pair.strip_prefix("timeout="));
    let seconds = named.filter_map(|text| text.strip_suffix('s')?.parse::<u64>().ok());
    let asked = seconds
        .map(Duration::from_secs)
        .find(|asked| !asked.is_zero());
    asked.unwrap_or(DEFAULT_TIMEOUT).min(DEFAULT_TIMEOUT)
}

/// Checks the headers and returns the length of the body, if there is one.
fn check_headers(headers: &HeaderMap) -> Result<Option<usize>, ErrorAnswer> {
    let unsupported = |why| ErrorAnswer::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why).closing();
    // Nothing is decompressed: a few bytes could become gigabytes.
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
    let length: Option<usize> = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    match length {
        Some(length) if length > MAX_BODY => Err(too_large()),
        _ => Ok(length),
    }
}

fn too_large() -> ErrorAnswer {
    let why = format!("the body is larger than {MAX_BODY} bytes");
    ErrorAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, why).closing()
}

/// Reads the body. A single frame is used as it is; several are copied, so that many small ones take no more memory
/// than their sum.
async fn read(
    mut body: Body,
    length: Option<usize>,
    hold: &mut BodyReservation,
) -> Result<Bytes, ErrorAnswer> {
    let mut all = BytesMut::new();
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = hold.given_up() => return Err(ErrorAnswer::busy().closing()),
        };
        let data = match frame {
            None => return Ok(all.freeze()),
            Some(Err(_)) => {
                let why = "the body could not be read";
                return Err(ErrorAnswer::new(StatusCode::BAD_REQUEST, why).closing());
            }
            // Trailers are ignored.
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
        };
        let come = all.len() + data.len();
        if come > MAX_BODY {
            return Err(too_large());
        }
        if !hold.grow(data.len()) {
            return Err(ErrorAnswer::busy().closing());
        }
        if come == data.len() && length == Some(come) {
            return Ok(data);
        }
        if all.capacity() < come {
            let wanted = match length {
                // The client's claim; memory that is never written costs nothing.
                Some(length) if come >= BELIEVED => length.max(come),
                _ => 2 * come,
            };
            all.reserve(wanted - all.len());
        }
        all.extend_from_slice(&data);
    }
}

/// Counts a request in a gauge until it is dropped, even if the client disconnects.
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

// === impl ErrorAnswer ===

impl ErrorAnswer {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self {
            status,
            why: why.into(),
            close: false,
        }
    }

    fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many requests under way",
        )
    }

    fn slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time").closing()
    }

    fn closing(self) -> Self {
        Self {
            close: true,
            ..self
        }
    }

    fn response(self, http1: bool) -> Response {
        let close = self.close && http1;
        let mut response = self.into_response();
        if close {
            let headers = response.headers_mut();
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
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

impl IntoResponse for ErrorAnswer {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.why }).to_string();
        let kind = [(CONTENT_TYPE, "application/json")];
        let mut response = (self.status, kind, body).into_response();
        if self.close {
            response.extensions_mut().insert(IncompletelyRead);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            // The API server retries within its own deadline.
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::super::bodies::BodyBudget;
    use super::*;

    /// Each byte in a frame of its own, sliced from one large buffer, as with one-byte chunks.
    #[tokio::test]
    async fn crumbs_are_copied_and_a_body_in_one_piece_is_not() {
        let piece = Bytes::from(vec![b' '; 10_000]);
        let crumbs = (0..piece.len()).map(|i| Ok::<_, std::io::Error>(piece.slice(i..=i)));
        let body = Body::from_stream(futures::stream::iter(crumbs.collect::<Vec<_>>()));
        let mut hold = BodyBudget::new(1024 * 1024).begin().unwrap();
        let Ok(all) = read(body, None, &mut hold).await else {
            panic!("not read")
        };
        assert_eq!(all, piece);
        assert!(all.is_unique() && piece.is_unique());

        let body = Body::from(piece.clone());
        let Ok(all) = read(body, Some(piece.len()), &mut hold).await else {
            panic!("not read")
        };
        assert_eq!(all.as_ptr(), piece.as_ptr());
    }

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
