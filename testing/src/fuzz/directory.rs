//! Builds a state from the files of a directory, and computes answers about its objects.
//!
//! An input is one file or several; each file after the first begins with a line `#### name`.

use attache::cache::directory::Loaded;
use attache::cache::manifest::Manifests;
use attache::config::Configuration;
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::{Operation, Request};
use attache::engine::admission::review::review;
use attache::engine::admission::verdict::Verdict;
use attache::engine::effective::Resolver;
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::Snapshot;
use attache::engine::status::conditions::{ancestors, status};
use std::sync::{Arc, LazyLock};

use super::{files, review_state};
use crate::answers;

/// The most objects to ask about; an input has few.
const ASKED: usize = 40;

static RULES: LazyLock<Arc<ProfileRules>> =
    LazyLock::new(|| Configuration::default().rules(crate::builtin()));

/// Loads the files twice, and builds the same state in another order.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (one, other) = (load(text), load(text));
    let lines = lines(text);
    for problem in &one.problems {
        answers::line(&problem.to_string());
        assert!(problem.line <= lines, "{problem} of {lines} lines");
    }
    for origin in one.origins.values() {
        assert!(
            (1..=lines).contains(&origin.line),
            "{origin:?} of {lines} lines"
        );
    }
    answers::line(&one.counts.summary("here"));
    let answers = all(&one.snapshot, &one.objects);
    assert_eq!(one.problems, other.problems);
    assert_eq!(
        answers,
        all(&other.snapshot, &other.objects),
        "the same again"
    );
    let grown = review_state::grown(&RULES, &one.objects);
    assert_eq!(
        answers,
        all(&grown, &one.objects),
        "the same objects in another order"
    );
}

/// Counts lines as YAML does: a lone carriage return also ends one.
fn lines(text: &str) -> u64 {
    text.replace("\r\n", "\n").split(['\n', '\r']).count() as u64
}

fn load(text: &str) -> Loaded {
    let mut manifests = Manifests::default();
    let (mut name, mut file) = ("a.yaml", String::new());
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix("#### ") {
            manifests.add(name, &file);
            (name, file) = (next.trim(), String::new());
        } else {
            file.push_str(line);
        }
    }
    manifests.add(name, &file);
    Loaded::new(manifests, &RULES, "default")
}

/// All answers about the objects of a state.
fn all(snapshot: &Snapshot, objects: &[Object]) -> Vec<String> {
    let mut resolver = Resolver::new(snapshot);
    let mut answers = Vec::new();
    for object in objects.iter().take(ASKED) {
        if let Some(policy) = snapshot.policy(&object.key) {
            let status = status(&mut resolver, policy);
            let ancestors = ancestors(&mut resolver, policy, &status);
            answers.push(format!("{} {status:?} {ancestors:?}", object.key));
        }
        let verdict = deleted(snapshot, object);
        let warnings = verdict.warnings();
        for line in &warnings {
            answers::line(line);
        }
        answers.extend(warnings);
    }
    answers
}

fn deleted(snapshot: &Snapshot, object: &Object) -> Verdict {
    let request = Request {
        operation: Operation::Delete,
        gk: object.key.gk.clone(),
        namespace: &object.key.namespace,
        name: &object.key.name,
        subresource: "",
        object: None,
        old: None,
    };
    review(snapshot, &request, &Evidence::Authoritative)
}

/// The states of all cases and examples.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut paths = files::of_cases("review", "state.yaml");
    paths.extend(files::of_cases("kinds", "state.yaml"));
    paths.extend(files::of_cases("effective", "state.yaml"));
    let mut seeds_read: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| files::text(path).into_bytes())
        .collect();
    let examples = files::find("examples", &|path| {
        path.extension().is_some_and(|end| end == "yaml")
    });
    let mut together = Vec::new();
    for path in examples {
        seeds_read.push(files::text(&path).into_bytes());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        together.push(format!("#### {name}\n{}", files::text(&path)));
    }
    seeds_read.push(together.concat().into_bytes());
    // JSON is YAML, and is mutated as a tree.
    for path in files::of_cases("review", "state.yaml") {
        let documents = files::documents(&path);
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": documents});
        seeds_read.push(list.to_string().into_bytes());
    }
    seeds_read
}
