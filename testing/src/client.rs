//! A client that can misbehave: HTTP/1.1 by hand and HTTP/2 by hyper, both over rustls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Longer than any answer takes: a test that waits for it has failed.
pub const LONG: Duration = Duration::from_secs(20);

#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

pub struct Client<S> {
    pub stream: S,
    read: Vec<u8>,
}

pub type Tls = Client<TlsStream<TcpStream>>;

/// The root certificates that a client trusts, from PEM.
pub fn roots(ca_pem: &str) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    for ca in CertificateDer::pem_slice_iter(ca_pem.as_bytes()) {
        roots.add(ca.unwrap()).unwrap();
    }
    roots
}

pub fn connector(ca_pem: &str, alpn: &[&str]) -> TlsConnector {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots(ca_pem))
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    // Each connection must see the current certificate.
    config.resumption = rustls::client::Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

pub async fn tls(
    addr: SocketAddr,
    ca_pem: &str,
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let tcp = TcpStream::connect(addr).await?;
    let name = ServerName::try_from("localhost").unwrap();
    timeout(LONG, connector(ca_pem, alpn).connect(name, tcp)).await?
}

impl Tls {
    pub async fn connect(addr: SocketAddr, ca_pem: &str) -> Self {
        Self::new(tls(addr, ca_pem, &["http/1.1"]).await.unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            read: Vec::new(),
        }
    }

    /// Sends bytes. The server may have closed the connection already.
    pub async fn send(&mut self, bytes: &[u8]) {
        let write = async {
            let _ = self.stream.write_all(bytes).await;
            let _ = self.stream.flush().await;
        };
        timeout(LONG, write)
            .await
            .expect("the server does not read");
    }

    pub async fn post(&mut self, path: &str, body: &[u8]) -> Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.send(&[head.as_bytes(), body].concat()).await;
        self.answer().await
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
            .await;
        self.answer().await
    }

    pub async fn answer(&mut self) -> Answer {
        self.try_answer().await.expect("closed without an answer")
    }

    /// The next answer, if its first bytes have been read already.
    pub async fn answer_after(&mut self, first: &[u8]) -> Answer {
        self.read.extend_from_slice(first);
        self.answer().await
    }

    /// The next answer. `None` if the server closes the connection.
    pub async fn try_answer(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            self.more().await?;
        };
        let head = String::from_utf8(self.read[..end].to_vec()).unwrap();
        let status = head[9..12].parse().unwrap();
        let mut answer = Answer {
            status,
            head,
            body: String::new(),
        };
        let length: usize = answer
            .header("content-length")
            .unwrap_or("0")
            .parse()
            .unwrap();
        while self.read.len() < end + 4 + length {
            self.more().await?;
        }
        answer.body = String::from_utf8(self.read[end + 4..end + 4 + length].to_vec()).unwrap();
        self.read.drain(..end + 4 + length);
        Some(answer)
    }

    /// Waits until the server closes the connection.
    pub async fn closed(&mut self) {
        while self.more().await.is_some() {}
        assert!(
            self.read.is_empty(),
            "{:?}",
            String::from_utf8_lossy(&self.read)
        );
    }

    async fn more(&mut self) -> Option<()> {
        let mut buffer = vec![0; 16 * 1024];
        let read = timeout(LONG, self.stream.read(&mut buffer))
            .await
            .expect("no answer");
        let read = read.unwrap_or(0);
        self.read.extend_from_slice(&buffer[..read]);
        (read > 0).then_some(())
    }
}
