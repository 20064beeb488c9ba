//! The versions that the documents name are those that the tests run on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const CLUSTER: &str = "tests/cluster";

fn path(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn text(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Minor versions of Kubernetes, with the version that is built.
fn kubernetes() -> BTreeSet<(String, String)> {
    let folders = fs::read_dir(path(&format!("{CLUSTER}/kubernetes"))).unwrap();
    let version = |minor: String| {
        let file = text(&format!("{CLUSTER}/kubernetes/{minor}/go.mod"));
        let mut lines = file.lines();
        let found = lines.find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
        let version = found.unwrap().split(' ').next().unwrap().to_owned();
        assert!(
            version.starts_with(&format!("v{minor}.")),
            "{minor}: {version}"
        );
        (minor, version)
    };
    folders
        .map(|folder| version(folder.unwrap().file_name().into_string().unwrap()))
        .collect()
}

/// Minor versions of the Gateway API, with the version whose CRDs are installed.
fn gateway_api() -> BTreeSet<(String, String)> {
    let file = text(&format!("{CLUSTER}/gateway-api.txt"));
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    let version = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words.len(), 3, "{line}");
        (words[0].to_owned(), words[1].to_owned())
    };
    lines.map(version).collect()
}

/// The first two cells of each row of what was run, all of whose tests passed.
fn run() -> Vec<(String, String)> {
    let file = text("docs/reference/versions.md");
    let rows = file.lines().filter(|line| line.contains(" passed, "));
    let cells = |row: &str| {
        assert!(row.contains(" passed, 0 failed"), "{row}");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1].to_owned(), cells[2].to_owned())
    };
    rows.map(cells).collect()
}

#[test]
fn the_table_of_what_was_run_names_the_versions_that_are_built() {
    let (kubernetes, gateway_api) = (kubernetes(), gateway_api());
    let run = run();
    for (_, version) in &kubernetes {
        assert!(run.iter().any(|(built, _)| built == version), "{version}");
    }
    for (built, installed) in &run {
        let is_known = kubernetes.iter().any(|(_, version)| version == built);
        assert!(is_known, "{built}");
        let (version, channel) = installed.split_once(' ').unwrap();
        let is_known = gateway_api.iter().any(|(_, known)| known == version);
        assert!(is_known, "{installed}");
        assert!(["standard", "experimental"].contains(&channel), "{channel}");
    }
}

#[test]
fn the_readme_names_the_versions_of_that_table() {
    let readme = text("README.md");
    let run = run();
    let ran = |version: &str| {
        let mut all = run.iter();
        all.any(|(built, installed)| built == version || installed.starts_with(version))
    };
    let minors = |versions: BTreeSet<(String, String)>, prefix: &str| {
        let ran = versions.into_iter().filter(|(_, version)| ran(version));
        let all = ran.map(|(minor, _)| format!("{prefix}{minor}"));
        all.collect::<Vec<String>>().join(", ")
    };
    for row in [
        format!("| Kubernetes | {};", minors(kubernetes(), "")),
        format!("| Gateway API | {};", minors(gateway_api(), "v")),
    ] {
        assert!(readme.contains(&row), "{row}");
    }
}

#[test]
fn the_workflow_runs_on_versions_that_are_there() {
    let workflow = text(".github/workflows/ci.yml");
    let known: BTreeSet<String> = kubernetes()
        .into_iter()
        .chain(gateway_api())
        .map(|(minor, _)| minor)
        .collect();
    let rows: Vec<&str> = workflow
        .lines()
        .filter(|line| line.contains("{kubernetes: "))
        .collect();
    assert!(!rows.is_empty());
    for row in rows {
        let named: Vec<&str> = row.split('"').skip(1).step_by(2).collect();
        assert_eq!(named.len(), 2, "{row}");
        assert!(named.iter().all(|minor| known.contains(*minor)), "{row}");
    }
}
