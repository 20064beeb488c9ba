//! Reads both states.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::super::Failure;
use super::super::check;
use super::super::cluster;
use super::super::impact::usable;
use super::super::missing_parts;
use super::super::names::Names;
use super::super::state::{State, View};
use super::source::{Revision, Source};
use super::{Args, definitions};
use crate::cache::directory::Loaded;
use crate::cache::git::{self, Checkout};
use crate::cache::lists::{Missing, MissingPart, ReadScope};
use crate::cache::manifest::Manifests;
use crate::cache::{files, repository};
use crate::config::{Configuration, builtin};
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::GroupKind;
use crate::engine::routing::Matching;

/// A state that was read.
pub(super) struct Read {
    /// As the user named it.
    pub(super) name: String,
    /// The namespace of objects without one.
    pub(super) namespace: String,
    pub(super) names: Names,
    pub(super) view: View,
}

/// Files that are found, but not evaluated yet.
struct StateToCompare {
    source: Source,
    name: String,
    /// The file or directory; `None` for a cluster and the standard input.
    path: Option<PathBuf>,
    checkout: Option<Checkout>,
}

/// Reads both states.
///
/// # Errors
/// If a state does not exist, has no objects, or cannot be read as a whole.
pub(super) fn read(sources: [Source; 2], args: &Args) -> Result<[Read; 2], Failure> {
    let [one, other] = sources;
    let (one, other) = (StateToCompare::find(one)?, StateToCompare::find(other)?);
    let (file, other_file) = (one.configuration(args), other.configuration(args));
    // Facts about policy kinds hold for both states, unless each has its own.
    let config = |own: &Option<PathBuf>, others: &Option<PathBuf>| {
        let named = args.access.config.as_deref();
        let file = named.or(own.as_deref()).or(others.as_deref());
        Configuration::find(file, None).map_err(|why| one.shown(&other.shown(&why.to_string())))
    };
    let config_of_a = config(&file, &other_file)?;
    let config_of_b = config(&other_file, &file)?;
    match (&one.source, &other.source) {
        // The CRDs of a cluster hold for manifests that have none.
        (_, Source::Cluster(_)) => {
            let b = other.read_cluster(&config_of_b, args)?;
            let a = if let Source::Cluster(_) = one.source {
                one.read_cluster(&config_of_a, args)?
            } else {
                let manifests = one.manifests(args);
                one.read_files(manifests, Some(&b), &config_of_a, args)?
            };
            Ok([a, b])
        }
        (Source::Cluster(_), _) => {
            let a = one.read_cluster(&config_of_a, args)?;
            let manifests = other.manifests(args);
            let b = other.read_files(manifests, Some(&a), &config_of_b, args)?;
            Ok([a, b])
        }
        // A CRD that only one of them has holds for both.
        _ => {
            let (mut of_a, mut of_b) = (one.manifests(args), other.manifests(args));
            definitions::share(&mut of_a, &mut of_b);
            Ok([
                one.read_files(of_a, None, &config_of_a, args)?,
                other.read_files(of_b, None, &config_of_b, args)?,
            ])
        }
    }
}

/// Prints to standard error what could not be read, each line once.
pub(super) fn say_what_is_missing(states: [&Read; 2]) {
    let mut reported = BTreeSet::new();
    for read in states {
        for line in read.view.missing_lines() {
            reported.insert(format!("{}: {line}", read.name));
        }
        // In a cluster every object has its CRD.
        if !read.view.origins.is_empty() {
            let objects = read.view.origins.keys();
            reported.extend(missing_parts::undefined(&read.view.snapshot, objects));
        }
    }
    for line in reported {
        eprintln!("attache: {}", escape(&line));
    }
}

// === impl StateToCompare ===

impl StateToCompare {
    fn find(source: Source) -> Result<Self, Failure> {
        let name = source.name();
        let (path, checkout) = match &source {
            Source::Stdin | Source::Cluster(_) => (None, None),
            Source::Path(path) => (Some(path.clone()), None),
            Source::Revision(Revision { commit, inside, .. }) => {
                let checkout = git::checkout(commit);
                let checkout = checkout.map_err(|why| format!("{name}: {why}"))?;
                (Some(checkout.path(inside)), Some(checkout))
            }
        };
        if path.as_ref().is_some_and(|path| !path.exists()) {
            return Err(format!("{name} does not exist").into());
        }
        Ok(Self {
            source,
            name,
            path,
            checkout,
        })
    }

    /// The configuration in its directory.
    fn configuration(&self, args: &Args) -> Option<PathBuf> {
        let directory = self.path.as_deref().filter(|path| path.is_dir())?;
        check::in_directory(directory, args.links())
    }

    /// A text with names of files as the user knows them.
    fn shown(&self, text: &str) -> String {
        let (Some(checkout), Source::Revision(revision)) = (&self.checkout, &self.source) else {
            return text.to_owned();
        };
        let top = checkout.top().display().to_string();
        let name = format!("{}:", revision.name);
        text.replace(&format!("{top}/"), &name).replace(&top, &name)
    }

