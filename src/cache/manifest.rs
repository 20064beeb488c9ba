//! Splits files of YAML and JSON into objects, each with its position in the file.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::parallel::parallel_map;
use super::skipped::{Skipped, SkippedFileType, is_templated, looks_like_manifest};
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::{GroupKind, ObjectKey};

mod documents;
mod parse;
mod read_budget;
mod transcode;

pub(super) use documents::{Document, documents};
use documents::{Form, blank_lines, is_crowd};
use parse::{ContainingList, Head, Yaml, each_item, json, yaml};
use read_budget::{ReadBudget, crowd};
use transcode::TOO_LONG;

/// The number of documents that a thread takes at a time.
const RUN: usize = 64;
/// The longest JSON document with a duplicate key, in bytes. Such a document has to be held in memory as values.
const LONGEST_WITH_DOUBLES: usize = 1 << 20;
/// The greatest depth to which values may be nested: below `serde_json`'s own limit of 128, so that the result can be
/// parsed again.
const DEPTH: usize = 120;
/// The most values in one document: as many as a list of some ten thousand objects has.
const VALUES: usize = 2_000_000;
/// The most values that anchors and aliases of one document may expand to; manifests hardly use them.
const ALIASED: usize = 50_000;

/// The beginning of the message for a document that is not a manifest but looks as if it was meant to be one.
const NO_MANIFEST: &str = "not a Kubernetes manifest";
/// The message for a document that is a list of objects.
const LIST: &str = "not a Kubernetes manifest: the document is a list, so its objects are not checked; write each as a \
                    document of its own, after ---";

/// An object in a file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its kind.
    pub gk: GroupKind,
    /// `apiVersion`, as written.
    pub api_version: String,
    /// The whole object.
    pub json: Box<RawValue>,
    /// The place at which it is written.
    pub origin: Origin,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file, as it was named or found.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u64,
    /// Its index in the list at that line, and in the list in that; empty if it is not in a list.
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
    /// The object, if it is known.
    pub object: Option<ObjectKey>,
    /// The problem.
    pub message: String,
    /// Whether the file may be correct, but not for attache.
    pub foreign: bool,
}

/// The contents of the files read so far, in the order of appearance.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// Objects.
    pub objects: Vec<Manifest>,
    /// Parts that could not be used, with the reason.
    pub problems: Vec<Problem>,
    /// Files and documents that are not manifests.
    pub skipped: Vec<Skipped>,
    /// The memory budget.
    room: Arc<ReadBudget>,
}

impl Problem {
    /// Whether a file, or a part of it, cannot be read at all; a file of another format can.
    pub fn is_of_text(&self) -> bool {
        self.object.is_none() && !self.message.contains(NO_MANIFEST)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // File and object names come from users, and the output may go to a terminal.
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
    /// Logs the location only: the message may quote the file, which does not belong in a log.
    pub fn log(&self) {
        let (file, line, column) = (&self.file, self.line, self.column);
        tracing::warn!(file, line, column, "left out: it cannot be read");
    }
}

// === impl Manifests ===

impl Manifests {
    /// Creates an empty value to append to this one later. Both share a memory budget.
    pub(super) fn empty_like(&self) -> Self {
        Self {
            room: Arc::clone(&self.room),
            ..Self::default()
        }
    }

    /// Adds the objects of a file's text. A document that cannot be parsed does not affect the others.
    pub fn add(&mut self, file: &str, text: &str) {
        let mut added = self.empty_like();
        added.add_text(file, text);
        added.settle();
        self.append(added);
    }

    fn add_text(&mut self, file: &str, text: &str) {
        self.room.file(text.len());
        let documents = documents(text);
        if is_crowd(documents.len(), text.len()) {
            return self.refuse(file, &crowd());
        }
        for document in documents {
            self.add_document(file, &document);
        }
    }

    /// Parses a long text, with its documents distributed over threads.
    pub fn of_long(file: &str, text: &str) -> Self {
        let mut manifests = Self::default();
        manifests.add_long(file, text);
        manifests.hold_to_room(file);
        manifests
    }

