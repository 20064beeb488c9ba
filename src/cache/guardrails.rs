//! The guardrails that are in use: those of the configuration, and the `Guardrail` objects of the cluster or directory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use attache_guardrails::{Guardrail, Guardrails, guardrail_kind, is_guardrail};
use jiff::civil::Date;
use tokio::sync::mpsc;

use crate::engine::admission::disclosure::Subject;
use crate::engine::admission::finding::Finding;
use crate::engine::admission::request::{Operation, Request};
use crate::engine::admission::review::States;
use crate::engine::admission::settings::Guard;
use crate::engine::model::ids::GroupKind;
use crate::engine::state::snapshot::Snapshot;
use crate::metrics::Metrics;

use super::manifest::Manifests;
use super::raw::RawObject;
use super::sync::SyncState;
use super::watch::Event;

/// A `Guardrail` object.
#[derive(Clone, Debug)]
pub struct StoredGuardrail {
    /// Its name.
    pub name: Arc<str>,
    /// Its generation.
    pub generation: Option<i64>,
    /// The guardrail, or why it cannot be used.
    pub read: Result<Arc<Guardrail>, String>,
}

/// The guardrails in use. An object replaces one of the configuration with the same name. Reviews read it without a lock.
#[derive(Debug, Default)]
pub struct GuardrailsInUse {
    sources: Mutex<Sources>,
    all: ArcSwap<Guardrails>,
}

#[derive(Debug, Default)]
struct Sources {
    configured: Guardrails,
    stored: BTreeMap<Arc<str>, StoredGuardrail>,
}

// === impl StoredGuardrail ===

impl StoredGuardrail {
    /// Reads an object.
    pub(super) fn read(raw: &RawObject) -> Self {
        let name = raw.header().name.clone();
        let spec = raw.spec.as_ref().map_or("null", |spec| spec.get());
        let read = Guardrail::read(&name, spec);
        Self {
            generation: raw.generation(),
            read: read.map(Arc::new).map_err(|error| error.to_string()),
            name,
        }
    }

    fn log(&self) {
        if let Err(why) = &self.read {
            let name = &*self.name;
            tracing::warn!(guardrail = %name, %why, "a guardrail cannot be used");
        }
    }
}

/// The guardrails among manifests. One that is written again replaces the one before.
pub fn among(manifests: &Manifests) -> Vec<StoredGuardrail> {
    let objects = manifests.objects.iter();
    let guardrails = objects.filter(|one| is_guardrail(&one.gk));
    let read = guardrails.map(|one| StoredGuardrail::read(&RawObject::read(one.json.get())));
    read.collect()
}

// === impl GuardrailsInUse ===

impl GuardrailsInUse {
    /// All guardrails.
    pub fn all(&self) -> Arc<Guardrails> {
        self.all.load_full()
    }

    /// The objects of the cluster or directory, by name.
    pub fn stored(&self) -> Vec<StoredGuardrail> {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.stored.values().cloned().collect()
    }

    /// Uses the guardrails of a configuration.
    pub fn configure(&self, configured: Guardrails) {
        self.change(|sources| sources.configured = configured);
    }

    /// Uses these objects in the place of those before, and logs which of them cannot be used.
    pub fn replace(&self, all: Vec<StoredGuardrail>) {
        for one in &all {
            one.log();
        }
        self.apply(Event::Listed(all));
    }

    fn change(&self, change: impl FnOnce(&mut Sources)) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut sources);
        let usable = sources.stored.values();
        let usable = usable.filter_map(|stored| stored.read.as_ref().ok().cloned());
        self.all.store(Arc::new(sources.configured.with(usable)));
    }

    fn apply(&self, event: Event<StoredGuardrail>) {
        self.change(|sources| match event {
            Event::Listed(all) => {
                let all = all.into_iter();
                sources.stored = all.map(|one| (one.name.clone(), one)).collect();
            }
            Event::Applied(one) => {
                sources.stored.insert(one.name.clone(), one);
            }
            Event::Deleted(key) => {
                sources.stored.remove(&key.name);
            }
        });
    }
}

impl Guard for GuardrailsInUse {
    fn is_empty(&self) -> bool {
        self.all.load().is_empty()
    }

    fn on_rule(&self, snapshot: &Snapshot, request: &Request<'_>, today: Date) -> Vec<Finding> {
        self.all.load().on_rule(snapshot, request, today)
    }

    fn findings(
        &self,
        states: &States,
        operation: Operation,
        subject: Option<&Subject>,
        today: Date,
    ) -> Vec<Finding> {
        let all = self.all.load();
        all.findings(states, operation, subject, today)
    }
}

/// Takes over the objects of the cluster as they change.
pub(super) async fn follow_objects(
    mut events: mpsc::Receiver<Event<StoredGuardrail>>,
    in_use: Arc<GuardrailsInUse>,
    sync: Arc<SyncState>,
    metrics: Arc<Metrics>,
) -> String {
    let kind: GroupKind = guardrail_kind();
    while let Some(event) = events.recv().await {
        let is_list = matches!(event, Event::Listed(_));
        if let Event::Applied(guardrail) = &event {
            guardrail.log();
        }
        in_use.apply(event);
        let stored = in_use.stored();
        let usable = stored.iter().filter(|one| one.read.is_ok()).count();
        for (state, number) in [("usable", usable), ("unusable", stored.len() - usable)] {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            metrics
                .stored_guardrails
                .with_label_values(&[state])
                .set(number);
        }
        if is_list {
            sync.listed(&kind, true);
        }
    }
    "the watch of guardrails ended".to_owned()
}
