//! Manifests in files: YAML and JSON, split into objects that remember where they stand.

use std::fmt;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::cores::side_by_side;
use super::skipped::{Skipped, What, is_templated, looks_like_manifest};
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::verdict::escape;

/// Documents that are read in one go by one of several threads.
const RUN: usize = 64;
/// Lists in lists in lists are somebody's mistake.
const LIST_DEPTH: usize = 8;
/// Below `serde_json`'s own limit of 128, so that what is read here can be read again.
const DEPTH: usize = 120;
/// Values in one document: as many as a list of some ten thousand objects has, and some 300 MiB at most.
const VALUES: usize = 2_000_000;
/// What anchors and aliases may stand for in one document; manifests hardly use them.
const ALIASED: usize = 50_000;

/// What is said of a document that is no manifest, where it looks as if it were to be one.
const NO_MANIFEST: &str = "not a Kubernetes manifest (no apiVersion or no kind), so it is skipped";

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
    /// Its place in a list that stands there, and in the list in that; empty where it stands there itself.
    pub items: Vec<usize>,
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
    /// The object, where it is known which.
    pub object: Option<ObjectKey>,
    /// What is wrong.
    pub message: String,
    /// Whether it may be right as it is, and no business of ours.
    pub foreign: bool,
}

/// What was found in files so far, in the order of appearance.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// Objects.
    pub objects: Vec<Manifest>,
    /// What could not be used.
    pub problems: Vec<Problem>,
    /// What is no manifest.
    pub skipped: Vec<Skipped>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names of files and objects come from users, and this goes to a terminal.
        f.write_str(&escape(&self.file))?;
        for number in [self.line, self.column].into_iter().take_while(|n| *n > 0) {
            write!(f, ":{number}")?;
        }
        if let Some(object) = &self.object {
            write!(f, ": {}", escape(&object.to_string()))?;
        }
        write!(f, ": {}", escape(&self.message))
    }
}

// === impl Problem ===

impl Problem {
    /// Says where it is. What is wrong may hold words of the file, and these are not for a log.
    pub fn log(&self) {
        let (file, line, column) = (&self.file, self.line, self.column);
        tracing::warn!(file, line, column, "left out: it cannot be read");
    }
}

// === impl Manifests ===

impl Manifests {
    /// Adds the objects of a file's text. A document that cannot be read loses only itself.
    pub fn add(&mut self, file: &str, text: &str) {
        let mut added = Self::default();
        added.add_text(file, text);
        added.settle();
        self.append(added);
    }

    fn add_text(&mut self, file: &str, text: &str) {
        let text = without_mark(text);
        if is_json(file) {
            self.add_json(file, text);
        } else {
            for (line, document) in documents(text) {
                self.add_yaml(file, line, document);
            }
        }
    }

    /// The objects of a text, its documents read side by side: for long ones.
    pub fn of_long(file: &str, text: &str) -> Self {
        let mut manifests = Self::default();
        manifests.add_long(file, text);
        manifests
    }

    pub(super) fn add_long(&mut self, file: &str, text: &str) {
        let text = without_mark(text);
        if is_json(file) {
            return self.add_json(file, text);
        }
        let documents = documents(text);
        let runs: Vec<&[(u64, &str)]> = documents.chunks(RUN).collect();
        let parts = side_by_side(
            &runs,
            || (),
            |(), run| {
                let mut part = Self::default();
                for (line, document) in *run {
                    part.add_yaml(file, *line, document);
                }
                part
            },
        );
        let mut added = Self::default();
        for part in parts {
            added.append(part);
        }
        added.settle();
        self.append(added);
    }

    /// Notes that something is no manifest.
    pub(super) fn skip(&mut self, file: &str, line: u64, what: What) {
        let file = file.to_owned();
        self.skipped.push(Skipped { file, line, what });
    }

    /// Of one file that has objects: a document among them that is none was most likely meant to be one.
    fn settle(&mut self) {
        if self.objects.is_empty() {
            return;
        }
        let is_lost = |skipped: &Skipped| skipped.what == What::Other;
        let (lost, rest) = std::mem::take(&mut self.skipped)
            .into_iter()
            .partition(is_lost);
        self.skipped = rest;
        let lost: Vec<Skipped> = lost;
        for Skipped { file, line, .. } in lost {
            self.foreign(&file, line, NO_MANIFEST);
        }
    }

    /// Adds what stands in later files.
    pub fn append(&mut self, later: Self) {
        self.objects.extend(later.objects);
        self.problems.extend(later.problems);
        self.skipped.extend(later.skipped);
    }

