//! A trace collector that decodes requests by OTLP's own definitions.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::net::TcpListener;

/// The requests so far.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Taken>>>);

#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) request: ExportTraceServiceRequest,
}

/// Listens on loopback until the runtime ends.
pub(crate) async fn collector() -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Seen::default();
    let all = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let all = all.clone();
            let service = service_fn(move |request| take(request, all.clone()));
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
        }
    });
    (addr, seen)
}

async fn take(request: Request<Incoming>, all: Seen) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let taken = Taken {
        path: head.uri.path().to_owned(),
        headers: head.headers,
        request: ExportTraceServiceRequest::decode(body).unwrap(),
    };
    all.0.lock().unwrap().push(taken);
    Ok(Response::new(Full::default()))
}

impl Seen {
    pub(crate) fn requests(&self) -> Vec<Taken> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self
            .requests()
            .into_iter()
            .flat_map(|taken| taken.request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// Waits for this many spans.
    pub(crate) async fn wait_for(&self, spans: usize) -> Vec<Span> {
        let wait = async {
            while self.spans().len() < spans {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
        let came = self.spans();
        assert!(waited.is_ok(), "only {} spans: {came:?}", came.len());
        came
    }
}

/// An attribute as text.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|pair| pair.key == key)?;
    text(found.value.as_ref()?.value.as_ref()?)
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

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}
