//! Follows a state: files are read again when they change, a cluster is watched, as with `--watch`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use attache_guardrails::Guardrails;
use tokio::runtime::{Builder, Runtime};

use super::super::Failure;
use super::super::state::{Live, Opened, Scope, State, View};
use super::super::watch::{Files, Query};
use super::super::written_guardrails::{self, FromManifests};
use super::page_state::{PageState, Parts};
use crate::cache::lists::{ReadScope, shown};
use crate::cache::manifest::Problem;
use crate::config::Configuration;
use crate::engine::admission::verdict::escape;
use crate::engine::model::object::Crd;
use crate::serve::ReadText;

/// The time between two looks at files or watches.
pub(super) const PAUSE: Duration = Duration::from_millis(250);
/// A cluster that is listed again each time rests this many times as long as listing took.
const REST: u32 = 10;

/// A state that is followed.
pub(super) enum Followed {
    Files(Box<FollowedFiles>),
    Cluster(Box<FollowedCluster>),
}

/// Files that are followed.
pub(super) struct FollowedFiles {
    files: Box<dyn Query<PageState> + Send>,
    /// The state that was read last.
    seen: Option<Arc<PageState>>,
}

/// A cluster that is followed.
pub(super) struct FollowedCluster {
    live: Live,
    config: Configuration,
    namespace: String,
    /// The state that was read last, and the source of its guardrails.
    seen: Option<(Arc<PageState>, Source)>,
    /// When the cluster may be listed again.
    rested: Instant,
}

/// The source of the guardrails; if it changes, they are read again.
#[derive(Clone)]
enum Source {
    Watched(Arc<Guardrails>),
    Listed(Vec<String>),
    Unknown,
}

/// The result of looking at the source of a state.
pub(super) enum PollResult {
    /// Another state.
    New(Arc<PageState>),
    /// The state was read, and is the same.
    Same,
    /// It was not read: nothing says that it has changed.
    Unread,
}

// === impl Followed ===

impl Followed {
    /// Opens a state.
    ///
    /// # Errors
    /// If the directory or cluster does not exist, or the configuration is wrong.
    pub(super) fn open(state: &State, scope: &Scope) -> Result<Self, Failure> {
        if !state.is_of_files() {
            let config = state.configuration()?;
            let mut opened = state.open_as(&config, scope)?;
            opened.retain_specs();
            let namespace = opened.namespace.clone();
            let live = opened.live(&ReadScope::Everything)?;
            live.guardrails().configure(config.guardrails.clone());
            let cluster = FollowedCluster {
                live,
                config,
                namespace,
                seen: None,
                rested: Instant::now(),
            };
            return Ok(Self::Cluster(Box::new(cluster)));
        }
        let state = State {
            keeps_texts: true,
            ..state.clone()
        };
        let (fingerprints, scope) = (state.clone(), scope.clone());
        let files = Files {
            fingerprint: move || fingerprints.fingerprint(),
            read: move || read(&state, &scope),
            first: None,
            seen: None,
        };
        Ok(Self::Files(Box::new(FollowedFiles {
            files: Box::new(files),
            seen: None,
        })))
    }

    /// Looks whether the state has changed.
    ///
    /// # Errors
    /// If it cannot be read now.
    pub(super) fn poll(&mut self) -> Result<PollResult, Failure> {
        match self {
            Self::Files(files) => files.poll(),
            Self::Cluster(cluster) => cluster.poll(),
        }
    }

    /// The state to begin with.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn first(&mut self) -> Result<Arc<PageState>, Failure> {
        loop {
            if let PollResult::New(page_state) = self.poll()? {
                return Ok(page_state);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The runtime of requests to the cluster and to the page.
    ///
    /// # Errors
    /// If the system has no threads.
    pub(super) fn runtime(&self) -> Result<Arc<Runtime>, Failure> {
        Ok(match self {
            Self::Cluster(cluster) => cluster.live.cluster().runtime(),
            Self::Files(_) => Arc::new(
                Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()?,
            ),
        })
    }

    /// The user who reads the cluster, if the API server names it.
    pub(super) fn user(&self) -> Option<String> {
        match self {
            Self::Cluster(cluster) => cluster.live.cluster().user(),
            Self::Files(_) => None,
        }
    }

    /// Reads the objects of a cluster.
    pub(super) fn texts(&self) -> Option<ReadText> {
        let Self::Cluster(cluster) = self else {
            return None;
        };
        let reader = cluster.live.cluster().reader();
        Some(Arc::new(move |key| {
            let reader = reader.clone();
            Box::pin(async move {
                let read = reader.text(&key).await;
                read.map_err(|why| format!("{} cannot be read: {why}", escape(&key.to_string())))
            })
        }))
    }
}

/// Reads files.
fn read(state: &State, scope: &Scope) -> Result<PageState, Failure> {
    let config = state.configuration()?;
    let mut opened: Opened = state.open_as(&config, scope)?;
    let written = opened.guardrails();
    let usable = written_guardrails::usable(&config.guardrails, written.iter().map(AsRef::as_ref));
    let (namespace, texts) = (opened.namespace.clone(), opened.take_texts());
    Ok(PageState {
        guardrails: usable.usable.clone(),
        configured: config.guardrails.clone(),
        problems: wrong(&usable),
        severities: config.review_settings().severities,
        refusals: config.suppressions.refusals.is_anybody(),
        namespace,
        texts,
        is_of_files: true,
        view: opened.view(&ReadScope::Everything),
        parts: Parts::default(),
    })
}

fn wrong(manifests: &FromManifests) -> Vec<String> {
    let wrong = manifests.wrong.iter();
    wrong.map(|finding| escape(&finding.message)).collect()
}

// === impl FollowedFiles ===

impl FollowedFiles {
    /// The state of the files. A file that had objects and cannot be read now may have them still: the last state stays.
    fn poll(&mut self) -> Result<PollResult, Failure> {
        let Some(page_state) = self.files.poll()? else {
            return Ok(PollResult::Unread);
        };
        let unread = self
            .seen
            .as_ref()
            .and_then(|seen| unread(&seen.view, &page_state.view));
        if let Some(problem) = unread {
            return Err(format!("{problem}; what is shown is the state before").into());
        }
        let page_state = Arc::new(page_state);
        self.seen = Some(Arc::clone(&page_state));
        Ok(PollResult::New(page_state))
    }
}

/// The problem of a file because of which objects are missing that it had before.
fn unread<'v>(before: &View, now: &'v View) -> Option<&'v Problem> {
    let gone = before.origins.iter();
    let gone = gone.filter(|(key, _)| !now.origins.contains_key(*key));
    let files: BTreeSet<&str> = gone.map(|(_, origin)| &*origin.file).collect();
    let mut problems = now.problems.iter();
    problems.find(|problem| problem.is_of_text() && files.contains(&*problem.file))
}

