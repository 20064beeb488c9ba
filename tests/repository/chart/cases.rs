//! `cases/<case>/values.yaml`: values; `cases/<case>/changes.diff`: what they change in the objects and notes of the chart.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::run::{blesses, chart, has_helm, helm, printed, read, root};

/// A longer run of added or removed lines of one object is cut: `same.rs` compares whole objects.
const LONGEST: usize = 40;
/// The beginning of certificates in base64. They are made anew each time.
const PEM: &str = "LS0tLS1CRUdJTi";

/// The hooks, objects and notes of an installation.
fn rendered(values: Option<&Path>) -> String {
    let chart = chart();
    let mut args = vec!["install", "attache", chart.to_str().unwrap()];
    args.extend(["--namespace=attache-system", "--dry-run=client"]);
    if let Some(values) = values {
        args.extend(["--values", values.to_str().unwrap()]);
    }
    let text = printed(helm(&args));
    // The head has the time.
    let (_, text) = text.split_once("\nHOOKS:\n").expect("hooks");
    let text = without_dashboard(text);
    let lines = text.lines().filter(|line| !is_label(line));
    let lines = lines.map(|line| match line.split_once(": ") {
        Some((name, value)) if value.starts_with(PEM) => format!("{name}: (PEM)"),
        // Short enough to be quoted by `diff`.
        _ => line.replace("# Source: attache/templates/", "## "),
    });
    lines.collect::<Vec<String>>().join("\n") + "\n"
}

/// The dashboard is that of `manifests/`, and long.
fn without_dashboard(text: &str) -> String {
    const NAME: &str = "\n  attache.json: |\n";
    let Some((before, after)) = text.split_once(NAME) else {
        return text.to_owned();
    };
    let (_, rest) = after.split_once("\nkind: ConfigMap\n").expect("a kind");
    format!("{before}{NAME}    (JSON)\nkind: ConfigMap\n{rest}")
}

/// The labels that each object has.
fn is_label(line: &str) -> bool {
    let labels = ["instance", "managed-by", "part-of", "version"];
    let is_of_chart = line.trim_start().starts_with("helm.sh/chart: ");
    let name = line.trim_start().strip_prefix("app.kubernetes.io/");
    let name = name.and_then(|name| name.split(':').next());
    is_of_chart || name.is_some_and(|name| labels.contains(&name))
}

/// The differences between two texts, by file of the chart. Line numbers are left out.
fn changes(from: &str, to: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let [from, to] = [("from", from), ("to", to)].map(|(name, text)| {
        let file = dir.path().join(name);
        fs::write(&file, text).unwrap();
        file
    });
    let output = Command::new("diff")
        .args(["-U2", "--show-function-line=^## \\|^NOTES:"])
        .args([from, to])
        .output()
        .expect("diff runs");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut kept = Vec::new();
    let mut run = 0;
    for line in text.lines().skip(2) {
        let is_change = line.starts_with(['+', '-']);
        let is_new_object = line.ends_with("---");
        run = if is_change && !is_new_object {
            run + 1
        } else {
            0
        };
        if let Some(head) = line.strip_prefix("@@ ") {
            let (_, place) = head.split_once("@@").expect("a head");
            kept.push(format!(
                "@@{}",
                place.replace("# Source: attache/templates/", "")
            ));
        } else if run <= LONGEST {
            kept.push(line.trim_end().to_owned());
        } else if run == LONGEST + 1 {
            kept.push("...".to_owned());
        }
    }
    kept.join("\n") + "\n"
}

#[test]
fn values_change_what_they_say_and_nothing_else() {
    if !has_helm() {
        return;
    }
    let by_default = rendered(None);
    let cases = fs::read_dir(root().join("tests/repository/chart/cases")).unwrap();
    let mut cases: Vec<_> = cases.map(|case| case.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 8);
    let mut wrong = Vec::new();
    for case in cases {
        let changes = changes(&by_default, &rendered(Some(&case.join("values.yaml"))));
        let golden = case.join("changes.diff");
        if blesses() {
            fs::write(&golden, changes).unwrap();
        } else if read(&golden) != changes {
            wrong.push(format!("{}:\n{changes}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rest of the alerts is as in `manifests/`.
#[test]
fn alerts_know_the_memory_limit_and_the_replicas() {
    if !has_helm() {
        return;
    }
    let alerts = |values: &str| {
        let chart = chart();
        let args = [
            "template",
            "attache",
            chart.to_str().unwrap(),
            "--show-only=templates/monitoring.yaml",
        ];
        let values = format!("monitoring.enabled=true,{values}");
        printed(helm(&[&args[..], &["--set", &values]].concat()))
    };
    let text = alerts("resources.limits.memory=2Gi");
    assert!(text.contains("> 0.8 * 2048 * 1024 * 1024"), "{text}");
    assert!(!text.contains("512 *"), "{text}");
    assert!(text.contains("alert: AttacheNotRedundant"), "{text}");
    let text = alerts("replicas=1");
    assert!(text.contains("> 0.8 * 512 * 1024 * 1024"), "{text}");
    assert!(!text.contains("alert: AttacheNotRedundant"), "{text}");
}
