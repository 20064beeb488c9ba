//! A connection to an API server for a command that runs once: one HTTP/2 connection carries all requests, so that
//! reading many kinds costs one handshake.
//!
//! The connection is not renewed when it breaks. Long-running programs, and configurations with a proxy or a server
//! without HTTP/2, use kube's own client.

use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http2::Builder;
use hyper::{Request, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower::{BoxError, ServiceBuilder, service_fn};

use super::api_error::ApiError;

/// ALPN names: HTTP/2, and HTTP/1.1, which every server speaks.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// HTTP/2 flow-control window in bytes. It is large because CRDs are large.
const WINDOW: u32 = 8 << 20;
/// After this much silence the client sends a ping. Also the default for connect and ping timeouts.
const SILENCE: Duration = Duration::from_secs(5);

/// Connects to the API server.
///
/// # Errors
/// Fails if the API server cannot be reached, or there are no credentials for it.
pub async fn once(config: Config) -> Result<Client, ApiError> {
    let namespace = config.default_namespace.clone();
    let Some(stream) = stream(&config).await? else {
        return Client::try_from(config).map_err(|e| ApiError::classify(&e));
    };
    let to_api_error = |error: kube::Error| ApiError::classify(&error);
    let (base, auth) = (
        config.base_uri_layer(),
        config.auth_layer().map_err(to_api_error)?,
    );
    let headers = config.extra_headers_layer().map_err(to_api_error)?;
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .keep_alive_interval(SILENCE)
        .keep_alive_timeout(config.read_timeout.unwrap_or(SILENCE));
    let made = builder.handshake::<_, Body>(TokioIo::new(stream)).await;
    let (sender, connection) = made.map_err(|error| ApiError::Away(error.to_string()))?;
    // When the connection closes, the waiting requests fail.
    tokio::spawn(connection);
    let service = service_fn(move |request: Request<Body>| {
        let mut sender = sender.clone();
        async move { sender.send_request(request).await }
    });
    let service = ServiceBuilder::new()
        .layer(base)
        .option_layer(auth)
        .layer(headers)
        .map_err(BoxError::from)
        .service(service);
    Ok(Client::new(service, namespace))
}

/// A TLS stream that speaks HTTP/2; `None` if the configuration or the server does not allow one.
async fn stream(
    config: &Config,
) -> Result<Option<tokio_rustls::client::TlsStream<TcpStream>>, ApiError> {
    let uri = &config.cluster_url;
    let (true, None, Some((host, port))) = (
        uri.scheme_str() == Some("https"),
        config.proxy_url.as_ref(),
        address(uri),
    ) else {
        return Ok(None);
    };
    let mut tls = config
        .rustls_client_config()
        .map_err(|e| ApiError::classify(&e))?;
    tls.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    let name = config
        .tls_server_name
        .clone()
        .unwrap_or_else(|| host.clone());
    let Ok(name) = ServerName::try_from(name) else {
        return Ok(None);
    };
    let connecting = async {
        let tcp = TcpStream::connect((host.as_str(), port)).await?;
        tcp.set_nodelay(true)?;
        TlsConnector::from(Arc::new(tls)).connect(name, tcp).await
    };
    let patience = config.connect_timeout.unwrap_or(SILENCE);
    let connected = timeout(patience, connecting).await;
    let connected = connected.map_err(|_| ApiError::Away("timed out".to_owned()))?;
    let stream = connected.map_err(|error| ApiError::unconnected(&error))?;
    let speaks = stream.get_ref().1.alpn_protocol() == Some(PROTOCOLS[0]);
    Ok(speaks.then_some(stream))
}

fn address(uri: &Uri) -> Option<(String, u16)> {
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
    Some((host.to_owned(), uri.port_u16().unwrap_or(443)))
}
