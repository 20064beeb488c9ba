//! Runs every case in `tests/review/`: a state, a request, and the verdict. `mutate.rs` runs those in `tests/mutate/`.
//!
//! `base.yaml` is part of every state; a case may have its own `attache.yaml`. `ATTACHE_BLESS=1 cargo test --test
//! review` writes the actual verdicts into `expected.yaml`; read the difference before you commit it.

mod mutate;
mod suppress;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use attache::config::{Configuration, Text};
use attache::engine::admission::disclosure::Subject;
use attache::engine::admission::finding::{Code, Severity};
use attache::engine::admission::severities::Requester;
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::Value;

use testing::cases::{documents, group_kind, hold, object, reviewed, root};

/// The shared profiles, with the case's own configuration if it has one.
fn configuration(case: &Path) -> Configuration {
    let shared = Configuration::read(&root("review").join("attache.yaml")).unwrap();
    let own = case.join("attache.yaml");
    if !own.exists() {
        return shared;
    }
    Configuration {
        profiles: shared.profiles,
        ..Configuration::read(&own).unwrap()
    }
}

fn state(case: &Path, config: &Configuration) -> Snapshot {
    let root = root("review");
    let own = case.join("state.yaml");
    let mut files = vec![root.join("base.yaml")];
    files.extend(own.exists().then_some(own));
    let documents = files.iter().flat_map(|file| documents(file));
    documents.fold(testing::cases::nothing(config), |snapshot, document| {
        snapshot.apply(Change::Applied(Arc::new(object(&document))))
    })
}

/// The verdict for the requester: `user`, `groups`, `fieldManager` and `dryRun` of the request.
fn as_configured(
    config: &Configuration,
    snapshot: &Snapshot,
    verdict: Verdict,
    request: &Value,
) -> Verdict {
    let object = request
        .get("object")
        .or_else(|| request.get("old"))
        .unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let groups = request["groups"].as_array().into_iter().flatten();
    let subject = Subject {
        user: text(&request["user"]),
        groups: groups.map(text).collect(),
        ..Subject::default()
    };
    let namespace = text(&object["metadata"]["namespace"]);
    let key = ObjectKey::new(GroupKind::core("Namespace"), "", namespace.clone());
    let asker = || Requester {
        dry_run: request["dryRun"] == true,
        namespace: &namespace,
        namespace_labels: snapshot.get(&key).map(|found| &found.meta.labels),
        subject: Some(&subject),
        field_manager: text(&request["fieldManager"]),
        gk: group_kind(object),
    };
    config.review_settings().severities.judge(verdict, asker)
}

/// The verdict of a case in the format of `expected.yaml`.
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

#[test]
fn every_case_gives_the_expected_answer() {
    hold(&root("review"), |case| {
        let request = documents(&case.join("request.yaml")).remove(0);
        let config = configuration(case);
        let snapshot = state(case, &config);
        let verdict = reviewed(&snapshot, &request);
        transcript(&as_configured(&config, &snapshot, verdict, &request))
    });
}

/// Every code must have an example.
#[test]
fn every_code_has_a_case() {
    let mut answer = String::new();
    for test in ["review", "effective", "kinds"] {
        for case in std::fs::read_dir(root(test)).unwrap() {
            let expected = case.unwrap().path().join("expected.yaml");
            answer += &std::fs::read_to_string(expected).unwrap_or_default();
        }
    }
    for golden in std::fs::read_dir(root("commands/check")).unwrap() {
        let golden = golden.unwrap().path();
        if golden.extension().is_some_and(|end| end == "stdout") {
            answer += &std::fs::read_to_string(golden).unwrap();
        }
    }
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let missing: Vec<&str> = codes
        .filter(|code| {
            !answer.contains(&format!(" {code}: ")) && !answer.contains(&format!("'{code}: "))
        })
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_code_is_documented_with_what_it_does() {
    let docs = include_str!("../../docs/reference/findings.md");
    for code in Code::ALL {
        let verb = match code.default_severity() {
            Severity::Deny => "refused",
            Severity::Warn if code.is_off() => "off",
            Severity::Warn => "warning",
        };
        let name = code.as_str();
        let row = format!("| [`{name}`](../findings/{name}.md) | {verb}");
        assert!(docs.contains(&row), "{row}");
    }
}

/// The configurations in the documents are valid.
#[test]
fn the_documented_configuration_is_read() {
    let mut count = 0;
    for folder in ["how-to", "reference"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("docs")
            .join(folder);
        let pages = fs::read_dir(folder)
            .unwrap()
            .map(|page| page.unwrap().path());
        for page in pages.filter(|page| page.extension().is_some_and(|end| end == "md")) {
            let docs = fs::read_to_string(&page).unwrap();
            let blocks = docs
                .split("```yaml\n")
                .skip(1)
                .filter_map(|rest| rest.split("```").next());
            let is_one = |text: &&str| {
                text.starts_with("apiVersion: attache.dev")
                    && text.contains("kind: Configuration\n")
            };
            for text in blocks.filter(is_one) {
                let text = Text {
                    path: page.to_str().unwrap().into(),
                    text: text.to_owned(),
                };
                Configuration::from_text(Some(&text)).unwrap_or_else(|why| panic!("{why:?}"));
                count += 1;
            }
        }
    }
    assert!(count > 8, "only {count} configurations were found");
}
