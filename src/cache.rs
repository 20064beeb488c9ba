//! A cluster or a directory, turned into published snapshots.
//!
//! ```text
//! CRDs -> kinds -> watch (a task per kind) --Change--> writer --Arc<Snapshot>--> readers
//! ```
//!
//! Readers load the snapshot and never wait for the writer. Nothing here judges: what the objects mean is the
//! engine's, how requests arrive is `http`'s.

pub mod access;
pub mod confirm;
pub mod connect;
pub mod cores;
pub mod crds;
mod departures;
pub mod directory;
pub mod events;
pub mod exec;
pub mod files;
pub mod heard;
mod ignored;
pub mod kinds;
mod kustomize;
pub mod lists;
pub mod manifest;
pub mod position;
pub mod raw;
pub mod reach;
pub mod reload;
pub mod repository;
pub mod served;
pub mod skipped;
pub mod sync;
pub mod trouble;
pub mod watch;
pub mod webhooks;
pub mod writer;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::mpsc;
use tokio::sync::watch::{self as latest, Receiver};
use tokio::task::JoinSet;

use crate::engine::profile::ProfileRules;
use crate::engine::snapshot::Snapshot;
use crate::metrics::Metrics;

use self::access::Access;
use self::confirm::Confirm;
use self::events::Notices;
use self::kinds::{Kinds, Resources};
use self::sync::SyncState;
use self::watch::Source;
use self::webhooks::Watched;

/// The published snapshot, shared by all readers.
pub type Published = Arc<ArcSwap<Snapshot>>;

/// Changes on their way to the writer; a full queue slows the watches down, which the API server buffers.
const QUEUE: usize = 1024;

/// What the operator may set.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// At most this many policy kinds are watched: whoever may create CRDs must not open watches without end.
    pub max_policy_kinds: usize,
    /// Whether what was let through is noted as Events.
    pub events: bool,
    /// How long a review waits for a live read.
    pub live_read: Duration,
    /// How long a review waits for an access review.
    pub access: Duration,
}

/// A cluster that is being watched. Dropping it ends the watches.
#[derive(Debug)]
pub struct Cluster {
    /// What is known now.
    pub snapshot: Published,
    /// Which kinds have been listed, and what is wrong with the others.
    pub sync: Arc<SyncState>,
    /// Live reads of single objects.
    pub confirm: Arc<Confirm>,
    /// Who may read what.
    pub access: Arc<Access>,
    /// Where what was let through is noted; nowhere where that is not wanted.
    pub notices: Option<Notices>,
    /// The policy kinds that are watched.
    pub watched: Receiver<Watched>,
    /// The tasks; none of them ends by itself. One that does says why.
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
    /// Starts to watch. Returns at once, whether or not the API server answers; [`SyncState::ready`] tells when
    /// the snapshot can be relied upon.
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
        let kinds = Kinds::new(source.clone(), changes, rules, settings, resources)
            .telling(tell)
            .knowing(Arc::clone(&snapshot));
        let mut tasks = JoinSet::new();
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
            confirm,
            access,
            notices,
            watched,
            tasks,
        }
    }
}

/// A client configuration for watches and live reads: limits where kube has none, and none of its own retries,
/// which would eat the time of a review. Watches have their own backoff.
#[must_use]
pub fn tuned(mut config: kube::Config) -> kube::Config {
    config.connect_timeout = Some(Duration::from_secs(5));
    // The API server ends a watch after 60 s, so a connection that is silent for longer is dead.
    config.read_timeout = Some(Duration::from_secs(65));
    config.reset_reader_on_write = true;
    config.default_retry = false;
    config
}
