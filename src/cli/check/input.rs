//! The input of a check: the manifests, the configuration, and the state that the manifests are applied to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use attache_guardrails::Guardrails;
use serde_json::value::RawValue;

use super::super::Failure;
use super::super::state::View;
use super::super::written_guardrails::{self, Applied};
use super::{Args, rerouted_requests};
use crate::cache::directory::{Duplicate, Links, Loaded};
use crate::cache::files;
use crate::cache::lists::{Missing, ReadScope};
use crate::cache::manifest::{Manifests, Origin, Problem};
use crate::cache::repository::{self, Repository};
use crate::cache::skipped::Skipped;
use crate::config::{Configuration, IN_DIRECTORY, builtin};
use crate::engine::admission::disclosure::DisclosureLevels;
use crate::engine::admission::finding::{Code, Finding};
use crate::engine::admission::severities::Severities;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::ObjectKey;
use crate::engine::routing::RouteVersions;
use crate::engine::state::snapshot::Snapshot;
use crate::reading;

/// The path of standard input.
pub(super) const DASH: &str = "-";

/// The input of a check.
#[derive(Clone, Default)]
pub(super) struct Input {
    /// The name of this alternative, if there are several.
    pub(super) label: Option<String>,
    /// The state without the manifests, if there is one.
    pub(super) before: Option<Snapshot>,
    /// The state with the manifests.
    pub(super) after: Snapshot,
    /// The objects to check.
    pub(super) objects: BTreeSet<ObjectKey>,
    /// Both versions of the routes that the manifests update.
    pub(super) route_versions: RouteVersions,
    /// The position of each object in its file.
    pub(super) origins: BTreeMap<ObjectKey, Origin>,
    /// Findings on Gateway API objects that do not match their CRDs.
    pub(super) departures: Vec<Finding>,
    /// Findings on requests that another rule takes after the change.
    pub(super) rerouted: Vec<Finding>,
    /// Objects from files without a creation time.
    pub(super) undated: BTreeSet<ObjectKey>,
    /// Objects that are in no file: controllers generate them from others.
    pub(super) generated: BTreeSet<ObjectKey>,
    /// Objects that are defined twice.
    pub(super) duplicates: Vec<Duplicate>,
    /// Files, or parts of them, that could not be used.
    pub(super) problems: Vec<Problem>,
    /// Files and documents that are not manifests.
    pub(super) skipped: Vec<Skipped>,
    /// Kinds and objects of a cluster that could not be read.
    pub(super) missing: Vec<Missing>,
    /// The text on standard input, which cannot be read again.
    pub(super) stdin: Option<String>,
    /// The severities of all codes.
    pub(super) severities: Severities,
    /// Whether the manifests are the whole state: then a target that is not among them exists nowhere.
    pub(super) is_closed: bool,
    /// Codes that deny for that reason.
    pub(super) of_closed_set: Vec<Code>,
    /// The guardrails of the configuration and of the files.
    pub(super) guardrails: Guardrails,
    /// Findings on guardrails that cannot be used, or that take the place of others.
    pub(super) on_guardrails: Vec<Finding>,
    /// The findings of the webhook if the guardrails among the manifests are applied.
    pub(super) on_applied_guardrails: Vec<Finding>,
    /// Whether any user may suppress refusals. Only the webhook knows the user.
    pub(super) refusals: bool,
    /// The most that anybody learns about policies.
    pub(super) levels: DisclosureLevels,
}

// === impl Input ===

