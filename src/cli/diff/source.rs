//! The states that the command line names: directories, revisions of git, clusters.

use std::path::{Path, PathBuf};

use super::super::Failure;
use crate::cache::git;

/// The path of standard input.
const STDIN: &str = "-";
/// The word for a cluster, before the name of a context.
const CLUSTER: &str = "cluster";
/// The number of characters of the id of a commit that are shown.
const COMMIT_ID_CHARACTERS: usize = 12;

/// The source of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Stdin,
    /// A file or directory.
    Path(PathBuf),
    /// The cluster of a kubeconfig context, or of the current one.
    Cluster(Option<String>),
    Revision(Revision),
}

/// Files of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Revision {
    /// The id of the commit.
    pub(super) commit: String,
    /// The revision as the user named it.
    pub(super) name: String,
    /// The file or directory, from the top of the repository.
    pub(super) inside: PathBuf,
}

/// Both states.
///
/// # Errors
/// If one of them is neither a path nor a revision.
pub(super) fn sources(a: &str, b: Option<&str>) -> Result<[Source; 2], Failure> {
    if let Some((one, other, parted)) = range(a) {
        return Ok(revisions([one, other], parted, b)?.map(Source::Revision));
    }
    let Some(b) = b else {
        return Err(format!(
            "{a:?} is one state, and two are compared: name another directory, revision or cluster, \
             or two revisions as REV..REV"
        )
        .into());
    };
    Ok([source(a)?, source(b)?])
}

/// The two revisions of `REV..REV` and `REV...REV`, and whether the first one is where they parted. A revision that is not
/// written is HEAD.
fn range(word: &str) -> Option<(&str, &str, bool)> {
    if word.starts_with(['.', '/']) || Path::new(word).exists() {
        return None;
    }
    let (one, other) = word.split_once("..")?;
    let (other, parted) = match other.strip_prefix('.') {
        Some(other) => (other, true),
        None => (other, false),
    };
    let other = if other.is_empty() { "HEAD" } else { other };
    Some((one, other, parted))
}

/// The same path in two revisions.
fn revisions(names: [&str; 2], parted: bool, path: Option<&str>) -> Result<[Revision; 2], String> {
    let [one, other] = names;
    let (mut first, second) = (commit(one)?, commit(other)?);
    let mut name = one.to_owned();
    if parted {
        let base = git::merge_base(&first, &second);
        first = base.map_err(|why| format!("{one}...{other}: {why}"))?;
        name = first.chars().take(COMMIT_ID_CHARACTERS).collect();
    }
    let inside = match path {
        None => PathBuf::new(),
        Some(path) => inside(path, false)?,
    };
    let revision = |commit, name| Revision {
        commit,
        name,
        inside: inside.clone(),
    };
    Ok([revision(first, name), revision(second, other.to_owned())])
}

fn source(word: &str) -> Result<Source, String> {
    if word == STDIN {
        return Ok(Source::Stdin);
    }
    if word == CLUSTER {
        return Ok(Source::Cluster(None));
    }
    if let Some((CLUSTER, context)) = word.split_once(':') {
        if context.is_empty() {
            return Err(format!("{word:?}: write {CLUSTER}:CONTEXT, or {CLUSTER}"));
        }
        return Ok(Source::Cluster(Some(context.to_owned())));
    }
    let path = Path::new(word);
    if path.symlink_metadata().is_ok() {
        return Ok(Source::Path(path.to_owned()));
    }
    let (name, path) = if word.starts_with(":/") {
        // The newest commit whose message has this text.
        (word, "")
    } else {
        word.split_once(':').unwrap_or((word, ""))
    };
    if name.is_empty() {
        return Err(format!(
            "the file or directory {word} does not exist, and the index of git is not read: write REV:PATH"
        ));
    }
    if name.starts_with(['.', '/']) {
        return Err(format!("{word} does not exist"));
    }
    let commit = commit(name)
        .map_err(|why| format!("the file or directory {word} does not exist, and {why}"))?;
    // As in git: from the top of the repository, unless the path says that it starts here.
    let from_top = !path.starts_with("./") && !path.starts_with("../");
    Ok(Source::Revision(Revision {
        commit,
        name: name.to_owned(),
        inside: inside(path, from_top)?,
    }))
}

fn commit(name: &str) -> Result<String, String> {
    git::commit(name)?.ok_or_else(|| {
        format!(
            "git knows no revision {name:?}; if it is a branch of the remote, git fetch brings it"
        )
    })
}

fn inside(path: &str, from_top: bool) -> Result<PathBuf, String> {
    git::inside(path, from_top)?.ok_or_else(|| format!("{path} is not inside the git repository"))
}

// === impl Source ===

impl Source {
    /// The name of the state in the answer.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::Path(path) => path.display().to_string(),
            Self::Cluster(None) => CLUSTER.to_owned(),
            Self::Cluster(Some(context)) => format!("{CLUSTER}:{context}"),
            Self::Revision(revision) => revision.shown(),
        }
    }
}

// === impl Revision ===

impl Revision {
    fn shown(&self) -> String {
        if self.inside.as_os_str().is_empty() {
            return self.name.clone();
        }
        format!("{}:{}", self.name, self.inside.display())
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, range, source};

    #[test]
    fn two_revisions_are_one_word() {
        assert_eq!(range("main..HEAD"), Some(("main", "HEAD", false)));
        assert_eq!(range("main.."), Some(("main", "HEAD", false)));
        assert_eq!(range("v1.0...v1.1"), Some(("v1.0", "v1.1", true)));
        assert_eq!(range("../base"), None);
        assert_eq!(range("./a..b"), None);
        assert_eq!(range("v1.0"), None);
    }

    #[test]
    fn clusters_have_a_word_of_their_own() {
        assert_eq!(source("cluster"), Ok(Source::Cluster(None)));
        let context = "arn:aws:eks:eu-1:cluster/prod";
        let named = source(&format!("cluster:{context}"));
        assert_eq!(named, Ok(Source::Cluster(Some(context.to_owned()))));
        assert!(source("cluster:").is_err());
        assert_eq!(source("-"), Ok(Source::Stdin));
    }
}
