//! Traces of reviews, for a collector that speaks OTLP. They join the trace of the API server.
//!
//! Off unless the environment names a collector, and then nothing of it is done. Nobody waits for a collector:
//! spans go through a bounded queue, and those for which there is no room are counted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hyper::HeaderMap;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::metrics::Metrics;

mod context;
mod export;
mod otlp;
mod settings;
mod span;

pub use context::TraceId;
pub use export::{Export, TracesError};
pub use settings::{SettingError, Settings};
pub use span::{Side, Value};

use context::{Ids, Parent, SpanId};
use settings::Sampler;
use span::{Attribute, Recorded, Span};

/// Requests whose spans wait to be sent.
const QUEUE: usize = 512;

/// Begins traces, or does nothing. Clones are of one.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<Recorder>>);

#[derive(Debug)]
struct Recorder {
    sampler: Sampler,
    ids: Ids,
    queue: mpsc::Sender<Entry>,
    metrics: Arc<Metrics>,
}

/// What goes through the queue.
#[derive(Debug)]
enum Entry {
    Recorded(Box<Recorded>),
    /// Tells when all before it has been sent.
    End(oneshot::Sender<()>),
}

/// The trace of one request, or nothing. It is handed over when it is dropped.
#[derive(Debug, Default)]
pub struct Trace(Option<Box<Recording>>);

#[derive(Debug)]
struct Recording {
    recorder: Arc<Recorder>,
    trace: TraceId,
    state: String,
    joined: bool,
    began: SystemTime,
    since: Instant,
    root: Span,
    /// A live read and the next one go on side by side.
    children: Mutex<Vec<Span>>,
}

/// A part of a request, or nothing. It ends when it is dropped.
#[derive(Debug)]
pub struct Part<'a>(Option<Measured<'a>>);

#[derive(Debug)]
struct Measured<'a> {
    recording: &'a Recording,
    span: Span,
}

// === impl Traces ===

impl Traces {
    /// Traces that go to a collector, and the task that sends them.
    ///
    /// # Errors
    /// When the settings name a certificate that cannot be used.
    pub fn to(settings: Settings, metrics: Arc<Metrics>) -> Result<(Self, Export), TracesError> {
        let (queue, entries) = mpsc::channel(QUEUE);
        let recorder = Recorder {
            sampler: settings.sampler,
            ids: Ids::default(),
            queue,
            metrics: metrics.clone(),
        };
        let export = Export::new(settings, entries, metrics)?;
        Ok((Self(Some(Arc::new(recorder))), export))
    }

    /// Begins the trace of a request; `name` is one of few.
    pub fn begin(&self, name: &'static str, headers: &HeaderMap) -> Trace {
        let Some(recorder) = &self.0 else {
            return Trace(None);
        };
        let parent = Parent::of(headers);
        let trace = match &parent {
            Some(parent) => parent.trace,
            None => recorder.ids.trace(),
        };
        if !recorder.sampler.wants(parent.as_ref(), trace) {
            return Trace(None);
        }
        let mut root = Span::new(recorder.ids.span(), name, Side::Asked);
        root.parent = parent.as_ref().map(|parent| parent.span);
        Trace(Some(Box::new(Recording {
            recorder: recorder.clone(),
            trace,
            joined: parent.is_some(),
            state: parent.map(|parent| parent.state).unwrap_or_default(),
            began: SystemTime::now(),
            since: Instant::now(),
            root,
            children: Mutex::default(),
        })))
    }

    /// Waits until what was recorded so far has been sent, at most so long.
    pub async fn flush(&self, patience: Duration) {
        let Some(recorder) = &self.0 else {
            return;
        };
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if recorder.queue.send(Entry::End(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        // The collector may be gone for ever; the process is not kept for it.
        let _ = timeout(patience, flushed).await;
    }
}

// === impl Trace ===

impl Trace {
    /// The name of the trace; none where nothing is recorded.
    pub fn id(&self) -> Option<TraceId> {
        self.0.as_ref().map(|recording| recording.trace)
    }

    /// Notes something of the request, made only where it is recorded.
    pub fn note<V: Into<Value>>(&mut self, key: &'static str, value: impl FnOnce() -> V) {
        if let Some(recording) = &mut self.0 {
            recording.root.attributes.push((key, value().into()));
        }
    }

    /// Notes why the request failed.
    pub fn failed(&mut self, why: &'static str) {
        if let Some(recording) = &mut self.0 {
            recording.root.failed = Some(why);
        }
    }

    /// Begins a part of the request.
    pub fn part(&self, name: &'static str, side: Side) -> Part<'_> {
        Part(self.0.as_deref().map(|recording| {
            let mut span = Span::new(recording.recorder.ids.span(), name, side);
            span.parent = Some(recording.root.id);
            span.after = recording.since.elapsed();
            Measured { recording, span }
        }))
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let Some(recording) = self.0.take() else {
            return;
        };
        let Recording {
            recorder,
            trace,
            state,
            joined,
            began,
            since,
            mut root,
            children,
        } = *recording;
        root.took = since.elapsed();
        let mut spans = vec![root];
        spans.append(
            &mut children
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        );
        let count = spans.len();
        let recorded = Recorded {
            trace,
            state,
            joined,
            began,
            spans,
        };
        let handed = recorder.queue.try_send(Entry::Recorded(Box::new(recorded)));
        if handed.is_err() {
            let dropped = recorder.metrics.spans.with_label_values(&["dropped"]);
            dropped.inc_by(count as u64);
        }
    }
}

// === impl Part ===

impl Part<'_> {
    /// Notes something of the part, made only where it is recorded.
    pub fn note<V: Into<Value>>(&mut self, key: &'static str, value: impl FnOnce() -> V) {
        if let Some(measured) = &mut self.0 {
            measured.span.attributes.push((key, value().into()));
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let Some(Measured {
            recording,
            mut span,
        }) = self.0.take()
        else {
            return;
        };
        span.took = recording.since.elapsed().saturating_sub(span.after);
        recording.children().push(span);
    }
}

// === impl Recording ===

impl Recording {
    fn children(&self) -> MutexGuard<'_, Vec<Span>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Span ===

impl Span {
    fn new(id: SpanId, name: &'static str, side: Side) -> Self {
        Self {
            id,
            parent: None,
            name,
            side,
            after: Duration::ZERO,
            took: Duration::ZERO,
            attributes: Vec::<Attribute>::new(),
            failed: None,
        }
    }
}
