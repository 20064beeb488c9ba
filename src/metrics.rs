//! All metrics.
//!
//! Labels only have values from closed sets. Names of objects and users are never labels: users who may create objects
//! could otherwise fill the memory of the server and of its scrapers. Kinds are labels if they are built in, or policy
//! kinds as long as they exist. Names of namespaces are labels of one metric, up to a fixed number.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::core::{Collector, MetricVec, MetricVecBuilder};
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Registry, TextEncoder,
};

use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::is_gateway_kind;
use crate::engine::state::snapshot::Snapshot;

mod all;
mod described;
mod process;

pub use described::{About, Described, Label, Type};

/// Log lines that were dropped because the output was too slow. A process has one log, and it starts before there are
/// metrics.
pub static LOST_LOG_LINES: LazyLock<Option<IntCounter>> = LazyLock::new(|| {
    let help = "Log lines that nobody took in time.";
    IntCounter::new("attache_log_lines_lost_total", help).ok()
});

/// All metrics of one server, with their own registry so that tests do not share state.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    described: Vec<Described>,
    /// Time from the arrival of a request to its answer, by `endpoint`, `operation`, `decision`.
    pub request_duration: HistogramVec,
    /// Time in the engine, by `endpoint`.
    pub engine_duration: HistogramVec,
    /// Size of a body.
    pub request_body: Histogram,
    /// Reviews answered, by `endpoint`, `operation`, `kind`, `decision` and `dry_run`.
    pub requests: IntCounterVec,
    /// Requests that are not a review, by `reason`.
    pub malformed: IntCounterVec,
    /// Requests in progress, including those that wait for a slot.
    pub in_flight: IntGauge,
    /// Requests that wait for a slot.
    pub queued: IntGauge,
    /// Requests rejected because of too much load.
    pub shed: IntCounter,
    /// Requests not answered before their deadline.
    pub timeouts: IntCounter,
    /// Requests that ended in a panic.
    pub panics: IntCounter,
    /// Findings that were shown or refused a request, by `code` and `severity`.
    pub findings: IntCounterVec,
    /// Reviews that were incomplete, by `reason`.
    pub unverified: IntCounterVec,
    /// Patches sent, by `mutation`.
    pub mutations: IntCounterVec,
    /// Objects read live before a refusal, by `result`.
    pub live_reads: IntCounterVec,
    /// Time of a live read.
    pub live_read_duration: Histogram,
    /// Access reviews, by `result` and whether the answer was `cached`.
    pub sar: IntCounterVec,
    /// Time of an access review that was not cached.
    pub sar_duration: Histogram,
    /// Open connections on the webhook port.
    pub connections: IntGauge,
    /// Connections that failed, by `reason`.
    pub connection_errors: IntCounterVec,
    /// Attempts to load the serving certificate, by `result`.
    pub cert_reload: IntCounterVec,
    /// 1 if the newest files are in use, 0 if they are invalid and older ones stay in use; by purpose (`file`).
    pub cert_current: IntGaugeVec,
    /// Attempts to load the client CA, by `result`.
    pub client_ca_reload: IntCounterVec,
    /// Clients refused for their certificate, by `reason`.
    pub callers_refused: IntCounterVec,
    /// When the serving certificate expires.
    pub cert_not_after: Gauge,
    /// Events written, by `result`.
    pub events: IntCounterVec,
    /// Changed configurations, by `result`.
    pub config_loads: IntCounterVec,
    /// 1 if the newest configuration is in use, 0 if it is invalid and an older one stays in use.
    pub config_current: IntGauge,
    /// Cached objects, by `kind`.
    pub cache_objects: IntGaugeVec,
    /// 1 when a kind has been listed, by `kind`.
    pub cache_synced: IntGaugeVec,
    /// Time of the last contact about a kind, by `kind`.
    pub cache_last_event: GaugeVec,
    /// Failed watches, by `kind` and `code`.
    pub watch_errors: IntCounterVec,
    /// Kinds that should be watched but are not, by `reason`.
    pub unwatched_kinds: IntGaugeVec,
    /// Objects that could not be read and are not in the cache, by `kind`.
    pub skipped_objects: IntGaugeVec,
    /// The current findings, by `code`, `severity` and `namespace`.
    pub current_findings: IntGaugeVec,
    /// Policies by `kind` and `state`.
    pub policies: IntGaugeVec,
    /// 1 if this replica writes reports, by the `api` that is served.
    pub report_writer: IntGaugeVec,
    /// Reports written and removed, by `operation` and `result`.
    pub report_writes: IntCounterVec,
    /// The CPU time that the last judgement of the current state took.
    pub judging_pass: Gauge,
    /// Policies whose controllers and attache disagree, by `kind` and `sort`.
    pub status_disagreements: IntGaugeVec,
    /// Targets of guardrails, by guardrail and result.
    pub guardrail_targets: IntGaugeVec,
    /// Writes of conditions into the status of objects.
    pub status_writes: IntCounterVec,
    /// Whether this replica writes them.
    pub status_writer_leads: IntGauge,
    /// Exceptions from guardrails, by state.
    pub guardrail_exceptions: IntGaugeVec,
    /// `Guardrail` objects, by whether they can be used.
    pub stored_guardrails: IntGaugeVec,
    /// 1 if a webhook configuration is up to date, by `configuration`.
    pub webhook_current: IntGaugeVec,
    /// Attempts to update them, by `configuration` and `result`.
    pub webhook_updates: IntCounterVec,
    /// Changes applied to the snapshot, by `kind`.
    pub snapshot_applies: IntCounterVec,
    /// Snapshots published.
    pub snapshot_publishes: IntCounter,
    /// Spans of traces, by `result`.
    pub spans: IntCounterVec,
}

