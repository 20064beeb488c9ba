//! Turns a cluster or a directory into published snapshots.
//!
//! ```text
//! CRDs -> kinds -> watch (a task per kind) --Change--> writer --Arc<Snapshot>--> readers
//! ```
//!
//! Readers load the snapshot and never wait for the writer. This module makes no decisions: the engine interprets the
//! objects, and `http` receives the requests.

pub mod access;
pub mod api_error;
pub mod confirm;
pub mod connect;
pub mod crds;
mod departures;
pub mod directory;
pub mod events;
pub mod exec;
pub mod files;
pub mod git;
pub mod guardrail_status;
pub mod guardrails;
mod ignored;
pub mod kinds;
pub mod kubeconfig;
mod kustomize;
pub mod last_contact;
pub mod lists;
pub mod manifest;
pub mod own_certificates;
pub mod parallel;
pub mod position;
pub mod raw;
pub mod reload;
pub mod repository;
pub mod served;
pub mod skipped;
pub mod sync;
pub mod ttl_cache;
pub mod watch;
mod webhook_configurations;
pub mod webhooks;
pub mod writer;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::mpsc;
use tokio::sync::watch::{self as latest, Receiver};
use tokio::task::JoinSet;

use crate::engine::kinds::profile::ProfileRules;
use crate::engine::state::snapshot::Snapshot;
use crate::metrics::Metrics;

use self::access::Access;
use self::confirm::Confirm;
use self::events::Notices;
use self::guardrails::GuardrailsInUse;
use self::kinds::{Kinds, Resources};
use self::sync::SyncState;
use self::watch::Source;
use self::webhooks::Watched;

/// The published snapshot, shared by all readers.
pub type Published = Arc<ArcSwap<Snapshot>>;

/// Capacity of the channel to the writer. When it is full the watches wait, and the API server buffers their events.
const QUEUE: usize = 1024;

/// Limits and options of a watched cluster.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The most policy kinds to watch, so that a user who may create CRDs cannot open an unlimited number of watches.
    pub max_policy_kinds: usize,
    /// Whether to write Events about policies that were allowed with a finding.
    pub events: bool,
    /// The longest that a review waits for a live read.
    pub live_read: Duration,
    /// The longest that a review waits for an access review.
    pub access: Duration,
}

/// A cluster that is being watched. Dropping it stops the watches.
#[derive(Debug)]
pub struct Cluster {
    /// The current state.
    pub snapshot: Published,
    /// The kinds that have been listed, and the reasons why the others have not.
    pub sync: Arc<SyncState>,
    /// The API resources of the watched kinds.
    pub resources: Arc<Resources>,
    /// Live reads of single objects.
    pub confirm: Arc<Confirm>,
    /// Whether a user may read an object.
    pub access: Arc<Access>,
    /// Writes Events about allowed policies; `None` when Events are off.
    pub notices: Option<Notices>,
    /// The guardrails of the cluster; those of the configuration can be added.
    pub guardrails: Arc<GuardrailsInUse>,
    /// The policy kinds that are watched.
    pub watched: Receiver<Watched>,
    /// The tasks. None of them is meant to finish; one that does returns the reason.
    pub tasks: JoinSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_policy_kinds: 200,
            events: false,
            live_read: Duration::from_millis(300),
            access: Duration::from_millis(200),
        }
    }
}

impl Cluster {
    /// Starts the watches and returns at once, whether or not the API server answers. [`SyncState::ready`] says when
    /// the snapshot is complete.
    pub fn start(
        client: kube::Client,
        rules: Receiver<Arc<ProfileRules>>,
        metrics: Arc<Metrics>,
        settings: Settings,
    ) -> Self {
        let first = Snapshot::new(rules.borrow().clone());
        let snapshot = Arc::new(ArcSwap::from_pointee(first));
        let sync = Arc::new(SyncState::new(Arc::clone(&metrics)));
        let resources = Arc::new(Resources::default());
        let confirm = Arc::new(Confirm::new(
            client.clone(),
            Arc::clone(&resources),
            settings.live_read,
        ));
        let access = Arc::new(Access::new(
            client.clone(),
            Arc::clone(&resources),
            Arc::clone(&metrics),
            settings.access,
        ));
        let (changes, queue) = mpsc::channel(QUEUE);
        // CRDs are large; a short queue is enough, because the kinds task only starts and stops tasks.
        let (crds, crd_events) = mpsc::channel(16);
        let (stored, stored_events) = mpsc::channel(16);
        let guardrails = Arc::new(GuardrailsInUse::default());

        let source = Source {
            client,
            sync: Arc::clone(&sync),
            metrics: Arc::clone(&metrics),
        };
        let (notices, events) = events::events(
            source.client.clone(),
            Arc::clone(&resources),
            Arc::clone(&metrics),
        );
        let (tell, watched) = latest::channel(Watched::None);
        let reached = Arc::clone(&resources);
        let kinds = Kinds::new(source.clone(), changes, rules, settings, resources)
            .telling(tell)
            .sending_guardrails(stored)
            .knowing(Arc::clone(&snapshot));
        let mut tasks = JoinSet::new();
        tasks.spawn(guardrails::follow_objects(
            stored_events,
            Arc::clone(&guardrails),
            Arc::clone(&sync),
            Arc::clone(&metrics),
        ));
        let notices = settings.events.then_some(notices);
        if notices.is_some() {
            tasks.spawn(events.run());
        }
        tasks.spawn(writer::run(
            queue,
            Arc::clone(&snapshot),
            Arc::clone(&sync),
            metrics,
        ));
        tasks.spawn(kinds::watch_crds(source, crds));
        tasks.spawn(kinds.run(crd_events));
        Self {
            snapshot,
            sync,
            resources: reached,
            confirm,
            access,
            notices,
            guardrails,
            watched,
            tasks,
        }
    }
}

/// A client configuration for watches and live reads. It sets timeouts that kube leaves unset and turns off kube's
/// retries, which would use up the time of a review. Watches have their own backoff.
#[must_use]
pub fn tuned(mut config: kube::Config) -> kube::Config {
    config.connect_timeout = Some(Duration::from_secs(5));
    // The API server closes a watch after 60 s, so a connection that is silent for longer is dead.
    config.read_timeout = Some(Duration::from_secs(65));
    config.reset_reader_on_write = true;
    config.default_retry = false;
    config
}