    pub(super) fn add_long(&mut self, file: &str, text: &str) {
        self.room.file(text.len());
        let documents = documents(text);
        if is_crowd(documents.len(), text.len()) {
            return self.refuse(file, &crowd());
        }
        let runs: Vec<&[Document<'_>]> = documents.chunks(RUN).collect();
        let parts = parallel_map(
            &runs,
            || (),
            |(), run| {
                let mut part = self.empty_like();
                for document in *run {
                    part.add_document(file, document);
                }
                part
            },
        );
        let mut added = self.empty_like();
        for part in parts {
            added.append(part);
        }
        added.settle();
        self.append(added);
    }

    /// Records something that is not a manifest.
    pub(super) fn skip(&mut self, file: &str, line: u64, what: SkippedFileType) {
        let file = file.to_owned();
        self.skipped.push(Skipped { file, line, what });
    }

    /// If a file has objects, a document in it that is not a manifest was most likely meant to be one: reports it as a
    /// problem.
    fn settle(&mut self) {
        if self.objects.is_empty() {
            return;
        }
        let is_lost = |skipped: &Skipped| skipped.what == SkippedFileType::Other;
        let (lost, kept) = std::mem::take(&mut self.skipped)
            .into_iter()
            .partition(is_lost);
        self.skipped = kept;
        let lost: Vec<Skipped> = lost;
        for Skipped { file, line, .. } in lost {
            let why = incomplete(&[], [false; 2]);
            self.foreign(&file, line, &why);
        }
    }

    /// Appends the contents of later files.
    pub fn append(&mut self, later: Self) {
        if self.objects.is_empty() && self.problems.is_empty() && self.skipped.is_empty() {
            *self = later;
            return;
        }
        self.objects.extend(later.objects);
        self.problems.extend(later.problems);
        self.skipped.extend(later.skipped);
    }

    /// If the memory budget is exceeded, drops everything and reports it.
    pub(super) fn hold_to_room(&mut self, from: &str) {
        if let Some(why) = self.room.refusal() {
            (self.objects, self.problems) = (Vec::new(), Vec::new());
            self.skipped = Vec::new();
            self.refuse(from, &why);
        }
    }

    /// Replaces the messages of problems, because parsers quote the text.
    pub(super) fn quote_nothing(&mut self) {
        for problem in &mut self.problems {
            "it cannot be read; the reason is withheld, because a link leads to this file from elsewhere"
                .clone_into(&mut problem.message);
        }
    }

    /// Records a problem with a file as a whole.
    pub fn refuse(&mut self, file: &str, message: &str) {
        self.problem(file, (0, 0), message);
    }

    /// Records that a file is skipped.
    pub(super) fn pass_over(&mut self, file: &str, message: &str) {
        self.foreign(file, 0, message);
    }

    fn add_document(&mut self, file: &str, document: &Document<'_>) {
        let line = document.line;
        match &document.form {
            Form::Json => match json(document.text) {
                Ok(text) => self.add_object(file, line, text),
                Err(((down, column), why)) => {
                    let place = (line + down.max(1) - 1, column);
                    self.unread(file, document, place, &why);
                }
            },
            Form::Yaml(fault) => match (yaml(document.text), fault) {
                (Ok(Yaml { text, more }), _) => {
                    if let Some(more) = more {
                        let why = "what follows the end of the document (...) is not read, nor does kubectl: \
                                   begin it with ---";
                        self.problem(file, (line + more.max(1) - 1, 0), why);
                    }
                    if text != "null" {
                        self.add_object(file, line + blank_lines(document.text), text);
                    }
                }
                (Err(_), Some((place, why))) => self.unread(file, document, *place, why),
                (Err(((down, column), why)), None) => {
                    let place = (line + down.max(1) - 1, column);
                    self.unread(file, document, place, &why);
                }
            },
            Form::Neither((place, why)) => self.problem(file, *place, why),
        }
    }

    /// A document that cannot be parsed may not be meant for attache.
    fn unread(&mut self, file: &str, document: &Document<'_>, place: (u64, u64), why: &str) {
        match SkippedFileType::of_broken(file, document.text) {
            Some(what) => self.skip(file, document.line, what),
            None => self.broken(file, document.text, place, why),
        }
    }

    fn add_object(&mut self, file: &str, line: u64, text: String) {
        match RawValue::from_string(text) {
            Ok(json) => self.add_value(file, line, Cow::Owned(json), &ContainingList::default()),
            Err(error) => self.problem(file, (line, 0), &error.to_string()),
        }
    }

    fn add_value(
        &mut self,
        file: &str,
        line: u64,
        json: Cow<'_, RawValue>,
        inside: &ContainingList<'_>,
    ) {
        if json.get().starts_with('[') {
            return self.add_list(file, line, &json);
        }
        let head: Head<'_> = serde_json::from_str(json.get()).unwrap_or_default();
        let (api_version, kind) = match (Head::text(head.api_version), Head::text(head.kind)) {
            // In a typed list, items may leave out apiVersion and kind.
            (None, None) if inside.version_and_kind.is_some() => {
                let (version, kind) = inside.version_and_kind.unwrap_or_default();
                (version.to_owned(), kind.to_owned())
            }
            (Some(api_version), Some(kind)) => (api_version, kind),
            (api_version, kind) => {
                let has = [api_version.is_some(), kind.is_some()];
                return match SkippedFileType::of_value(file, &head.sketch()) {
                    Some(what) => self.skip(file, line, what),
                    None => self.foreign(file, line, &incomplete(&inside.items, has)),
                };
            }
        };
        if is_templated(&head.sketch()) {
            return self.skip(file, line, SkippedFileType::Template);
        }
        if api_version.matches('/').count() > 1 {
            let why =
                format!("{api_version:?} is not an apiVersion: write group/version, or version");
            return self.problem(file, (line, 0), &why);
        }
        if let Some(items) = head.items.filter(|items| items.get().starts_with('[')) {
            if !inside.items.is_empty() {
                let why = "a list in a list, which kubectl refuses: take its items out of it";
                return self.problem(file, (line, 0), why);
            }
            let item_kind = kind
                .strip_suffix("List")
                .filter(|item_kind| !item_kind.is_empty());
            let version_and_kind = item_kind.map(|of| (&*api_version, of));
            let bytes = items.get().len();
            return each_item(items, |i, item| {
                // The rest exceeds the budget, which is reported later.
                if !is_crowd(i, bytes) {
                    let inside = ContainingList {
                        items: vec![i],
                        version_and_kind,
                    };
                    self.add_value(file, line, Cow::Borrowed(item), &inside);
                }
            });
        }
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let gk = GroupKind::new(group, kind);
        if is_skipped(&gk) || !self.room.object(json.get().len()) {
            return;
        }
        self.objects.push(Manifest {
            gk,
            api_version,
            json: json.into_owned(),
            origin: Origin {
                file: file.to_owned(),
                line,
                items: inside.items.clone(),
            },
        });
    }

    /// Records a document that is a list. The fields of an object must not be read from it: its items would be taken for
    /// apiVersion, kind and so on, by their position.
    fn add_list(&mut self, file: &str, line: u64, list: &RawValue) {
        let mut has_object = false;
        each_item(list, |_, item| {
            let head: Head<'_> = serde_json::from_str(item.get()).unwrap_or_default();
            // Items of other files have a kind, too.
            let is_object = item.get().starts_with('{') && head.api_version.is_some();
            has_object |= is_object && SkippedFileType::of_value(file, &head.sketch()).is_none();
        });
        if has_object {
            self.foreign(file, line, LIST);
        } else {
            let what = SkippedFileType::of_name(file).unwrap_or(SkippedFileType::Other);
            self.skip(file, line, what);
        }
    }

    /// Records a syntax error. A document that does not begin like a manifest may be valid in its own format.
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

/// The message for a document, or an item of a list, that lacks apiVersion, kind or both.
fn incomplete(items: &[usize], [has_version, has_kind]: [bool; 2]) -> String {
    let item: Vec<String> = items.iter().map(|i| format!("items[{i}]")).collect();
    let colon = if item.is_empty() { "" } else { ": " };
    let item = item.join(".");
    let why = match (has_version, has_kind) {
        (true, _) => "it has an apiVersion and no kind",
        (false, true) => "it has a kind and no apiVersion",
        (false, false) => "it has no apiVersion and no kind",
    };
    format!("{item}{colon}{NO_MANIFEST}, so it is skipped: {why}")
}

/// Kinds that are never read: attache's own configuration and tests, recorded reviews, and secrets.
fn is_skipped(gk: &GroupKind) -> bool {
    matches!(
        (&*gk.group, &*gk.kind),
        ("attache.dev", "Configuration" | "Test")
            | ("admission.k8s.io", "AdmissionReview")
            | ("kustomize.config.k8s.io", _)
            | ("", "Secret")
    )
}

/// Rewords a parser's message for authors of manifests.
fn plain(message: &str) -> String {
    let (message, _) = message
        .split_once(", set DuplicateKeyPolicy")
        .unwrap_or((message, ""));
    if message.starts_with(TOO_LONG) {
        return format!("its anchors expand to more than {ALIASED} values");
    }
    let Some(what) = message.strip_prefix("budget breached: ") else {
        return message.to_owned();
    };
    if what.starts_with("Nodes") || what.starts_with("Events") {
        format!("it has more than {VALUES} values; split it")
    } else if what.contains("Anchor") || what.contains("Alias") {
        format!("its anchors expand to more than {ALIASED} values")
    } else {
        let (what, _) = what.split_once(" {").unwrap_or((what, ""));
        format!("it has more than a manifest may have: {what}")
    }
}

/// Strips the location from a parser's message. It is relative to a part of the file, and the right one is shown
/// separately.
pub(super) fn without_place(message: &str) -> &str {
    const PLACE: [&str; 5] = ["at", "line", "column", "defined", "used"];
    let is_place = |text: &str| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.all(|word| word.is_empty() || PLACE.contains(&word) || word.parse::<u64>().is_ok())
    };
    match message.split_once(" at line ") {
        Some((front, rest)) if is_place(rest) => front,
        _ => message,
    }
}

/// Parser limits for one document. A file is at most 64 MiB, but aliases can multiply its size.
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
        // As in kubectl.
        legacy_octal_numbers: true,
    }
}
