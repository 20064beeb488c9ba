//! The state that a command reads: a cluster, a directory of manifests, or manifests on standard input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::cluster::{Access, Cluster};
use super::names::Names;
use super::rendered::Rendered;
use super::watch::{Files, Query, Watching, to_stdout};
use super::written_guardrails::{among, stored};
use super::{Failure, missing_parts};
use crate::cache::directory::{self, Links};
use crate::cache::lists::{Missing, MissingPart, ReadScope};
use crate::cache::manifest::{Manifest, Manifests, Origin, Problem};
use crate::cache::reload::Fingerprint;
use crate::cache::{kubeconfig, repository};
use crate::config::{Configuration, IN_DIRECTORY, builtin};
use crate::engine::admission::verdict::escape;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::Crd;

mod live;
mod view;

pub(super) use live::Live;
pub(super) use view::View;

/// The namespace of objects without one, unless the kubeconfig has another.
const DEFAULT_NAMESPACE: &str = "default";
/// The path of standard input.
const STDIN: &str = "-";

/// The help of `--from` where PATH is applied to the state.
pub(super) const FROM_BELOW: &str = "Read manifests instead of a cluster: a directory, a file, or - for standard input. \
    PATH is applied on top of this state";

/// The state to read: a cluster or manifests.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct State {
    /// Read manifests instead of a cluster: a directory, a file, or - for standard input.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context", "user", "groups", "request_timeout"])]
    pub(super) from: Option<PathBuf>,
    #[command(flatten)]
    pub(super) access: Access,
    /// The configuration file; with --from, defaults to attache.yaml in that directory, if it exists.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Also follow symbolic links that lead out of a directory.
    #[arg(long)]
    pub(super) follow_links: bool,
    #[command(flatten)]
    pub(super) rendered: Rendered,
    /// Whether to read the files of kustomizations without building them.
    #[arg(skip)]
    pub(super) as_written: bool,
    /// Whether to keep the text of each object of files.
    #[arg(skip)]
    pub(super) keeps_texts: bool,
}

/// The namespaces to read; the same for all commands.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Scope {
    /// The namespace of names, and of manifests that do not set one. Each command says more in its own help.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// Read all namespaces.
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub(super) all_namespaces: bool,
}

// === impl Scope ===

impl Scope {
    /// The namespace of manifests that have none, if no cluster is read.
    pub(super) fn of_files(&self) -> &str {
        self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE)
    }
}

/// A cluster that is connected, or files that are read; the objects are not evaluated yet.
pub(super) struct Opened {
    /// The names of its kinds.
    pub(super) names: Names,
    /// The namespace of objects without one.
    pub(super) namespace: String,
    /// The guardrails among the manifests.
    guardrails: Vec<Box<RawValue>>,
    /// The text of the objects of files, if it is kept.
    texts: BTreeMap<ObjectKey, Box<RawValue>>,
    rules: Arc<ProfileRules>,
    source: StateSource,
    /// The arguments, to open it again.
    asked: (State, Scope),
    /// The fingerprint of the files before they were read, for `--watch`.
    seen: Option<Fingerprint>,
}

enum StateSource {
    Files(Box<directory::Loaded>),
    Cluster(Box<Cluster>),
}

/// The CRDs of a state, and the rules for recognizing policy kinds among them.
#[derive(Debug)]
pub(super) struct Definitions {
    /// The profile rules for policy kinds, without CRDs.
    pub rules: Arc<ProfileRules>,
    /// All CRDs.
    pub crds: Vec<Arc<Crd>>,
    /// The policy kinds with objects in a directory, with or without a CRD.
    pub used: Vec<GroupKind>,
}

// === impl State ===

