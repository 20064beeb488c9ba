//! Descriptions of metrics. `docs/reference/metrics.md` is generated from them, so they are next to the metrics.

use prometheus::core::Collector;
use prometheus::{
    Counter, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec,
    IntGauge, IntGaugeVec, Opts, Registry,
};

use crate::engine::admission::finding::Code;
use crate::engine::admission::mutation::Mutation;

/// The subject of a metric; each has a section in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// Reviews, and requests that are not reviews.
    Reviews,
    /// Findings and mutations.
    Findings,
    /// The current state of the cluster or the directory, independent of requests.
    CurrentState,
    /// Connections, certificate, configuration, logs and traces.
    Server,
    /// The cache and requests to the API server. Only present with a cluster.
    Cluster,
    /// The process, with the standard names of Prometheus clients.
    Process,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Only increases, from 0 at the start of the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts observations per bucket.
    Histogram,
}

/// A label and its possible values.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// All values, if they are known in advance.
    pub values: Vec<&'static str>,
    /// A description of the values, if they are not known or it says more than a list.
    pub of: &'static str,
}

/// The description of a metric.
#[derive(Clone, Debug)]
pub struct Described {
    /// The name, including the prefix.
    pub name: String,
    /// The subject.
    pub about: About,
    /// The type.
    pub kind: Type,
    /// Its labels.
    pub labels: Vec<Label>,
    /// The upper bounds of its buckets.
    pub buckets: Vec<f64>,
    /// A description of what it measures.
    pub help: &'static str,
    /// When to look at it.
    pub look: &'static str,
}

/// Creates and registers metrics and collects their descriptions. This is the only code that knows the prefix.
pub(super) struct MetricRegistry {
    pub(super) registry: Registry,
    pub(super) described: Vec<Described>,
    about: About,
}

type MetricResult<T> = prometheus::Result<T>;

/// The most series to create before there are observations.
const PREPARED: usize = 100;

// === impl Label ===

impl Label {
    pub(super) fn one_of(name: &'static str, values: &[&'static str]) -> Self {
        Self {
            name,
            values: values.to_vec(),
            of: "",
        }
    }

    pub(super) fn new(name: &'static str, of: &'static str) -> Self {
        Self {
            name,
            values: Vec::new(),
            of,
        }
    }

    pub(super) fn endpoint() -> Self {
        Self::one_of("endpoint", &["validate", "mutate"])
    }

    pub(super) fn operation() -> Self {
        let known = ["CREATE", "UPDATE", "DELETE", "CONNECT", "other"];
        Self::one_of("operation", &known)
    }

    pub(super) fn decision() -> Self {
        Self::one_of("decision", &["allowed", "warned", "denied"])
    }

    pub(super) fn result(values: &[&'static str]) -> Self {
        Self::one_of("result", values)
    }

    pub(super) fn code() -> Self {
        let codes: Vec<_> = Code::ALL.into_iter().map(Code::as_str).collect();
        Self {
            of: "the codes of [findings](findings.md)",
            ..Self::one_of("code", &codes)
        }
    }

    pub(super) fn mutation() -> Self {
        let names: Vec<_> = Mutation::ALL.into_iter().map(Mutation::as_str).collect();
        Self::one_of("mutation", &names)
    }

    pub(super) fn requested() -> Self {
        Self::new(
            "kind",
            "kinds that attache reviews; `other` for all others, because the sender chooses them",
        )
    }

    pub(super) fn watched() -> Self {
        Self::new("kind", "kinds that attache watches")
    }
}

// === impl MetricRegistry ===

impl MetricRegistry {
    pub(super) fn new() -> Self {
        Self {
            registry: Registry::new(),
            described: Vec::new(),
            about: About::Reviews,
        }
    }

    /// Sets the subject of the following metrics.
    pub(super) fn on(&mut self, about: About) -> &mut Self {
        self.about = about;
        self
    }

