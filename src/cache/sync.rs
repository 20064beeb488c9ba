//! The kinds that have been listed, and the reasons why the others have not: the basis of readiness.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use imbl::OrdMap;
use tokio::time::Instant;

use crate::engine::admission::staleness::StaleKinds;
use crate::engine::model::ids::GroupKind;
use crate::metrics::{Metrics, watched_kind};

use super::last_contact::LastContact;

/// The sync state of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindState {
    /// Not listed yet.
    Pending,
    /// Listed, applied, and watched.
    Synced,
    /// The API server forbids to list it or does not serve it; its answer.
    Denied(String),
    /// Requests fail, since this time; the cached objects are kept.
    Failing(String, Instant),
}

/// One line for `/readyz?verbose`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name of the check.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// Whether readiness depends on it; if `ok` is false, readiness is waiting for it.
    pub required: bool,
    /// The problem, or the progress.
    pub detail: String,
}

/// The sync state of all kinds. Shared, without a lock.
#[derive(Debug)]
pub struct SyncState {
    ready: AtomicBool,
    inner: ArcSwap<Inner>,
    metrics: Arc<Metrics>,
}

#[derive(Clone, Debug, Default)]
struct Inner {
    kinds: OrdMap<GroupKind, Kind>,
    /// The kinds that existed at the first list of CRDs; `None` before it.
    required: Option<Arc<BTreeSet<GroupKind>>>,
    /// Policy kinds beyond the limit.
    left_out: Arc<[GroupKind]>,
    limit: usize,
}

#[derive(Clone, Debug, Default)]
struct Kind {
    listed: bool,
    last_contact: Arc<LastContact>,
    error: Option<SyncError>,
}

#[derive(Clone, Debug)]
struct SyncError {
    why: Arc<str>,
    /// The API server refused, and waiting will not change that.
    denied: bool,
    since: Instant,
}

// === impl SyncState ===

impl SyncState {
    /// Creates a state without any kinds.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            ready: AtomicBool::new(false),
            inner: ArcSwap::default(),
            metrics,
        }
    }

    /// Whether every kind that existed at the first list of CRDs is in the published snapshot, or cannot be. Once true
    /// it stays true: neither a lost API server nor a new CRD may make the webhook unready.
    pub fn ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// The state of a kind; `None` if it is not watched.
    pub fn state(&self, gk: &GroupKind) -> Option<KindState> {
        self.inner.load().kinds.get(gk).map(Kind::state)
    }

    /// The stale kinds: listed kinds whose last contact is longer ago than `limit`. A kind that was never listed is not
    /// included, since nothing is claimed about its objects.
    pub fn stale_kinds(&self, limit: Duration) -> StaleKinds {
        let inner = self.inner.load();
        let listed = inner.kinds.iter().filter(|(_, kind)| kind.listed);
        let aged = listed.filter_map(|(gk, kind)| Some((gk, kind.last_contact.age()?)));
        let old = aged.filter(|(_, age)| *age > limit);
        old.map(|(gk, age)| (gk.clone(), age)).collect()
    }

    /// The last contact with the API server about a kind.
    pub(super) fn last_contact_of(&self, gk: &GroupKind) -> Arc<LastContact> {
        let inner = self.inner.load();
        let kind = inner.kinds.get(gk);
        kind.map(|kind| Arc::clone(&kind.last_contact))
            .unwrap_or_default()
    }

    /// All checks, sorted by name.
    pub fn checks(&self) -> Vec<Check> {
        let inner = self.inner.load();
        let mut checks: Vec<Check> = inner
            .kinds
            .iter()
            .map(|(gk, kind)| inner.check(gk, kind, self.ready()))
            .collect();
        let (ok, detail) = match inner.left_out.len() {
            0 => (true, String::new()),
            n => (
                false,
                format!(
                    "limit {}, not watched: {}",
                    inner.limit,
                    names(&inner.left_out, n)
                ),
            ),
        };
        checks.push(Check {
            name: "policy-kinds-limit".to_owned(),
            ok,
            required: false,
            detail,
        });
        checks
    }

    pub(super) fn started(&self, gk: &GroupKind) {
        self.update(|inner| {
            inner.kinds.entry(gk.clone()).or_default();
        });
        let label = watched_kind(gk);
        self.metrics
            .cache_synced
            .with_label_values(&[&label])
            .set(0);
    }

    pub(super) fn stopped(&self, gk: &GroupKind) {
        self.update(|inner| {
            inner.kinds.remove(gk);
        });
        self.metrics.forget(&watched_kind(gk));
    }

    /// Records that the objects of a kind are in the published snapshot, or (`false`) have left it.
    pub(super) fn listed(&self, gk: &GroupKind, listed: bool) {
        self.change(gk, |kind| {
            kind.listed = listed;
            if listed {
                kind.error = None;
            }
        });
    }

    /// Records that the watch of a kind works.
    pub(super) fn fine(&self, gk: &GroupKind) {
        let troubled = |kind: &Kind| kind.listed && kind.error.is_some();
        if self.inner.load().kinds.get(gk).is_some_and(troubled) {
            self.change(gk, |kind| kind.error = None);
        }
    }

    /// Records that a kind fails. Returns true if that is new.
    pub(super) fn failing(&self, gk: &GroupKind, why: &str, denied: bool) -> bool {
        let news = self
            .inner
            .load()
            .kinds
            .get(gk)
            .is_some_and(|kind| kind.error.as_ref().is_none_or(|t| t.denied != denied));
        self.change(gk, |kind| {
            let since = match &kind.error {
                Some(before) => before.since,
                None => Instant::now(),
            };
            kind.error = Some(SyncError {
                why: why.into(),
                denied,
                since,
            });
        });
        news
    }

    /// Sets the kinds that readiness waits for. Only the first call counts.
    pub(super) fn require(&self, kinds: impl Iterator<Item = GroupKind>) {
        if self.inner.load().required.is_none() {
            let required = Arc::new(kinds.collect());
            self.update(|inner| inner.required = Some(Arc::clone(&required)));
        }
    }

    /// Records the policy kinds that exceed the limit and are not watched. Returns true if they changed.
    pub(super) fn left_out(&self, kinds: &[GroupKind], limit: usize) -> bool {
        let news = *self.inner.load().left_out != *kinds;
        if news {
            self.update(|inner| {
                inner.left_out = kinds.into();
                inner.limit = limit;
            });
        }
        news
    }

    fn change(&self, gk: &GroupKind, change: impl Fn(&mut Kind)) {
        self.update(|inner| {
            // A stopped kind stays removed, even if events are still in flight.
            if let Some(kind) = inner.kinds.get_mut(gk) {
                change(kind);
            }
        });
        if let Some(kind) = self.inner.load().kinds.get(gk) {
            let label = watched_kind(gk);
            let gauge = self.metrics.cache_synced.with_label_values(&[&label]);
            gauge.set(i64::from(kind.listed));
        }
    }

    fn update(&self, change: impl Fn(&mut Inner)) {
        self.inner.rcu(|before| {
            let mut after = Inner::clone(before);
            change(&mut after);
            after
        });
        let unwatched = &self.metrics.unwatched_kinds;
        for (reason, kinds) in self.inner.load().unwatched() {
            let kinds = i64::try_from(kinds).unwrap_or(i64::MAX);
            unwatched.with_label_values(&[reason]).set(kinds);
        }
        if !self.ready() && self.inner.load().is_ready() {
            self.ready.store(true, Ordering::Release);
            tracing::info!("all kinds are listed: ready");
        }
    }
}

