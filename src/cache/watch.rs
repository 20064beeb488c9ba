//! Watches one kind per task and turns the API server's events into changes.

use std::collections::HashSet;
use std::error::Error as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::Api;
use kube::core::ApiResource;
use kube::runtime::watcher;
use serde_json::error::Category;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Unreadable;
use crate::metrics::{Metrics, watched_kind};

use super::last_contact::Listener;
use super::raw::RawObject;
use super::sync::{KindState, SyncState};

/// The API server closes a watch after this time; a dead connection is noticed 5 s later.
const WATCH_SECONDS: u32 = 60;
/// A working watch has some activity within this time.
const QUIET: Duration = Duration::from_secs(70);
/// The time after a failure until a check whether the resumed watch works.
const RESUMED: Duration = Duration::from_secs(10);
/// Objects per page of a list.
const PAGE: u32 = 500;
/// The largest page, for use after lists were too slow. Each page is a round trip, and a list that takes longer than
/// the API server keeps its history (five minutes by default) starts again for ever. A single page would be worse: a
/// hundred thousand objects as text exceed the memory of a small pod.
const LARGEST_PAGE: u32 = 8_000;
/// After this many slow lists, pages become larger.
const SLOW_LISTS: u32 = 2;
const FIRST_DELAY: Duration = Duration::from_millis(800);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// After this many failures in a row everything is listed again instead of resuming the watch: a server that was away
/// for so long may have been restored from a backup, to which the resource version means nothing.
const AWAY: u32 = 3;

/// The source of objects, and the recipients of failures.
#[derive(Clone)]
pub struct Source {
    /// The API server.
    pub client: kube::Client,
    /// Notified when a kind fails or recovers.
    pub sync: Arc<SyncState>,
    /// Metrics of watches.
    pub metrics: Arc<Metrics>,
}

/// An event about the objects of a kind, read as `T`.
#[derive(Debug)]
pub enum Event<T> {
    /// The complete list.
    Listed(Vec<T>),
    /// An object was created or changed.
    Applied(T),
    /// An object was deleted, or can no longer be read.
    Deleted(ObjectKey),
}

/// Exponential backoff, with jitter so that replicas do not reconnect at the same time.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
}

/// Objects that could not be read, to count and log each only once.
struct Skipped {
    gk: GroupKind,
    label: String,
    names: HashSet<ObjectKey>,
    metrics: Arc<Metrics>,
}

/// Watches a kind until the receiver of its events is gone.
pub async fn follow<T, M>(
    source: Source,
    gk: GroupKind,
    resource: ApiResource,
    events: mpsc::Sender<M>,
    mut read: impl FnMut(&mut RawObject, &GroupKind) -> Result<T, PartialRead<T>> + Send,
    wrap: impl Fn(Event<T>) -> M + Send,
) where
    T: Send,
    M: Send,
{
    let mut config = watcher::Config::default()
        .timeout(WATCH_SECONDS)
        .page_size(PAGE);
    let listener = Listener::new(&gk, source.sync.last_contact_of(&gk), &source.metrics);
    let api: Api<RawObject> = Api::all_with(listener.on(source.client.clone()), &resource);
    let mut stream = pin!(watcher(api.clone(), config.clone()));
    let mut backoff = Backoff::default();
    let mut skipped = Skipped::new(&gk, &source.metrics);
    let mut listing: Option<Vec<T>> = None;
    let mut resuming = false;
    let mut slow_lists = 0;

    loop {
        let words = listener.words();
        let patience = if resuming { RESUMED } else { QUIET };
        let event = match timeout(patience, stream.next()).await {
            Err(_) => {
                // Silence is only fine while a watch is running, not during a list or before the watch is answered.
                if listing.is_none() && listener.words() != words {
                    source.sync.fine(&gk);
                    if !resuming {
                        backoff = Backoff::default();
                    }
                    resuming = false;
                }
                continue;
            }
            Ok(None) => return,
            Ok(Some(Err(error))) => {
                let broke_off = listing.take().is_some();
                resuming = true;
                if broke_off && code(&error) == Some(410) {
                    slow_lists += 1;
                    if slow_lists % SLOW_LISTS == 0 {
                        config = larger(config);
                        stream.set(watcher(api.clone(), config.clone()));
                    }
                }
                report(&source, &gk, &error, backoff.is_fresh());
                sleep(backoff.delay()).await;
                if backoff.failures >= AWAY {
                    stream.set(watcher(api.clone(), config.clone()));
                }
                continue;
            }
            Ok(Some(Ok(event))) => event,
        };
        let event = match event {
            // Emitted before any request, so it does not show that the API server answers.
            watcher::Event::Init => {
                skipped.clear();
                listing = Some(Vec::new());
                continue;
            }
            watcher::Event::InitApply(mut raw) => {
                if let Some(object) = skipped.filter(&mut raw, &mut read) {
                    listing.get_or_insert_default().push(object);
                }
                continue;
            }
            watcher::Event::InitDone => {
                slow_lists = 0;
                listener.note();
                Event::Listed(listing.take().unwrap_or_default())
            }
            watcher::Event::Apply(mut raw) => match skipped.filter(&mut raw, &mut read) {
                Some(object) => Event::Applied(object),
                // Its previous version is outdated.
                None => Event::Deleted(raw.key(&gk)),
            },
            watcher::Event::Delete(raw) => {
                skipped.forget(&raw);
                Event::Deleted(raw.key(&gk))
            }
        };
        backoff = Backoff::default();
        resuming = false;
        source.sync.fine(&gk);
        if events.send(wrap(event)).await.is_err() {
            return;
        }
    }
}

