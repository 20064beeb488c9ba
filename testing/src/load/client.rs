//! A connection like the API server's: HTTPS, HTTP/1.1, keep-alive, without retries.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The API server's timeout.
const PATIENCE: Duration = Duration::from_secs(10);

/// An address and the CA to trust.
#[derive(Clone)]
pub struct Place {
    pub addr: SocketAddr,
    connector: TlsConnector,
}

/// One connection, opened when it is first used.
pub struct Connection {
    place: Place,
    open: Option<SendRequest<Full<Bytes>>>,
    /// The number of times it was opened.
    pub opened: usize,
}

pub struct Answer {
    pub status: u16,
    pub retry_after: bool,
    pub body: Bytes,
}

// === impl Place ===

impl Place {
    pub fn new(addr: SocketAddr, ca_pem: &str) -> Self {
        let mut roots = RootCertStore::empty();
        for ca in CertificateDer::pem_slice_iter(ca_pem.as_bytes()) {
            roots.add(ca.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        Self { addr, connector }
    }

    async fn open(&self) -> Result<SendRequest<Full<Bytes>>, String> {
        let failure = |what: &str, error: &dyn std::error::Error| format!("{what}: {error}");
        let tcp = TcpStream::connect(self.addr).await;
        let tcp = tcp.map_err(|e| failure("connect", &e))?;
        tcp.set_nodelay(true).map_err(|e| failure("connect", &e))?;
        let name = ServerName::try_from("localhost").unwrap();
        let tls = self.connector.connect(name, tcp).await;
        let tls = tls.map_err(|e| failure("handshake", &e))?;
        let made = handshake(TokioIo::new(tls)).await;
        let (sender, connection) = made.map_err(|e| failure("open", &e))?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

// === impl Connection ===

impl Connection {
    pub fn new(place: Place) -> Self {
        Self {
            place,
            open: None,
            opened: 0,
        }
    }

    /// Opens it, if it is not open.
    pub async fn ready(&mut self) -> Result<(), String> {
        // A connection that the server closed while idle is not an error; open a new one.
        if self.open.as_ref().is_none_or(SendRequest::is_closed) {
            self.open = None;
            self.open = Some(self.place.open().await?);
            self.opened += 1;
        }
        Ok(())
    }

    /// Sends one request. An error closes the connection.
    pub async fn post(&mut self, path: &str, body: Bytes) -> Result<Answer, String> {
        let answer = timeout(PATIENCE, self.ask(path, body)).await;
        let answer = answer.unwrap_or_else(|_| Err("no answer in time".to_owned()));
        if answer.is_err() {
            self.open = None;
        }
        answer
    }

    async fn ask(&mut self, path: &str, body: Bytes) -> Result<Answer, String> {
        self.ready().await?;
        let sender = self.open.as_mut().ok_or("not open")?;
        let request = Request::post(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Full::new(body))
            .unwrap();
        let failure = |error: hyper::Error| format!("ask: {error:?}");
        sender.ready().await.map_err(failure)?;
        let response = sender.send_request(request).await.map_err(failure)?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(failure)?.to_bytes();
        if head
            .headers
            .get("connection")
            .is_some_and(|value| value == "close")
        {
            self.open = None;
        }
        Ok(Answer {
            status: head.status.as_u16(),
            retry_after: head.headers.contains_key("retry-after"),
            body,
        })
    }
}

/// Sends a GET over plain HTTP on a new connection.
pub async fn get(addr: SocketAddr, path: &str) -> Result<(u16, String), String> {
    let asked = async {
        let stream = TcpStream::connect(addr).await.map_err(|e| e.to_string())?;
        let made = handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = made.map_err(|e| e.to_string())?;
        tokio::spawn(connection);
        let request = Request::get(path).header("host", "localhost");
        let request = request.body(Full::<Bytes>::default()).unwrap();
        let response = sender
            .send_request(request)
            .await
            .map_err(|e| e.to_string())?;
        let status = response.status().as_u16();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        Ok((status, text))
    };
    let answered = timeout(PATIENCE, asked).await;
    answered.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}
