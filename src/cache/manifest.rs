//! Manifests in files: YAML and JSON, split into objects that remember where they stand.

use std::fmt;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::engine::ids::GroupKind;
use crate::engine::verdict::escape;

/// Lists in lists in lists are somebody's mistake.
const LIST_DEPTH: u32 = 8;
/// Below `serde_json`'s own limit of 128, so that what is read here can be read again.
const DEPTH: usize = 120;
/// What anchors and aliases may stand for in one document; manifests hardly use them.
const ALIASED: usize = 50_000;

/// An object in a file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its kind.
    pub gk: GroupKind,
    /// `apiVersion`, as written.
    pub api_version: String,
    /// The whole object.
    pub json: Box<RawValue>,
    /// Where it stands.
    pub origin: Origin,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file, as it was named or found.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u64,
}

/// Something in a file that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u64,
    /// The column, from 1; 0 for the line as a whole.
    pub column: u64,
    /// What is wrong.
    pub message: String,
}

/// What was found in files so far, in the order of appearance.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// Objects.
    pub objects: Vec<Manifest>,
    /// What could not be used.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names of files and objects come from users, and this goes to a terminal.
        f.write_str(&escape(&self.file))?;
        for number in [self.line, self.column].into_iter().take_while(|n| *n > 0) {
            write!(f, ":{number}")?;
        }
        write!(f, ": {}", escape(&self.message))
    }
}

// === impl Manifests ===

impl Manifests {
    /// Adds the objects of a file's text. A document that cannot be read loses only itself.
    pub fn add(&mut self, file: &str, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json = Path::new(file)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        if json {
            self.add_json(file, text);
        } else {
            for (line, document) in documents(text) {
                self.add_yaml(file, line, document);
            }
        }
    }

    /// Notes what is wrong with a file as a whole.
    pub fn refuse(&mut self, file: &str, message: &str) {
        self.problem(file, (0, 0), message);
    }

    fn add_json(&mut self, file: &str, text: &str) {
        // Several values one after the other are legal, as several documents are in YAML.
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let (mut start, mut line) = (0, 1);
        while let Some(value) = values.next() {
            let rest = text.get(start..).unwrap_or_default();
            let (space, _) = rest.split_at(rest.len() - rest.trim_start().len());
            line += lines_in(space);
            start = values.byte_offset();
            let end = rest.len() - text.get(start..).unwrap_or_default().len();
            let lines = lines_in(rest.get(space.len()..end).unwrap_or_default());
            match value {
                Ok(value) => self.add_value(file, line, value, 0),
                Err(error) => {
                    let place = (error.line() as u64, error.column() as u64);
                    return self.problem(file, place, &error.to_string());
                }
            }
            line += lines;
        }
    }

    fn add_yaml(&mut self, file: &str, line: u64, text: &str) {
        match serde_saphyr::from_str_with_options::<Value>(text, options()) {
            Ok(Value::Null) => {}
            Ok(value) => self.add_value(file, line + blank_lines(text), value, 0),
            Err(error) => {
                let place = match error.location() {
                    Some(at) if at.line() > 0 => (line + at.line() - 1, at.column()),
                    _ => (line, 0),
                };
                let message = error.without_snippet().to_string();
                let message = message.lines().next().unwrap_or_default();
                self.problem(file, place, message);
            }
        }
    }

    fn add_value(&mut self, file: &str, line: u64, mut value: Value, depth: u32) {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
            if !is_foreign(file) {
                self.problem(file, (line, 0), "no object: apiVersion or kind is missing");
            }
            return;
        };
        if kind.ends_with("List") && value.get("items").is_some_and(Value::is_array) {
            if depth >= LIST_DEPTH {
                return self.problem(file, (line, 0), "lists nested too deep");
            }
            if let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) {
                for item in items {
                    self.add_value(file, line, item, depth + 1);
                }
            }
            return;
        }
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let gk = GroupKind::new(group, kind);
        if is_skipped(&gk) {
            return;
        }
        match serde_json::value::to_raw_value(&value) {
            Ok(json) => self.objects.push(Manifest {
                gk,
                api_version,
                json,
                origin: Origin {
                    file: file.to_owned(),
                    line,
                },
            }),
            Err(error) => self.problem(file, (line, 0), &error.to_string()),
        }
    }

    fn problem(&mut self, file: &str, (line, column): (u64, u64), message: &str) {
        self.problems.push(Problem {
            file: file.to_owned(),
            line,
            column,
            message: without_place(message).to_owned(),
        });
    }
}

/// The documents of a YAML text with the line each begins at. `---` at the start of a line ends a document
/// wherever it stands, even in the middle of a scalar, so this needs no parser.
fn documents(text: &str) -> Vec<(u64, &str)> {
    let mut documents = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 1, 0);
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        let is_marker = content
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if is_marker && at > start {
            documents.push((start_line, text.get(start..at).unwrap_or_default()));
            (start, start_line) = (at, line);
        }
        at += content.len();
    }
    documents.push((start_line, text.get(start..).unwrap_or_default()));
    documents.retain(|(_, document)| !is_empty(document));
    documents
}

/// Nothing but comments, directives and markers.
fn is_empty(document: &str) -> bool {
    document.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with(['#', '%']) || matches!(line, "---" | "...")
    })
}

/// Lines before the first line of the object itself.
fn blank_lines(document: &str) -> u64 {
    let blank = document.lines().take_while(|line| is_empty(line)).count();
    blank as u64
}

fn lines_in(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

/// What a kind is not read for: our own configuration, recorded reviews, and secrets.
fn is_skipped(gk: &GroupKind) -> bool {
    matches!(
        (&*gk.group, &*gk.kind),
        ("attache.dev", "Configuration")
            | ("admission.k8s.io", "AdmissionReview")
            | ("kustomize.config.k8s.io", _)
            | ("", "Secret")
    )
}

/// Files that belong to other tools and are known to hold no objects.
fn is_foreign(file: &str) -> bool {
    let name = Path::new(file).file_name().and_then(|name| name.to_str());
    matches!(
        name,
        Some("kustomization.yaml" | "kustomization.yml" | "Chart.yaml" | "values.yaml")
    )
}

/// A parser's message without the place at its end: it counts in a part of the file, and the place is told apart.
pub(super) fn without_place(message: &str) -> &str {
    const PLACE: [&str; 5] = ["at", "line", "column", "defined", "used"];
    let is_place = |rest: &str| {
        let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric());
        words.all(|word| word.is_empty() || PLACE.contains(&word) || word.parse::<u64>().is_ok())
    };
    match message.split_once(" at line ") {
        Some((front, rest)) if is_place(rest) => front,
        _ => message,
    }
}

/// Limits for one document: a file is at most 64 MiB, a bomb of aliases is more than it seems.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 8_000_000,
            max_events: 16_000_000,
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_recorded_anchor_events: ALIASED,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: ALIASED,
        },
        // As kubectl reads them.
        legacy_octal_numbers: true,
    }
}