impl Input {
    /// Reads the input that the arguments name. Directories with alternatives for different clusters give one input
    /// each.
    pub(super) fn read(args: &Args) -> Result<Vec<Self>, Failure> {
        let paths = paths(args)?;
        let config = Configuration::find(config(args, &paths)?.as_deref(), None)?;
        let (repository, stdin) = manifests(args, &paths)?;
        for note in &repository.notes {
            eprintln!("attache: {}", escape(note));
        }
        let is_closed = !args.in_cluster() && !args.has_state();
        let common = Self {
            severities: args.codes.severities(&config),
            refusals: config.suppressions.refusals.is_anybody(),
            stdin,
            guardrails: config.guardrails.clone(),
            levels: config.review_settings().levels,
            ..Self::default()
        };
        let labels = repository.labels();
        let each = move |one: &dyn Fn(Manifests) -> Self| -> Vec<Self> {
            if labels.is_empty() {
                return vec![one(repository.manifests)];
            }
            let all = labels.iter().map(|label| Self {
                label: Some(label.clone()),
                ..one(repository.with(label))
            });
            all.collect()
        };
        if is_closed {
            let namespace = args.scope.of_files();
            let rules = config.rules(builtin()?);
            return Ok(each(&|mut manifests| {
                let skipped = std::mem::take(&mut manifests.skipped);
                let guarded = common.guarded(&manifests);
                let loaded = Loaded::new(manifests, &rules, namespace);
                Self {
                    skipped,
                    of_closed_set: args.codes.of_closed_set(&config),
                    is_closed,
                    ..guarded
                        .of_files(loaded, None)
                        .within(args.scope.namespace.as_deref())
                }
            }));
        }
        let opened = args.state.below().open_as(&config, &args.scope)?;
        let namespace = opened.namespace.clone();
        let stored = opened.guardrails();
        let common = common.with_guardrails(stored.iter().map(AsRef::as_ref));
        let mut view = opened.view(&ReadScope::Everything);
        if args.has_no_manifests() {
            return Ok(vec![
                common.of_cluster(view, args.scope.namespace.as_deref()),
            ]);
        }
        let missing = std::mem::take(&mut view.missing);
        view.say_what_is_missing();
        Ok(each(&|mut manifests| {
            let skipped = std::mem::take(&mut manifests.skipped);
            let applied = Applied::from_manifests(&common.guardrails, &manifests);
            let guarded = common.guarded(&manifests);
            let loaded = view.with(manifests, &namespace);
            Self {
                skipped,
                missing: missing.clone(),
                on_applied_guardrails: applied.findings(&stored, &loaded.snapshot),
                ..guarded
                    .of_files(loaded, Some(&view))
                    .within(args.scope.namespace.as_deref())
            }
        }))
    }

    /// The same with the guardrails among these manifests.
    pub(super) fn guarded(&self, manifests: &Manifests) -> Self {
        self.with_guardrails(written_guardrails::among(manifests))
    }

    fn with_guardrails<'a>(&self, written: impl IntoIterator<Item = &'a RawValue>) -> Self {
        let usable = written_guardrails::usable(&self.guardrails, written);
        let known = self.on_guardrails.iter();
        // The manifests may correct a guardrail of the state.
        let known = known.filter(|finding| !usable.names.contains(&*finding.object.name));
        let findings = usable.wrong.into_iter().chain(usable.replacing);
        Self {
            on_guardrails: known.cloned().chain(findings).collect(),
            guardrails: usable.usable,
            ..self.clone()
        }
    }

    /// Manifests, and the state that they are applied to, if there is one.
    pub(super) fn of_files(&self, loaded: Loaded, before: Option<&View>) -> Self {
        let rerouted = before.map(|view| rerouted_requests::of_applied(view, &loaded));
        let versions = before.map(|view| RouteVersions::of_change(&view.objects, &loaded.objects));
        Self {
            before: before.map(|view| view.snapshot.clone()),
            rerouted: rerouted.unwrap_or_default(),
            route_versions: versions.unwrap_or_default(),
            after: loaded.snapshot,
            objects: loaded.origins.keys().cloned().collect(),
            origins: loaded.origins,
            departures: loaded.departures.into_values().flatten().collect(),
            undated: loaded.undated,
            generated: loaded.generated,
            duplicates: loaded.duplicates,
            problems: loaded.problems,
            ..self.clone()
        }
    }

    /// Limits the objects to one namespace.
    fn within(mut self, namespace: Option<&str>) -> Self {
        if let Some(namespace) = namespace {
            self.objects.retain(|key| is_in(key, namespace));
        }
        self
    }

    /// The objects of a cluster or of one of its namespaces.
    fn of_cluster(&self, view: View, namespace: Option<&str>) -> Self {
        let there = view.snapshot.all().map(|object| object.key.clone());
        let objects = there.filter(|key| namespace.is_none_or(|namespace| is_in(key, namespace)));
        Self {
            objects: objects.collect(),
            after: view.snapshot,
            origins: view.origins,
            problems: view.problems,
            missing: view.missing,
            ..self.clone()
        }
    }
}

// === impl Args ===

