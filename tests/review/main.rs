//! Runs every case under `tests/review/`: a state, a request, and what is said.
//!
//! `base.yaml` is part of every state. `ATTACHE_BLESS=1 cargo test --test review` writes what was
//! said into `expected.yaml`; read the difference before you commit it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::ids::GroupKind;
use attache::engine::object::Object;
use attache::engine::review::{Evidence, Operation, Request, review};
use attache::engine::snapshot::{Change, Snapshot};
use attache::engine::verdict::Verdict;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review")
}

fn documents(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    serde_saphyr::from_multiple(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn group_kind(object: &Value) -> GroupKind {
    let version = object["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    GroupKind::new(group, object["kind"].as_str().unwrap())
}

fn state(case: &Path) -> Snapshot {
    let config = Configuration::read(&root().join("attache.yaml")).unwrap();
    let mut snapshot = Snapshot::new(config.rules().unwrap());
    for kind in ["GatewayClass", "Gateway", "ListenerSet", "HTTPRoute"] {
        snapshot = snapshot.apply(Change::Listed(GroupKind::gateway_api(kind), Vec::new()));
    }
    for kind in ["Namespace", "Service"] {
        snapshot = snapshot.apply(Change::Listed(GroupKind::core(kind), Vec::new()));
    }
    let own = case.join("state.yaml");
    let mut files = vec![root().join("base.yaml")];
    files.extend(own.exists().then_some(own));
    for document in files.iter().flat_map(|file| documents(file)) {
        let object = Object::from_json(&group_kind(&document), &to_raw_value(&document).unwrap());
        snapshot = snapshot.apply(Change::Applied(Box::new(object.unwrap())));
    }
    snapshot
}

/// What a case says, in the form of `expected.yaml`.
fn transcript(verdict: &Verdict) -> String {
    let mut text = format!("allowed: {}\n", verdict.allowed());
    for cause in verdict.causes() {
        let (field, message) = (quoted(&cause.field), quoted(&cause.message));
        write!(
            text,
            "- refused: {}\n  field: {field}\n  message: {message}\n",
            cause.reason
        )
        .unwrap();
    }
    for line in verdict.warnings() {
        writeln!(text, "- warning: {}", quoted(&line)).unwrap();
    }
    text
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn run(case: &Path) -> String {
    let request = documents(&case.join("request.yaml")).remove(0);
    let raw = |field: &str| -> Option<Box<RawValue>> {
        request
            .get(field)
            .map(|object| to_raw_value(object).unwrap())
    };
    let (object, old) = (raw("object"), raw("old"));
    let subject = request
        .get("object")
        .or_else(|| request.get("old"))
        .unwrap();
    let meta = &subject["metadata"];
    let operation = match request["operation"].as_str().unwrap() {
        "CREATE" => Operation::Create,
        "UPDATE" => Operation::Update,
        "DELETE" => Operation::Delete,
        other => panic!("operation {other}"),
    };
    let request = Request {
        operation,
        gk: group_kind(subject),
        namespace: meta["namespace"].as_str().unwrap_or_default(),
        name: meta["name"].as_str().unwrap_or_default(),
        subresource: request
            .get("subresource")
            .and_then(Value::as_str)
            .unwrap_or_default(),
        object: object.as_deref(),
        old: old.as_deref(),
    };
    let snapshot = state(case);
    let verdict = review(&snapshot, &request, &Evidence::Authoritative);
    assert_eq!(
        verdict,
        review(&Arc::new(snapshot), &request, &Evidence::Authoritative)
    );
    transcript(&verdict)
}

#[test]
fn every_case_says_what_it_should() {
    let mut cases: Vec<PathBuf> = fs::read_dir(root())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    assert!(cases.len() > 10, "the cases are gone");
    let mut wrong = String::new();
    for case in cases {
        let said = run(&case);
        let expected = case.join("expected.yaml");
        if std::env::var_os("ATTACHE_BLESS").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        let should = fs::read_to_string(&expected).unwrap_or_default();
        if said != should {
            let name = case.file_name().unwrap().to_string_lossy();
            writeln!(wrong, "=== {name}\n--- expected\n{should}--- said\n{said}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
