//! Every metric: name, label and bucket.
//!
//! Labels come from closed sets only. Names of objects, namespaces and users are never labels: whoever may
//! create objects could otherwise fill the memory of the server and of what scrapes it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry, TextEncoder,
};

use crate::engine::ids::GroupKind;
use crate::engine::object::ROUTES;
use crate::engine::snapshot::Snapshot;

/// Seconds. A review takes tens of microseconds; the API server gives up after 30 s at most.
const BUCKETS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// All metrics of one server, with a registry of their own so that tests do not share state.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Time from the first byte of the body to the answer, by `operation`, `kind`, `decision`.
    pub request_duration: HistogramVec,
    /// Reviews answered, by `decision` and `dry_run`.
    pub requests: IntCounterVec,
    /// Requests that are not a review, by `reason`.
    pub malformed: IntCounterVec,
    /// Requests under way.
    pub in_flight: IntGauge,
    /// Requests turned away because too many were under way.
    pub shed: IntCounter,
    /// Requests not answered before their deadline.
    pub timeouts: IntCounter,
    /// Requests that ended in a panic.
    pub panics: IntCounter,
    /// Findings that were told, by `rule`.
    pub warnings: IntCounterVec,
    /// Findings that refused a request, by `rule`.
    pub denials: IntCounterVec,
    /// Reviews that could not be done in full, by `reason`.
    pub unverified: IntCounterVec,
    /// Objects read live before a refusal, by `result`.
    pub live_reads: IntCounterVec,
    /// Access reviews, by `result` and whether the answer was remembered (`cached`).
    pub sar: IntCounterVec,
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
    /// Objects that could not be read and are not in the cache, by `kind`.
    pub skipped_objects: IntGaugeVec,
    /// 1 when one of attache's own webhook configurations is as it should be, by `configuration`.
    pub webhook_current: IntGaugeVec,
    /// Attempts to bring them up to date, by `configuration` and `result`.
    pub webhook_updates: IntCounterVec,
    /// Changes applied to the snapshot.
    pub snapshot_applies: IntCounter,
    /// Snapshots published.
    pub snapshot_publishes: IntCounter,
}

/// Makes metrics and registers them; the prefix stands here only.
struct Maker(Registry);

impl Maker {
    fn add<C: prometheus::core::Collector + Clone + 'static>(
        &self,
        metric: prometheus::Result<C>,
    ) -> prometheus::Result<C> {
        let metric = metric?;
        self.0.register(Box::new(metric.clone()))?;
        Ok(metric)
    }
    fn opts(name: &str, help: &str) -> Opts {
        Opts::new(format!("attache_{name}"), help)
    }
    fn counter(&self, name: &str, help: &str) -> prometheus::Result<IntCounter> {
        self.add(IntCounter::with_opts(Self::opts(name, help)))
    }
    fn counters(&self, n: &str, help: &str, by: &[&str]) -> prometheus::Result<IntCounterVec> {
        self.add(IntCounterVec::new(Self::opts(n, help), by))
    }
    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        self.add(IntGauge::with_opts(Self::opts(name, help)))
    }
    fn gauges(&self, n: &str, help: &str, by: &[&str]) -> prometheus::Result<IntGaugeVec> {
        self.add(IntGaugeVec::new(Self::opts(n, help), by))
    }
}

// === impl Metrics ===

