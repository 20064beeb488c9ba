//! The line numbers of findings. Reads a file again only for findings on a field.

use std::collections::BTreeMap;
use std::path::Path;

use crate::answer::report::Spot;
use crate::cache::files::{self, STDIN};
use crate::cache::manifest::Origin;
use crate::cache::parallel::parallel_map;
use crate::cache::position::Outline;

/// A position to look up.
#[derive(Clone, Copy, Debug)]
pub(super) struct PositionQuery<'a> {
    /// The index of the finding.
    pub(super) index: usize,
    /// The object's position.
    pub(super) origin: &'a Origin,
    /// The field in the object.
    pub(super) field: Option<&'a str>,
}

/// The positions to look up, by file.
pub(super) struct Places<'a> {
    stdin: Option<&'a str>,
    files: BTreeMap<&'a str, Vec<PositionQuery<'a>>>,
}

// === impl Places ===

impl<'a> Places<'a> {
    /// An empty collection; `stdin` is the text that standard input had.
    pub(super) fn new(stdin: Option<&'a str>) -> Self {
        Self {
            stdin,
            files: BTreeMap::new(),
        }
    }

    /// Adds a position to look up.
    pub(super) fn ask(&mut self, asked: PositionQuery<'a>) {
        self.files
            .entry(&asked.origin.file)
            .or_default()
            .push(asked);
    }

    /// Looks up all positions.
    pub(super) fn answers(self) -> Vec<(usize, Spot)> {
        let stdin = self.stdin;
        let mut files: Vec<(&str, Vec<PositionQuery<'_>>)> = self.files.into_iter().collect();
        for (_, asked) in &mut files {
            asked.sort_by_key(|asked| asked.origin.line);
        }
        let answers = parallel_map(
            &files,
            || (),
            |(), (file, asked)| of_one_file(file, asked, stdin),
        );
        answers.into_iter().flatten().collect()
    }
}

fn of_one_file(file: &str, asked: &[PositionQuery<'_>], stdin: Option<&str>) -> Vec<(usize, Spot)> {
    // The start of an object is already known unless it is in a list.
    let deep = |asked: &PositionQuery<'_>| asked.field.is_some() || !asked.origin.items.is_empty();
    let read = match stdin {
        _ if !asked.iter().any(deep) => None,
        Some(text) if file == STDIN => Some(text.to_owned()),
        _ => files::text(Path::new(file)).ok(),
    };
    let mut outline = read.as_ref().map(|text| Outline::new(text));
    let spots = asked.iter().map(|asked| {
        let mut spot = spot(asked.origin);
        if let Some(outline) = outline.as_mut().filter(|_| deep(asked))
            && let Some((line, column)) = outline.find(asked.origin, asked.field)
        {
            (spot.line, spot.column) = (line, column);
        }
        (asked.index, spot)
    });
    spots.collect()
}

/// The start of an object, or of the list that contains it.
pub(super) fn spot(origin: &Origin) -> Spot {
    Spot {
        file: shown(&origin.file),
        line: origin.line,
        column: 0,
    }
}

/// A file's path for output: other tools expect paths without `./`.
pub(super) fn shown(file: &str) -> String {
    file.strip_prefix("./").unwrap_or(file).to_owned()
}
