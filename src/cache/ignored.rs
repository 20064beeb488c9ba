//! `.attacheignore`: files that nobody wants checked, in the syntax of `.gitignore`.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The file.
const FILE: &str = ".attacheignore";

/// What the files of this name say, from the top of the repository down to a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored {
    files: Vec<Gitignore>,
}

// === impl Ignored ===

impl Ignored {
    /// What counts above a directory that is named: the files up to the top of its repository.
    pub(super) fn above(path: &Path) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let above: Vec<&Path> = real.ancestors().skip(1).collect();
        let top = above.iter().position(|dir| dir.join(".git").exists());
        // Beyond a repository, or without one, nothing above concerns it.
        let is_top = real.join(".git").exists();
        let above = above
            .get(..top.map_or(0, |top| top + 1))
            .unwrap_or_default();
        let mut ignored = Self::default();
        for dir in above.iter().rev().filter(|_| !is_top) {
            ignored.add(dir, dir);
        }
        ignored
    }

    /// The same with what the file in a directory says.
    #[must_use]
    pub(super) fn within(&self, dir: &Path) -> Self {
        let mut within = self.clone();
        within.add(dir, &dir.canonicalize().unwrap_or_else(|_| dir.to_owned()));
        within
    }

    /// Whether a file or a directory is left out. The innermost file that says something of it counts.
    pub(super) fn has(&self, path: &Path, is_dir: bool) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let path = absolute(path);
        let mut said = self.files.iter().rev().filter_map(|file| {
            let found = file.matched(&path, is_dir);
            (!found.is_none()).then(|| found.is_ignore())
        });
        said.next().unwrap_or(false)
    }

    fn add(&mut self, dir: &Path, root: &Path) {
        let file = dir.join(FILE);
        if !file.is_file() {
            return;
        }
        let mut builder = GitignoreBuilder::new(root);
        // A line that is no pattern says nothing, as for git.
        let _ = builder.add(file);
        self.files.extend(builder.build());
    }
}

/// A path from the root. Links above it are followed, it itself is not.
fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => whole,
    }
}
