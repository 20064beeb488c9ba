//! `attache diff` of a real cluster.

use std::fs;
use std::path::Path;

use super::{FOLDER, STATE};
use crate::harness::{Cluster, Said};

fn diff(cluster: &Cluster, args: &[&str]) -> Said {
    let all = [&["diff"], args, &["-A", "--exit-code"]].concat();
    cluster.attache(None).run(all)
}

/// The manifests of a cluster, in a folder of their own, changed by `change`.
fn manifests(change: impl Fn(&str) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for file in fs::read_dir(Path::new(FOLDER).join("state")).expect("fixtures") {
        let file = file.expect("fixtures").path();
        let text = fs::read_to_string(&file).expect("a fixture");
        let to = folder.path().join(file.file_name().expect("a file"));
        fs::write(to, change(&text)).expect("a writable folder");
    }
    folder
}

/// The text with the defaults that the API server fills in, by the CRD of `XBackendTrafficPolicy`.
fn with_defaults(text: &str) -> String {
    let budget = "retryConstraint: {";
    assert!(
        !text.contains("name: budget") || text.contains(budget),
        "{text}"
    );
    text.replace(
        budget,
        "retryConstraint: {minRetryRate: {count: 10, interval: 1s}, ",
    )
}

#[test]
fn a_cluster_does_not_differ_from_the_manifests_that_were_applied() {
    let Some(cluster) = &*STATE else {
        return;
    };
    let same = manifests(with_defaults);
    let folder = same.path().to_str().expect("a path in UTF-8");
    let output = diff(cluster, &["cluster", folder]).ok();
    assert!(
        output
            .out
            .contains("The same settings are in force in A and in B."),
        "{output}"
    );
    diff(cluster, &["cluster", "cluster:attache"]).ok();
}

#[test]
fn a_change_of_a_manifest_is_a_difference_from_the_cluster() {
    let Some(cluster) = &*STATE else {
        return;
    };
    let changed = manifests(|text| with_defaults(text).replace("retries: 0", "retries: 7"));
    let folder = changed.path().to_str().expect("a path in UTF-8");
    let output = diff(cluster, &["cluster", folder]).fails(1);
    let squeezed = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed.contains("retries 0 7"), "{output}");
}
