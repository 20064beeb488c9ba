//! Dashboard, alerts and runbooks use existing names, fit together, and each alert fires when it should.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use attache::metrics::Metrics;
use serde_json::{Value, json};

use super::promql::{OF_OTHERS, faults};

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rule groups for Prometheus.
fn groups() -> Value {
    yaml("manifests/monitoring/alerts.yaml")["spec"].clone()
}

fn alerts() -> Vec<Value> {
    let groups = groups();
    let groups = groups["groups"].as_array().unwrap();
    let rules = groups
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap());
    rules.cloned().collect()
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key}: {value}"))
}

fn names(alerts: &[Value]) -> BTreeSet<String> {
    alerts
        .iter()
        .map(|alert| text_of(alert, "alert").to_owned())
        .collect()
}

/// The titles and queries of the dashboard.
fn queries() -> Vec<(String, String)> {
    let dashboard: Value =
        serde_json::from_str(&text("manifests/monitoring/dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let of_panel = |panel: &Value| {
        let title = text_of(panel, "title").to_owned();
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        targets
            .into_iter()
            .map(move |target| (title.clone(), text_of(&target, "expr").to_owned()))
    };
    panels.iter().flat_map(of_panel).collect()
}

#[test]
fn the_dashboard_asks_for_what_is_documented() {
    let queries = queries();
    assert!(queries.len() > 30, "the queries are gone");
    for (title, query) in &queries {
        assert_eq!(faults(query), [""; 0], "{title}: {query}");
    }
    // A metric that no panel shows is never seen.
    let all: String = queries.into_iter().map(|(_, query)| query).collect();
    for metric in attache::metrics::Metrics::new().unwrap().described() {
        assert!(all.contains(&metric.name), "{} is in no panel", metric.name);
    }
}

#[test]
fn panels_do_not_lie_on_each_other() {
    let dashboard: Value =
        serde_json::from_str(&text("manifests/monitoring/dashboard.json")).unwrap();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        assert!(at("x") + at("w") <= 24, "{panel}");
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(taken.insert((x, y)), "{}", text_of(panel, "title"));
            }
        }
    }
}

#[test]
fn alerts_ask_for_what_is_documented() {
    for alert in alerts() {
        assert_eq!(faults(text_of(&alert, "expr")), [""; 0], "{alert}");
        let severity = text_of(&alert["labels"], "severity");
        assert!(
            ["critical", "warning", "info"].contains(&severity),
            "{alert}"
        );
        assert!(
            text_of(&alert["annotations"], "summary").ends_with('.'),
            "{alert}"
        );
    }
    let document = text("docs/reference/metrics.md");
    for (name, labels) in OF_OTHERS {
        let line = document
            .lines()
            .find(|line| line.contains(&format!("`{name}`")));
        let line = line.unwrap_or_else(|| panic!("{name} is in no document"));
        assert!(
            labels
                .iter()
                .all(|label| line.contains(&format!("`{label}`"))),
            "{line}"
        );
    }
}

