//! The chart as a package: versions, lint, and the files of `manifests/` inside.

use std::fs;

use serde_json::Value;

use super::run::{chart, has_helm, helm, printed, read, root};

#[test]
fn chart_image_and_program_have_one_version() {
    let chart: Value = serde_saphyr::from_str(&read(&chart().join("Chart.yaml"))).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(chart["version"], version);
    assert_eq!(chart["appVersion"], version);
    let manifests = read(&root().join("manifests/kustomization.yaml"));
    assert!(manifests.contains(&format!("newTag: {version}\n")));
}

#[test]
fn helm_finds_nothing_wrong() {
    if !has_helm() {
        return;
    }
    let chart = chart();
    let output = printed(helm(&["lint", "--strict", chart.to_str().unwrap()]));
    assert!(!output.contains("[WARNING]"), "{output}");
}

/// In the repository the chart reaches `manifests/` by a link; a package has the files.
#[test]
fn a_package_renders_what_the_directory_renders() {
    if !has_helm() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().to_str().unwrap();
    let chart = chart();
    printed(helm(&[
        "package",
        chart.to_str().unwrap(),
        "--destination",
        to,
    ]));
    let package = fs::read_dir(to).unwrap().next().unwrap().unwrap().path();
    let rendered = |chart: &str| {
        let args = [
            "template",
            "attache",
            chart,
            "--set=certificates.from=secret,audit.enabled=true,monitoring.enabled=true",
        ];
        printed(helm(&args))
    };
    assert_eq!(
        rendered(package.to_str().unwrap()),
        rendered(chart.to_str().unwrap())
    );
}
