//! Files and directories of manifests: which are read, and how, whatever lies there.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::cores::side_by_side;
use super::ignored::Ignored;
use super::manifest::Manifests;
use super::repository;
use super::skipped::What;

/// A larger file is no manifest.
const LARGEST_FILE: u64 = 64 << 20;
/// From here on the documents of one file are read side by side, and not the file beside others.
const LARGE: u64 = 1 << 20;
/// Directories in directories.
const DEPTH: u32 = 32;
/// What the standard input is called.
pub const STDIN: &str = "standard input";

/// A file to read, or what is wrong with it.
pub(super) type Found = Result<PathBuf, (PathBuf, Refusal)>;

/// Why a file is not read.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// It cannot be.
    Cannot(String),
    /// It would not end, or never begin.
    Odd,
}

/// Reads files and directories (recursively, by name) into manifests. Patches of kustomizations are left out.
pub fn read(paths: &[PathBuf]) -> Manifests {
    repository::unbuilt(paths)
}

/// Reads files that were found.
pub(super) fn read_found(found: &[Found]) -> Manifests {
    let length = |found: &Found| match found {
        Ok(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
        Err(_) => 0,
    };
    let mut manifests = Manifests::default();
    let mut rest = found;
    while !rest.is_empty() {
        let small = rest.iter().take_while(|found| length(found) < LARGE);
        let (small, others) = rest.split_at(small.count());
        for part in side_by_side(small, || (), |(), found| read_one(found, Manifests::add)) {
            manifests.append(part);
        }
        let (large, others) = others.split_at(others.len().min(1));
        for found in large {
            manifests.append(read_one(found, Manifests::add_long));
        }
        rest = others;
    }
    manifests
}

/// Reads the standard input into manifests.
pub fn read_stdin() -> Manifests {
    let mut manifests = Manifests::default();
    match stdin_text() {
        Ok(text) => manifests.add_long(STDIN, &text),
        Err(why) => manifests.refuse(STDIN, &why),
    }
    manifests
}

/// The text on the standard input.
///
/// # Errors
/// When it cannot be read, is too long, or is no text.
pub fn stdin_text() -> Result<String, String> {
    read_text(io::stdin().lock())
}

/// The text of a file.
///
/// # Errors
/// When it cannot be read, is too large, or is no text.
pub fn text(path: &Path) -> Result<String, String> {
    let file = fs::File::open(path).map_err(|error| cannot(&error))?;
    let metadata = file.metadata().map_err(|error| cannot(&error))?;
    if metadata.is_file() && metadata.len() > LARGEST_FILE {
        return Err(too_large());
    }
    read_text(file)
}

fn read_one(found: &Found, add: impl Fn(&mut Manifests, &str, &str)) -> Manifests {
    let mut manifests = Manifests::default();
    match found {
        Ok(path) => {
            let file = path.display().to_string();
            match text(path) {
                Ok(text) => match What::of_place(path, &text) {
                    Some(what) => manifests.skip(&file, 0, what),
                    None => add(&mut manifests, &file, &text),
                },
                Err(why) => manifests.refuse(&file, &why),
            }
        }
        Err((path, Refusal::Cannot(why))) => manifests.refuse(&path.display().to_string(), why),
        Err((path, Refusal::Odd)) => manifests.pass_over(
            &path.display().to_string(),
            "it is a pipe, a socket or a device, and not read unless it is named",
        ),
    }
    manifests
}

/// The files that are read: those named, and those with a known ending in directories, sorted by name. A directory
/// is entered once, so that links that lead back do not hang.
pub(super) fn files(paths: &[PathBuf]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut entered = HashSet::new();
    for path in paths {
        walk(path, 0, &Ignored::above(path), &mut entered, &mut found);
    }
    found
}

fn walk(
    path: &Path,
    depth: u32,
    ignored: &Ignored,
    entered: &mut HashSet<PathBuf>,
    found: &mut Vec<Found>,
) {
    let refuse = |why: String| Err((path.to_owned(), Refusal::Cannot(why)));
    let kind = match fs::metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) => return found.push(refuse(cannot(&error))),
    };
    if !kind.is_dir() {
        if depth == 0 {
            found.push(Ok(path.to_owned()));
        } else if is_manifest(path) {
            let path = path.to_owned();
            found.push(if is_odd(kind) {
                Err((path, Refusal::Odd))
            } else {
                Ok(path)
            });
        }
        return;
    }
    if depth > DEPTH {
        return found.push(refuse("directories nested too deep".to_owned()));
    }
    match fs::canonicalize(path) {
        Ok(real) => {
            if !entered.insert(real) {
                return;
            }
        }
        Err(error) => return found.push(refuse(cannot(&error))),
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return found.push(refuse(cannot(&error))),
    };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let ignored = &ignored.within(path);
    for entry in entries {
        // Mounted ConfigMaps keep their files twice: once behind `..data`.
        let hidden = entry
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // A link that leads nowhere concerns us only if it would be read.
        let dangling = !is_manifest(&entry) && !entry.exists();
        if !hidden && !dangling && !ignored.has(&entry, entry.is_dir()) {
            walk(&entry, depth + 1, ignored, entered, found);
        }
    }
}

/// What reading would wait for, or never end with.
fn is_odd(kind: FileType) -> bool {
    !kind.is_file()
}

fn is_manifest(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| {
            ["yaml", "yml", "json"]
                .iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
        })
}

fn cannot(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

fn too_large() -> String {
    format!("larger than {} MiB", LARGEST_FILE >> 20)
}

fn read_text(from: impl io::Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    // The size is not trusted: files grow, and pipes have none.
    let length = from
        .take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot(&error))?;
    if length as u64 > LARGEST_FILE {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..good).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        format!(
            "it is no text: byte {} (line {line}) is not UTF-8",
            good + 1
        )
    })
}