#[test]
fn each_alert_has_a_page_and_each_page_an_alert() {
    let alerts = alerts();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runbooks");
    let pages = fs::read_dir(folder)
        .unwrap()
        .map(|page| page.unwrap().file_name());
    let pages: BTreeSet<String> = pages
        .map(|name| {
            name.to_str()
                .unwrap()
                .strip_suffix(".md")
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(pages, names(&alerts));
    let overview = text("docs/how-to/monitor.md");
    let known = attache::metrics::Metrics::new().unwrap();
    for alert in &alerts {
        let name = text_of(alert, "alert");
        let path = format!("docs/runbooks/{name}.md");
        assert_eq!(text_of(&alert["annotations"], "runbook_url"), path);
        let severity = text_of(&alert["labels"], "severity");
        let line = format!("| [{name}](../runbooks/{name}.md) | {severity} |");
        assert!(
            overview.contains(&line),
            "docs/how-to/monitor.md has no {line:?}"
        );
        let page = text(&path);
        assert!(page.starts_with(&format!("# {name}\n")), "{path}");
        for part in ["## What it means", "## What to look at", "## What to do"] {
            assert!(page.contains(part), "{path} has no {part:?}");
        }
        let words = page.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in
            words.filter(|word| word.starts_with("attache_") || word.starts_with("process_"))
        {
            let is_known = known.described().iter().any(|metric| metric.name == word);
            assert!(is_known, "{path}: no metric {word}");
        }
        for rest in page.split("](").skip(1) {
            let to = rest.split(')').next().unwrap();
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runbooks");
            assert!(folder.join(to).exists(), "{path}: {to} leads nowhere");
        }
    }
}

#[test]
fn each_alert_is_tried_both_ways() {
    let tried = yaml("tests/serving/operate/alerts.yaml");
    let (mut fires, mut stays) = (BTreeSet::new(), BTreeSet::new());
    for test in tried["tests"].as_array().unwrap() {
        for case in test["alert_rule_test"].as_array().unwrap() {
            let name = text_of(case, "alertname").to_owned();
            if case["exp_alerts"].as_array().unwrap().is_empty() {
                stays.insert(name);
            } else {
                fires.insert(name);
            }
        }
    }
    let all = names(&alerts());
    assert_eq!(fires, all, "each fires");
    assert_eq!(stays, all, "each stays quiet");
}

/// The memory alert uses the pod's memory limit, and the latency alert the webhook's timeout.
#[test]
fn alerts_are_about_the_limits_of_the_manifests() {
    let alerts = alerts();
    let expr = |name: &str| {
        let alert = alerts.iter().find(|alert| alert["alert"] == name).unwrap();
        text_of(alert, "expr").to_owned()
    };
    let pod = yaml("manifests/base/deployment.yaml")["spec"]["template"]["spec"].clone();
    let limit = text_of(&pod["containers"][0]["resources"]["limits"], "memory").to_owned();
    let limit = limit.strip_suffix("Mi").unwrap();
    assert!(expr("AttacheMemoryNearLimit").ends_with(&format!("> 0.8 * {limit} * 1024 * 1024")));
    let slow = expr("AttacheSlow");
    let seconds: u64 = slow.rsplit_once("> ").unwrap().1.parse().unwrap();
    for file in ["validating-webhook.yaml", "mutating-webhook.yaml"] {
        let configuration = yaml(&format!("manifests/base/{file}"));
        for webhook in configuration["webhooks"].as_array().unwrap() {
            let timeout = webhook["timeoutSeconds"].as_u64().unwrap();
            assert!(seconds < timeout, "{file}: told before calls are given up");
            // A histogram bucket ends exactly at the timeout.
            let page = Metrics::new().unwrap();
            page.request_duration
                .with_label_values(&["", "", ""])
                .observe(0.0);
            let bucket = format!("le=\"{timeout}\"");
            assert!(page.text().unwrap().contains(&bucket), "{file}: {bucket}");
        }
    }
    let replicas = &yaml("manifests/base/deployment.yaml")["spec"]["replicas"];
    assert!(expr("AttacheNotRedundant").ends_with(&format!("< {replicas}")));
}

/// The path of promtool. `None` if this machine cannot build it.
fn promtool() -> Option<PathBuf> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/cluster.sh");
    let made = Command::new(script)
        .args(["program", "promtool"])
        .output()
        .unwrap();
    let required = std::env::var("ATTACHE_REQUIRE_CLUSTER").is_ok_and(|value| value == "1");
    match made.status.code() {
        Some(0) => Some(String::from_utf8(made.stdout).unwrap().trim().into()),
        Some(3) if !required => {
            // Writes to stderr directly, since the test runner would capture other output.
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {test}: no Go, so there is no promtool"
            );
            None
        }
        _ => panic!("{}", String::from_utf8_lossy(&made.stderr)),
    }
}

fn run(promtool: &Path, folder: &Path, args: &[&str]) {
    let ran = Command::new(promtool)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let output = [ran.stdout, ran.stderr].concat();
    assert!(
        ran.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output)
    );
}

#[test]
fn prometheus_takes_the_alerts_and_they_fire_when_they_should() {
    let Some(promtool) = promtool() else { return };
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    // JSON is valid YAML.
    write("rules.yaml", &groups().to_string());
    write("tests.yaml", &text("tests/serving/operate/alerts.yaml"));
    run(
        &promtool,
        dir.path(),
        &["check", "rules", "--lint=all", "--lint-fatal", "rules.yaml"],
    );
    run(&promtool, dir.path(), &["test", "rules", "tests.yaml"]);
}

#[test]
fn prometheus_understands_every_query_of_the_dashboard() {
    let Some(promtool) = promtool() else { return };
    let record = |(i, (_, query)): (usize, (String, String))| {
        let query = query
            .replace("$__rate_interval", "5m")
            .replace("$instance", ".+");
        json!({"record": format!("panel:{i}"), "expr": query})
    };
    let rules: Vec<Value> = queries().into_iter().enumerate().map(record).collect();
    let dir = tempfile::tempdir().unwrap();
    let rules = json!({"groups": [{"name": "panels", "rules": rules}]});
    fs::write(dir.path().join("rules.yaml"), rules.to_string()).unwrap();
    run(&promtool, dir.path(), &["check", "rules", "rules.yaml"]);
}

#[tokio::test]
async fn prometheus_finds_nothing_to_say_of_the_page() {
    let Some(promtool) = promtool() else { return };
    let server = super::process::Process::start(&super::process::Setup::default());
    server.connect().await;
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page");
    fs::write(&page, server.get("/metrics").await.body).unwrap();
    let checked = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(fs::File::open(page).unwrap())
        .output()
        .unwrap();
    let output = String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap();
    assert!(checked.status.success() && output.is_empty(), "{output}");
}
