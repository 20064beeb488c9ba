//! Reports a finished review in metrics, a log line and a span. None of them includes objects, and names go only into
//! the log at `debug`.

use super::call::Call;
use super::envelope::Envelope;
use crate::engine::admission::finding::{Code, Finding};
use crate::engine::admission::staleness::is_staleness_finding;
use crate::engine::admission::verdict::Verdict;
use crate::metrics::Metrics;
use crate::telemetry::traces::{Array, StringValue, Trace, TraceId, Value};

/// A finished review.
pub(super) struct Reviewed<'a> {
    pub(super) call: Call,
    pub(super) envelope: &'a Envelope<'a>,
    /// The kind as a metric label, from a closed set, because the sender chooses the content of the
    /// request.
    pub(super) kind: String,
    pub(super) verdict: &'a Verdict,
}

// === impl Reviewed ===

impl Reviewed<'_> {
    fn decision(&self) -> &'static str {
        match (self.verdict.allowed(), self.verdict.findings.is_empty()) {
            (false, _) => "denied",
            (true, false) => "warned",
            (true, true) => "allowed",
        }
    }

    /// The codes of all findings, without duplicates.
    fn codes(&self) -> Vec<&'static str> {
        let findings = self.verdict.findings.iter();
        let mut codes: Vec<_> = findings.map(|finding| finding.code.as_str()).collect();
        codes.dedup();
        codes
    }

    /// Records it in the metrics.
    pub(super) fn count(&self, metrics: &Metrics) {
        let (endpoint, operation) = (self.call.endpoint.word(), self.envelope.operation_label());
        let (decision, kind) = (self.decision(), &*self.kind);
        let dry_run = if self.envelope.dry_run() {
            "true"
        } else {
            "false"
        };
        metrics
            .requests
            .with_label_values(&[endpoint, operation, kind, decision, dry_run])
            .inc();
        metrics
            .request_duration
            .with_label_values(&[endpoint, operation, decision])
            .observe(self.call.arrived.elapsed().as_secs_f64());
        // They are sorted, so each code is looked up once.
        let findings = &self.verdict.findings;
        for alike in findings.chunk_by(|a, b| (a.code, a.severity) == (b.code, b.severity)) {
            if let (Some(first), Ok(count)) = (alike.first(), u64::try_from(alike.len())) {
                let labels = [first.code.as_str(), first.severity.as_str()];
                metrics.findings.with_label_values(&labels).inc_by(count);
            }
        }
        let unverified = |finding: &&Finding| finding.code == Code::Unverified;
        for finding in findings.iter().filter(unverified) {
            let reason = match finding {
                finding if is_staleness_finding(finding) => "age",
                finding
                    if finding.depends_on_absence_of.is_some()
                        || !finding.refuted_by_kinds.is_empty() =>
                {
                    "live-read"
                }
                _ => "request",
            };
            metrics.unverified.with_label_values(&[reason]).inc();
        }
        for mutation in &self.verdict.mutations {
            let mutations = &metrics.mutations;
            mutations.with_label_values(&[mutation.as_str()]).inc();
        }
    }

    /// Adds it to the span of the request.
    pub(super) fn trace(&self, trace: &mut Trace) {
        trace.note("attache.uid", || self.envelope.uid.clone().into_owned());
        trace.note("attache.operation", || self.envelope.operation_label());
        trace.note("attache.kind", || self.kind.clone());
        trace.note("attache.dry_run", || self.envelope.dry_run());
        trace.note("attache.decision", || self.decision());
        trace.note("attache.findings", || {
            let codes = self.codes().into_iter().map(StringValue::from);
            Value::Array(Array::String(codes.collect()))
        });
        trace.note("http.response.status_code", || 200_i64);
    }

    /// Logs it at `debug`; a refusal also at `info`, without names.
    pub(super) fn log(&self, trace: Option<TraceId>) {
        let envelope = self.envelope;
        let (uid, kind) = (&*envelope.uid, &*self.kind);
        let (endpoint, operation) = (self.call.endpoint.word(), envelope.operation_label());
        let (dry_run, decision) = (envelope.dry_run(), self.decision());
        let trace = trace.map(tracing::field::display);
        let micros = u64::try_from(self.call.arrived.elapsed().as_micros()).unwrap_or(u64::MAX);
        if tracing::enabled!(tracing::Level::DEBUG) {
            let (namespace, name) = (envelope.namespace(), envelope.name());
            let codes = self.codes().join(",");
            tracing::debug!(
                uid, trace, endpoint, operation, kind, namespace, name, dry_run, decision, codes,
                micros, "reviewed"
            );
        }
        if decision == "denied" {
            let causes = self.verdict.causes();
            let mut codes: Vec<&str> = causes.iter().map(|cause| cause.reason).collect();
            codes.dedup();
            let codes = codes.join(",");
            tracing::info!(
                uid, trace, endpoint, operation, kind, dry_run, codes, micros, "denied"
            );
        }
    }
}
