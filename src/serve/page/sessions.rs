//! A session for each set of rights that readers have, kept current.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use attache_guardrails::{Guardrails, guardrail_kind};
use kube::core::{ApiResource, GroupVersionKind};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::restricted::restricted;
use super::rights::{AllowedNamespaces, AskedKind, Rights};
use super::{Page, ReadText, Readable, StartSession};
use crate::cache::Published;
use crate::cache::guardrails::GuardrailsInUse;
use crate::cache::kinds::Resources;
use crate::cache::lists::Missing;
use crate::cache::sync::SyncState;
use crate::engine::admission::settings::ReviewSettings;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::GroupKind;
use crate::engine::state::snapshot::Snapshot;
use crate::ui::{Answers, Refusal};

/// The most sessions: each holds a state and answers.
const MAX_SESSIONS: usize = 16;
/// A session that was not used for this long ends.
const IDLE: Duration = Duration::from_mins(5);
/// The time between two looks at the state.
const PAUSE: Duration = Duration::from_millis(500);
/// Computing sessions takes at most one part in this many of the time.
const REST: u32 = 10;

/// The source of the states.
pub(in super::super) struct Origin {
    pub(in super::super) snapshot: Published,
    pub(in super::super) sync: Arc<SyncState>,
    pub(in super::super) resources: Arc<Resources>,
    pub(in super::super) guardrails: Arc<GuardrailsInUse>,
    pub(in super::super) settings: Arc<ArcSwap<ReviewSettings>>,
    pub(in super::super) rules: watch::Receiver<Arc<ProfileRules>>,
    pub(in super::super) texts: ReadText,
    pub(in super::super) begin: StartSession,
}

/// The sessions.
pub(in super::super) struct Sessions {
    origin: Origin,
    open: Mutex<HashMap<Arc<Rights>, Session>>,
}

struct Session {
    page: Arc<dyn Page>,
    shown: VisibleState,
    used: Instant,
}

/// The state that a session shows, to notice a change that its readers may see.
#[derive(Clone)]
struct VisibleState {
    snapshot: Snapshot,
    missing: Vec<Missing>,
    guardrails: Option<Arc<Guardrails>>,
    settings: Arc<ReviewSettings>,
}

/// The whole state, to notice that it is another one.
#[derive(Clone)]
struct WholeState {
    snapshot: Arc<Snapshot>,
    guardrails: Arc<Guardrails>,
    settings: Arc<ReviewSettings>,
}

/// Shows each session the newest state, for ever.
pub(in super::super) async fn follow(sessions: Arc<Sessions>) -> String {
    let mut seen = sessions.origin.full_state();
    loop {
        sleep(PAUSE).await;
        sessions.end_idle();
        let full_state = sessions.origin.full_state();
        if full_state.is(&seen) {
            continue;
        }
        let began = Instant::now();
        let (refreshed, next) = (Arc::clone(&sessions), full_state.clone());
        if spawn_blocking(move || refreshed.refresh(&next))
            .await
            .is_err()
        {
            return "a session of the page could not be computed".to_owned();
        }
        seen = full_state;
        sleep(began.elapsed() * REST).await;
    }
}

// === impl Sessions ===

impl Sessions {
    pub(in super::super) fn new(origin: Origin) -> Arc<Self> {
        Arc::new(Self {
            origin,
            open: Mutex::default(),
        })
    }

    /// The kinds whose rights decide what is shown.
    ///
    /// # Errors
    /// If the cluster is not read yet.
    pub(super) fn asked(&self) -> Result<Vec<AskedKind>, Refusal> {
        if !self.origin.sync.ready() {
            return Err(Refusal::busy(
                "the cluster is not read yet: ask again in a moment",
            ));
        }
        let snapshot = self.origin.snapshot.load_full();
        let known = snapshot.known_kinds().cloned();
        // Kinds that attache may not list either: the page must mention them.
        let kinds: BTreeSet<GroupKind> = known.chain(self.origin.resources.kinds()).collect();
        let mut asked: Vec<AskedKind> = kinds
            .into_iter()
            .filter_map(|gk| {
                let resource = self.origin.resources.get(&gk)?;
                let namespaces = snapshot.objects(&gk).map(|object| &object.key.namespace);
                let namespaces = namespaces.filter(|namespace| !namespace.is_empty());
                let namespaces = namespaces.cloned().collect();
                Some(AskedKind {
                    gk,
                    resource,
                    namespaces,
                })
            })
            .collect();
        asked.retain(|kind| kind.gk != guardrail_kind());
        asked.push(of_guardrails());
        Ok(asked)
    }

