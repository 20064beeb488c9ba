//! Traces of reviews, exported by OTLP. They join the trace of the API server.
//!
//! Without a collector in the environment, nothing is recorded. Reviews never wait for the collector: spans go
//! through a bounded queue, and spans that do not fit are dropped and counted.
//!
//! Spans are started here and not by `tracing-opentelemetry`: that layer exports all `tracing` spans with the log events in
//! them, and log events at `debug` name objects, which exported spans must not. Filters could leave these out, but the
//! parent in the headers and the question whether a span is recorded need this API in any case, so the layer would save
//! no code.

use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::HeaderName;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{
    Span as _, Status, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};

use crate::metrics::Metrics;

mod export;
mod settings;

pub use opentelemetry::trace::{SpanKind, TraceId};
pub use opentelemetry::{Array, StringValue, Value};
pub use settings::{Settings, TracesError};

/// The longest that the shutdown waits for the collector.
const LAST_EXPORT: Duration = Duration::from_secs(2);
/// The most bytes of a header that W3C Trace Context asks to propagate. A longer one is ignored.
const LONGEST_HEADER: usize = 512;

/// Starts traces, or does nothing without a collector. Clones share one exporter.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<(SdkTracerProvider, SdkTracer)>);

/// The span of a request, or nothing if it is not recorded. It ends on drop.
#[derive(Debug, Default)]
pub struct Trace(Option<(SdkTracer, Context)>);

/// A child span, or nothing if the request is not recorded. It ends on drop.
#[derive(Debug)]
pub struct Part(Option<Span>);

/// The headers of W3C Trace Context.
struct Headers<'a>(&'a HeaderMap);

// === impl Traces ===

impl Traces {
    /// Exports to the collector of the settings. Call it within the Tokio runtime that sends the spans.
    ///
    /// # Errors
    /// Fails if TLS or the exporter cannot be set up.
    pub fn to(settings: Settings, metrics: Arc<Metrics>) -> Result<Self, TracesError> {
        let provider = SdkTracerProvider::builder()
            .with_span_processor(export::Queue::to(&settings, metrics)?)
            .with_resource(settings.resource)
            .build();
        let tracer = provider.tracer(env!("CARGO_PKG_NAME"));
        Ok(Self(Some((provider, tracer))))
    }

    /// Starts the span of a request as a child of the span that the headers name, if any.
    pub fn begin(&self, name: &'static str, headers: &HeaderMap) -> Trace {
        let Some((_, tracer)) = &self.0 else {
            return Trace(None);
        };
        let propagator = TraceContextPropagator::new();
        let caller = propagator.extract_with_context(&Context::new(), &Headers(headers));
        let span = tracer.span_builder(name).with_kind(SpanKind::Server);
        let span = span.start_with_context(tracer, &caller);
        let is_recorded = span.is_recording();
        Trace(is_recorded.then(|| (tracer.clone(), Context::new().with_span(span))))
    }

    /// Exports the recorded spans and stops recording. Waits for the collector for at most two seconds.
    pub async fn end(self) {
        let Some((provider, _)) = self.0 else {
            return;
        };
        // The call blocks. The exporter has logged and counted a failure.
        let _ =
            tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST_EXPORT)).await;
    }
}

// === impl Trace ===

impl Trace {
    /// The id of the trace, if the request is recorded.
    pub fn id(&self) -> Option<TraceId> {
        let (_, context) = self.0.as_ref()?;
        Some(context.span().span_context().trace_id())
    }

    /// Sets an attribute of the request. The value is computed only if the request is recorded.
    pub fn note<V: Into<Value>>(&mut self, key: &'static str, value: impl FnOnce() -> V) {
        if let Some((_, context)) = &self.0 {
            context.span().set_attribute(KeyValue::new(key, value()));
        }
    }

    /// Marks the request as failed.
    pub fn failed(&mut self, why: &'static str) {
        if let Some((_, context)) = &self.0 {
            context.span().set_status(Status::error(why));
        }
    }

    /// Starts a child span.
    pub fn part(&self, name: &'static str, kind: SpanKind) -> Part {
        Part(self.0.as_ref().map(|(tracer, context)| {
            let span = tracer.span_builder(name).with_kind(kind);
            span.start_with_context(tracer, context)
        }))
    }
}

// === impl Part ===

impl Part {
    /// Sets an attribute of the child span. The value is computed only if the request is recorded.
    pub fn note<V: Into<Value>>(&mut self, key: &'static str, value: impl FnOnce() -> V) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new(key, value()));
        }
    }
}

// === impl Headers ===

impl Extractor for Headers<'_> {
    /// Ignores a header that occurs twice or is too long.
    fn get(&self, key: &str) -> Option<&str> {
        let mut values = self.0.get_all(key).iter();
        let value = values.next()?.to_str().ok()?;
        (values.next().is_none() && value.len() <= LONGEST_HEADER).then_some(value)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, HeaderMap, Headers, TraceContextPropagator};
    use opentelemetry::propagation::TextMapPropagator as _;
    use opentelemetry::trace::TraceContextExt as _;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    /// The trace id and the `tracestate` read from the headers.
    fn read(lines: &[(&'static str, &str)]) -> Option<(String, String)> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let propagator = TraceContextPropagator::new();
        let context = propagator.extract_with_context(&Context::new(), &Headers(&headers));
        let span = context.span();
        let span = span.span_context();
        let read = (span.trace_id().to_string(), span.trace_state().header());
        span.is_valid().then_some(read)
    }

    #[test]
    fn a_parent_that_is_invalid_or_named_twice_is_ignored() {
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let parent = |state: &str| Some((TRACE.to_owned(), state.to_owned()));
        let long = format!("a={}", "b".repeat(511));
        assert_eq!(
            read(&[("traceparent", &good), ("tracestate", "a=1")]),
            parent("a=1")
        );
        assert_eq!(
            read(&[("traceparent", &good), ("tracestate", &long)]),
            parent("")
        );
        assert_eq!(
            read(&[("traceparent", &good), ("traceparent", &good)]),
            None
        );
        let zeros = good.replace(TRACE, &"0".repeat(32));
        for odd in [
            "",
            "00",
            "é-é-é-é",
            &zeros,
            &good.to_uppercase(),
            &format!("{good}-more"),
        ] {
            assert_eq!(read(&[("traceparent", odd)]), None, "{odd}");
        }
    }
}
