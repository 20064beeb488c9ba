//! Every metric: name, label and bucket.
//!
//! Labels come from closed sets only. Names of objects, namespaces and users are never labels: whoever may
//! create objects could otherwise fill the memory of the server and of what scrapes it. Kinds are labels: those
//! that are built in, and policy kinds as long as they are there.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::core::{Collector, MetricVec, MetricVecBuilder};
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Registry, TextEncoder,
};

use crate::engine::ids::GroupKind;
use crate::engine::object::is_gateway_kind;
use crate::engine::snapshot::Snapshot;

mod described;
mod made;
mod process;

pub use described::{About, Described, Label, Type};

/// Log lines that were not written because nobody took them. There is one log in a process, and it begins
/// before there are metrics.
pub static LOST_LOG_LINES: LazyLock<Option<IntCounter>> = LazyLock::new(|| {
    let help = "Log lines that nobody took in time.";
    IntCounter::new("attache_log_lines_lost_total", help).ok()
});

/// All metrics of one server, with a registry of their own so that tests do not share state.
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
    /// Requests under way, those that wait for a place included.
    pub in_flight: IntGauge,
    /// Requests that wait for a place.
    pub queued: IntGauge,
    /// Requests turned away because too many were under way.
    pub shed: IntCounter,
    /// Requests not answered before their deadline.
    pub timeouts: IntCounter,
    /// Requests that ended in a panic.
    pub panics: IntCounter,
    /// Findings that were told or that refused a request, by `code` and `severity`.
    pub findings: IntCounterVec,
    /// Reviews that could not be done in full, by `reason`.
    pub unverified: IntCounterVec,
    /// Patches sent, by the `mutation` that they are of.
    pub mutations: IntCounterVec,
    /// Objects read live before a refusal, by `result`.
    pub live_reads: IntCounterVec,
    /// Time of a live read.
    pub live_read_duration: Histogram,
    /// Access reviews, by `result` and whether the answer was remembered (`cached`).
    pub sar: IntCounterVec,
    /// Time of an access review that was not remembered.
    pub sar_duration: Histogram,
    /// Open connections on the webhook port.
    pub connections: IntGauge,
    /// Connections that ended before a request, by `reason`.
    pub connection_errors: IntCounterVec,
    /// Attempts to load the serving certificate, by `result`.
    pub cert_reload: IntCounterVec,
    /// 1 when the newest files are in use, 0 when they cannot be and older ones go on, by what they are for (`file`).
    pub cert_current: IntGaugeVec,
    /// Attempts to load the client CA, by `result`.
    pub client_ca_reload: IntCounterVec,
    /// Callers that were refused for their certificate, by `reason`.
    pub callers_refused: IntCounterVec,
    /// When the serving certificate ends.
    pub cert_not_after: Gauge,
    /// Events written, by `result`.
    pub events: IntCounterVec,
    /// Changed configurations, by `result`.
    pub config_loads: IntCounterVec,
    /// 1 when the newest configuration is in use, 0 when it is broken and an older one goes on.
    pub config_current: IntGauge,
    /// Objects known, by `kind`.
    pub cache_objects: IntGaugeVec,
    /// 1 when a kind has been listed, by `kind`.
    pub cache_synced: IntGaugeVec,
    /// When something was last heard of a kind, by `kind`.
    pub cache_last_event: GaugeVec,
    /// Watches that failed, by `kind` and `code`.
    pub watch_errors: IntCounterVec,
    /// Kinds that should be watched and are not, by `reason`.
    pub unwatched_kinds: IntGaugeVec,
    /// Objects that could not be read and are not in the cache, by `kind`.
    pub skipped_objects: IntGaugeVec,
    /// Policies about which their controllers and attache disagree, by `kind` and `sort`.
    pub status_disagreements: IntGaugeVec,
    /// 1 when one of attache's own webhook configurations is as it should be, by `configuration`.
    pub webhook_current: IntGaugeVec,
    /// Attempts to bring them up to date, by `configuration` and `result`.
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
    /// When a metric cannot be written, which the format does not provide for.
    pub fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// What is to be known of each metric, in the order in which people read them.
    pub fn described(&self) -> &[Described] {
        &self.described
    }

    /// Notes that a kind was heard of just now.
    pub fn heard_of(&self, kind: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.cache_last_event
            .with_label_values(&[kind])
            .set(now.unwrap_or(Duration::ZERO).as_secs_f64());
    }

    /// Drops the series of a kind that is not watched any more. An age that grows for ever is a false alarm, and
    /// whoever may create and delete kinds must not fill the memory with their series.
    pub fn forget(&self, kind: &str) {
        drop_series(&self.cache_objects, kind);
        drop_series(&self.cache_synced, kind);
        drop_series(&self.cache_last_event, kind);
        drop_series(&self.skipped_objects, kind);
        drop_series(&self.status_disagreements, kind);
        drop_series(&self.watch_errors, kind);
        drop_series(&self.snapshot_applies, kind);
        drop_series(&self.requests, kind);
    }
}

/// Drops every series of a metric whose label `kind` has that value.
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
                // An error only says that somebody else has dropped it.
                let _ = metric.remove(&labels);
            }
        }
    }
}

/// The value of the label `kind` for a kind that is watched.
pub fn watched_kind(gk: &GroupKind) -> String {
    gk.to_string()
}

/// The value of the label `kind` for a kind that came in a request: `other` unless it is built in or a policy
/// kind that the snapshot knows, because the sender picks it.
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
        || *gk == GroupKind::crd()
}

#[cfg(test)]
mod tests {
    use super::Metrics;

    #[test]
    fn a_kind_that_is_gone_leaves_no_series() {
        let metrics = Metrics::new().unwrap();
        let series = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
        let before = series(&metrics.text().unwrap());
        metrics.heard_of("RetryPolicy.example.com");
        for metric in [&metrics.watch_errors] {
            for code in ["403", "500"] {
                let labels = ["RetryPolicy.example.com", code];
                metric.with_label_values(&labels).inc();
            }
        }
        let of = |kind| ["validate", "CREATE", kind, "denied", "false"];
        metrics.requests.with_label_values(&of("other")).inc();
        let gone = of("RetryPolicy.example.com");
        metrics.requests.with_label_values(&gone).inc();
        metrics.forget("RetryPolicy.example.com");
        let after = metrics.text().unwrap();
        assert!(!after.contains("RetryPolicy"), "{after}");
        assert!(after.contains("kind=\"other\""), "{after}");
        assert_eq!(series(&after), before + 1);
    }
}
