//! Where a command looks: a cluster, a directory of manifests, or manifests on the standard input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Failure;
use super::names::Names;
use crate::cache::lists::{self, Missing, Wants};
use crate::cache::manifest::{Manifests, Origin, Problem};
use crate::cache::{crds, directory, reach, tuned};
use crate::config::Configuration;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::object::{Crd, Object};
use crate::engine::profile::ProfileRules;
use crate::engine::snapshot::Snapshot;

/// The namespace of what says none, where no kubeconfig says another.
const DEFAULT_NAMESPACE: &str = "default";
/// The name of the standard input.
const STDIN: &str = "-";

/// The arguments that say where.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct State {
    /// Look at manifests instead of a cluster: a directory, a file, or - for the standard input.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context"])]
    pub(super) from: Option<PathBuf>,
    /// The cluster's kubeconfig; without it the usual places.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// The configuration file; with --from, attache.yaml of the directory when it has one.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// Which namespaces.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Scope {
    /// The namespace; without it that of the context, or default.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// All namespaces.
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub(super) all_namespaces: bool,
}

/// A place to look, found and not yet looked at.
pub(super) struct Opened {
    /// How kinds are called there.
    pub(super) names: Names,
    /// The namespace of what says none.
    pub(super) namespace: String,
    rules: Arc<ProfileRules>,
    found: Found,
}

enum Found {
    Files(Box<directory::Loaded>),
    Cluster {
        runtime: tokio::runtime::Runtime,
        client: kube::Client,
        crds: Vec<Arc<Crd>>,
    },
}

/// What was seen.
#[derive(Debug)]
pub(super) struct View {
    /// The state.
    pub(super) snapshot: Snapshot,
    /// The objects with their whole specs, in the order of files.
    pub(super) objects: Vec<Object>,
    /// Where each stands in files.
    pub(super) origins: BTreeMap<ObjectKey, Origin>,
    /// What of a cluster could not be read.
    pub(super) missing: Vec<Missing>,
    /// What in files could not be used.
    pub(super) problems: Vec<Problem>,
    /// What is known of policy kinds before their definitions are seen.
    pub(super) rules: Arc<ProfileRules>,
}

/// The definitions that are there, and how policy kinds are told among them.
#[derive(Debug)]
pub(super) struct Definitions {
    /// What is known of policy kinds before their definitions are seen.
    pub rules: Arc<ProfileRules>,
    /// The definitions, of every kind.
    pub crds: Vec<Arc<Crd>>,
    /// The policy kinds that a directory has objects of, with or without a definition.
    pub used: Vec<GroupKind>,
}

// === impl State ===

impl State {
    /// Finds the cluster or reads the files.
    ///
    /// # Errors
    /// When there is no such directory or cluster, or the configuration is wrong.
    pub(super) fn open(&self, scope: &Scope) -> Result<Opened, Failure> {
        let directory = self.from.as_deref().filter(|from| from.is_dir());
        let config = Configuration::find(self.config.as_deref(), directory)?;
        self.open_as(&config, scope)
    }

    /// The same, with a configuration that was read already.
    ///
    /// # Errors
    /// When there is no such directory or cluster.
    pub(super) fn open_as(&self, config: &Configuration, scope: &Scope) -> Result<Opened, Failure> {
        let rules = config.rules()?;
        let said = scope.namespace.clone();
        let Some(from) = &self.from else {
            return self.open_cluster(rules, said);
        };
        let namespace = said.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        let loaded = read_files(from, &rules)?;
        let used: Vec<GroupKind> = loaded.snapshot.known_kinds().cloned().collect();
        Ok(Opened {
            names: Names::new(loaded.crds.iter().map(AsRef::as_ref), &used),
            namespace,
            rules,
            found: Found::Files(Box::new(loaded)),
        })
    }

    fn open_cluster(
        &self,
        rules: Arc<ProfileRules>,
        said: Option<String>,
    ) -> Result<Opened, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let (client, own, crds) = runtime.block_on(async {
            let config = reach::config(self.kubeconfig.as_deref(), self.context.as_deref()).await?;
            let own = config.default_namespace.clone();
            let client = kube::Client::try_from(tuned(config))?;
            let crds = crds::list(client.clone()).await?;
            Ok::<_, Failure>((client, own, crds))
        })?;
        Ok(Opened {
            names: Names::new(crds.iter().map(AsRef::as_ref), []),
            namespace: said.unwrap_or(own),
            rules,
            found: Found::Cluster {
                runtime,
                client,
                crds,
            },
        })
    }

    /// Reads the definitions.
    ///
    /// # Errors
    /// As [`State::open`].
    pub(super) fn definitions(&self) -> Result<Definitions, Failure> {
        let opened = self.open(&Scope::default())?;
        let (crds, used) = match opened.found {
            Found::Files(loaded) => {
                say(&loaded.problems);
                let used = loaded.counts.policy_kinds.into_iter().collect();
                (loaded.crds, used)
            }
            Found::Cluster { crds, .. } => (crds, Vec::new()),
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
    /// Looks at what is wanted; files are read whole.
    pub(super) fn view(self, wants: &Wants) -> View {
        match self.found {
            Found::Files(loaded) => View {
                snapshot: loaded.snapshot,
                objects: loaded.objects,
                origins: loaded.origins,
                missing: Vec::new(),
                problems: loaded.problems,
                rules: self.rules,
            },
            Found::Cluster {
                runtime,
                client,
                crds,
            } => {
                let listed = runtime.block_on(lists::read(&client, &self.rules, &crds, wants));
                View {
                    snapshot: listed.snapshot,
                    objects: listed.objects,
                    origins: BTreeMap::new(),
                    missing: listed.missing,
                    problems: Vec::new(),
                    rules: self.rules,
                }
            }
        }
    }
}

// === impl View ===

impl View {
    /// Says on the standard error what is not in it, so that nobody takes it for the whole.
    pub(super) fn say_what_is_missing(&self) {
        say(&self.problems);
        for Missing { gk, why } in &self.missing {
            eprintln!("attache: not all is shown: {gk} cannot be listed: {why}");
        }
    }
}

impl View {
    /// Puts manifests on top of what was seen, all as one change.
    pub(super) fn with(&self, manifests: Manifests, namespace: &str) -> directory::Loaded {
        directory::Loaded::on(Some(&self.snapshot), manifests, &self.rules, namespace)
    }
}

fn say(problems: &[Problem]) {
    for problem in problems {
        eprintln!("attache: {problem}");
    }
}

fn read_files(from: &Path, rules: &Arc<ProfileRules>) -> Result<directory::Loaded, Failure> {
    let manifests = if from.as_os_str() == STDIN {
        directory::read_stdin()
    } else if from.exists() {
        directory::read(&[from.to_owned()])
    } else {
        return Err(format!("there is no {}", from.display()).into());
    };
    Ok(directory::Loaded::new(manifests, rules, DEFAULT_NAMESPACE))
}
