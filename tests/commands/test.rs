//! `attache test`: sessions as a page, with tests and manifests in the directory of the same name. `TRYCMD=overwrite` writes
//! the actual output into the page.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::examples::all;
use crate::run::{fits, root, run};

#[test]
fn sessions_of_test() {
    trycmd::TestCases::new().case("tests/commands/test/*.md");
}

/// The schema of a file of tests or of their result, by the command `schema`.
fn schema(name: &str) -> Value {
    run(&["schema", name]).json()
}

#[test]
fn the_schema_knows_every_form_of_a_test() {
    let schema = schema("test");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let folder = root().join("tests/commands/test");
    let mut read = 0;
    for page in [
        "passes",
        "fails/estate",
        "guardrails/rules",
        "opaque/merged",
        "beside/route",
    ] {
        let text = fs::read_to_string(folder.join(format!("{page}.attache.yaml"))).unwrap();
        let value: Value = serde_saphyr::from_str(&text).unwrap();
        fits(&value, &schema);
        read += value["tests"].as_array().unwrap().len();
    }
    assert!(read > 30, "the tests are gone");
    // Rules between fields, and on values that depend on the state, are not part of the schema.
    for wrong in [
        "field",
        "field-of-test",
        "code",
        "missing",
        "takes",
        "takes-nothing",
        "port",
        "head",
    ] {
        let text = fs::read_to_string(folder.join(format!("wrong/{wrong}.attache.yaml"))).unwrap();
        let value: Value = serde_saphyr::from_str(&text).unwrap();
        assert!(!validator.is_valid(&value), "{wrong}");
    }
}

#[test]
fn results_are_of_their_schema() {
    let schema = schema("tests");
    for (tests, code) in [("examples/tests", 0), ("tests/commands/test/fails", 1)] {
        let ran = run(&["test", tests, "-o", "json"]);
        assert_eq!(ran.code, code, "{}", ran.stderr);
        fits(&serde_json::from_str(&ran.stdout).unwrap(), &schema);
    }
}

/// Checks that the tests recorded from a state hold in it. Returns their number.
fn recorded_holds(from: &str) -> usize {
    let dir = TempDir::new().unwrap();
    let config = Path::new(from).join("attache.yaml");
    let recorded = run(&["test", "--record", "--from", from]);
    if recorded.code != 0 {
        assert!(
            recorded.stderr.contains("in force on these targets"),
            "{from}: {}",
            recorded.stderr
        );
        return 0;
    }
    let absolute = root().join(from);
    let text = recorded.stdout.replace(
        &format!("- {from}\n"),
        &format!("- {}\n", absolute.display()),
    );
    let file = dir.path().join("recorded.attache.yaml");
    fs::write(&file, text).unwrap();
    let mut arguments = vec!["test", file.to_str().unwrap(), "-o", "json"];
    let config = root().join(config);
    if config.is_file() {
        arguments.extend(["--config", config.to_str().unwrap()]);
    }
    let report: Value = serde_json::from_str(&run(&arguments).stdout).unwrap();
    assert_eq!(report["summary"]["failed"], 0, "{from}: {report:#}");
    usize::try_from(report["summary"]["passed"].as_u64().unwrap()).unwrap()
}

#[test]
fn what_is_recorded_holds() {
    let mut passed =
        recorded_holds("tests/commands/estate") + recorded_holds("examples/quickstart");
    for example in all() {
        passed += recorded_holds(example.from());
    }
    passed += recorded_holds("tests/public/rule-that-another-takes/state.yaml");
    assert!(passed > 100, "only {passed} tests are recorded");
}

/// Two overlays, of which a program builds each.
fn overlays() -> TempDir {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let route = fs::read_to_string(root().join("tests/commands/test/beside/route.yaml")).unwrap();
    for (overlay, status) in [("staging", "302"), ("prod", "301")] {
        file(
            &format!("overlays/{overlay}/kustomization.yaml"),
            "resources: [route.yaml]\n",
        );
        file(
            &format!("overlays/{overlay}/route.yaml"),
            &route.replace("statusCode: 301", &format!("statusCode: {status}")),
        );
    }
    let program = file(
        "bin/kustomize",
        "#!/bin/sh\nexec /bin/cat \"$2/route.yaml\"\n",
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let tests =
        fs::read_to_string(root().join("tests/commands/test/beside/route.attache.yaml")).unwrap();
    for from in ["overlays/prod", "overlays/staging", "overlays"] {
        let tests = tests.replace("tests:", &format!("from: [{from}]\ntests:"));
        file(&format!("{}.attache.yaml", from.replace('/', "-")), &tests);
    }
    dir
}

#[test]
fn kustomizations_are_built_and_a_test_is_about_one_of_several() {
    let dir = overlays();
    let test = |file: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args(["test", file])
            .current_dir(dir.path())
            .env("PATH", dir.path().join("bin"))
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap(),
            String::from_utf8(text).unwrap(),
        )
    };
    let (code, report) = test("overlays-prod.attache.yaml");
    assert_eq!(code, 0, "{report}");
    let (code, report) = test("overlays-staging.attache.yaml");
    assert_eq!(code, 1, "{report}");
    assert!(
        report.contains("-status: \"301\"\n+status: \"302\""),
        "{report}"
    );
    let (code, report) = test("overlays.attache.yaml");
    assert_eq!(code, 2, "{report}");
    assert_eq!(
        report,
        "attache: overlays.attache.yaml: overlays/prod, overlays/staging define the same objects for different clusters: name one of them\n"
    );
}

#[test]
fn tests_run_again_when_a_file_changes() {
    let dir = TempDir::new().unwrap();
    for file in ["route.yaml", "route.attache.yaml"] {
        fs::copy(
            root().join("tests/commands/test/beside").join(file),
            dir.path().join(file),
        )
        .unwrap();
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(["test", "--watch"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut result = || {
        let mut lines = lines.by_ref().map(Result::unwrap);
        lines
            .find(|line| line.starts_with("test result: "))
            .unwrap()
    };
    assert!(result().starts_with("test result: ok. 1 passed"));
    let tests = dir.path().join("route.attache.yaml");
    let text = fs::read_to_string(&tests).unwrap();
    fs::write(&tests, text.replace("status: 301", "status: 302")).unwrap();
    assert!(result().starts_with("test result: FAILED. 0 passed; 1 failed"));
    let route = dir.path().join("route.yaml");
    let text = fs::read_to_string(&route).unwrap();
    fs::write(&route, text.replace("statusCode: 301", "statusCode: 302")).unwrap();
    assert!(result().starts_with("test result: ok. 1 passed"));
    drop(lines);
    // It ends with its reader.
    child.wait().unwrap();
}
