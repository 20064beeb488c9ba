//! `.attacheignore`: excludes files from checks, in the syntax of `.gitignore`.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::reading;

/// The name of the file.
const FILE: &str = ".attacheignore";

/// The patterns of these files, from the top of the repository down to a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored {
    files: Vec<Gitignore>,
}

// === impl Ignored ===

impl Ignored {
    /// The patterns that apply from above a named directory: those between it and the top of its repository.
    pub(super) fn above(path: &Path) -> Self {
        let real = reading::real(path);
        let above: Vec<&Path> = real.ancestors().skip(1).collect();
        let top = above.iter().position(|dir| dir.join(".git").exists());
        // Files above the top of the repository do not apply, nor any file above if there is no repository.
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

    /// Adds the patterns of the file in a directory.
    #[must_use]
    pub(super) fn within(&self, dir: &Path) -> Self {
        let mut within = self.clone();
        within.add(dir, &reading::real(dir));
        within
    }

    /// Whether a file or directory is excluded. The innermost file with a matching pattern decides.
    pub(super) fn has(&self, path: &Path, is_dir: bool) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let path = absolute(path);
        let mut decisions = self.files.iter().rev().filter_map(|file| {
            let matched = file.matched(&path, is_dir);
            (!matched.is_none()).then(|| matched.is_ignore())
        });
        decisions.next().unwrap_or(false)
    }

    fn add(&mut self, dir: &Path, root: &Path) {
        let file = dir.join(FILE);
        if !file.is_file() {
            return;
        }
        let mut builder = GitignoreBuilder::new(root);
        // An invalid pattern is ignored, as in git.
        let _ = builder.add(file);
        self.files.extend(builder.build());
    }
}

/// An absolute path. Links in its parent directories are resolved; a link at its end is not.
fn absolute(path: &Path) -> PathBuf {
    let absolute_path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (
        absolute_path.parent().map(Path::canonicalize),
        absolute_path.file_name(),
    ) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => absolute_path,
    }
}
