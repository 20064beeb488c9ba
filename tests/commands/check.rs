//! `attache check`: its output in every format, and its exit codes.

mod changes;
pub(crate) mod cluster;
mod estate;
mod findings;
mod healthy;
mod helm;
mod hostile;
mod parity;
mod screen;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use attache::answer::report::Report;
use attache::answer::schema;
use roxmltree::Document;
use serde_json::Value;
use testing::run::{Ended, run};

/// The deadline: no check here takes this long, even on a busy machine.
const DEADLINE: Duration = Duration::from_mins(5);

/// The directory of the golden files and their manifests.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/check")
}

/// Runs `attache check` in a directory. A run that hangs is killed and fails the test.
fn check(directory: &Path, args: &[&str]) -> Output {
    measured(directory, args).output
}

/// As [`check`], with what it took.
fn measured(directory: &Path, args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command
        .arg("check")
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::null());
    run(&mut command, DEADLINE).unwrap_or_else(|| panic!("check {args:?} did not end"))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The findings with this code.
fn with_code<'a>(report: &'a Value, code: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["code"] == code).collect()
}

#[test]
fn what_is_printed() {
    let cases = trycmd::TestCases::new();
    cases.case("tests/commands/check/*.toml");
    cases
        .insert_var("[VERSION]", env!("CARGO_PKG_VERSION"))
        .unwrap();
    cases.run();
}

#[test]
fn sarif_is_what_its_schema_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/commands/fixtures/sarif-schema-2.1.0.json");
    let mut sarif: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    // The schema's pattern for languages is not supported by most regex engines, and attache writes no language.
    for of in ["run", "toolComponent"] {
        let language = &mut sarif["definitions"][of]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let sarif = jsonschema::options()
        .should_validate_formats(true)
        .build(&sarif)
        .unwrap();
    let runs: [(&str, &[&str]); 5] = [
        ("faults", &["."]),
        ("faults", &[".", "--notices"]),
        ("ratchet", &["after", "--from", "before", "--notices"]),
        ("baseline", &[".", "--baseline", "report.txt"]),
        ("clean", &["."]),
    ];
    for (directory, args) in runs {
        let args: Vec<&str> = args.iter().chain(&["-o", "sarif"]).copied().collect();
        let log = json(&check(&root().join(directory), &args));
        let wrong: Vec<String> = sarif.iter_errors(&log).map(|e| e.to_string()).collect();
        assert_eq!(wrong, Vec::<String>::new(), "{directory}");
        assert_eq!(log["version"], "2.1.0");
        let driver = &log["runs"][0]["tool"]["driver"];
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(driver["rules"][index]["id"], result["ruleId"]);
            assert!(
                driver["rules"][index]["help"]["text"]
                    .as_str()
                    .unwrap()
                    .len()
                    > 10
            );
        }
    }
}

#[test]
fn json_is_what_its_schema_says() {
    let schema = jsonschema::validator_for(&schema::<Report>()).unwrap();
    for (directory, args) in [
        ("faults", vec!["."]),
        ("ratchet", vec!["after", "--from", "before"]),
        ("baseline", vec![".", "--baseline", "report.txt"]),
        ("clean", vec!["."]),
    ] {
        let args: Vec<&str> = args.into_iter().chain(["-o", "json"]).collect();
        let report = json(&check(&root().join(directory), &args));
        let wrong: Vec<String> = schema.iter_errors(&report).map(|e| e.to_string()).collect();
        assert_eq!(wrong, Vec::<String>::new(), "{directory}");
    }
}

#[test]
fn junit_has_a_test_case_for_each_object() {
    let output = check(&root().join("faults"), &[".", "-o", "junit"]);
    let text = stdout(&output);
    let document = Document::parse(&text).unwrap();
    let all = |name: &str| {
        let nodes = document.descendants();
        nodes
            .filter(|node| node.has_tag_name(name))
            .collect::<Vec<_>>()
    };
    let report = json(&check(&root().join("faults"), &[".", "-o", "json"]));
    let cases = all("testcase");
    let objects = cases
        .iter()
        .filter(|case| case.attribute("classname") != Some("file"));
    assert_eq!(
        Some(objects.count() as u64),
        report["summary"]["objects"].as_u64()
    );
    let failed: Vec<&str> = cases
        .iter()
        .filter(|case| case.children().any(|child| child.has_tag_name("failure")))
        .filter_map(|case| case.attribute("name"))
        .collect();
    assert_eq!(
        failed,
        [
            "infra/typo",
            "shop.yaml",
            "shop/form",
            "shop/unreasoned",
            "shop/one",
            "shop/misspelt",
            "shop/in-a-list"
        ]
    );
    let suites = all("testsuites");
    assert_eq!(
        suites[0].attribute("tests"),
        Some(&*cases.len().to_string())
    );
    assert_eq!(suites[0].attribute("failures"), Some("7"));
}

