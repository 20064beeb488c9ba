//! `check` and the webhook agree in every case of `tests/review` that creates an object.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::admission::verdict::sentence;
use attache::engine::state::snapshot::Change;
use serde_json::Value;

use super::{check, json};

#[test]
fn the_webhook_says_the_same() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review");
    let mut compared = 0;
    for case in fs::read_dir(&cases).unwrap() {
        let case = case.unwrap().path();
        if !case.is_dir() || case.join("attache.yaml").exists() {
            continue;
        }
        let name = case.file_name().unwrap().to_str().unwrap().to_owned();
        let request = fs::read_to_string(case.join("request.yaml")).unwrap();
        let request: Value = serde_saphyr::from_str(&request).unwrap();
        // Users can correct a file, so `check` refuses unreadable objects, while the webhook allows them.
        let readable =
            !name.contains("unreadable") && request["object"]["metadata"]["name"].is_string();
        if request["operation"] != "CREATE" || !readable {
            continue;
        }
        let Some(webhook) = by_webhook(&cases, &case, &request) else {
            continue;
        };
        assert_eq!(by_check(&cases, &case, &request), webhook, "{name}");
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

type Said = BTreeSet<(String, Option<String>, String)>;

fn by_check(cases: &Path, case: &Path, request: &Value) -> Said {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    for file in [cases.join("base.yaml"), case.join("state.yaml")] {
        if file.exists() {
            fs::copy(&file, state.join(file.file_name().unwrap())).unwrap();
        }
    }
    let object = serde_json::to_string(&request["object"]).unwrap();
    fs::write(dir.path().join("object.json"), object).unwrap();
    let config = cases.join("attache.yaml");
    let config = config.to_str().unwrap();
    let args = [
        "object.json",
        "--from",
        "state",
        "--config",
        config,
        "-o",
        "json",
    ];
    let report = json(&check(dir.path(), &args));
    let findings = report["findings"].as_array().unwrap().iter();
    // The API server itself reports these before it asks a webhook.
    let findings = findings.filter(|finding| finding["code"] != "target-schema");
    let output = findings.map(|finding| {
        let text = |field: &str| finding[field].as_str().map(str::to_owned);
        (
            text("code").unwrap(),
            text("field"),
            text("message").unwrap(),
        )
    });
    output.collect()
}

/// `None` if the state already has the object: then `check` compares with it, and the recorded request does not fit.
fn by_webhook(cases: &Path, case: &Path, request: &Value) -> Option<Said> {
    let config = Configuration::read(&cases.join("attache.yaml")).unwrap();
    let files = [cases.join("base.yaml"), case.join("state.yaml")];
    let documents = files.iter().filter(|file| file.exists());
    let documents = documents.flat_map(|file| testing::cases::documents(file));
    let snapshot = documents.fold(testing::cases::nothing(&config), |snapshot, document| {
        snapshot.apply(Change::Applied(Arc::new(testing::cases::object(&document))))
    });
    if snapshot
        .get(&testing::cases::object(&request["object"]).key)
        .is_some()
    {
        return None;
    }
    let verdict = testing::cases::reviewed(&snapshot, request);
    // Codes that are off give no findings in either.
    let findings = verdict.findings.iter();
    let findings = findings.filter(|finding| !finding.code.is_off());
    let output = findings.map(|finding| {
        let field = finding.field.as_ref().map(|field| field.0.clone());
        let code = finding.code.as_str().to_owned();
        (code, field, sentence(finding))
    });
    Some(output.collect())
}
