//! Finds and reads files and directories of manifests, and refuses those that are not regular files.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use super::ignored::Ignored;
use super::manifest::Manifests;
use super::parallel::parallel_map;
use super::skipped::SkippedFileType;
use crate::reading::{self, Pipes};

/// The largest file to read, in bytes.
const LARGEST_FILE: u64 = 64 << 20;
/// A file of at least this many bytes is parsed by several threads at once; smaller files are distributed over the
/// threads as a whole.
const LARGE: u64 = 1 << 20;
/// The greatest depth to which directories may be nested.
const DEPTH: u32 = 32;
/// The name of the standard input in messages.
pub const STDIN: &str = "standard input";

/// A file to read, or why it is not read.
pub(super) type FoundFile = Result<PathBuf, (PathBuf, Refusal)>;

/// Why a file is not read.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// Reading it failed.
    Cannot(String),
    /// It is not a regular file (a pipe, a device): reading might block or not finish.
    Odd,
    /// It is a link to a target outside the directory.
    Outside,
}

/// The links in directories to follow. Links that the user names are always followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Those whose target is within the named directory.
    #[default]
    Within,
    /// All.
    All,
}

/// Reads files that [`files`] found.
pub(super) fn read_found(files_found: &[FoundFile]) -> Manifests {
    let length = |file: &FoundFile| match file {
        Ok(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
        Err(_) => 0,
    };
    let mut manifests = Manifests::default();
    let mut remaining = files_found;
    while !remaining.is_empty() {
        let small = remaining.iter().take_while(|file| length(file) < LARGE);
        let (small, others) = remaining.split_at(small.count());
        let read = |(): &mut (), file: &FoundFile| read_one(&manifests, file, Manifests::add);
        for part in parallel_map(small, || (), read) {
            manifests.append(part);
        }
        let (large, others) = others.split_at(others.len().min(1));
        for file in large {
            manifests.append(read_one(&manifests, file, Manifests::add_long));
        }
        remaining = others;
    }
    let named = files_found.first().map(|first| match first {
        Ok(path) | Err((path, _)) => path.display().to_string(),
    });
    manifests.hold_to_room(&named.unwrap_or_default());
    manifests
}

/// Reads the standard input into manifests.
pub fn read_stdin() -> Manifests {
    let mut manifests = Manifests::default();
    match stdin_text() {
        Ok(text) => {
            manifests.add_long(STDIN, &text);
            manifests.hold_to_room(STDIN);
        }
        Err(why) => manifests.refuse(STDIN, &why),
    }
    manifests
}

/// The text on the standard input.
///
/// # Errors
/// Fails if it cannot be read, is too long, or is not text.
pub fn stdin_text() -> Result<String, String> {
    let bytes = reading::limited(io::stdin().lock(), LARGEST_FILE);
    bytes.map_err(|error| cannot(&error)).and_then(decoded)
}

/// The manifests on the standard input, which must be readable, and its text.
///
/// # Errors
/// As [`stdin_text`].
pub fn stdin_manifests() -> Result<(Manifests, String), String> {
    let text = stdin_text().map_err(|why| format!("{STDIN}: {why}"))?;
    Ok((Manifests::of_long(STDIN, &text), text))
}

/// The text of a file.
///
/// # Errors
/// Fails if it cannot be read, is too large, or is not text.
pub fn text(path: &Path) -> Result<String, String> {
    let bytes = reading::bytes(path, LARGEST_FILE, Pipes::Read);
    bytes.map_err(|error| cannot(&error)).and_then(decoded)
}

fn read_one(
    settings_of: &Manifests,
    found_file: &FoundFile,
    add: impl Fn(&mut Manifests, &str, &str),
) -> Manifests {
    let mut manifests = settings_of.empty_like();
    match found_file {
        Ok(path) => {
            let file = path.display().to_string();
            match text(path) {
                Ok(text) => {
                    if let Some(what) = SkippedFileType::of_place(path, &text) {
                        manifests.skip(&file, 0, what);
                        return manifests;
                    }
                    add(&mut manifests, &file, &text);
                    // In a pull request the file may be a link to anything, so messages must not quote it.
                    if reading::leads_out(path) {
                        manifests.quote_nothing();
                    }
                }
                Err(why) => manifests.refuse(&file, &why),
            }
        }
        Err((path, Refusal::Cannot(why))) => manifests.refuse(&path.display().to_string(), why),
        Err((path, Refusal::Odd)) => manifests.pass_over(
            &path.display().to_string(),
            "it is a pipe, a socket or a device, and not read unless it is named",
        ),
        Err((path, Refusal::Outside)) => manifests.pass_over(
            &path.display().to_string(),
            "a link that leads out of the directory is not followed; --follow-links does",
        ),
    }
    manifests
}

/// The files to read: those that are named, and in directories those with a known extension, sorted by name. Each
/// directory is entered once, so that circular links do no harm.
pub(super) fn files(paths: &[PathBuf], links: Links) -> Vec<FoundFile> {
    let mut files = Vec::new();
    let mut entered = HashSet::new();
    for path in paths {
        let root = path.canonicalize().ok().filter(|_| links == Links::Within);
        let mut walk = Walk {
            root,
            entered: &mut entered,
            files: &mut files,
        };
        walk.enter(path, 0, &Ignored::above(path));
    }
    files
}

/// The paths of the files that can be read among these files and directories.
pub fn names(paths: &[PathBuf], links: Links) -> Vec<PathBuf> {
    files(paths, links).into_iter().flatten().collect()
}

/// Walks a named path and everything below it.
struct Walk<'a> {
    /// The real path, which links must not leave; `None` if all links are followed.
    root: Option<PathBuf>,
    entered: &'a mut HashSet<PathBuf>,
    files: &'a mut Vec<FoundFile>,
}