#[test]
fn names_that_mean_something_to_github_or_xml_are_written_out() {
    let dir = tempfile::tempdir().unwrap();
    let policy = "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\n\
        metadata: {name: p}\nspec:\n  targetRefs:\n  - {group: 'a/<b>&\"%25', kind: Service, name: \"x\\e[31m\\n::error::y\"}\n";
    std::fs::write(dir.path().join("a,b:c%.yaml"), policy).unwrap();
    let text = stdout(&check(dir.path(), &[".", "-o", "github"]));
    let begins = "::error file=a%2Cb%3Ac%25.yaml,line=6,";
    assert!(text.lines().any(|line| line.starts_with(begins)), "{text}");
    assert!(text.lines().all(|line| line.starts_with("::")), "{text}");
    assert!(
        !text.contains('\u{1b}') && !text.contains("\n::error::y"),
        "{text}"
    );
    assert!(text.contains("%2525"), "{text}");
    let text = stdout(&check(dir.path(), &[".", "-o", "junit"]));
    let document = Document::parse(&text).unwrap();
    let mut nodes = document.descendants();
    let failure = nodes.find(|node| node.has_tag_name("failure")).unwrap();
    assert!(
        failure.attribute("message").unwrap().contains("a/<b>&"),
        "{text}"
    );
    let text = stdout(&check(dir.path(), &["."]));
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

/// The identity of a finding is its subject, not its position.
#[test]
fn fingerprints_stay_when_lines_move() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root().join("faults/shop.yaml")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    for file in ["kinds.yaml", "gateway.yaml"] {
        write(
            file,
            &std::fs::read_to_string(root().join("faults").join(file)).unwrap(),
        );
    }
    let fingerprints = || {
        let report = json(&check(dir.path(), &[".", "-o", "json"]));
        let findings = report["findings"].as_array().unwrap().iter();
        let with_object = findings.filter(|finding| finding.get("object").is_some());
        let mut found: Vec<String> = with_object
            .map(|finding| finding["fingerprint"].as_str().unwrap().to_owned())
            .collect();
        found.sort();
        found
    };
    write("shop.yaml", &text);
    let before = fingerprints();
    std::fs::remove_file(dir.path().join("shop.yaml")).unwrap();
    write("moved.yaml", &format!("\n\n# Other lines.\n{text}"));
    assert_eq!(fingerprints(), before);
    let all: std::collections::BTreeSet<&String> = before.iter().collect();
    assert_eq!(all.len(), before.len(), "each its own");
}

/// Equal input gives equal output, however the work was distributed over threads.
#[test]
fn the_same_manifests_give_the_same_bytes() {
    for format in ["text", "json", "sarif", "junit", "github"] {
        let run = || check(&root().join("faults"), &[".", "-o", format]).stdout;
        assert_eq!(run(), run(), "{format}");
    }
}

/// With a report as its own baseline, no finding counts.
#[test]
fn a_report_is_its_own_baseline() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report.json");
    let output = check(&root().join("faults"), &[".", "-o", "json"]);
    assert_eq!(output.status.code(), Some(1));
    std::fs::write(&report, &output.stdout).unwrap();
    let report = report.to_str().unwrap();
    let args = [".", "--baseline", report, "--fail-on", "warn", "-o", "json"];
    let output = check(&root().join("faults"), &args);
    assert_eq!(output.status.code(), Some(0));
    let summary = &json(&output)["summary"];
    assert_eq!((&summary["deny"], &summary["warn"]), (&0.into(), &0.into()));
}

#[test]
fn suppressed_findings_say_why_in_code_scanning() {
    let log = json(&check(&root().join("faults"), &[".", "-o", "sarif"]));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let justified: Vec<&Value> = results
        .iter()
        .filter_map(|result| result["suppressions"].get(0))
        .collect();
    assert_eq!(justified.len(), 1);
    assert_eq!(justified[0]["kind"], "inSource");
    assert!(
        justified[0]["justification"]
            .as_str()
            .unwrap()
            .contains("next release")
    );
}
