//! What one client may take: every time, size and count of a connection, each with its reason.
//!
//! All of it together stays under the memory of a small pod: 1,024 connections with a full head each are 32 MiB
//! beside their TLS, and what they may have sent as HTTP/2 without being read is 128 MiB. Bodies have a budget of
//! their own ([`super::bodies`]).

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;

/// The API server's own limit is 3 MiB for an object; an UPDATE carries two, and there is an envelope.
pub(super) const MAX_BODY: usize = 7 * 1024 * 1024;

/// Bytes of a request's head. The API server sends a few hundred, with a bearer token a few thousand.
pub(super) const MAX_HEAD: usize = 32 * 1024;

/// Header fields of an HTTP/2 request once they are unpacked: a few bytes of HPACK can stand for any number of
/// them. It also decides after how many CONTINUATION frames a connection is given up.
const MAX_HEADER_LIST: u32 = 16 * 1024;

/// Requests at once on one HTTP/2 connection. The API server speaks HTTP/1.1; a Go client that wants more opens
/// another connection.
const MAX_STREAMS: u32 = 32;

/// What may have been sent for one HTTP/2 request, and on one connection, before it is read.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 2 * STREAM_WINDOW;

/// Requests of one connection that were taken back before they were looked at, or that broke the protocol.
const MAX_RESETS: usize = 20;

/// Answer bytes of one request that wait in memory for an HTTP/2 client.
const SEND_BUFFER: usize = 64 * 1024;

/// Bytes that a connection may send without a request being answered: a handshake and a head, and for each request
/// under way the largest body with its framing. What is over that is a flood of frames that ask for nothing (PING,
/// SETTINGS, resets), or a body in chunks of a byte.
pub(super) const UNASKED_BYTES: u64 = 256 * 1024;
pub(super) const ASKED_BYTES: u64 = MAX_BODY as u64 + 1024 * 1024;

/// A request counts for so many bytes until something is answered: a connection on which every request is taken
/// back at once ends after thirty of them.
pub(super) const REQUEST_BYTES: u64 = 8 * 1024;

/// Bytes that are read of one connection before all others have their turn.
pub(super) const TURN_BYTES: usize = 32 * 1024;

/// How a listener treats its connections.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most open connections; the API server keeps at most 25 idle ones for a host.
    pub max_connections: usize,
    /// How long a new connection is not made to give way: for its handshake and the head of a request, while many come
    /// at once. As many as there are places are then accepted in this time.
    pub time_to_ask: Duration,
    /// Time for a TLS handshake; the API server's own limit.
    pub handshake_timeout: Duration,
    /// Time that a connection may be idle, and that the head of a request may take. It must be more than the 90 s
    /// after which the API server closes one itself: a POST on a connection that the other side closes at that
    /// moment is not tried again.
    pub idle_timeout: Duration,
    /// Time that a client may leave an answer unread.
    pub write_timeout: Duration,
    /// How long to go on accepting after the first signal, until all endpoints have forgotten this pod.
    pub drain_delay: Duration,
    /// How long requests under way may take after that.
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
    /// What speaks HTTP on a connection. TLS has said which version it is; looking at the first bytes would wait
    /// for them without a limit.
    pub(super) fn builder(&self, h2: bool) -> Builder<TokioExecutor> {
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            // This timer runs between requests too: it is the idle timeout.
            .header_read_timeout(self.idle_timeout)
            // Bodies are read through it as well; a TLS record has 16 KiB.
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
