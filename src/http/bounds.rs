//! Limits for one client: each time, size and count of a connection, with its reason.
//!
//! Together they stay below the memory of a small pod: 1,024 connections with full headers take 32 MiB besides TLS, and
//! unread HTTP/2 data at most 128 MiB. Bodies have a separate budget ([`super::bodies`]).

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;

/// The API server limits an object to 3 MiB; an UPDATE carries two, plus the envelope.
pub(super) const MAX_BODY: usize = 7 * 1024 * 1024;

/// Bytes of the headers of a request. The API server sends a few hundred, with a bearer token a few thousand.
pub(super) const MAX_HEAD: usize = 32 * 1024;

/// Bytes of the decoded header fields of an HTTP/2 request: a few bytes of HPACK can expand to any number of them. It
/// also determines after how many CONTINUATION frames a connection is closed.
const MAX_HEADER_LIST: u32 = 16 * 1024;

/// Concurrent requests on an HTTP/2 connection. The API server uses HTTP/1.1; a Go client that needs more opens another
/// connection.
const MAX_STREAMS: u32 = 32;

/// Unread bytes that a client may have sent for one HTTP/2 request, and on one connection.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 2 * STREAM_WINDOW;

/// Requests of a connection that were reset before they were read, or that violated the protocol.
const MAX_RESETS: usize = 20;

/// Bytes of an answer that are buffered for an HTTP/2 client.
const SEND_BUFFER: usize = 64 * 1024;

/// Bytes that a client may send before it gets an answer: on the connection, a handshake and headers; for each request
/// in progress, the largest body with its framing. More than that is a flood of frames without requests (PING,
/// SETTINGS, resets), or a body in chunks of a byte.
pub(super) const UNASKED_BYTES: u64 = 256 * 1024;
pub(super) const ASKED_BYTES: u64 = MAX_BODY as u64 + 1024 * 1024;

/// A request counts as this many bytes until something is answered: a connection that resets every request at once is
/// closed after thirty of them.
pub(super) const REQUEST_BYTES: u64 = 8 * 1024;

/// Bytes to read from a connection before the others get their turn.
pub(super) const TURN_BYTES: usize = 32 * 1024;

/// Limits and timeouts for the connections of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most open connections; the API server keeps at most 25 idle ones per host.
    pub max_connections: usize,
    /// The time for which a new connection is protected from eviction: time for its handshake and the headers of a request
    /// when many arrive at once. In a burst, at most `max_connections` are accepted in this time.
    pub time_to_ask: Duration,
    /// Timeout of a TLS handshake; the API server uses the same.
    pub handshake_timeout: Duration,
    /// The longest that a connection may be idle, and that the headers of a request may take. It must exceed the 90 s after
    /// which the API server closes an idle connection itself: a POST on a connection that the other side is just
    /// closing is not retried.
    pub idle_timeout: Duration,
    /// The longest that a client may leave an answer unread.
    pub write_timeout: Duration,
    /// The time for which accepting goes on after the first signal, until all endpoints have dropped this pod.
    pub drain_delay: Duration,
    /// The longest that requests in progress may take after that.
    pub drain_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            time_to_ask: Duration::from_millis(50),
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(2),
            write_timeout: Duration::from_secs(10),
            drain_delay: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(15),
        }
    }
}

impl Options {
    /// The HTTP server for a connection. TLS has negotiated the version: detecting it from the first bytes would wait
    /// for them without a limit.
    pub(super) fn builder(&self, h2: bool) -> Builder<TokioExecutor> {
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            // This timer also runs between requests, so it is the idle timeout.
            .header_read_timeout(self.idle_timeout)
            // Bodies are read through this buffer too; a TLS record has 16 KiB.
            .max_buf_size(MAX_HEAD);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20))
            .max_concurrent_streams(MAX_STREAMS)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(MAX_HEADER_LIST)
            .max_pending_accept_reset_streams(MAX_RESETS)
            .max_local_error_reset_streams(MAX_RESETS)
            .max_send_buf_size(SEND_BUFFER);
        if h2 {
            builder.http2_only()
        } else {
            builder.http1_only()
        }
    }
}
