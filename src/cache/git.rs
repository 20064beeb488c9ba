//! Reads the files of a revision from the git repository of the current directory, without a worktree and without the
//! index: as git stores them, so no filter or hook runs.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use super::exec::{self, ExecError};
use super::files::is_manifest;

/// The most bytes of files to read at a time.
const BATCH: u64 = 32 << 20;
/// The largest file to read, in bytes.
const LARGEST: u64 = 60 << 20;
/// The most bytes of one revision.
const LARGEST_REVISION: u64 = 2 << 30;

/// The files of a revision in a temporary directory, which is removed when this is dropped.
#[derive(Debug)]
pub struct Checkout {
    dir: TempDir,
    /// Notes for the user about files that were left out.
    pub notes: Vec<String>,
}

/// One entry of a tree.
struct Entry {
    is_link: bool,
    id: String,
    size: u64,
    path: PathBuf,
}

/// The id of the commit that a revision names; `None` if it names none.
///
/// # Errors
/// If git is missing, or this is no repository.
pub fn commit(revision: &str) -> Result<Option<String>, String> {
    git(&["rev-parse", "--git-dir"], None)?;
    if revision.is_empty() || revision.starts_with('-') {
        return Ok(None);
    }
    // A text to search for takes everything up to its end.
    let name = if revision.starts_with(":/") {
        revision.to_owned()
    } else {
        format!("{revision}^{{commit}}")
    };
    let output = git(&["rev-parse", "--verify", "--quiet", &name], None);
    Ok(output.ok().map(|id| text(&id)))
}

/// The last common ancestor of two commits.
///
/// # Errors
/// If they have none in common.
pub fn merge_base(one: &str, other: &str) -> Result<String, String> {
    let output = git(&["merge-base", one, other], None);
    output
        .map(|id| text(&id))
        .map_err(|_| "they have no commit in common; a shallow clone may lack it".to_owned())
}