    /// Notes what is wrong with a file as a whole.
    pub fn refuse(&mut self, file: &str, message: &str) {
        self.problem(file, (0, 0), message);
    }

    /// Notes that a file is passed over.
    pub(super) fn pass_over(&mut self, file: &str, message: &str) {
        self.foreign(file, 0, message);
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
                Ok(value) => self.add_value(file, line, value, &mut Vec::new()),
                Err(error) => {
                    if let Some(what) = What::of_broken(file, rest) {
                        return self.skip(file, line, what);
                    }
                    let place = (error.line() as u64, error.column() as u64);
                    return self.broken(file, rest, place, &error.to_string());
                }
            }
            line += lines;
        }
    }

    fn add_yaml(&mut self, file: &str, line: u64, text: &str) {
        match serde_saphyr::from_str_with_options::<Value>(text, options()) {
            Ok(Value::Null) => {}
            Ok(value) => self.add_value(file, line + blank_lines(text), value, &mut Vec::new()),
            Err(error) => {
                if let Some(what) = What::of_broken(file, text) {
                    return self.skip(file, line, what);
                }
                let place = match error.location() {
                    Some(at) if at.line() > 0 => (line + at.line() - 1, at.column()),
                    _ => (line, 0),
                };
                let message = error.without_snippet().to_string();
                let message = message.lines().next().unwrap_or_default();
                self.broken(file, text, place, &plain(message));
            }
        }
    }

    fn add_value(&mut self, file: &str, line: u64, mut value: Value, items: &mut Vec<usize>) {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
            match What::of_value(file, &value) {
                Some(what) => self.skip(file, line, what),
                None => self.foreign(file, line, NO_MANIFEST),
            }
            return;
        };
        if is_templated(&value) {
            return self.skip(file, line, What::Template);
        }
        if kind.ends_with("List") && value.get("items").is_some_and(Value::is_array) {
            if items.len() >= LIST_DEPTH {
                return self.problem(file, (line, 0), "lists nested too deep");
            }
            if let Some(Value::Array(inner)) = value.get_mut("items").map(Value::take) {
                for (i, item) in inner.into_iter().enumerate() {
                    items.push(i);
                    self.add_value(file, line, item, items);
                    items.pop();
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
                    items: items.clone(),
                },
            }),
            Err(error) => self.problem(file, (line, 0), &error.to_string()),
        }
    }

    /// Notes what is wrong with a document that cannot be parsed. One that does not even begin as a manifest may be
    /// right as it is.
    fn broken(&mut self, file: &str, text: &str, place: (u64, u64), message: &str) {
        self.problem(file, place, message);
        if let Some(problem) = self.problems.last_mut() {
            problem.foreign = !looks_like_manifest(text);
        }
    }

    fn problem(&mut self, file: &str, (line, column): (u64, u64), message: &str) {
        self.problems.push(Problem {
            file: file.to_owned(),
            line,
            column,
            object: None,
            message: without_place(message).to_owned(),
            foreign: false,
        });
    }

    fn foreign(&mut self, file: &str, line: u64, message: &str) {
        self.problems.push(Problem {
            file: file.to_owned(),
            line,
            column: 0,
            object: None,
            message: message.to_owned(),
            foreign: true,
        });
    }
}

pub(super) fn is_json(file: &str) -> bool {
    let extension = Path::new(file).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The documents of a YAML text with the line each begins at. `---` at the start of a line ends a document
/// wherever it stands, even in the middle of a scalar, so this needs no parser.
pub(super) fn documents(text: &str) -> Vec<(u64, &str)> {
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

pub(super) fn lines_in(text: &str) -> u64 {
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

/// A parser's message for those who write manifests, not programs.
fn plain(message: &str) -> String {
    let (message, _) = message
        .split_once(", set DuplicateKeyPolicy")
        .unwrap_or((message, ""));
    let Some(what) = message.strip_prefix("budget breached: ") else {
        return message.to_owned();
    };
    if what.starts_with("Nodes") || what.starts_with("Events") {
        format!("it has more than {VALUES} values; split it")
    } else if what.contains("Anchor") || what.contains("Alias") {
        format!("its anchors stand for more than {ALIASED} values")
    } else {
        let (what, _) = what.split_once(" {").unwrap_or((what, ""));
        format!("it has more than a manifest may have: {what}")
    }
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
pub(super) fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: VALUES,
            max_events: 2 * VALUES,
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_recorded_anchor_events: ALIASED,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: ALIASED,
        },
        emit_comments: false,
        // As kubectl reads them.
        legacy_octal_numbers: true,
    }
}
