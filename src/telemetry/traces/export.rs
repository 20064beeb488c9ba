//! Sends spans to the collector, some at a time. It may be away for as long as it likes.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::span::Recorded;
use super::{Entry, Settings, otlp};
use crate::metrics::Metrics;
use crate::reading::{self, Pipes};

/// Spans in one request.
const BATCH: usize = 512;
/// Of an answer nothing but its status is of interest; so much is read to use the connection again.
const ANSWER: usize = 64 * 1024;

/// Why traces cannot go to the collector.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The file of `OTEL_EXPORTER_OTLP_CERTIFICATE` cannot be used.
    #[error("failed to read the certificates of the trace collector from {path}: {why}")]
    Certificate {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// The provider lacks the protocol versions.
    #[error("failed to set up TLS to the trace collector: {0}")]
    Tls(#[from] rustls::Error),
}

/// The task that sends.
#[derive(Debug)]
pub struct Export {
    settings: Settings,
    entries: mpsc::Receiver<Entry>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    metrics: Arc<Metrics>,
    /// Whether the last batch was lost: that is said once.
    failing: bool,
}

/// What came in one go.
#[derive(Default)]
struct Batch {
    reviews: Vec<Recorded>,
    spans: usize,
    /// Who waits for it.
    waiting: Vec<oneshot::Sender<()>>,
}

// === impl Export ===

impl Export {
    pub(super) fn new(
        settings: Settings,
        entries: mpsc::Receiver<Entry>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, TracesError> {
        let roots = roots(settings.certificate.as_deref())?;
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            settings,
            entries,
            metrics,
            failing: false,
        })
    }

    /// Sends until nobody can record anything any more.
    pub async fn run(mut self) -> String {
        while let Some(first) = self.entries.recv().await {
            let mut batch = Batch::default();
            batch.take(first);
            let until = Instant::now() + self.settings.delay;
            while batch.has_room() {
                match timeout_at(until, self.entries.recv()).await {
                    Ok(Some(entry)) => batch.take(entry),
                    Ok(None) | Err(_) => break,
                }
            }
            let sent = match batch.spans {
                0 => Ok(()),
                _ => self.send(&batch.reviews).await,
            };
            self.note(sent, batch.spans);
            for waiting in batch.waiting {
                let _ = waiting.send(());
            }
        }
        "no traces can be recorded any more".to_owned()
    }

    async fn send(&self, reviews: &[Recorded]) -> Result<(), String> {
        let body = otlp::request(&self.settings.resource, reviews);
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.settings.endpoint.clone();
        let headers = request.headers_mut();
        headers.extend(self.settings.headers.iter().cloned());
        let protobuf = HeaderValue::from_static("application/x-protobuf");
        headers.insert(CONTENT_TYPE, protobuf);
        let answer = async {
            let answer = self.client.request(request).await.map_err(|e| cause(&e))?;
            let status = answer.status();
            let _ = Limited::new(answer.into_body(), ANSWER).collect().await;
            Ok::<StatusCode, String>(status)
        };
        match timeout(self.settings.patience, answer).await {
            Ok(Ok(status)) if status.is_success() => Ok(()),
            Ok(Ok(status)) => Err(format!("it answered {status}")),
            Ok(Err(why)) => Err(why),
            Err(_) => Err(format!(
                "no answer within {} ms",
                self.settings.patience.as_millis()
            )),
        }
    }

    fn note(&mut self, sent: Result<(), String>, spans: usize) {
        let result = if sent.is_ok() { "exported" } else { "failed" };
        let counted = self.metrics.spans.with_label_values(&[result]);
        counted.inc_by(spans as u64);
        match sent {
            Ok(()) if self.failing => tracing::info!("the trace collector takes spans again"),
            Err(why) if !self.failing => {
                tracing::warn!(%why, "spans are lost: the trace collector does not take them");
                self.failing = true;
                return;
            }
            _ => return,
        }
        self.failing = false;
    }
}

// === impl Batch ===

impl Batch {
    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Recorded(review) => {
                self.spans += review.spans.len();
                self.reviews.push(*review);
            }
            Entry::End(done) => self.waiting.push(done),
        }
    }

    /// Who waits does not wait for more.
    fn has_room(&self) -> bool {
        self.spans < BATCH && self.waiting.is_empty()
    }
}

/// The CAs of a file, else those of the system: an image may have none, and plain HTTP needs none.
fn roots(file: Option<&Path>) -> Result<RootCertStore, TracesError> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let wrong = |why: String| TracesError::Certificate {
        path: file.display().to_string(),
        why,
    };
    let pem = reading::bytes(file, reading::SMALL, Pipes::Refused);
    let pem = pem.map_err(|error| wrong(error.to_string()))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("there is no certificate in it".to_owned()));
    }
    Ok(roots)
}

/// The innermost cause: what is around it only says that a request failed.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}