    /// The session for these rights.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) async fn session_for(
        self: &Arc<Self>,
        rights: Arc<Rights>,
    ) -> Result<Arc<dyn Answers>, Refusal> {
        if let Some(page) = self.open_one(&rights) {
            return Ok(page);
        }
        let sessions = Arc::clone(self);
        let begun = spawn_blocking(move || sessions.begin(rights)).await;
        begun.map_err(|_| {
            Refusal::fault("the page could not be computed: a fault of attache, please report it")
        })?
    }

    fn open_one(&self, rights: &Rights) -> Option<Arc<dyn Answers>> {
        let mut open = self.open();
        let session = open.get_mut(rights)?;
        session.used = Instant::now();
        Some(Arc::clone(&session.page) as Arc<dyn Answers>)
    }

    fn begin(&self, rights: Arc<Rights>) -> Result<Arc<dyn Answers>, Refusal> {
        let full_state = self.origin.full_state();
        let (shown, state) = self.readable(&full_state, &rights);
        let mut open = self.open();
        if let Some(session) = open.get_mut(&rights) {
            return Ok(Arc::clone(&session.page) as Arc<dyn Answers>);
        }
        if open.len() >= MAX_SESSIONS {
            return Err(Refusal::busy(
                "too many users with different rights have the page open: ask again in a few minutes",
            ));
        }
        let page = (self.origin.begin)(state, Arc::clone(&self.origin.texts));
        let answers = Arc::clone(&page) as Arc<dyn Answers>;
        let used = Instant::now();
        open.insert(rights, Session { page, shown, used });
        drop(open);
        Ok(answers)
    }

    fn refresh(&self, full_state: &WholeState) {
        let rights: Vec<Arc<Rights>> = self.open().keys().cloned().collect();
        for rights in rights {
            let (shown, state) = self.readable(full_state, &rights);
            let mut open = self.open();
            let Some(session) = open.get_mut(&rights) else {
                continue;
            };
            // Readers must not learn that an object changed which they may not see.
            if session.shown.is(&shown) {
                continue;
            }
            session.shown = shown;
            let page = Arc::clone(&session.page);
            drop(open);
            page.show(state);
        }
    }

    fn readable(&self, full_state: &WholeState, rights: &Rights) -> (VisibleState, Readable) {
        let rules = self.origin.rules.borrow().clone();
        let levels = &full_state.settings.levels;
        let mut listed = restricted(&full_state.snapshot, &rules, rights, levels);
        let guardrails = (*rights.rights_on(&guardrail_kind()) == AllowedNamespaces::Everywhere)
            .then(|| Arc::clone(&full_state.guardrails));
        listed.missing.sort();
        let shown = VisibleState {
            snapshot: listed.snapshot.clone(),
            missing: listed.missing.clone(),
            guardrails: guardrails.clone(),
            settings: Arc::clone(&full_state.settings),
        };
        let readable = Readable {
            listed,
            rules,
            guardrails: guardrails
                .map(|all| Guardrails::clone(&all))
                .unwrap_or_default(),
            settings: Arc::clone(&full_state.settings),
        };
        (shown, readable)
    }

    /// Ends the sessions that are not in use.
    fn end_idle(&self) {
        let now = Instant::now();
        let listens = |page: &Arc<dyn Page>| Arc::strong_count(page) > 1;
        self.open()
            .retain(|_, session| listens(&session.page) || now - session.used < IDLE);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<Rights>, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind of guardrails, which need not be served: those of the configuration are as secret as objects.
fn of_guardrails() -> AskedKind {
    let gk = guardrail_kind();
    let version = GroupVersionKind::gvk(&gk.group, "v1alpha1", &gk.kind);
    AskedKind {
        resource: ApiResource::from_gvk_with_plural(&version, "guardrails"),
        gk,
        namespaces: BTreeSet::new(),
    }
}

// === impl Origin ===

impl Origin {
    fn full_state(&self) -> WholeState {
        WholeState {
            snapshot: self.snapshot.load_full(),
            guardrails: self.guardrails.all(),
            settings: self.settings.load_full(),
        }
    }
}

// === impl WholeState ===

impl WholeState {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.snapshot, &other.snapshot)
            && Arc::ptr_eq(&self.guardrails, &other.guardrails)
            && Arc::ptr_eq(&self.settings, &other.settings)
    }
}

// === impl VisibleState ===

impl VisibleState {
    /// Whether readers see no difference.
    fn is(&self, other: &Self) -> bool {
        let same_guardrails = match (&self.guardrails, &other.guardrails) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        same_guardrails
            && self.missing == other.missing
            && Arc::ptr_eq(&self.settings, &other.settings)
            && is_same(&self.snapshot, &other.snapshot)
    }
}

/// Whether two states have the same objects and know the same kinds.
fn is_same(one: &Snapshot, other: &Snapshot) -> bool {
    let kinds = |snapshot: &Snapshot| -> BTreeMap<GroupKind, (bool, usize)> {
        let kinds = snapshot.known_kinds();
        kinds
            .map(|gk| (gk.clone(), (snapshot.knows(gk), snapshot.count(gk))))
            .collect()
    };
    kinds(one) == kinds(other)
        && one.all().all(|object| {
            let same = |known: &Arc<_>| Arc::ptr_eq(known, object);
            other.get(&object.key).is_some_and(same)
        })
}