/// The path of a file or directory from the top of the repository, without detours. `None` if it leads out of the
/// repository. `from_top` paths start there, others in the current directory.
///
/// # Errors
/// If git is missing, or this is no repository.
pub fn inside(path: &str, from_top: bool) -> Result<Option<PathBuf>, String> {
    let mut normalized = PathBuf::new();
    let mut path = Path::new(path);
    if path.is_absolute() {
        let top = text(&git(&["rev-parse", "--show-toplevel"], None)?);
        match path.strip_prefix(top) {
            Ok(inside) => path = inside,
            Err(_) => return Ok(None),
        }
    } else if !from_top {
        normalized.push(text(&git(&["rev-parse", "--show-prefix"], None)?));
    }
    for part in path.components() {
        match part {
            Component::Normal(part) => normalized.push(part),
            Component::CurDir => {}
            Component::ParentDir if normalized.pop() => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(normalized))
}

/// Reads all files of a commit.
///
/// # Errors
/// If git fails, the files are too large, or they cannot be written.
pub fn checkout(commit: &str) -> Result<Checkout, String> {
    let listed = git(&["ls-tree", "-r", "-z", "-l", "--full-tree", commit], None)?;
    let mut checkout = Checkout {
        dir: TempDir::new().map_err(|error| format!("no temporary directory: {error}"))?,
        notes: Vec::new(),
    };
    let mut entries = Vec::new();
    for line in listed
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
    {
        entries.extend(checkout.entry(&String::from_utf8_lossy(line)));
    }
    let total: u64 = entries.iter().map(|entry| entry.size).sum();
    if total > LARGEST_REVISION {
        return Err(format!(
            "the revision has {} MiB of files, and at most {} are read: name a directory of a git worktree",
            total >> 20,
            LARGEST_REVISION >> 20
        ));
    }
    // The top of a repository, so that files above it do not count.
    let top = checkout.dir.path().join(".git");
    fs::create_dir(top).map_err(|error| error.to_string())?;
    // Links come last: nothing is written through them.
    entries.sort_by_key(|entry| entry.is_link);
    let mut remaining = entries.as_slice();
    while !remaining.is_empty() {
        let mut size = 0;
        let fits = remaining.iter().take_while(|entry| {
            size += entry.size;
            size <= BATCH
        });
        let (batch, others) = remaining.split_at(fits.count().max(1));
        checkout.write(batch)?;
        remaining = others;
    }
    Ok(checkout)
}

/// Runs git.
fn git(args: &[&str], input: Option<String>) -> Result<Vec<u8>, String> {
    let args: Vec<OsString> = args.iter().map(Into::into).collect();
    exec::output("git", &args, input).map_err(|error| match error {
        ExecError::Missing => "git is not on the PATH".to_owned(),
        ExecError::Failed(why) => why,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\n')
        .to_owned()
}

// === impl Checkout ===

impl Checkout {
    /// The path of a file or directory of the revision.
    pub fn path(&self, inside: &Path) -> PathBuf {
        self.top().join(inside)
    }

    /// The directory of its files.
    pub fn top(&self) -> PathBuf {
        crate::reading::real(self.dir.path())
    }

    /// The entry of a line `MODE TYPE ID SIZE<tab>PATH`, if it is read.
    fn entry(&mut self, line: &str) -> Option<Entry> {
        let (head, path) = line.split_once('\t')?;
        let mut head = head.split_ascii_whitespace();
        let (mode, kind) = (head.next()?, head.next()?);
        let id = head.next()?.to_owned();
        if kind == "commit" {
            self.notes
                .push(format!("{path} is a submodule and not read"));
            return None;
        }
        let size = head.next()?.parse().ok()?;
        let path = PathBuf::from(path);
        if size > LARGEST {
            if is_manifest(&path) {
                let most = LARGEST >> 20;
                let path = path.display();
                self.notes
                    .push(format!("{path} has more than {most} MiB and is not read"));
            }
            return None;
        }
        // A tree that someone made by hand may have any names.
        let is_safe = path.components().all(|part| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        });
        is_safe.then_some(Entry {
            is_link: mode == "120000",
            id,
            size,
            path,
        })
    }

    /// Reads some files and writes them into the directory.
    fn write(&self, batch: &[Entry]) -> Result<(), String> {
        let mut ids = String::new();
        for entry in batch {
            ids.push_str(&entry.id);
            ids.push('\n');
        }
        let read = git(&["cat-file", "--batch"], Some(ids))?;
        let mut remaining = read.as_slice();
        for entry in batch {
            let cannot = |why: &str| format!("{}: {why}", entry.path.display());
            let content = next(&mut remaining).ok_or_else(|| cannot("git has not its content"))?;
            let path = self.dir.path().join(&entry.path);
            let written = if entry.is_link {
                link(&path, content)
            } else {
                file(&path, content)
            };
            written.map_err(|error| cannot(&format!("cannot be written: {error}")))?;
        }
        Ok(())
    }
}

/// The next content of `ID blob SIZE\n…\n`.
fn next<'a>(remaining: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = remaining.iter().position(|byte| *byte == b'\n')?;
    let (head, after) = remaining.split_at_checked(end)?;
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split(' ').skip(1);
    let size: usize = (words.next()? == "blob")
        .then(|| words.next())??
        .parse()
        .ok()?;
    let (content, after) = after.get(1..)?.split_at_checked(size)?;
    *remaining = after.get(1..)?;
    Some(content)
}

fn file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    parents(path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(content)
}

fn link(path: &Path, target: &[u8]) -> std::io::Result<()> {
    parents(path)?;
    symlink(&*String::from_utf8_lossy(target), path)
}

fn parents(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn contents_follow_each_other_with_their_sizes() {
        let mut remaining: &[u8] = b"01 blob 3\na\nb\n02 blob 0\n\n03 missing\n";
        assert_eq!(next(&mut remaining), Some(&b"a\nb"[..]));
        assert_eq!(next(&mut remaining), Some(&b""[..]));
        assert_eq!(next(&mut remaining), None);
        assert_eq!(next(&mut &b"01 blob 9\nshort\n"[..]), None);
    }
}