// === impl Metrics ===

impl Metrics {
    /// All metrics in Prometheus' text format.
    ///
    /// # Errors
    /// Fails if a metric cannot be encoded, which the format does not allow for.
    pub fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// The descriptions of all metrics, in reading order.
    pub fn described(&self) -> &[Described] {
        &self.described
    }

    /// Records a contact about a kind, now.
    pub fn record_contact(&self, kind: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.cache_last_event
            .with_label_values(&[kind])
            .set(now.unwrap_or(Duration::ZERO).as_secs_f64());
    }

    /// Drops the series of a kind that is no longer watched. An age that grows for ever would be a false alarm, and
    /// users who may create and delete kinds must not fill the memory with series.
    pub fn forget(&self, kind: &str) {
        drop_series(&self.cache_objects, kind);
        drop_series(&self.cache_synced, kind);
        drop_series(&self.cache_last_event, kind);
        drop_series(&self.skipped_objects, kind);
        drop_series(&self.status_disagreements, kind);
        drop_series(&self.policies, kind);
        drop_series(&self.watch_errors, kind);
        drop_series(&self.snapshot_applies, kind);
        drop_series(&self.requests, kind);
    }
}

/// Drops every series of a metric whose label `kind` has this value.
fn drop_series<B: MetricVecBuilder>(metric: &MetricVec<B>, kind: &str)
where
    MetricVec<B>: Collector,
{
    for family in metric.collect() {
        for series in family.get_metric() {
            let labels = series.get_label();
            let labels: HashMap<&str, &str> =
                labels.iter().map(|l| (l.name(), l.value())).collect();
            if labels.get("kind") == Some(&kind) {
                // An error only means that the series was already dropped.
                let _ = metric.remove(&labels);
            }
        }
    }
}

/// The value of the label `kind` for a watched kind.
pub fn watched_kind(gk: &GroupKind) -> String {
    gk.to_string()
}

/// The value of the label `kind` for a kind in a request. The sender chooses it, so it is `other` unless the kind is
/// built in or a policy kind in the snapshot.
pub fn requested_kind(snapshot: &Snapshot, gk: &GroupKind) -> String {
    if is_built_in(gk) || snapshot.policy_kinds().any(|known| known == gk) {
        gk.to_string()
    } else {
        "other".to_owned()
    }
}

fn is_built_in(gk: &GroupKind) -> bool {
    is_gateway_kind(gk)
        || ["Service", "Namespace"].iter().any(|kind| gk.is_core(kind))
        || *gk == GroupKind::CRD
}

#[cfg(test)]
mod tests {
    use super::Metrics;

    #[test]
    fn a_kind_that_is_gone_leaves_no_series() {
        let metrics = Metrics::new().unwrap();
        let series = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
        let before = series(&metrics.text().unwrap());
        metrics.record_contact("RetryPolicy.example.com");
        for metric in [&metrics.watch_errors] {
            for code in ["403", "500"] {
                let labels = ["RetryPolicy.example.com", code];
                metric.with_label_values(&labels).inc();
            }
        }
        let labels_for = |kind| ["validate", "CREATE", kind, "denied", "false"];
        metrics
            .requests
            .with_label_values(&labels_for("other"))
            .inc();
        let gone = labels_for("RetryPolicy.example.com");
        metrics.requests.with_label_values(&gone).inc();
        metrics.forget("RetryPolicy.example.com");
        let after = metrics.text().unwrap();
        assert!(!after.contains("RetryPolicy"), "{after}");
        assert!(after.contains("kind=\"other\""), "{after}");
        assert_eq!(series(&after), before + 1);
    }
}