impl State {
    /// The arguments that make another command read the same state.
    pub(super) fn again(&self) -> Vec<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let arguments = [
            // Standard input can be read only once.
            ("--from", path(&self.from).filter(|from| from != STDIN)),
            ("--context", self.access.context.clone()),
            ("--config", path(&self.config)),
        ];
        let arguments_given = arguments
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .chain(self.rendered.again());
        arguments_given
            .flat_map(|(name, value)| [name.to_owned(), value])
            .collect()
    }

    /// The state in a few words.
    pub(super) fn described(&self) -> String {
        if !self.is_of_files() {
            let context = kubeconfig::context(
                self.access.kubeconfig.as_deref(),
                self.access.context.as_deref(),
            );
            return context.map_or_else(
                || "the cluster of this pod".to_owned(),
                |name| format!("context {}", escape(&name)),
            );
        }
        let places = self.from.iter().chain(self.rendered.dirs());
        let places: Vec<String> = places.map(|place| place.display().to_string()).collect();
        escape(&places.join(", "))
    }

    /// Whether files are read instead of a cluster.
    pub(super) fn is_of_files(&self) -> bool {
        self.from.is_some() || !self.rendered.is_empty()
    }

    /// The same without the rendered manifests, for commands that apply them as a change.
    pub(super) fn below(&self) -> Self {
        Self {
            rendered: Rendered::default(),
            ..self.clone()
        }
    }

    /// Connects to the cluster or reads the files.
    ///
    /// # Errors
    /// If the directory or cluster does not exist, or the configuration is wrong.
    pub(super) fn open(&self, scope: &Scope) -> Result<Opened, Failure> {
        self.open_as(&self.configuration()?, scope)
    }

    /// The same, with what `--watch` needs.
    ///
    /// # Errors
    /// As [`State::open`].
    pub(super) fn open_watching(&self, scope: &Scope, how: Watching) -> Result<Opened, Failure> {
        // The fingerprint comes first: a change during the read causes another read.
        let followed = how.watch && self.is_of_files();
        let seen = followed.then(|| self.fingerprint());
        Ok(Opened {
            seen,
            ..self.open(scope)?
        })
    }

    pub(super) fn configuration(&self) -> Result<Configuration, Failure> {
        let places = self.from.iter().chain(self.rendered.dirs());
        let mut directories = places.map(PathBuf::as_path).filter(|place| place.is_dir());
        let directory = directories.next();
        let linked = directory.filter(|_| self.follow_links);
        let linked = linked.map(|directory| directory.join(IN_DIRECTORY));
        let linked = linked.filter(|file| file.is_file());
        let named = self.config.as_deref().or(linked.as_deref());
        Ok(Configuration::find(named, directory)?)
    }

    /// The files and directories that `--watch` follows.
    fn watched(&self) -> Vec<PathBuf> {
        let named = self.from.iter().chain(&self.config).cloned();
        named.chain(self.rendered.watched()).collect()
    }

    /// The state of the files that `--watch` follows, without reading them.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::from_paths(&self.watched(), self.links())
    }

    /// The symbolic links in directories that are followed.
    pub(super) fn links(&self) -> Links {
        if self.follow_links {
            Links::All
        } else {
            Links::Within
        }
    }

    /// [`State::open`] with a configuration that is already read.
    ///
    /// # Errors
    /// If the directory or cluster does not exist.
    pub(super) fn open_as(&self, config: &Configuration, scope: &Scope) -> Result<Opened, Failure> {
        let rules = config.rules(builtin()?);
        let given_namespace = scope.namespace.clone();
        let asked = (self.clone(), scope.clone());
        if !self.is_of_files() {
            let cluster = Cluster::open(&self.access, given_namespace)?;
            return Ok(Opened {
                names: cluster.names(&rules),
                namespace: cluster.namespace.clone(),
                guardrails: Vec::new(),
                texts: BTreeMap::new(),
                rules,
                source: StateSource::Cluster(Box::new(cluster)),
                asked,
                seen: None,
            });
        }
        let namespace = given_namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        let manifests = self.manifests(&namespace)?;
        let guardrails = among(&manifests).map(ToOwned::to_owned).collect();
        let written = self.keeps_texts.then(|| manifests.objects.clone());
        let loaded = directory::Loaded::new(manifests, &rules, &namespace);
        if let Some(problem) = loaded
            .problems
            .first()
            .filter(|_| loaded.origins.is_empty())
        {
            // An empty answer would look like that of an empty state.
            let problem = escape(&problem.to_string());
            return Err(format!("{problem}; no object could be read").into());
        }
        Ok(Opened {
            texts: texts(written.unwrap_or_default(), &loaded),
            names: Names::of_files(&loaded),
            namespace,
            guardrails,
            rules,
            source: StateSource::Files(Box::new(loaded)),
            asked,
            seen: None,
        })
    }

    /// The manifests of the files that are read instead of a cluster.
    fn manifests(&self, namespace: &str) -> Result<Manifests, Failure> {
        let access = &self.access;
        if access.kubeconfig.is_some() || access.context.is_some() || access.user.is_some() {
            return Err(
                "-k and --helm are read instead of a cluster: remove --kubeconfig, --context and --as".into(),
            );
        }
        let mut manifests = match &self.from {
            None => Manifests::default(),
            Some(from) if from.as_os_str() == STDIN => directory::read_stdin(),
            Some(from) if !from.exists() => {
                return Err(format!("{} does not exist", from.display()).into());
            }
            Some(from) if self.as_written => {
                repository::unbuilt(std::slice::from_ref(from), self.links())
            }
            Some(from) => read_repository(std::slice::from_ref(from), self.links()),
        };
        manifests.append(if self.as_written {
            self.rendered.unbuilt()
        } else {
            self.rendered.read(namespace)?
        });
        Ok(manifests)
    }

    /// Reads the CRDs.
    ///
    /// # Errors
    /// As for [`State::open`].
    pub(super) fn definitions(&self) -> Result<Definitions, Failure> {
        let opened = self.open(&Scope::default())?;
        let (crds, used) = match opened.source {
            StateSource::Files(loaded) => {
                say(&loaded.problems);
                let mut duplicates = loaded.duplicates;
                duplicates.retain(|double| double.key.gk == GroupKind::CRD);
                say_missing_parts(directory::written_twice(&duplicates).as_slice());
                let used = loaded.counts.policy_kinds.into_iter().collect();
                (loaded.crds, used)
            }
            StateSource::Cluster(cluster) => match cluster.definitions() {
                Ok(definitions) => (definitions.crds.clone(), Vec::new()),
                Err(why) => {
                    let missing = Missing {
                        what: MissingPart::Definitions(cluster.unexplained(&opened.rules)),
                        why,
                    };
                    say_missing_parts(&missing_parts::lines(&[missing], &[]));
                    (Vec::new(), cluster.policy_kinds(&opened.rules))
                }
            },
        };
        Ok(Definitions {
            rules: opened.rules,
            crds,
            used,
        })
    }
}