    pub(super) fn counter(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<IntCounter> {
        let opts = self.note(Type::Counter, name, &[], &[], help, look);
        self.add(IntCounter::with_opts(opts))
    }

    /// A counter with labels. If all label values are known, all series exist from the start, because Prometheus does
    /// not see the appearance of a series as an increase.
    pub(super) fn counters(
        &mut self,
        name: &str,
        labels: &[Label],
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<IntCounterVec> {
        let opts = self.note(Type::Counter, name, labels, &[], help, look);
        let counters = self.add(IntCounterVec::new(opts, &names(labels)))?;
        for values in combinations(labels) {
            counters.with_label_values(&values);
        }
        Ok(counters)
    }

    pub(super) fn gauge(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<IntGauge> {
        let opts = self.note(Type::Gauge, name, &[], &[], help, look);
        self.add(IntGauge::with_opts(opts))
    }

    pub(super) fn gauges(
        &mut self,
        name: &str,
        labels: &[Label],
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<IntGaugeVec> {
        let opts = self.note(Type::Gauge, name, labels, &[], help, look);
        self.add(IntGaugeVec::new(opts, &names(labels)))
    }

    /// A gauge of seconds.
    pub(super) fn seconds(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<Gauge> {
        let opts = self.note(Type::Gauge, name, &[], &[], help, look);
        self.add(Gauge::with_opts(opts))
    }

    /// A gauge of seconds since 1970.
    pub(super) fn time(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<Gauge> {
        let opts = self.note(Type::Gauge, name, &[], &[], help, look);
        self.add(Gauge::with_opts(opts))
    }

    pub(super) fn times(
        &mut self,
        name: &str,
        labels: &[Label],
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<GaugeVec> {
        let opts = self.note(Type::Gauge, name, labels, &[], help, look);
        self.add(GaugeVec::new(opts, &names(labels)))
    }

    pub(super) fn histogram(
        &mut self,
        name: &str,
        buckets: &[f64],
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<Histogram> {
        let opts = self.note(Type::Histogram, name, &[], buckets, help, look);
        let opts = HistogramOpts::from(opts).buckets(buckets.to_vec());
        self.add(Histogram::with_opts(opts))
    }

    pub(super) fn histograms(
        &mut self,
        name: &str,
        labels: &[Label],
        buckets: &[f64],
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<HistogramVec> {
        let opts = self.note(Type::Histogram, name, labels, buckets, help, look);
        let opts = HistogramOpts::from(opts).buckets(buckets.to_vec());
        self.add(HistogramVec::new(opts, &names(labels)))
    }

    /// A counter that all metrics of the process share.
    pub(super) fn shared(
        &mut self,
        counter: &IntCounter,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<()> {
        self.note(Type::Counter, name, &[], &[], help, look);
        self.registry.register(Box::new(counter.clone()))
    }

    /// A gauge of the process, without the prefix in its name.
    pub(super) fn of_process(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<Gauge> {
        self.note_named(Type::Gauge, name.to_owned(), &[], &[], help, look);
        Gauge::with_opts(Opts::new(name, help))
    }

    /// A counter of the process, without the prefix in its name.
    pub(super) fn count_of_process(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> MetricResult<Counter> {
        self.note_named(Type::Counter, name.to_owned(), &[], &[], help, look);
        Counter::with_opts(Opts::new(name, help))
    }

    fn note(
        &mut self,
        kind: Type,
        name: &str,
        labels: &[Label],
        buckets: &[f64],
        help: &'static str,
        look: &'static str,
    ) -> Opts {
        let name = format!("{PREFIX}{name}");
        self.note_named(kind, name.clone(), labels, buckets, help, look);
        Opts::new(name, help)
    }

    fn note_named(
        &mut self,
        kind: Type,
        name: String,
        labels: &[Label],
        buckets: &[f64],
        help: &'static str,
        look: &'static str,
    ) {
        self.described.push(Described {
            name,
            about: self.about,
            kind,
            labels: labels.to_vec(),
            buckets: buckets.to_vec(),
            help,
            look,
        });
    }

    fn add<C: Collector + Clone + 'static>(&self, metric: MetricResult<C>) -> MetricResult<C> {
        let metric = metric?;
        self.registry.register(Box::new(metric.clone()))?;
        Ok(metric)
    }
}

/// The prefix of attache's own metrics.
pub(super) const PREFIX: &str = "attache_";

fn names(labels: &[Label]) -> Vec<&'static str> {
    labels.iter().map(|label| label.name).collect()
}

/// All combinations of label values; empty if a label is open or there are too many.
fn combinations(labels: &[Label]) -> Vec<Vec<&'static str>> {
    let count: usize = labels.iter().map(|label| label.values.len()).product();
    if count > PREPARED {
        return Vec::new();
    }
    labels.iter().fold(vec![Vec::new()], |before, label| {
        let longer = before.iter().flat_map(|row| {
            let with = |value: &&'static str| row.iter().copied().chain([*value]).collect();
            label.values.iter().map(with)
        });
        longer.collect()
    })
}