// === impl Walk ===

impl Walk<'_> {
    fn refuse(&mut self, path: &Path, why: String) {
        self.files
            .push(Err((path.to_owned(), Refusal::Cannot(why))));
    }

    /// Whether a path is a link out of the named directory.
    fn is_outside(&self, path: &Path) -> bool {
        let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_symlink());
        let root = self.root.as_ref().filter(|_| is_link);
        root.is_some_and(|root| {
            path.canonicalize()
                .is_ok_and(|real| !real.starts_with(root))
        })
    }

    fn file(&mut self, path: &Path, kind: FileType, depth: u32) {
        if depth == 0 {
            self.files.push(Ok(path.to_owned()));
        } else if is_manifest(path) {
            let path = path.to_owned();
            self.files.push(if kind.is_file() {
                Ok(path)
            } else {
                Err((path, Refusal::Odd))
            });
        }
    }

    fn enter(&mut self, path: &Path, depth: u32, ignored: &Ignored) {
        // Before any access to the target of the link.
        if depth > 0 && self.is_outside(path) {
            if is_manifest(path) || path.is_dir() {
                self.files.push(Err((path.to_owned(), Refusal::Outside)));
            }
            return;
        }
        let kind = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.refuse(path, cannot(&error)),
        };
        if kind.is_dir() {
            self.directory(path, depth, ignored);
        } else {
            self.file(path, kind, depth);
        }
    }

    fn directory(&mut self, path: &Path, depth: u32, ignored: &Ignored) {
        if depth > DEPTH {
            return self.refuse(path, "directories nested too deeply".to_owned());
        }
        match fs::canonicalize(path) {
            Ok(real) => {
                if !self.entered.insert(real) {
                    return;
                }
            }
            Err(error) => return self.refuse(path, cannot(&error)),
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return self.refuse(path, cannot(&error)),
        };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        let ignored = &ignored.within(path);
        for entry in entries {
            // Mounted ConfigMaps keep their files twice, once behind `..data`.
            let hidden = entry
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            // A dangling link matters only if it has the name of a manifest.
            let dangling = !is_manifest(&entry) && !entry.exists();
            if !hidden && !dangling && !ignored.has(&entry, entry.is_dir()) {
                self.enter(&entry, depth + 1, ignored);
            }
        }
    }
}

pub(super) fn is_manifest(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| {
            ["yaml", "yml", "json"]
                .iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
        })
}

fn cannot(error: &io::Error) -> String {
    match error.kind() {
        // These errors already say that the file was not read.
        io::ErrorKind::Other => error.to_string(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Decodes UTF-8, or UTF-16 with a byte order mark, as kubectl does.
fn decoded(bytes: Vec<u8>) -> Result<String, String> {
    let utf16 = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((encoded, unit)) = utf16 {
        let (pairs, odd) = encoded.as_chunks::<2>();
        let units = pairs.iter().map(|pair| unit(*pair));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        let text = text.ok().filter(|_| odd.is_empty());
        return text.ok_or_else(|| {
            "it begins with the mark of UTF-16 and is not valid UTF-16; save it as UTF-8".to_owned()
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..good).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        format!(
            "it is not text: byte {} (line {line}) is not UTF-8",
            good + 1
        )
    })
}
