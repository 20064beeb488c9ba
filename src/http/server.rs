//! Accepts connections, does TLS handshakes, and drains.
//!
//! Binding is separate from serving, so that a port in use fails the start and not the first request.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::http::{Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

pub use super::bounds::Options;
use super::connections::{ConnectionRejection, ConnectionSlot, Connections};
use super::drain::{Phase, reached};
use super::paced_stream::Wire;
use super::router::IncompletelyRead;
use super::tls::{Callers, Peer};
use crate::metrics::Metrics;

/// ENFILE and EMFILE: the system or the process is out of file descriptors.
const SHORT: [i32; 2] = [23, 24];
/// The pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(50);
/// File descriptors to free then, for files and for the API server.
const SPARE: usize = 8;
/// The time for which the lower limit applies. Then the full limit is tried again, since descriptors may be free again.
const SHORTENED: Duration = Duration::from_mins(1);

/// A listener that is bound but not served.
#[derive(Debug)]
pub struct BoundListener {
    listener: TcpListener,
    /// Its address, with the actual port.
    pub addr: SocketAddr,
}

/// The configuration of one listener.
pub struct Server {
    /// Handles requests.
    pub router: Router,
    /// The TLS configuration; `None` for plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// Limits and timeouts.
    pub options: Options,
    /// Metrics of connections.
    pub metrics: Arc<Metrics>,
    /// Signals the shutdown.
    pub phase: watch::Receiver<Phase>,
}

/// The number of connections that may be open.
struct ConnectionLimit {
    most: usize,
    /// A lower limit, and until when it applies.
    less: Option<(usize, Instant)>,
}

/// State that all connections share.
struct Shared {
    router: Router,
    tls: Option<TlsAcceptor>,
    options: Options,
    metrics: Arc<Metrics>,
    phase: watch::Receiver<Phase>,
    /// True when connections should close.
    closing: watch::Receiver<bool>,
}

// === impl BoundListener ===

impl BoundListener {
    /// Binds an address; port 0 takes a free port. `[::]` means all addresses; on a machine without IPv6, all IPv4
    /// addresses.
    ///
    /// # Errors
    /// Fails if the address cannot be bound.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        let listener = match TcpListener::bind(addr).await {
            Ok(listener) => listener,
            Err(error) => {
                let Some(ipv4) = without_ipv6(addr, error.kind()) else {
                    return Err(error);
                };
                let Ok(listener) = TcpListener::bind(ipv4).await else {
                    return Err(error);
                };
                tracing::info!(%error, "no IPv6: listening on {ipv4} in place of {addr}");
                listener
            }
        };
        let addr = listener.local_addr()?;
        Ok(Self { listener, addr })
    }
}

/// The address to listen on if `[::]` cannot be bound for this reason: all IPv4 addresses, unless
/// the port is the reason.
fn without_ipv6(addr: SocketAddr, why: io::ErrorKind) -> Option<SocketAddr> {
    let is_about_the_port = matches!(
        why,
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
    );
    let applies = addr.ip() == Ipv6Addr::UNSPECIFIED && !is_about_the_port;
    applies.then(|| (Ipv4Addr::UNSPECIFIED, addr.port()).into())
}

// === impl Server ===

impl Server {
    /// Serves until drained. On [`Phase::Draining`] it goes on accepting for `drain_delay` while asking clients to
    /// close, then gives requests in progress `drain_timeout` to finish. [`Phase::Aborted`] stops it at once.
    pub async fn serve(self, bound: BoundListener) {
        let (close, closing) = watch::channel(false);
        let (mut draining, mut aborted) = (self.phase.clone(), self.phase.clone());
        let shared = Arc::new(Shared {
            router: self.router,
            tls: self.tls.map(TlsAcceptor::from),
            options: self.options,
            metrics: self.metrics,
            phase: self.phase,
            closing,
        });
        let mut tasks = JoinSet::new();
        let work = async {
            tokio::select! {
                () = accept(&bound.listener, &shared, &mut tasks) => {}
                () = async {
                    reached(&mut draining, Phase::Draining).await;
                    sleep(shared.options.drain_delay).await;
                } => {}
            }
            drop(bound.listener);
            close.send_replace(true);
            let finish = async { while tasks.join_next().await.is_some() {} };
            if timeout(shared.options.drain_timeout, finish).await.is_err() {
                tracing::warn!(
                    open = tasks.len(),
                    "connections cut at the end of the drain"
                );
            }
        };
        // Dropping `work` also drops its tasks.
        tokio::select! {
            () = work => {}
            () = reached(&mut aborted, Phase::Aborted) => {}
        }
    }
}

// === impl ConnectionLimit ===

impl ConnectionLimit {
    fn new(most: usize) -> Self {
        Self { most, less: None }
    }

    fn shorten(&mut self, to: usize, now: Instant) {
        self.less = Some((to, now + SHORTENED));
    }

    fn at(&self, now: Instant) -> usize {
        match self.less {
            Some((less, until)) if now < until => less.min(self.most),
            _ => self.most,
        }
    }
}