    fn read_cluster(self, config: &Configuration, args: &Args) -> Result<Read, Failure> {
        let context = match &self.source {
            Source::Cluster(context) => context.as_deref(),
            _ => None,
        };
        of_cluster(&self.name, context, config, args)
    }

    /// Reads files, beside a cluster if the other state is one.
    fn read_files(
        self,
        manifests: Manifests,
        cluster: Option<&Read>,
        config: &Configuration,
        args: &Args,
    ) -> Result<Read, Failure> {
        if manifests.objects.is_empty() && manifests.problems.is_empty() {
            return Err(format!("there are no objects in {}", self.name).into());
        }
        let (rules, namespace) = (config.rules(builtin()?), args.scope.of_files());
        let loaded = match cluster {
            Some(cluster) => {
                Loaded::over_cluster(&cluster.view.snapshot, manifests, &rules, namespace)
            }
            None => Loaded::new(manifests, &rules, namespace),
        };
        usable(&loaded, "what cannot be read cannot be compared; list files that are no manifests in .attacheignore")
            .map_err(|why| self.shown(&why.to_string()))?;
        Ok(Read {
            name: self.name,
            namespace: namespace.to_owned(),
            names: Names::of_files(&loaded),
            view: View::of_files(loaded, rules),
        })
    }

    /// The manifests in its file, in its directory with kustomizations built, or on standard input.
    fn manifests(&self, args: &Args) -> Manifests {
        if matches!(self.source, Source::Stdin) {
            return files::read_stdin();
        }
        let merged = repository::read(self.path.as_slice(), args.links()).merged();
        let left_out = self.checkout.iter().flat_map(|checkout| &checkout.notes);
        for note in left_out.chain(&merged.notes) {
            let note = format!("{}: {}", self.name, self.shown(note));
            eprintln!("attache: {}", escape(&note));
        }
        let mut manifests = merged.manifests;
        for object in &mut manifests.objects {
            object.origin.file = self.shown(&object.origin.file);
        }
        for problem in &mut manifests.problems {
            problem.file = self.shown(&problem.file);
            problem.message = self.shown(&problem.message);
        }
        manifests
    }
}

fn of_cluster(
    name: &str,
    context: Option<&str>,
    config: &Configuration,
    args: &Args,
) -> Result<Read, Failure> {
    let access = &args.access;
    let state = State {
        access: cluster::Access {
            kubeconfig: access.kubeconfig.clone(),
            context: context.map(str::to_owned),
            user: access.user.clone(),
            groups: access.groups.clone(),
            request_timeout: access.request_timeout,
        },
        ..State::default()
    };
    let opened = state.open_as(config, &args.scope);
    let opened = opened.map_err(|why| format!("{name}: {why}"))?;
    Ok(Read {
        name: name.to_owned(),
        namespace: opened.namespace.clone(),
        names: opened.names.clone(),
        view: opened.view(&ReadScope::Everything),
    })
}

// === impl Read ===

impl Read {
    /// Whether an object is in a namespace, or the Namespace exists.
    pub(super) fn has_namespace(&self, namespace: &str) -> bool {
        let mut all = self.view.snapshot.all();
        all.any(|object| {
            let key = &object.key;
            *key.namespace == *namespace || (key.gk.is_core("Namespace") && *key.name == *namespace)
        })
    }

    /// The requests that its routes take.
    pub(super) fn matching(&self) -> Matching<'_> {
        Matching::new(&self.view.snapshot, &self.view.objects)
    }

    /// Whether a kind is a policy kind in this state.
    pub(super) fn is_policy(&self, gk: &GroupKind) -> bool {
        self.view.snapshot.profile(gk).is_some()
    }

    /// The kinds of which some objects could not be read, each with the reason. A CRD that could
    /// not be read is known only by its name, so that all policy kinds of its group count, as the
    /// other state has them.
    pub(super) fn hidden(&self, other: &Self) -> BTreeMap<GroupKind, String> {
        let mut hidden = BTreeMap::new();
        for Missing { what, why } in &self.view.missing {
            let why = why.to_string();
            match what {
                MissingPart::GatewayApi => {}
                MissingPart::Kind(gk) => {
                    hidden.insert(gk.clone(), why);
                }
                MissingPart::Elsewhere(namespace, gk) => {
                    let why = format!("only those in namespace {namespace} are known: {why}");
                    hidden.insert(gk.clone(), why);
                }
                MissingPart::Object(key) => {
                    hidden.insert(key.gk.clone(), format!("{key}: {why}"));
                }
                MissingPart::Definitions(kinds) => {
                    let reason = format!("their CRDs cannot be listed: {why}");
                    hidden.extend(kinds.iter().map(|gk| (gk.clone(), reason.clone())));
                }
                MissingPart::Definition(name) => {
                    let of_group = |gk: &&GroupKind| {
                        let group = name.split_once('.').map(|(_, group)| group);
                        group == Some(&*gk.group)
                    };
                    let kinds = other.view.snapshot.policy_kinds().filter(of_group);
                    let reason = format!("the CRD {name} cannot be used: {why}");
                    hidden.extend(kinds.map(|gk| (gk.clone(), reason.clone())));
                }
            }
        }
        hidden
    }
}
