//! Test cases as directories of files, shared by `review` and `effective`.
//!
//! `ATTACHE_BLESS=1` writes the actual output into `expected.yaml`; read the difference before you commit it.
//! `ATTACHE_CASE=name` runs only cases whose directory contains that name.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use attache::config::Configuration;
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::{Operation, Request};
use attache::engine::admission::review::review;
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::{Object, watched_gateway_kinds};
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The directory of a test.
pub fn root(test: &str) -> PathBuf {
    crate::root().join("tests").join(test)
}

/// Runs every case in a directory and compares its output with `expected.yaml`.
pub fn hold(root: &Path, run: impl Fn(&Path) -> String) {
    let only = std::env::var("ATTACHE_CASE").unwrap_or_default();
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    cases.retain(|path| path.is_dir());
    assert!(cases.len() > 10, "the cases are gone");
    cases.retain(|path| path.file_name().unwrap().to_string_lossy().contains(&only));
    assert!(!cases.is_empty(), "no case {only:?}");
    cases.sort();
    let mut wrong = String::new();
    for case in cases {
        let output = run(&case);
        let expected = case.join("expected.yaml");
        if std::env::var_os("ATTACHE_BLESS").is_some() {
            fs::write(&expected, &output).unwrap();
        }
        let should = fs::read_to_string(&expected).unwrap_or_default();
        if output != should {
            let name = case.file_name().unwrap().to_string_lossy();
            writeln!(
                wrong,
                "=== {name}\n--- expected\n{should}--- said\n{output}"
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The documents of a file.
pub fn documents(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    documents.into_iter().filter(|d| !d.is_null()).collect()
}

/// The kind of a document.
pub fn group_kind(document: &Value) -> GroupKind {
    let version = document["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    GroupKind::new(group, document["kind"].as_str().unwrap())
}

/// A document as the engine reads it.
pub fn object(document: &Value) -> Object {
    Object::from_json(&group_kind(document), &to_raw_value(document).unwrap()).unwrap()
}

/// A state without objects in which all kinds of Gateway API have been listed.
pub fn nothing(config: &Configuration) -> Snapshot {
    let kinds = watched_gateway_kinds().chain(["Namespace", "Service"].map(GroupKind::core));
    kinds.fold(
        Snapshot::new(config.rules(crate::builtin())),
        |snapshot, kind| snapshot.apply(Change::Listed(kind, Vec::new())),
    )
}

/// The webhook's verdict on `{operation, object, old, subresource}`.
pub fn reviewed(snapshot: &Snapshot, about: &Value) -> Verdict {
    asked(about, |request| {
        let verdict = review(snapshot, request, &Evidence::Authoritative);
        let again = review(&snapshot.clone(), request, &Evidence::Authoritative);
        assert_eq!(verdict, again, "the same question, the same answer");
        verdict
    })
}

/// Passes such a request to `ask`.
pub fn asked<T>(about: &Value, ask: impl FnOnce(&Request<'_>) -> T) -> T {
    let raw = |field: &str| -> Option<Box<RawValue>> {
        about.get(field).map(|object| to_raw_value(object).unwrap())
    };
    let (new, old) = (raw("object"), raw("old"));
    let subject = about.get("object").or_else(|| about.get("old")).unwrap();
    let meta = &subject["metadata"];
    let request = Request {
        operation: match about["operation"].as_str().unwrap() {
            "CREATE" => Operation::Create,
            "UPDATE" => Operation::Update,
            "DELETE" => Operation::Delete,
            other => panic!("operation {other}"),
        },
        gk: group_kind(subject),
        namespace: meta["namespace"].as_str().unwrap_or_default(),
        name: meta["name"].as_str().unwrap_or_default(),
        subresource: about["subresource"].as_str().unwrap_or_default(),
        object: new.as_deref(),
        old: old.as_deref(),
    };
    ask(&request)
}
