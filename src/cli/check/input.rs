//! What is checked: the manifests, the configuration, and the state below.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::Failure;
use super::super::state::{Scope, View};
use super::Args;
use crate::cache::directory::{Loaded, read};
use crate::cache::files::{self, STDIN};
use crate::cache::lists::{Missing, Wants};
use crate::cache::manifest::{Manifests, Origin, Problem};
use crate::config::Configuration;
use crate::engine::finding::Finding;
use crate::engine::ids::ObjectKey;
use crate::engine::severities::Severities;
use crate::engine::snapshot::Snapshot;

/// The path of the standard input.
const DASH: &str = "-";
/// The namespace of what says none, where no kubeconfig says another.
const DEFAULT_NAMESPACE: &str = "default";

/// What is checked.
pub(super) struct Input {
    /// The state without the manifests, where there is one.
    pub(super) before: Option<Snapshot>,
    /// The state with them.
    pub(super) after: Snapshot,
    /// The objects that are checked.
    pub(super) objects: BTreeSet<ObjectKey>,
    /// Where each stands in files.
    pub(super) origins: BTreeMap<ObjectKey, Origin>,
    /// Where objects of Gateway API are not as their definitions have them.
    pub(super) departures: Vec<Finding>,
    /// Objects that stand twice.
    pub(super) doubles: Vec<(ObjectKey, Origin)>,
    /// What in files could not be used.
    pub(super) problems: Vec<Problem>,
    /// What of a cluster could not be read.
    pub(super) missing: Vec<Missing>,
    /// The text on the standard input, which cannot be read again.
    pub(super) stdin: Option<String>,
    /// What each code does.
    pub(super) severities: Severities,
}

// === impl Input ===

impl Input {
    /// Reads everything that the arguments name.
    pub(super) fn read(args: &Args) -> Result<Self, Failure> {
        let paths = paths(args)?;
        let config = Configuration::find(config(args, &paths)?.as_deref(), None)?;
        let severities = config.conduct().severities;
        let (manifests, stdin) = manifests(&paths)?;
        if !args.has_state() {
            let namespace = args.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
            let loaded = Loaded::new(manifests, &config.rules()?, namespace);
            return Ok(Self::of_files(loaded, None, stdin, severities));
        }
        let scope = Scope {
            namespace: args.namespace.clone(),
            ..Scope::default()
        };
        let opened = args.state.open_as(&config, &scope)?;
        let namespace = opened.namespace.clone();
        let mut view = opened.view(&Wants::Everything);
        if paths.is_empty() {
            return Ok(Self::of_cluster(
                view,
                args.namespace.as_deref(),
                severities,
            ));
        }
        let missing = std::mem::take(&mut view.missing);
        view.say_what_is_missing();
        let loaded = view.with(manifests, &namespace);
        let input = Self::of_files(loaded, Some(view.snapshot), stdin, severities);
        Ok(Self { missing, ..input })
    }

    fn of_files(
        loaded: Loaded,
        before: Option<Snapshot>,
        stdin: Option<String>,
        severities: Severities,
    ) -> Self {
        Self {
            before,
            after: loaded.snapshot,
            objects: loaded.origins.keys().cloned().collect(),
            origins: loaded.origins,
            departures: loaded.departures.into_values().flatten().collect(),
            doubles: loaded.doubles,
            problems: loaded.problems,
            missing: Vec::new(),
            stdin,
            severities,
        }
    }

    /// What is there, all of it or what is in a namespace.
    fn of_cluster(view: View, namespace: Option<&str>, severities: Severities) -> Self {
        let there = view.snapshot.all().map(|object| object.key.clone());
        let is_in = |key: &ObjectKey, namespace: &str| {
            let itself = key.gk.is_core("Namespace") && *key.name == *namespace;
            itself || *key.namespace == *namespace
        };
        let objects = there.filter(|key| namespace.is_none_or(|namespace| is_in(key, namespace)));
        Self {
            before: None,
            objects: objects.collect(),
            after: view.snapshot,
            origins: view.origins,
            departures: Vec::new(),
            doubles: Vec::new(),
            problems: view.problems,
            missing: view.missing,
            stdin: None,
            severities,
        }
    }
}

// === impl Args ===

impl Args {
    /// Whether a cluster is looked at.
    fn in_cluster(&self) -> bool {
        let state = &self.state;
        self.cluster || state.kubeconfig.is_some() || state.context.is_some()
    }

    /// Whether manifests go on top of something. A directory without any is looked at by itself.
    fn has_state(&self) -> bool {
        self.in_cluster() || (self.state.from.is_some() && !self.paths.is_empty())
    }
}

/// The files and directories whose objects are checked.
fn paths(args: &Args) -> Result<Vec<PathBuf>, Failure> {
    let from = args.state.from.as_ref().filter(|_| args.paths.is_empty());
    let paths: Vec<PathBuf> = args.paths.iter().chain(from).cloned().collect();
    if paths.is_empty() && !args.in_cluster() {
        return Err(
            "nothing to check: name files or directories, - for the standard input, \
             or --cluster for what is in the cluster"
                .into(),
        );
    }
    let dash = |path: &&PathBuf| path.as_os_str() == DASH;
    let dashes = paths.iter().filter(dash).count();
    let below = args.state.from.as_ref().filter(|_| !args.paths.is_empty());
    if dashes + below.iter().filter(|path| dash(path)).count() > 1 {
        return Err("the standard input can be read once: name - once".into());
    }
    let missing = paths
        .iter()
        .find(|path| !dash(path) && path.symlink_metadata().is_err());
    match missing {
        Some(path) => Err(format!("there is no {}", path.display()).into()),
        None => Ok(paths),
    }
}

/// The configuration: the named one, else the one in the directories that are checked, else the one in
/// the directory below them.
fn config(args: &Args, paths: &[PathBuf]) -> Result<Option<PathBuf>, Failure> {
    if args.state.config.is_some() {
        return Ok(args.state.config.clone());
    }
    let inside = |directory: &Path| {
        let file = directory.join("attache.yaml");
        (directory.is_dir() && file.is_file()).then_some(file)
    };
    let mut found: Vec<PathBuf> = paths.iter().filter_map(|path| inside(path)).collect();
    found.dedup();
    match found.as_slice() {
        [] => Ok(args.state.from.as_deref().and_then(inside)),
        [one] => Ok(Some(one.clone())),
        [one, other, ..] => Err(format!(
            "there are two configurations, {} and {}: name the one to use with --config",
            one.display(),
            other.display()
        )
        .into()),
    }
}

/// The manifests of all paths, in their order, and the text of the standard input.
fn manifests(paths: &[PathBuf]) -> Result<(Manifests, Option<String>), Failure> {
    let mut manifests = Manifests::default();
    let mut stdin = None;
    for part in paths.chunk_by(|a, b| a.as_os_str() != DASH && b.as_os_str() != DASH) {
        if part.iter().any(|path| path.as_os_str() == DASH) {
            let text = files::stdin_text().map_err(|why| format!("{STDIN}: {why}"))?;
            manifests.append(Manifests::of_long(STDIN, &text));
            stdin = Some(text);
        } else {
            manifests.append(read(part));
        }
    }
    Ok((manifests, stdin))
}