/// Makes pages four times as large.
fn larger(config: watcher::Config) -> watcher::Config {
    let page = config.page_size.unwrap_or(PAGE).saturating_mul(4);
    config.page_size(page.min(LARGEST_PAGE))
}

fn report(source: &Source, gk: &GroupKind, error: &watcher::Error, first: bool) {
    let code = code(error);
    let label = match code {
        Some(code) => code.to_string(),
        None => "none".to_owned(),
    };
    source
        .metrics
        .watch_errors
        .with_label_values(&[&watched_kind(gk), &label])
        .inc();
    // 410 means that the history has expired and a new list follows. That is normal for watches, but not for a list
    // that expires again and again.
    if first && code == Some(410) {
        return;
    }
    let denied = matches!(code, Some(403 | 404));
    // A single failure of a watch is normal too: servers restart, and new kinds take time to be served.
    if first && !denied && source.sync.state(gk) == Some(KindState::Synced) {
        return;
    }
    let why = why(error);
    if source.sync.failing(gk, &why, denied) {
        tracing::warn!(kind = %gk, %why, "cannot watch; trying again");
    }
}

/// The API server's status code, if it answered.
fn code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::WatchError(status) => Some(status.code),
        _ => match request_error(error)? {
            kube::Error::Api(status) => Some(status.code),
            _ => None,
        },
    }
}

fn why(error: &watcher::Error) -> String {
    match (error, request_error(error)) {
        (watcher::Error::WatchError(status), _) => status.message.clone(),
        (_, Some(error)) => short(error),
        (_, None) => error.to_string(),
    }
}

fn request_error(error: &watcher::Error) -> Option<&kube::Error> {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => Some(error),
        _ => None,
    }
}

/// The API server's message, else the innermost cause.
pub(super) fn short(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => return status.message.clone(),
        // The message of the error itself would quote the object.
        kube::Error::SerdeError(error) => return unreadable(error),
        _ => {}
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}

/// Like [`short`], for the log, after a request with a body: the server's message may quote any part of it.
pub(super) fn unquoted(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => {
            let (code, reason) = (status.code, &status.reason);
            format!("the API server answered {code} {reason}")
        }
        _ => short(error),
    }
}

fn unreadable(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Eof => "it is cut short",
        Category::Data => "it has another form",
        Category::Syntax | Category::Io => "it is not JSON",
    };
    let (line, column) = (error.line(), error.column());
    format!("its answer cannot be read: {what} at line {line}, column {column}")
}

// === impl Backoff ===

impl Backoff {
    /// Whether nothing has failed yet.
    pub fn is_fresh(&self) -> bool {
        self.failures == 0
    }

    /// The next delay: 0.8 s, doubled each time up to 30 s, less up to a quarter.
    pub fn delay(&mut self) -> Duration {
        let full = FIRST_DELAY
            .saturating_mul(1 << self.failures.min(10))
            .min(LONGEST_DELAY);
        self.failures = self.failures.saturating_add(1);
        // The hasher's keys are random, which is random enough to separate two replicas.
        let random = RandomState::new().build_hasher().finish() % 256;
        full.saturating_sub(full / 1024 * u32::try_from(random).unwrap_or(0))
    }
}

/// Why an object cannot be read completely, with the part of it that could be read.
pub struct PartialRead<T> {
    pub(super) why: Unreadable,
    pub(super) left: Option<T>,
}

impl<T> From<Unreadable> for PartialRead<T> {
    fn from(why: Unreadable) -> Self {
        Self { why, left: None }
    }
}

// === impl Skipped ===

impl Skipped {
    fn new(gk: &GroupKind, metrics: &Arc<Metrics>) -> Self {
        Self {
            gk: gk.clone(),
            label: watched_kind(gk),
            names: HashSet::new(),
            metrics: Arc::clone(metrics),
        }
    }

    /// Returns the part of an object that `read` reads; an incomplete object is counted.
    fn filter<T>(
        &mut self,
        raw: &mut RawObject,
        read: &mut impl FnMut(&mut RawObject, &GroupKind) -> Result<T, PartialRead<T>>,
    ) -> Option<T> {
        match read(raw, &self.gk) {
            Ok(object) => {
                self.forget(raw);
                Some(object)
            }
            Err(PartialRead { why, left }) => {
                let key = raw.key(&self.gk);
                if self.names.insert(key.clone()) {
                    // The contents of an object do not belong in the log, and its name only at `debug`.
                    tracing::warn!(kind = %self.gk, why = why.part(), "object not read whole");
                    tracing::debug!(object = %key, "object not read whole");
                    self.count();
                }
                left
            }
        }
    }

    fn forget(&mut self, raw: &RawObject) {
        if !self.names.is_empty() && self.names.remove(&raw.key(&self.gk)) {
            self.count();
        }
    }

    fn clear(&mut self) {
        self.names.clear();
        self.count();
    }

    fn count(&self) {
        let gauge = self
            .metrics
            .skipped_objects
            .with_label_values(&[&self.label]);
        gauge.set(i64::try_from(self.names.len()).unwrap_or(i64::MAX));
    }
}
