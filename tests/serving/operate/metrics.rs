//! `docs/reference/metrics.md` matches the code, and a running server has exactly these metrics.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use attache::metrics::{About, Described, Label, Metrics, Type};
use serde_json::json;

use super::process::{Process, Setup, review};
use testing::client::Tls;

const HEAD: &str = "# Metrics

`GET /metrics` on the admin port (9090), in the text format of Prometheus. This page is generated from the code:
`ATTACHE_BLESS=1 cargo test --test serving operate` writes it.

Labels have few values. They never contain names of users, nor of objects other than guardrails; they contain a kind as long as
attache reviews or watches it. Only `attache_standing_findings` names namespaces, at most 100. Counters whose labels have known
values start at 0.

[Monitor attache](../how-to/monitor.md) has the dashboard and the alerts that use these metrics.
";

const PARTS: [(About, &str, &str); 6] = [
    (About::Reviews, "Reviews", ""),
    (About::Findings, "Findings and mutations", ""),
    (
        About::CurrentState,
        "The current state",
        "The findings and states that hold in the cluster now; `attache check --cluster` finds the same. attache computes them in the background when \
         something has changed, at most every ten seconds. Every replica has the same numbers, so take their `max`, not \
         their `sum`.",
    ),
    (
        About::Cluster,
        "The cluster",
        "The state of the cache, and requests to the API server. Series with a `kind` exist only with a cluster, not \
         with `--from`.",
    ),
    (About::Server, "The server", ""),
    (
        About::Process,
        "The process",
        "With the standard names of Prometheus clients, read from `/proc`.",
    ),
];

/// Metrics that dashboard and alerts take from the API server: only the API server knows that a call failed.
const OF_THE_API_SERVER: [(&str, &str, &str); 2] = [
    (
        "apiserver_admission_webhook_rejection_count",
        "`name`, `type`, `operation`, `error_type`, `rejection_code`",
        "Requests that were refused; with `error_type=\"calling_webhook_error\"`, because the call failed.",
    ),
    (
        "apiserver_admission_webhook_fail_open_count",
        "`name`, `type`",
        "Requests that passed unchecked because the call failed (`failurePolicy: Ignore`).",
    ),
];

fn document() -> String {
    let metrics = Metrics::new().unwrap();
    let mut page = HEAD.to_owned();
    for (about, title, what) in PARTS {
        write!(page, "\n## {title}\n\n").unwrap();
        if !what.is_empty() {
            write!(page, "{what}\n\n").unwrap();
        }
        page.push_str(
            "| name | type | labels | what it measures | look at it |\n|---|---|---|---|---|\n",
        );
        let of_part = || metrics.described().iter().filter(|m| m.about == about);
        assert!(of_part().next().is_some(), "{title}");
        for metric in of_part() {
            row(&mut page, metric);
        }
        for metric in of_part().filter(|metric| !metric.buckets.is_empty()) {
            let buckets: Vec<String> = metric.buckets.iter().map(ToString::to_string).collect();
            write!(
                page,
                "\nBuckets of `{}`: {}.\n",
                metric.name,
                buckets.join(", ")
            )
            .unwrap();
        }
    }
    page.push_str("\n## Labels\n\n| label | of | values |\n|---|---|---|\n");
    for metric in metrics.described() {
        for label in &metric.labels {
            writeln!(
                page,
                "| `{}` | `{}` | {} |",
                label.name,
                metric.name,
                values(label)
            )
            .unwrap();
        }
    }
    page.push_str(
        "\n## Of the API server\n\nPrometheus scrapes these from the API server. Dashboard and alerts use them; the API server has more.\n\n\
         | name | labels | what it measures |\n|---|---|---|\n",
    );
    for (name, labels, what) in OF_THE_API_SERVER {
        writeln!(page, "| `{name}` | {labels} | {what} |").unwrap();
    }
    page
}

fn row(page: &mut String, metric: &Described) {
    let kind = match metric.kind {
        Type::Counter => "counter",
        Type::Gauge => "gauge",
        Type::Histogram => "histogram",
    };
    let labels: Vec<String> = metric
        .labels
        .iter()
        .map(|l| format!("`{}`", l.name))
        .collect();
    let labels = labels.join(", ");
    writeln!(
        page,
        "| `{}` | {kind} | {labels} | {} | {} |",
        metric.name, metric.help, metric.look
    )
    .unwrap();
}

fn values(label: &Label) -> String {
    if !label.of.is_empty() {
        return label.of.to_owned();
    }
    let values: Vec<String> = label.values.iter().map(|v| format!("`{v}`")).collect();
    values.join(", ")
}

#[test]
fn the_document_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/metrics.md");
    let output = document();
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        fs::write(&path, &output).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == output,
        "docs/reference/metrics.md is stale: ATTACHE_BLESS=1 cargo test --test serving operate writes it"
    );
}