// === impl Inner ===

impl Inner {
    fn is_ready(&self) -> bool {
        let crds = self.kinds.get(&GroupKind::CRD);
        // Without CRDs no policy kind is known, and such a server must not replace one that works.
        crds.is_some_and(|crds| crds.listed)
            && self.required.as_ref().is_some_and(|required| {
                required
                    .iter()
                    .all(|gk| self.kinds.get(gk).is_none_or(Kind::is_settled))
            })
    }

    /// The number of kinds that should be watched but are not, by reason.
    fn unwatched(&self) -> [(&'static str, usize); 3] {
        let troubles = self.kinds.values().filter_map(|kind| kind.error.as_ref());
        let (denied, failing): (Vec<_>, Vec<_>) = troubles.partition(|error| error.denied);
        [
            ("limit", self.left_out.len()),
            ("denied", denied.len()),
            ("failing", failing.len()),
        ]
    }

    fn check(&self, gk: &GroupKind, kind: &Kind, ready: bool) -> Check {
        let wanted = match &self.required {
            Some(required) => required.contains(gk),
            None => true,
        };
        let is_crd = *gk == GroupKind::CRD;
        let given_up = ready || (kind.is_settled() && !is_crd);
        let (ok, detail) = match kind.state() {
            KindState::Pending => (false, "not listed yet".to_owned()),
            KindState::Synced => (true, String::new()),
            KindState::Denied(why) => (false, why),
            KindState::Failing(why, since) => {
                let known = if kind.listed {
                    "; what was known is kept"
                } else {
                    ""
                };
                (
                    false,
                    format!("{why}, for {} s{known}", since.elapsed().as_secs()),
                )
            }
        };
        Check {
            name: format!("cache:{gk}"),
            ok,
            required: (wanted || is_crd) && (ok || !given_up),
            detail,
        }
    }
}

// === impl Kind ===

impl Kind {
    fn state(&self) -> KindState {
        match &self.error {
            Some(t) if t.denied => KindState::Denied(t.why.to_string()),
            Some(t) => KindState::Failing(t.why.to_string(), t.since),
            None if self.listed => KindState::Synced,
            None => KindState::Pending,
        }
    }

    /// Whether readiness need not wait for it any longer.
    fn is_settled(&self) -> bool {
        self.listed || self.error.as_ref().is_some_and(|error| error.denied)
    }
}

/// The names of the first kinds, and how many more there are.
fn names(kinds: &[GroupKind], total: usize) -> String {
    const MAX_NAMED_KINDS: usize = 5;
    let mut text = kinds
        .iter()
        .take(MAX_NAMED_KINDS)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if total > MAX_NAMED_KINDS {
        let _ = write!(text, " and {} more", total - MAX_NAMED_KINDS);
    }
    text
}
