//! A trace collector that takes requests by HTTP and gRPC, and decodes them by OTLP's own definitions.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use attache::certificates::make_ca_and_pair;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::eventually::SOON;

/// The requests so far.
#[derive(Clone)]
pub struct Seen(watch::Sender<Vec<Taken>>);

#[derive(Clone)]
pub struct Taken {
    pub path: String,
    pub headers: HeaderMap,
    pub request: ExportTraceServiceRequest,
}

/// Listens on loopback until the runtime ends.
pub async fn collector() -> (SocketAddr, Seen) {
    listening(None).await
}

/// Listens with TLS; also returns the certificate of its CA.
pub async fn collector_with_tls() -> (SocketAddr, Seen, String) {
    let today = jiff::Zoned::now().date();
    let made = make_ca_and_pair(&["127.0.0.1".to_owned()], today).unwrap();
    let chain = CertificateDer::pem_slice_iter(made.cert_pem.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(made.key_pem.as_bytes()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.collect::<Result<_, _>>().unwrap(), key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (addr, seen) = listening(Some(TlsAcceptor::from(Arc::new(config)))).await;
    (addr, seen, made.ca_pem)
}

async fn listening(tls: Option<TlsAcceptor>) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Seen(watch::channel(Vec::new()).0);
    let all = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (tls, all) = (tls.clone(), all.clone());
            tokio::spawn(async move {
                match tls {
                    None => serve(stream, all).await,
                    Some(tls) => serve(tls.accept(stream).await.unwrap(), all).await,
                }
            });
        }
    });
    (addr, seen)
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, all: Seen) {
    let service = service_fn(move |request| take(request, all.clone()));
    let http = auto::Builder::new(TokioExecutor::new());
    // A client may close the connection at any time.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn take(request: Request<Incoming>, all: Seen) -> Result<Response<Answer>, Infallible> {
    let (head, body) = request.into_parts();
    let mut body = body.collect().await.unwrap().to_bytes();
    let kind = head.headers[CONTENT_TYPE].clone();
    let mut answer = Bytes::new();
    if kind == "application/grpc" {
        // The frame of gRPC: a flag for compression, the length, the message.
        let frame = body.split_to(5);
        assert_eq!(frame[0], 0);
        assert_eq!(frame[1..], u32::try_from(body.len()).unwrap().to_be_bytes());
        answer = Bytes::from_static(&[0; 5]);
    }
    let taken = Taken {
        path: head.uri.path().to_owned(),
        headers: head.headers,
        request: ExportTraceServiceRequest::decode(body).unwrap(),
    };
    all.0.send_modify(|all| all.push(taken));
    let mut response = Response::new(answered(answer));
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

type Answer = UnsyncBoxBody<Bytes, Infallible>;

/// Adds the trailers that gRPC expects. HTTP/1.1 leaves them out.
fn answered(message: Bytes) -> Answer {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(message).with_trailers(async { Some(Ok(trailers)) });
    body.boxed_unsync()
}

impl Seen {
    pub fn requests(&self) -> Vec<Taken> {
        self.0.borrow().clone()
    }

    pub fn forget(&self) {
        self.0.send_modify(Vec::clear);
    }

    pub fn spans(&self) -> Vec<Span> {
        let resources = self
            .requests()
            .into_iter()
            .flat_map(|taken| taken.request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        let mut spans: Vec<Span> = scopes.flat_map(|scope| scope.spans).collect();
        // They arrive in the order of their end.
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// Waits for this many spans.
    pub async fn wait_for(&self, spans: usize) -> Vec<Span> {
        let mut changes = self.0.subscribe();
        let wait = async {
            while self.spans().len() < spans {
                changes.changed().await.expect("it listens");
            }
        };
        let waited = tokio::time::timeout(SOON, wait).await;
        let came = self.spans();
        assert!(waited.is_ok(), "only {} spans: {came:?}", came.len());
        came
    }
}

/// An attribute as text.
pub fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute_found = attributes.iter().find(|pair| pair.key == key)?;
    text(attribute_found.value.as_ref()?.value.as_ref()?)
}

fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::StringValue(text) => text.clone(),
        Value::BoolValue(is) => is.to_string(),
        Value::IntValue(number) => number.to_string(),
        Value::ArrayValue(list) => {
            let words = list.values.iter().map(|any| text(any.value.as_ref()?));
            words.collect::<Option<Vec<_>>>()?.join(" ")
        }
        _ => return None,
    })
}

pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}