impl Metrics {
    /// A new set, all zero.
    ///
    /// # Errors
    /// When two metrics have one name; a test holds that they have not.
    // A list, and nothing else.
    #[allow(clippy::too_many_lines)]
    pub fn new() -> prometheus::Result<Self> {
        let m = Maker(Registry::new());
        m.gauges(
            "build_info",
            "1, with the version as a label.",
            &["version"],
        )?
        .with_label_values(&[env!("CARGO_PKG_VERSION")])
        .set(1);
        Ok(Self {
            request_duration: m.add(HistogramVec::new(
                HistogramOpts::from(Maker::opts(
                    "request_duration_seconds",
                    "Time to answer a review.",
                ))
                .buckets(BUCKETS.to_vec()),
                &["operation", "kind", "decision"],
            ))?,
            requests: m.counters(
                "requests_total",
                "Reviews answered.",
                &["decision", "dry_run"],
            )?,
            malformed: m.counters(
                "malformed_total",
                "Requests that are no review.",
                &["reason"],
            )?,
            in_flight: m.gauge("in_flight", "Requests under way.")?,
            shed: m.counter("shed_total", "Requests turned away: too many under way.")?,
            timeouts: m.counter("timeouts_total", "Requests not answered in time.")?,
            panics: m.counter("panics_total", "Requests that ended in a panic.")?,
            warnings: m.counters("warnings_total", "Findings that were told.", &["rule"])?,
            denials: m.counters(
                "denials_total",
                "Findings that refused a request.",
                &["rule"],
            )?,
            unverified: m.counters("unverified_total", "Reviews not done in full.", &["reason"])?,
            sar: m.counters(
                "sar_total",
                "Access reviews for what a warning would show.",
                &["result", "cached"],
            )?,
            live_reads: m.counters(
                "live_reads_total",
                "Live reads before a refusal.",
                &["result"],
            )?,
            connections: m.gauge("connections", "Open connections on the webhook port.")?,
            connection_errors: m.counters(
                "connection_errors_total",
                "Connections that ended before a request.",
                &["reason"],
            )?,
            cert_reload: m.counters("cert_reload_total", "Certificate loads.", &["result"])?,
            cert_current: m.gauges(
                "cert_current",
                "1 when the newest certificate files are in use.",
                &["file"],
            )?,
            client_ca_reload: m.counters(
                "client_ca_reload_total",
                "Client CA loads.",
                &["result"],
            )?,
            callers_refused: m.counters(
                "callers_refused_total",
                "Callers refused for their certificate.",
                &["reason"],
            )?,
            cert_not_after: m.add(Gauge::with_opts(Maker::opts(
                "cert_not_after_timestamp_seconds",
                "When the serving certificate ends.",
            )))?,
            events: m.counters("events_total", "Events written.", &["result"])?,
            config_loads: m.counters("config_loads_total", "Configuration loads.", &["result"])?,
            config_current: m.gauge(
                "config_current",
                "1 when the newest configuration is in use.",
            )?,
            cache_objects: m.gauges("cache_objects", "Objects known.", &["kind"])?,
            cache_synced: m.gauges(
                "cache_synced",
                "1 when the kind has been listed.",
                &["kind"],
            )?,
            cache_last_event: m.add(GaugeVec::new(
                Maker::opts(
                    "cache_last_event_timestamp_seconds",
                    "When the API server last said something about the kind.",
                ),
                &["kind"],
            ))?,
            watch_errors: m.counters("watch_errors_total", "Failed watches.", &["kind", "code"])?,
            skipped_objects: m.gauges(
                "skipped_objects",
                "Objects that cannot be read.",
                &["kind"],
            )?,
            webhook_current: m.gauges(
                "webhook_current",
                "1 when the webhook configuration is as it should be.",
                &["configuration"],
            )?,
            webhook_updates: m.counters(
                "webhook_updates_total",
                "Attempts to bring a webhook configuration up to date.",
                &["configuration", "result"],
            )?,
            snapshot_applies: m.counter("snapshot_applies_total", "Changes applied.")?,
            snapshot_publishes: m.counter("snapshot_publishes_total", "Snapshots published.")?,
            registry: m.0,
        })
    }

    /// All metrics in Prometheus' text format.
    ///
    /// # Errors
    /// When a metric cannot be written, which the format does not provide for.
    pub fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// Notes that a kind was heard of just now.
    pub fn heard_of(&self, kind: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.cache_last_event
            .with_label_values(&[kind])
            .set(now.unwrap_or(Duration::ZERO).as_secs_f64());
    }

    /// Drops the series of a kind that is not watched any more; an age that grows for ever is a false alarm.
    pub fn forget(&self, kind: &str) {
        // An error only says that there was no such series.
        let _ = self.cache_objects.remove_label_values(&[kind]);
        let _ = self.cache_synced.remove_label_values(&[kind]);
        let _ = self.cache_last_event.remove_label_values(&[kind]);
        let _ = self.skipped_objects.remove_label_values(&[kind]);
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
    ["GatewayClass", "Gateway", "ListenerSet", "ReferenceGrant"]
        .iter()
        .chain(&ROUTES)
        .any(|kind| gk.is_gateway_api(kind))
        || ["Service", "Namespace"].iter().any(|kind| gk.is_core(kind))
        || *gk == GroupKind::crd()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_own_name_and_the_prefix() {
        let metrics = Metrics::new().unwrap();
        metrics.panics.inc();
        metrics.heard_of("Gateway");
        let text = metrics.text().unwrap();
        assert!(text.contains("attache_panics_total 1"), "{text}");
        assert!(text.contains("attache_cache_last_event_timestamp_seconds{kind=\"Gateway\"} 1"));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.starts_with("attache_"), "{line}");
        }
        metrics.forget("Gateway");
        assert!(!metrics.text().unwrap().contains("kind=\"Gateway\""));
    }
}