// === impl Opened ===

impl Opened {
    /// Reads the wanted objects of a cluster, or all objects of files.
    pub(super) fn view(self, read_scope: &ReadScope) -> View {
        match self.source {
            StateSource::Files(loaded) => View::of_files(*loaded, self.rules),
            StateSource::Cluster(cluster) => {
                View::listed(cluster.read(&self.rules, read_scope), &self.rules)
            }
        }
    }

    /// The guardrails among the manifests, or in the cluster. It says if they cannot be listed.
    pub(super) fn guardrails(&self) -> Vec<Box<RawValue>> {
        let StateSource::Cluster(cluster) = &self.source else {
            return self.guardrails.clone();
        };
        match cluster.guardrails() {
            Ok(listed) => listed.iter().filter_map(stored).collect(),
            Err(why) => {
                let why = escape(&why.to_string());
                eprintln!(
                    "attache: the guardrails of the cluster are not judged: they cannot be listed: {why}"
                );
                Vec::new()
            }
        }
    }

    /// The namespace whose objects are listed. `None`: all.
    pub(super) fn within(&self) -> Option<String> {
        let (state, scope) = &self.asked;
        let all = scope.all_namespaces || (state.is_of_files() && scope.namespace.is_none());
        (!all).then(|| self.namespace.clone())
    }

