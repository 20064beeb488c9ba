//! The states of `tests/effective` and `tests/kinds` as directories for commands.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::root;

/// A state with the known answers of the engine.
pub(crate) struct Example {
    /// The name of its directory.
    pub(crate) name: String,
    folder: PathBuf,
    state: TempDir,
}

/// States that files cannot express: that a kind without a CRD is cluster-scoped, and that the Namespace of an object
/// does not exist.
const ELSE: [&str; 2] = ["attach-cluster-scoped", "attach-to-what-is-not-there"];

/// All examples: the worked examples of the proposals, and those of real policy kinds.
pub(crate) fn all() -> Vec<Example> {
    let mut found: Vec<Example> = ["effective", "kinds"]
        .iter()
        .flat_map(|t| examples_of(t))
        .collect();
    found.retain(|example| !ELSE.contains(&&*example.name));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 60, "the examples are gone");
    found
}

/// The worked examples of the proposals, W1 to W31.
pub(crate) fn worked() -> Vec<Example> {
    let mut found = examples_of("effective");
    let is_worked = |name: &str| name.starts_with('w') && name[1..3].parse::<u8>().is_ok();
    found.retain(|example| is_worked(&example.name));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn examples_of(test: &str) -> Vec<Example> {
    let shared = root().join("tests").join(test);
    let entries = fs::read_dir(&shared).unwrap().map(|e| e.unwrap().path());
    let folders = entries.filter(|path| path.join("state.yaml").exists());
    folders
        .map(|folder| Example::new(&shared, folder))
        .collect()
}

// === impl Example ===

impl Example {
    fn new(shared: &Path, folder: PathBuf) -> Self {
        let state = TempDir::new().unwrap();
        let copy = |from: PathBuf, to: &str| {
            if from.exists() {
                fs::copy(from, state.path().join(to)).unwrap();
            }
        };
        copy(shared.join("kinds.yaml"), "10-kinds.yaml");
        // The CRD of an example takes the place of the common one.
        let own = documents(&folder.join("state.yaml"));
        let is_own = |kind: &Value| {
            let is_same = |one: &Value| {
                one["kind"] == kind["kind"] && one["metadata"]["name"] == kind["metadata"]["name"]
            };
            own.iter().any(is_same)
        };
        let mut kinds = documents(&shared.join("kinds.yaml"));
        if kinds.iter().any(is_own) {
            kinds.retain(|kind| !is_own(kind));
            let kinds: Vec<String> = kinds.iter().map(Value::to_string).collect();
            fs::write(state.path().join("10-kinds.yaml"), kinds.join("\n---\n")).unwrap();
        }
        copy(folder.join("state.yaml"), "20-state.yaml");
        copy(shared.join("attache.yaml"), "attache.yaml");
        copy(folder.join("attache.yaml"), "attache.yaml");
        Self {
            name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
            folder,
            state,
        }
    }

    /// The path for `--from`.
    pub(crate) fn from(&self) -> &str {
        self.state.path().to_str().unwrap()
    }

    /// The changes in the example, each with the engine's answer.
    pub(crate) fn changes(&self) -> Vec<(Vec<Step>, Vec<String>)> {
        let asks = documents(&self.folder.join("ask.yaml"));
        let asks = asks.iter().filter_map(|ask| ask.get("impact"));
        let steps = asks.map(|ask| match ask {
            Value::Array(steps) => steps.iter().map(Step::of).collect(),
            step => vec![Step::of(step)],
        });
        steps.zip(self.sections("- impact: ")).collect()
    }

    /// The objects in the example, each with the policies that apply to it.
    pub(crate) fn acting(&self) -> Vec<(String, Vec<String>)> {
        let asks = documents(&self.folder.join("ask.yaml"));
        let objects = asks.iter().filter_map(|ask| ask.get("acting"));
        let objects = objects.map(|object| object.as_str().unwrap().to_owned());
        let acting = self.sections("- acting: ").into_iter().map(|lines| {
            let acts = lines
                .iter()
                .filter_map(|line| line.strip_prefix("  - acts: "));
            acts.map(str::to_owned).collect()
        });
        objects.zip(acting).collect()
    }

    /// The engine's answer for all policies. `None` if the example does not ask for it.
    pub(crate) fn policies(&self) -> Option<Vec<String>> {
        self.sections("- policies:").into_iter().next()
    }

    /// The lines below each answer with this heading.
    fn sections(&self, start: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.folder.join("expected.yaml")).unwrap();
        let mut found: Vec<Vec<String>> = Vec::new();
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with("- ") {
                inside = line.starts_with(start);
                if inside {
                    found.push(Vec::new());
                }
            } else if inside {
                found.last_mut().unwrap().push(line.to_owned());
            }
        }
        found
    }
}

/// One part of a change.
pub(crate) enum Step {
    /// An object is applied.
    Apply(Value),
    /// An object is deleted: `Gateway infra/edge`.
    Delete(String),
}

// === impl Step ===

impl Step {
    fn of(step: &Value) -> Self {
        match step.get("delete") {
            Some(gone) => Self::Delete(gone.as_str().unwrap().to_owned()),
            None => Self::Apply(step["apply"].clone()),
        }
    }
}

fn documents(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    documents.into_iter().filter(|d| !d.is_null()).collect()
}

/// An object of an answer as the engine names it: `Gateway infra/edge#http`.
pub(crate) fn named(object: &Value) -> String {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let group = match text("group") {
        "" | "gateway.networking.k8s.io" => String::new(),
        group => format!(".{group}"),
    };
    let slash = if text("namespace").is_empty() {
        ""
    } else {
        "/"
    };
    let section = object
        .get("section")
        .map(|_| format!("#{}", text("section")));
    let (kind, namespace, name) = (text("kind"), text("namespace"), text("name"));
    format!(
        "{kind}{group} {namespace}{slash}{name}{}",
        section.unwrap_or_default()
    )
}