/// Accepts connections until it is dropped.
async fn accept(listener: &TcpListener, shared: &Arc<Shared>, tasks: &mut JoinSet<()>) {
    let connections = Arc::new(Connections::new(shared.options.time_to_ask));
    let mut room = ConnectionLimit::new(shared.options.max_connections);
    loop {
        // Evicted connections hold their file descriptors until their tasks end, which is soon.
        while tasks.len() > room.at(Instant::now()) {
            tasks.join_next().await;
        }
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = tasks.join_next() => continue,
        };
        let errors = &shared.metrics.connection_errors;
        let failed = |reason| errors.with_label_values(&[reason]).inc();
        match accepted {
            Ok((stream, peer)) => loop {
                let now = Instant::now();
                match connections.enter(room.at(now), peer.ip(), now) {
                    Ok(place) => {
                        tasks.spawn(connection(shared.clone(), stream, peer, place));
                        break;
                    }
                    Err(ConnectionRejection::Busy) => {
                        failed("limit");
                        break;
                    }
                    // Another connection may close meanwhile.
                    Err(ConnectionRejection::Young(left)) => tokio::select! {
                        () = sleep(left) => {}
                        Some(_) = tasks.join_next() => {}
                    },
                }
            },
            // The client closed the connection while it was in the accept queue.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                failed("accept");
                // An immediate retry would spin, and evict connections that are about to send a request.
                sleep(PAUSE).await;
                let code = error.raw_os_error();
                if code.is_some_and(|code| SHORT.contains(&code)) {
                    let now = Instant::now();
                    room.shorten(connections.shrink(SPARE, now), now);
                }
                let limit = room.at(Instant::now());
                tracing::warn!(%error, limit, "failed to accept a connection");
            }
        }
    }
}

async fn connection(
    shared: Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    place: ConnectionSlot,
) {
    shared.metrics.connections.inc();
    let mut closing = shared.closing.clone();
    tokio::select! {
        () = speak(&shared, stream, peer, &place) => {}
        () = place.evicted() => {
            shared.metrics.connection_errors.with_label_values(&["evicted"]).inc();
        }
        // The drain timeout has passed, so requests are not waited for any longer.
        () = async {
            closed(&mut closing).await;
            sleep(shared.options.drain_timeout).await;
        } => {}
    }
    shared.metrics.connections.dec();
}

/// Does the TLS handshake, if any, then serves HTTP.
async fn speak(shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr, place: &ConnectionSlot) {
    // Each answer is one small write, so Nagle's algorithm would only delay it.
    let _ = stream.set_nodelay(true);
    let (metrics, options) = (shared.metrics.clone(), &shared.options);
    let stream = Wire::new(stream, place.clone(), metrics, options.write_timeout);
    let Some(tls) = &shared.tls else {
        return http(shared, stream, false, peer, place, None).await;
    };
    let mut closing = shared.closing.clone();
    let handshake = tokio::select! {
        done = timeout(shared.options.handshake_timeout, tls.accept(stream)) => done,
        () = closed(&mut closing) => return,
    };
    let reason = match handshake {
        Ok(Ok(stream)) => {
            let session = stream.get_ref().1;
            let h2 = session.alpn_protocol() == Some(b"h2");
            let client = session.peer_certificates().map(Peer::new);
            return http(shared, stream, h2, peer, place, client).await;
        }
        Ok(Err(error)) => {
            let why = error.get_ref().and_then(|why| why.downcast_ref());
            if why == Some(&rustls::Error::NoCertificatesPresented) {
                Callers::no_certificate(&shared.metrics);
            }
            tracing::debug!(%peer, %error, "TLS handshake failed");
            "tls"
        }
        Err(_) => "tls-timeout",
    };
    shared
        .metrics
        .connection_errors
        .with_label_values(&[reason])
        .inc();
}

async fn http<I>(
    shared: &Arc<Shared>,
    stream: I,
    h2: bool,
    peer: SocketAddr,
    place: &ConnectionSlot,
    client: Option<Peer>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let begun = place.begin();
        let http1 = request.version() < Version::HTTP_2;
        request.extensions_mut().insert(place.clone());
        if let Some(client) = &client {
            request.extensions_mut().insert(client.clone());
        }
        let shared = shared.clone();
        async move {
            let router = shared.router.clone();
            let mut response: Response<Body> = router.oneshot(request.map(Body::new)).await?;
            if http1 && *shared.phase.borrow() >= Phase::Draining {
                // An idle connection would outlive this pod's endpoint.
                let headers = response.headers_mut();
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            if response.extensions().get::<IncompletelyRead>().is_none() {
                begun.answered(response.status().is_success());
            }
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let builder = shared.options.builder(h2);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let mut closing = shared.closing.clone();
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = closed(&mut closing) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
        // HTTP/1.1 has its own timer; an HTTP/2 client that answers pings would stay connected for ever.
        () = place.idle(shared.options.idle_timeout), if h2 => {
            serving.as_mut().graceful_shutdown();
            let Ok(ended) = timeout(shared.options.write_timeout, serving).await else {
                return;
            };
            ended
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "connection ended");
    }
}

/// Waits until connections should close. A dropped sender means that the server is gone.
async fn closed(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_ipv6_listens_on_ipv4_and_a_port_in_use_stays_an_error() {
        let all: SocketAddr = "[::]:8443".parse().unwrap();
        let ipv4 = "0.0.0.0:8443".parse().ok();
        for why in [io::ErrorKind::AddrNotAvailable, io::ErrorKind::Unsupported] {
            assert_eq!(without_ipv6(all, why), ipv4);
        }
        for why in [io::ErrorKind::AddrInUse, io::ErrorKind::PermissionDenied] {
            assert_eq!(without_ipv6(all, why), None);
        }
        let one: SocketAddr = "[::1]:8443".parse().unwrap();
        assert_eq!(without_ipv6(one, io::ErrorKind::AddrNotAvailable), None);
    }

    #[test]
    fn a_minute_after_descriptors_were_short_all_places_are_there_again() {
        let (mut room, begin) = (ConnectionLimit::new(1024), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(room.at(begin), 1024);
        room.shorten(8, begin);
        assert_eq!(room.at(at(59)), 8);
        room.shorten(20, at(59));
        assert_eq!(room.at(at(60)), 20, "still short");
        assert_eq!(room.at(at(119)), 1024);
        // Never more than the configured limit.
        room.shorten(2000, begin);
        assert_eq!(room.at(begin), 1024);
    }
}