/// Units and suffixes follow Prometheus' guide.
#[test]
fn names_are_as_everywhere() {
    for metric in Metrics::new().unwrap().described() {
        let name = &metric.name;
        let counts = name.ends_with("_total");
        assert_eq!(counts, metric.kind == Type::Counter, "{name}");
        for wrong in [
            "_ms", "_millis", "_micros", "_kb", "_mb", "_count", "_sum", "_bucket",
        ] {
            assert!(!name.ends_with(wrong), "{name}");
        }
        if metric.kind == Type::Histogram {
            assert!(
                name.ends_with("_seconds") || name.ends_with("_bytes"),
                "{name}"
            );
            assert!(metric.buckets.is_sorted(), "{name}");
        }
        assert!(
            metric.help.ends_with('.') && !metric.look.is_empty(),
            "{name}"
        );
        for label in &metric.labels {
            let closed = !label.values.is_empty() || !label.of.is_empty();
            assert!(closed, "{name}: nothing bounds {}", label.name);
        }
    }
}

/// The metrics in a scrape: those with a TYPE line; every series must belong to one.
pub(crate) fn scraped(page: &str) -> BTreeSet<String> {
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let announced: BTreeSet<String> = types
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let is_part = |end: &&str| {
            name.strip_suffix(end)
                .is_some_and(|n| announced.contains(n))
        };
        let known = announced.contains(name) || ["_bucket", "_sum", "_count"].iter().any(is_part);
        assert!(known, "not announced: {line}");
    }
    announced
}

#[tokio::test]
async fn a_server_that_has_been_asked_has_what_is_documented_and_nothing_else() {
    let mutations = "mutations: {normalize-targets: true}\n";
    let config = fs::read_to_string("examples/quickstart/attache.yaml").unwrap();
    let server = Process::start(&Setup {
        files: &[("attache.yaml", &format!("{config}{mutations}"))],
        ..Setup::default()
    });
    let mut client = server.connect().await;
    ask(&mut client).await;
    let page = server.get("/metrics").await.body;
    let there = scraped(&page);
    let metrics = Metrics::new().unwrap();
    let described = metrics.described().iter();
    let known: BTreeSet<String> = described.clone().map(|m| m.name.clone()).collect();
    let strangers: Vec<_> = there.difference(&known).collect();
    assert!(strangers.is_empty(), "not documented: {strangers:?}");
    // Metrics of watched kinds and of managed configurations are tested with a cluster; those of
    // the current state exist once it has been judged.
    let is_later = |about: About| matches!(about, About::Cluster | About::CurrentState);
    let of_cluster = |m: &&Described| !is_later(m.about) || m.labels.is_empty();
    let missing: Vec<_> = described
        .filter(of_cluster)
        .filter(|m| !there.contains(&m.name))
        .map(|m| &m.name)
        .collect();
    assert!(missing.is_empty(), "documented and not there: {missing:?}");
    for line in [
        r#"attache_requests_total{decision="warned",dry_run="false",endpoint="validate",kind="RetryPolicy.policies.example.com",operation="CREATE"} 1"#,
        r#"attache_requests_total{decision="denied",dry_run="false",endpoint="validate",kind="RetryPolicy.policies.example.com",operation="CREATE"} 1"#,
        r#"attache_request_duration_seconds_count{decision="denied",endpoint="validate",operation="CREATE"} 1"#,
        r#"attache_request_duration_seconds_bucket{decision="denied",endpoint="validate",operation="CREATE",le="5"} 1"#,
        r#"attache_engine_duration_seconds_count{endpoint="mutate"} 1"#,
        "attache_request_body_bytes_count 4",
        r#"attache_findings_total{code="section-unknown",severity="deny"} 1"#,
        r#"attache_mutations_total{mutation="normalize-targets"} 1"#,
        r#"attache_malformed_total{reason="json"} 1"#,
        "attache_shed_total 0",
        "attache_config_current 1",
    ] {
        assert!(page.lines().any(|series| series == line), "{line}\n{page}");
    }
    let value = |name: &str| {
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}"))
            .parse::<f64>()
            .unwrap()
    };
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    assert_eq!(value("process_threads").to_string(), line.unwrap().trim());
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(
        value("process_open_fds") > 3.0 && value("process_max_fds") >= value("process_open_fds")
    );
    assert!(value("process_cpu_seconds_total") > 0.0);
    let now = jiff::Timestamp::now().as_second();
    let started = value("process_start_time_seconds");
    assert!((started - f64::from(i32::try_from(now).unwrap())).abs() < 3600.0);
    assert!(value("attache_cert_not_after_timestamp_seconds") > started);
}

async fn ask(client: &mut Tls) {
    let good = review("u-1", "good", "http", &json!({}));
    let bad = review("u-2", "bad", "htpp", &json!({}));
    let versioned = json!({"spec": {"targetRef": {"group": "gateway.networking.k8s.io/v1"}}});
    let versioned = review("u-3", "versioned", "http", &versioned);
    for (path, body, status) in [
        ("/validate?timeout=5s", good.to_string(), 200),
        ("/validate?timeout=5s", bad.to_string(), 200),
        ("/mutate?timeout=5s", versioned.to_string(), 200),
        ("/validate", "{".to_owned(), 400),
    ] {
        let answer = client.post(path, body.as_bytes()).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
}
