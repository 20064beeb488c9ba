//! The state that tests are about: the manifests that `from` names, as `attache check` reads them.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_guardrails::{Guardrails, is_guardrail};
use jiff::civil::Date;
use serde_json::value::RawValue;

use crate::answer::guardrails::{GuardrailReport, guardrails};
use crate::cache::directory::{self, Links, Loaded};
use crate::cache::manifest::{Manifest, Manifests, Problem};
use crate::cache::raw::RawObject;
use crate::cache::repository;
use crate::cli::names::Names;
use crate::cli::{Failure, check, missing_parts, written_guardrails};
use crate::config::{Configuration, builtin};
use crate::engine::admission::settings::{Guard, ReviewSettings};
use crate::engine::admission::verdict::escape;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Object;
use crate::engine::state::snapshot::Snapshot;
use crate::today::today;

/// The arguments of the command that apply to all states.
#[derive(Clone, Debug)]
pub(super) struct ReadOptions {
    /// The configuration file, if one is named.
    pub(super) config: Option<PathBuf>,
    /// The links in directories that are followed.
    pub(super) links: Links,
    /// The namespace of manifests without one.
    pub(super) namespace: String,
}

/// A state, and the settings of the webhook.
pub(super) struct TestState {
    pub(super) snapshot: Snapshot,
    /// The objects with their whole specs.
    pub(super) objects: Vec<Object>,
    /// The names of the kinds.
    pub(super) names: Names,
    pub(super) rules: Arc<ProfileRules>,
    /// The objects as they are written.
    pub(super) written: BTreeMap<ObjectKey, Box<RawValue>>,
    /// The guardrails of the configuration.
    configured: Guardrails,
    /// These and those of the manifests.
    guardrails: Guardrails,
    pub(super) settings: ReviewSettings,
    /// The namespace of manifests without one.
    pub(super) namespace: String,
    pub(super) today: Date,
    guardrail_report: OnceCell<GuardrailReport>,
}

// === impl TestState ===

impl TestState {
    /// Reads the manifests at these paths.
    ///
    /// # Errors
    /// If a path does not exist, something in it cannot be read, or the configuration or a guardrail is wrong.
    pub(super) fn read(from: &[PathBuf], how: &ReadOptions) -> Result<Self, Failure> {
        if let Some(missing) = from.iter().find(|path| !path.exists()) {
            let missing = escape(&missing.display().to_string());
            return Err(format!("from: {missing} does not exist").into());
        }
        let config = match &how.config {
            Some(file) => Some(file.clone()),
            None => check::configuration_among(from, how.links)?,
        };
        let config = Configuration::find(config.as_deref(), None)?;
        let manifests = manifests(from, how.links)?;
        let files =
            written_guardrails::usable(&config.guardrails, written_guardrails::among(&manifests));
        if let Some(wrong) = files.wrong.first() {
            return Err(wrong.message.clone().into());
        }
        let rules = config.rules(builtin()?);
        let objects = manifests.objects.clone();
        let loaded = Loaded::new(manifests, &rules, &how.namespace);
        let refused: Vec<Problem> = loaded.refused().collect();
        usable(loaded.problems.iter().chain(&refused))?;
        if let Some(line) = directory::written_twice(&loaded.duplicates) {
            eprintln!("attache: {line}");
        }
        missing_parts::say_undefined(&loaded.snapshot, loaded.origins.keys());
        let names = Names::of_files(&loaded);
        let mut written = BTreeMap::new();
        for manifest in objects {
            let key = key(&manifest, &names, &how.namespace);
            written.insert(key, manifest.json);
        }
        let settings = guarded(&config.review_settings(), &files.usable);
        Ok(Self {
            snapshot: loaded.snapshot,
            objects: loaded.objects,
            names,
            rules,
            written,
            configured: config.guardrails,
            guardrails: files.usable,
            settings,
            namespace: how.namespace.clone(),
            today: today(),
            guardrail_report: OnceCell::new(),
        })
    }

    /// The settings of the webhook once these are the guardrails in the cluster.
    pub(super) fn guarded_by<'a>(
        &self,
        written: impl Iterator<Item = &'a RawValue>,
    ) -> ReviewSettings {
        let usable = written_guardrails::usable(&self.configured, written);
        guarded(&self.settings, &usable.usable)
    }

    /// The targets that fulfil the guardrails.
    pub(super) fn guardrail_report(&self) -> &GuardrailReport {
        self.guardrail_report
            .get_or_init(|| guardrails(&self.snapshot, &self.guardrails, None, self.today))
    }
}

fn guarded(settings: &ReviewSettings, guardrails: &Guardrails) -> ReviewSettings {
    ReviewSettings {
        guard: Some(Arc::new(guardrails.clone()) as Arc<dyn Guard>),
        ..settings.clone()
    }
}

/// Reads files and directories; kustomizations are built.
///
/// # Errors
/// If there are alternatives for different clusters: a test is about one of them.
pub(super) fn manifests(paths: &[PathBuf], links: Links) -> Result<Manifests, Failure> {
    let read = repository::read(paths, links);
    for note in &read.notes {
        eprintln!("attache: {}", escape(note));
    }
    if let Some(builds) = read.alternatives.first() {
        let dirs: Vec<String> = builds.iter().map(|build| escape(&build.dir)).collect();
        return Err(format!(
            "{} define the same objects for different clusters: name one of them",
            dirs.join(", ")
        )
        .into());
    }
    Ok(read.manifests)
}

/// Checks that all objects for Kubernetes could be read. Otherwise the results of tests would be
/// guesses.
///
/// # Errors
/// If it could not.
pub(super) fn usable<'a>(problems: impl Iterator<Item = &'a Problem>) -> Result<(), Failure> {
    let problems: Vec<String> = problems
        .filter(|problem| !problem.foreign)
        .map(ToString::to_string)
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let all = problems.join("\nattache: ");
    Err(format!("{all}\nattache: what is in force is unknown unless all of it can be read").into())
}

/// The name of an object that is written without a namespace, or with one that its kind does not have.
pub(super) fn key(manifest: &Manifest, names: &Names, namespace: &str) -> ObjectKey {
    let raw = RawObject::read(manifest.json.get());
    let key = raw.key(&manifest.gk);
    let own = match (is_namespaced(names, &manifest.gk), key.namespace.is_empty()) {
        (false, _) => "",
        (true, true) => namespace,
        (true, false) => return key,
    };
    ObjectKey::new(manifest.gk.clone(), own, key.name.clone())
}

/// Whether objects of a kind have a namespace.
pub(super) fn is_namespaced(names: &Names, gk: &GroupKind) -> bool {
    !is_guardrail(gk) && names.namespaced(gk)
}

/// The path that a test file names, seen from the working directory.
pub(super) fn relative_to(file: &Path, path: &Path) -> PathBuf {
    let dir = file.parent().unwrap_or_else(|| Path::new(""));
    repository::normal(&dir.join(path))
}
