//! What is to be known of a metric: `docs/metrics.md` is made of it, so it stands beside the metric itself.

use prometheus::core::Collector;
use prometheus::{
    Counter, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec,
    IntGauge, IntGaugeVec, Opts, Registry,
};

use crate::engine::finding::Code;
use crate::engine::mutate::Mutation;

/// What a metric is about; the documents have a part for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// Reviews, and requests that are none.
    Reviews,
    /// What was found and mended.
    Findings,
    /// Connections, certificate, configuration, logs and traces.
    Server,
    /// What is known of the cluster, and what it was asked. There only with a cluster behind.
    Cluster,
    /// The process, under the names that all Prometheus clients use.
    Process,
}

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// It only grows, and begins at 0 with the process.
    Counter,
    /// It goes up and down.
    Gauge,
    /// How many were below each bucket.
    Histogram,
}

/// A label and the values that it may have.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// All its values, where they are known beforehand.
    pub values: Vec<&'static str>,
    /// What they are, where a list of them would say less, or where there is none.
    pub of: &'static str,
}

/// What is to be known of a metric.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its name, with the prefix.
    pub name: String,
    /// What it is about.
    pub about: About,
    /// How it behaves.
    pub kind: Type,
    /// Its labels.
    pub labels: Vec<Label>,
    /// The upper bounds of its buckets.
    pub buckets: Vec<f64>,
    /// What it is.
    pub help: &'static str,
    /// When to look at it.
    pub look: &'static str,
}

/// Makes metrics, registers them and keeps what is to be known of them; the prefix stands here only.
pub(super) struct Maker {
    pub(super) registry: Registry,
    pub(super) described: Vec<Described>,
    about: About,
}

type Made<T> = prometheus::Result<T>;

/// Most series that are made before anything has happened.
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

    pub(super) fn of(name: &'static str, of: &'static str) -> Self {
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
        Self::of(
            "kind",
            "kinds that attache reviews; `other` for the rest, which the sender picks",
        )
    }

    pub(super) fn watched() -> Self {
        Self::of("kind", "kinds that attache watches")
    }
}

// === impl Maker ===

impl Maker {
    pub(super) fn new() -> Self {
        Self {
            registry: Registry::new(),
            described: Vec::new(),
            about: About::Reviews,
        }
    }

    /// What the next ones are about.
    pub(super) fn on(&mut self, about: About) -> &mut Self {
        self.about = about;
        self
    }

    pub(super) fn counter(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> Made<IntCounter> {
        let opts = self.note(Type::Counter, name, &[], &[], help, look);
        self.add(IntCounter::with_opts(opts))
    }

    /// A counter by labels. Where all their values are known, all series are there from the start: an
    /// increase from nothing to one is no increase to Prometheus.
    pub(super) fn counters(
        &mut self,
        name: &str,
        labels: &[Label],
        help: &'static str,
        look: &'static str,
    ) -> Made<IntCounterVec> {
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
    ) -> Made<IntGauge> {
        let opts = self.note(Type::Gauge, name, &[], &[], help, look);
        self.add(IntGauge::with_opts(opts))
    }

    pub(super) fn gauges(
        &mut self,
        name: &str,
        labels: &[Label],
        help: &'static str,
        look: &'static str,
    ) -> Made<IntGaugeVec> {
        let opts = self.note(Type::Gauge, name, labels, &[], help, look);
        self.add(IntGaugeVec::new(opts, &names(labels)))
    }

    /// A gauge of seconds since 1970.
    pub(super) fn time(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> Made<Gauge> {
        let opts = self.note(Type::Gauge, name, &[], &[], help, look);
        self.add(Gauge::with_opts(opts))
    }

    pub(super) fn times(
        &mut self,
        name: &str,
        labels: &[Label],
        help: &'static str,
        look: &'static str,
    ) -> Made<GaugeVec> {
        let opts = self.note(Type::Gauge, name, labels, &[], help, look);
        self.add(GaugeVec::new(opts, &names(labels)))
    }

    pub(super) fn histogram(
        &mut self,
        name: &str,
        buckets: &[f64],
        help: &'static str,
        look: &'static str,
    ) -> Made<Histogram> {
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
    ) -> Made<HistogramVec> {
        let opts = self.note(Type::Histogram, name, labels, buckets, help, look);
        let opts = HistogramOpts::from(opts).buckets(buckets.to_vec());
        self.add(HistogramVec::new(opts, &names(labels)))
    }

    /// A counter that is shared by all metrics of the process.
    pub(super) fn shared(
        &mut self,
        counter: &IntCounter,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> Made<()> {
        self.note(Type::Counter, name, &[], &[], help, look);
        self.registry.register(Box::new(counter.clone()))
    }

    /// A gauge of the process, under a name without the prefix.
    pub(super) fn of_process(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> Made<Gauge> {
        self.note_named(Type::Gauge, name.to_owned(), &[], &[], help, look);
        Gauge::with_opts(Opts::new(name, help))
    }

    /// The same for a counter.
    pub(super) fn count_of_process(
        &mut self,
        name: &str,
        help: &'static str,
        look: &'static str,
    ) -> Made<Counter> {
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

    fn add<C: Collector + Clone + 'static>(&self, metric: Made<C>) -> Made<C> {
        let metric = metric?;
        self.registry.register(Box::new(metric.clone()))?;
        Ok(metric)
    }
}

/// What the names of attache's own metrics begin with.
pub(super) const PREFIX: &str = "attache_";

fn names(labels: &[Label]) -> Vec<&'static str> {
    labels.iter().map(|label| label.name).collect()
}

/// Every combination of values; none where a label is open, or where they are too many.
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