// === impl FollowedCluster ===

impl FollowedCluster {
    fn poll(&mut self) -> Result<PollResult, Failure> {
        let is_watched = self.live.is_in_sync();
        if !is_watched && Instant::now() < self.rested {
            return Ok(PollResult::Unread);
        }
        let began = Instant::now();
        let looked = self.live.poll();
        let (guardrails, source, problems) = self.guardrails(is_watched);
        if !is_watched {
            self.rested = Instant::now() + PAUSE.max(began.elapsed() * REST);
        }
        let is_known =
            |source: &Source| self.seen.as_ref().is_some_and(|(_, seen)| seen.is(source));
        let view = match (looked?, &self.seen) {
            (Some(view), _) => with_all(view),
            (None, Some((seen, _))) if !is_known(&source) => seen.view.clone(),
            (None, _) => return Ok(PollResult::Same),
        };
        let seen = self.seen.as_ref().map(|(seen, _)| &seen.view);
        if is_known(&source) && seen.is_some_and(|seen| is_same(seen, &view)) {
            return Ok(PollResult::Same);
        }
        let page_state = Arc::new(PageState {
            view,
            guardrails,
            configured: self.config.guardrails.clone(),
            severities: self.config.review_settings().severities,
            refusals: self.config.suppressions.refusals.is_anybody(),
            namespace: self.namespace.clone(),
            texts: BTreeMap::new(),
            is_of_files: false,
            problems,
            parts: Parts::default(),
        });
        self.seen = Some((Arc::clone(&page_state), source));
        Ok(PollResult::New(page_state))
    }

    /// The guardrails, their source, and the mistakes in some of them.
    fn guardrails(&self, is_watched: bool) -> (Guardrails, Source, Vec<String>) {
        if is_watched {
            let in_use = self.live.guardrails();
            let stored = in_use.stored().into_iter();
            let wrong = stored.filter_map(|stored| stored.read.err());
            let wrong = wrong.map(|why| escape(&why)).collect();
            let all = in_use.all();
            return (Guardrails::clone(&all), Source::Watched(all), wrong);
        }
        let configured = &self.config.guardrails;
        match self.live.cluster().guardrails() {
            Ok(stored) => {
                let stored: Vec<_> = stored
                    .iter()
                    .filter_map(written_guardrails::stored)
                    .collect();
                let usable =
                    written_guardrails::usable(configured, stored.iter().map(AsRef::as_ref));
                let texts = stored.iter().map(|text| text.get().to_owned()).collect();
                (usable.usable.clone(), Source::Listed(texts), wrong(&usable))
            }
            Err(why) => {
                let line = format!(
                    "incomplete: the guardrails of the cluster are not judged: they cannot be listed: {why}"
                );
                (configured.clone(), Source::Unknown, vec![escape(&line)])
            }
        }
    }
}

// === impl Source ===

impl Source {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Watched(one), Self::Watched(other)) => Arc::ptr_eq(one, other),
            (Self::Listed(one), Self::Listed(other)) => one == other,
            (Self::Unknown, Self::Unknown) => true,
            _ => false,
        }
    }
}

/// A view with the objects of its snapshot, if it has none of its own.
fn with_all(mut view: View) -> View {
    if view.objects.is_empty() {
        view.objects = shown(&view.snapshot);
    }
    view
}

/// Whether two views of a cluster show the same.
fn is_same(one: &View, other: &View) -> bool {
    let objects = one.objects.iter().zip(&other.objects);
    one.missing == other.missing
        && one.objects.len() == other.objects.len()
        && objects
            .into_iter()
            .all(|(one, other)| one.is_identical(other))
        && definitions(one) == definitions(other)
}

/// The CRDs of a view, by name.
fn definitions(view: &View) -> BTreeMap<String, Arc<Crd>> {
    let crds = view.snapshot.definitions();
    crds.map(|crd| (crd.gk.to_string(), crd.clone())).collect()
}