impl Args {
    /// The paths to check; without paths, the directory of --from; nothing for a cluster.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        let from = self.state.from.as_ref().filter(|_| self.has_no_manifests());
        let rendered = self.state.rendered.dirs();
        let places = self.paths.iter().chain(rendered).chain(from);
        places.cloned().collect()
    }

    /// Whether the command reads a cluster.
    fn in_cluster(&self) -> bool {
        let state = &self.state;
        self.cluster || state.access.kubeconfig.is_some() || state.access.context.is_some()
    }

    /// Whether the arguments name no manifests.
    pub(super) fn has_no_manifests(&self) -> bool {
        self.paths.is_empty() && self.state.rendered.is_empty()
    }

    /// Whether manifests are applied on top of another state. A directory given only by --from is checked itself.
    fn has_state(&self) -> bool {
        self.in_cluster() || (self.state.from.is_some() && !self.has_no_manifests())
    }
}

/// Whether an object is in a namespace or is the Namespace itself.
fn is_in(key: &ObjectKey, namespace: &str) -> bool {
    let itself = key.gk.is_core("Namespace") && *key.name == *namespace;
    itself || *key.namespace == *namespace
}

/// The files and directories whose objects are checked.
fn paths(args: &Args) -> Result<Vec<PathBuf>, Failure> {
    let paths = args.places();
    if paths.is_empty() && !args.in_cluster() {
        return Err(
            "nothing to check: name files or directories, - for the standard input, --from DIR for a directory as it is, \
             or --cluster for the cluster as it is"
                .into(),
        );
    }
    let dash = |path: &&PathBuf| path.as_os_str() == DASH;
    let dashes = paths.iter().filter(dash).count();
    let below = args.state.from.as_ref().filter(|_| args.has_state());
    if dashes + below.iter().filter(|path| dash(path)).count() > 1 {
        return Err("standard input can be read only once: use - once".into());
    }
    let missing = paths
        .iter()
        .find(|path| !dash(path) && path.symlink_metadata().is_err());
    match missing {
        Some(path) => Err(format!("{} does not exist", path.display()).into()),
        None => Ok(paths),
    }
}

/// The configuration: the one from --config, else the one in the checked directories, else the one in the directory of
/// --from.
fn config(args: &Args, paths: &[PathBuf]) -> Result<Option<PathBuf>, Failure> {
    if args.state.config.is_some() {
        return Ok(args.state.config.clone());
    }
    let links = args.state.links();
    match configuration_among(paths, links)? {
        Some(file) => Ok(Some(file)),
        None => Ok(args
            .state
            .from
            .as_deref()
            .and_then(|from| in_directory(from, links))),
    }
}

/// The configuration in one of these directories. `None` if none has one.
///
/// # Errors
/// If several have one.
pub(in super::super) fn configuration_among(
    directories: &[PathBuf],
    links: Links,
) -> Result<Option<PathBuf>, Failure> {
    let files = directories
        .iter()
        .filter_map(|path| in_directory(path, links));
    let mut files: Vec<PathBuf> = files.collect();
    files.dedup();
    match files.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        [one, other, ..] => Err(format!(
            "there are two configurations, {} and {}: name the one to use with --config",
            one.display(),
            other.display()
        )
        .into()),
    }
}

/// The configuration in a directory.
pub(in super::super) fn in_directory(directory: &Path, links: Links) -> Option<PathBuf> {
    match links {
        Links::All => Some(directory.join(IN_DIRECTORY)).filter(|file| file.is_file()),
        Links::Within => reading::within(directory, IN_DIRECTORY),
    }
}

/// The manifests of all paths in order, then the rendered ones; and the text on standard input.
fn manifests(args: &Args, paths: &[PathBuf]) -> Result<(Repository, Option<String>), Failure> {
    let links = args.state.links();
    let mut all = Repository::default();
    let mut stdin = None;
    let rendered = &args.state.rendered;
    let is_rendered = |path: &PathBuf| rendered.dirs().any(|dir| dir == path);
    let paths: Vec<PathBuf> = paths
        .iter()
        .filter(|path| !is_rendered(path))
        .cloned()
        .collect();
    for part in paths.chunk_by(|a, b| a.as_os_str() != DASH && b.as_os_str() != DASH) {
        if part.iter().any(|path| path.as_os_str() == DASH) {
            let (read, text) = files::stdin_manifests()?;
            all.manifests.append(read);
            stdin = Some(text);
        } else {
            let read = repository::read(part, links);
            all.manifests.append(read.manifests);
            all.alternatives.extend(read.alternatives);
            all.notes.extend(read.notes);
        }
    }
    all.manifests.append(rendered.read(args.scope.of_files())?);
    Ok((all, stdin))
}