    /// The object or section with this name. In files without a given namespace, the only object of that name in any
    /// namespace.
    ///
    /// # Errors
    /// As for [`Names::place`].
    pub(super) fn place(&self, kind: &str, name: &str) -> Result<Place, String> {
        let mut place = self.names.place(kind, name, &self.namespace)?;
        if let (StateSource::Files(loaded), None) = (&self.source, self.within()) {
            let wanted = &place.object;
            let all = loaded.objects.iter().map(|object| &object.key);
            let mut named = all.filter(|key| key.gk == wanted.gk && key.name == wanted.name);
            if let (Some(one), None) = (named.next(), named.next()) {
                place.object = one.clone();
            }
        }
        Ok(place)
    }

    /// Keeps the specs of all objects of a cluster that is followed, and not only those that policies need.
    pub(super) fn retain_specs(&mut self) {
        let rules = ProfileRules::clone(&self.rules);
        self.rules = Arc::new(rules.retaining_specs());
    }

    /// The text of each object of files, if it is kept.
    pub(super) fn take_texts(&mut self) -> BTreeMap<ObjectKey, Box<RawValue>> {
        std::mem::take(&mut self.texts)
    }

    /// Prints the answer whenever it changes, until the reader is gone.
    ///
    /// # Errors
    /// If the first look fails.
    pub(super) fn watch(
        self,
        read_scope: &ReadScope,
        answer: impl Fn(&View, Timestamp) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let mut looked = self.followed(read_scope)?;
        to_stdout(&mut *looked, answer)
    }

    /// Follows a cluster.
    ///
    /// # Errors
    /// If the state is one of files, or the credentials are gone.
    pub(super) fn live(self, read_scope: &ReadScope) -> Result<Live, Failure> {
        match self.source {
            StateSource::Cluster(cluster) => Live::start(*cluster, self.rules, read_scope),
            StateSource::Files(_) => Err("files are not watched by an API server".into()),
        }
    }

    /// Follows the wanted objects.
    ///
    /// # Errors
    /// If the state can be read only once.
    pub(super) fn followed(self, read_scope: &ReadScope) -> Result<Box<dyn Query<View>>, Failure> {
        let (state, scope) = self.asked;
        let loaded = match self.source {
            StateSource::Cluster(cluster) => {
                return Ok(Box::new(Live::start(*cluster, self.rules, read_scope)?));
            }
            StateSource::Files(loaded) => loaded,
        };
        if state.from.as_deref() == Some(Path::new(STDIN)) {
            return Err("standard input cannot be watched: use a directory".into());
        }
        let read_scope = read_scope.clone();
        // The files that were just read need not be read and built again.
        let first = self
            .seen
            .is_some()
            .then(|| View::of_files(*loaded, self.rules));
        let follows = state.clone();
        Ok(Box::new(Files {
            fingerprint: move || follows.fingerprint(),
            read: move || Ok(state.open(&scope)?.view(&read_scope)),
            first,
            seen: self.seen,
        }))
    }
}

/// The text of each object, by its origin.
fn texts(written: Vec<Manifest>, loaded: &directory::Loaded) -> BTreeMap<ObjectKey, Box<RawValue>> {
    let written = written.into_iter().map(|one| (one.origin, one.json));
    let mut written: BTreeMap<Origin, Box<RawValue>> = written.collect();
    let origins = loaded.origins.iter();
    origins
        .filter_map(|(key, origin)| Some((key.clone(), written.remove(origin)?)))
        .collect()
}

fn say_missing_parts(lines: &[String]) {
    for line in lines {
        eprintln!("attache: {}", escape(line));
    }
}

fn say(problems: &[Problem]) {
    for problem in problems {
        eprintln!("attache: {}", escape(&problem.to_string()));
    }
}

/// Reads files and directories as one state. Prints notes on how they were read to standard error.
pub(super) fn read_repository(paths: &[PathBuf], links: Links) -> Manifests {
    let read = repository::read(paths, links).merged();
    let notes: Vec<String> = read.notes.iter().map(|note| escape(note)).collect();
    say_missing_parts(&notes);
    read.manifests
}
