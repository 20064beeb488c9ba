//! A parser for the part of `PromQL` that names metrics, labels and values.

use std::collections::{BTreeMap, BTreeSet};

use attache::metrics::{Described, Metrics, Type};

/// Labels that Prometheus itself adds.
const OF_THE_SCRAPE: [&str; 4] = ["job", "instance", "namespace", "pod"];

/// Metrics of other programs, with their labels.
pub(crate) const OF_OTHERS: [(&str, &[&str]); 2] = [
    (
        "apiserver_admission_webhook_rejection_count",
        &["name", "type", "operation", "error_type", "rejection_code"],
    ),
    (
        "apiserver_admission_webhook_fail_open_count",
        &["name", "type"],
    ),
];

/// Keywords in positions where a metric could be.
const WORDS: [&str; 11] = [
    "and",
    "or",
    "unless",
    "on",
    "ignoring",
    "by",
    "without",
    "group_left",
    "group_right",
    "bool",
    "offset",
];

/// A metric in a query with its label matchers: name, operator, value.
#[derive(Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) metric: String,
    pub(crate) labels: Vec<(String, String, String)>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) metrics: Vec<Named>,
    /// The labels in grouping and matching clauses.
    pub(crate) by: BTreeSet<String>,
}

/// The names, operators and strings of a query.
fn tokens(query: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = query.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$' || c == '.';
        let end = if first == '"' {
            rest[1..].find('"').expect("a text ends") + 2
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if ["=~", "!~", "!=", "==", ">=", "<="]
            .iter()
            .any(|sign| rest.starts_with(sign))
        {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    tokens
}

pub(crate) fn read(query: &str) -> Query {
    let tokens = tokens(query);
    let token = |i: usize| tokens.get(i).map_or("", String::as_str);
    let end_of = |sign: &str, from: usize| {
        let end = (from..tokens.len()).find(|&j| token(j) == sign);
        end.unwrap_or_else(|| panic!("no {sign} in {query}"))
    };
    let mut read = Query {
        metrics: Vec::new(),
        by: BTreeSet::new(),
    };
    let mut i = 0;
    while i < tokens.len() {
        let word = token(i);
        if [
            "by",
            "on",
            "without",
            "ignoring",
            "group_left",
            "group_right",
        ]
        .contains(&word)
            && token(i + 1) == "("
        {
            let end = end_of(")", i);
            read.by.extend(
                (i + 2..end)
                    .map(token)
                    .filter(|t| *t != ",")
                    .map(str::to_owned),
            );
            i = end + 1;
        } else if token(i) == "[" {
            i = end_of("]", i) + 1;
        } else if word.starts_with(|c: char| c.is_ascii_alphabetic())
            && !["(", "by", "without"].contains(&token(i + 1))
            && !WORDS.contains(&word)
        {
            let mut labels = Vec::new();
            let metric = word.to_owned();
            i += 1;
            if token(i) == "{" {
                let end = end_of("}", i);
                let parts: Vec<&str> = (i + 1..end).map(token).collect();
                for matcher in parts.split(|part| *part == ",").filter(|m| !m.is_empty()) {
                    let [label, sign, value] = matcher else {
                        panic!("{matcher:?} in {query}");
                    };
                    let value = value.trim_matches('"').to_owned();
                    labels.push(((*label).to_owned(), (*sign).to_owned(), value));
                }
                i = end + 1;
            }
            read.metrics.push(Named { metric, labels });
        } else {
            i += 1;
        }
    }
    read
}

/// The faults of a query: unknown metrics, labels and values.
pub(crate) fn faults(query: &str) -> Vec<String> {
    let metrics = Metrics::new().unwrap();
    let known: BTreeMap<&str, &Described> = metrics
        .described()
        .iter()
        .map(|m| (m.name.as_str(), m))
        .collect();
    let mut faults = Vec::new();
    let mut may_group: BTreeSet<String> = OF_THE_SCRAPE.map(str::to_owned).into();
    let read = read(query);
    for Named { metric, labels } in &read.metrics {
        let part = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| Some((metric.strip_suffix(end)?, *end)))
            .filter(|(name, _)| known.get(name).is_some_and(|m| m.kind == Type::Histogram));
        let mut allowed: BTreeSet<&str> = OF_THE_SCRAPE.into();
        let described = match part {
            Some((name, end)) => {
                allowed.extend((end == "_bucket").then_some("le"));
                known.get(name)
            }
            None => known
                .get(metric.as_str())
                .filter(|m| m.kind != Type::Histogram),
        };
        match (described, OF_OTHERS.iter().find(|(name, _)| name == metric)) {
            (Some(described), _) => allowed.extend(described.labels.iter().map(|l| l.name)),
            (None, Some((_, labels))) => allowed.extend(*labels),
            (None, None) => {
                faults.push(format!("{metric} is in no document"));
                continue;
            }
        }
        may_group.extend(allowed.iter().map(|label| (*label).to_owned()));
        for (label, sign, value) in labels {
            if !allowed.contains(label.as_str()) {
                faults.push(format!("{metric} has no label {label}"));
            }
            let closed = described.and_then(|d| d.labels.iter().find(|l| l.name == label));
            let values: Vec<&str> = match sign.as_str() {
                "=" => vec![value],
                _ => value.split('|').collect(),
            };
            if let Some(closed) = closed.filter(|l| !l.values.is_empty()) {
                for value in values
                    .into_iter()
                    .filter(|value| !closed.values.contains(value))
                {
                    faults.push(format!("{metric}: {label} is never {value}"));
                }
            }
            let buckets = described.map(|d| &d.buckets).filter(|_| label == "le");
            let bound: Option<f64> = value.parse().ok();
            if let (Some(buckets), Some(bound)) = (buckets, bound)
                && !buckets.iter().any(|b| (b - bound).abs() < f64::EPSILON)
            {
                faults.push(format!("{metric} has no bucket {value}"));
            }
        }
    }
    if read.metrics.is_empty() {
        faults.push("it names no metric".to_owned());
    }
    for label in read.by.difference(&may_group) {
        faults.push(format!("nothing here has the label {label}"));
    }
    faults
}

#[test]
fn faults_of_queries_are_found() {
    for (query, fault) in [
        (
            "sum(rate(attache_shed_totals[5m]))",
            "attache_shed_totals is in no document",
        ),
        (
            "attache_request_duration_seconds",
            "attache_request_duration_seconds is in no document",
        ),
        (
            "attache_shed_total_count",
            "attache_shed_total_count is in no document",
        ),
        (
            "attache_shed_total{code=\"a\"}",
            "attache_shed_total has no label code",
        ),
        (
            "sum by (kid) (attache_cache_objects)",
            "nothing here has the label kid",
        ),
        (
            "attache_sar_total{result=\"no\"}",
            "attache_sar_total: result is never no",
        ),
        (
            "attache_spans_total{result=~\"failed|gone\"}",
            "attache_spans_total: result is never gone",
        ),
        (
            "attache_request_duration_seconds_bucket{le=\"4\"}",
            "attache_request_duration_seconds_bucket has no bucket 4",
        ),
        ("vector(1)", "it names no metric"),
    ] {
        assert_eq!(faults(query), [fault], "{query}");
    }
    let good = "histogram_quantile(0.99, sum by (le, endpoint) (rate(attache_request_duration_seconds_bucket{instance=~\"$instance\"}[$__rate_interval]))) > 1 and on (job) attache_build_info";
    assert_eq!(faults(good), [""; 0]);
}
