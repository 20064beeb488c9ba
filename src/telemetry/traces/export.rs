//! The queue and the exporter of spans. Lost spans are counted.

use std::error::Error;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use bytes::Bytes;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::Context;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    Protocol, SpanExporter, WithExportConfig, WithHttpConfig, WithTonicConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter as Exporter, SpanProcessor,
};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Handle;
use tonic::transport::Endpoint;

use super::LAST_EXPORT;
use super::settings::{Settings, TracesError};
use crate::metrics::Metrics;
use crate::reading::{self, Pipes};

/// The queue of the SDK, with a count of dropped spans: that of the SDK cannot be read.
#[derive(Debug)]
pub(super) struct Queue {
    batches: BatchSpanProcessor,
    /// The number of spans in the queue or being exported.
    waiting: Arc<AtomicUsize>,
    room: usize,
    metrics: Arc<Metrics>,
}

/// Exports in the Tokio runtime, and counts exported and failed spans.
#[derive(Debug)]
struct CountingExporter {
    exporter: Arc<SpanExporter>,
    runtime: Handle,
    waiting: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    cause: Cause,
    /// Whether the last export failed: only the first of several failures is logged.
    failing: AtomicBool,
}

/// Why the last HTTP request failed: the exporter reports only "network error".
type Cause = Arc<ArcSwapOption<String>>;

/// An HTTP client that keeps the cause of its last failure.
#[derive(Debug)]
struct Http {
    client: HyperClient<HttpsConnector<HttpConnector>>,
    cause: Cause,
}

// === impl Queue ===

impl Queue {
    /// Call it within the Tokio runtime that sends the spans.
    pub(super) fn to(settings: &Settings, metrics: Arc<Metrics>) -> Result<Self, TracesError> {
        let waiting = Arc::<AtomicUsize>::default();
        let cause = Cause::default();
        let counting = CountingExporter {
            exporter: Arc::new(exporter(settings, cause.clone())?),
            runtime: Handle::current(),
            waiting: waiting.clone(),
            metrics: metrics.clone(),
            cause,
            failing: AtomicBool::new(false),
        };
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(settings.queue)
            .with_scheduled_delay(settings.delay)
            .build();
        Ok(Self {
            batches: BatchSpanProcessor::new(counting, config),
            waiting,
            room: settings.queue,
            metrics,
        })
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < self.room {
            self.batches.on_end(span);
        } else {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.metrics.spans.with_label_values(&["dropped"]).inc();
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    /// The SDK allows five seconds if nobody calls it before the drop.
    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout.min(LAST_EXPORT))
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

// === impl CountingExporter ===

impl Exporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let exporter = self.exporter.clone();
        // The thread of the queue is outside the runtime: no timers, no sockets.
        let sent = self
            .runtime
            .spawn(async move { exporter.export(batch).await });
        let sent = match sent.await {
            Ok(sent) => sent,
            Err(ended) => Err(OTelSdkError::InternalFailure(ended.to_string())),
        };
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
        let result = if sent.is_ok() { "exported" } else { "failed" };
        self.metrics
            .spans
            .with_label_values(&[result])
            .inc_by(spans as u64);
        let cause = self.cause.swap(None);
        let was_failing = self.failing.swap(sent.is_err(), Ordering::Relaxed);
        match &sent {
            Ok(()) if was_failing => tracing::info!("the trace collector takes spans again"),
            Err(error) if !was_failing => {
                let why = cause.map_or_else(|| error.to_string(), |cause| cause.to_string());
                tracing::warn!(%why, "spans are lost: the trace collector does not take them");
            }
            _ => {}
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(exporter) = Arc::get_mut(&mut self.exporter) {
            exporter.set_resource(resource);
        }
    }
}

// === impl Http ===

#[async_trait]
impl HttpClient for Http {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.client.send_bytes(request).await;
        let cause = sent.as_ref().err().map(|error| innermost(&**error));
        self.cause.store(cause.map(Arc::new));
        sent
    }
}

fn exporter(settings: &Settings, cause: Cause) -> Result<SpanExporter, TracesError> {
    let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots(settings)?)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http();
    let timeout = settings.timeout;
    if settings.is_grpc {
        let channel = Endpoint::from(settings.endpoint.clone())
            .connect_timeout(timeout)
            .timeout(timeout)
            .connect_with_connector_lazy(connector.enable_http2().build());
        let exporter = SpanExporter::builder().with_tonic().with_channel(channel);
        return Ok(exporter.with_timeout(timeout).build()?);
    }
    let client = HyperClient::new(connector.enable_http1().build(), timeout, None);
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(Http { client, cause })
        .with_endpoint(settings.endpoint.to_string())
        .with_timeout(timeout);
    Ok(exporter.build()?)
}

/// The CAs of the file, else those of the system. An image may have none, and plain HTTP needs none.
fn roots(settings: &Settings) -> Result<RootCertStore, TracesError> {
    let mut roots = RootCertStore::empty();
    let Some((variable, file)) = &settings.certificate else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let wrong = |why: &dyn Display| TracesError::setting(variable, format!("{file}: {why}"));
    let pem = reading::bytes(file.as_ref(), reading::SMALL, Pipes::Refused);
    let pem = pem.map_err(|error| wrong(&error))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        // The error of the parser would repeat bytes of the file, which may hold a key.
        let certificate = certificate.map_err(|_| wrong(&"it is not PEM"))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"it holds no certificate"));
    }
    Ok(roots)
}

/// The innermost cause: the outer errors only say that a request failed.
fn innermost(mut error: &dyn Error) -> String {
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}
