//! Decides which kinds to watch: follows CRDs, starts a watch for each kind that matters, and stops it when the kind
//! goes away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use attache_guardrails::is_guardrail;
use kube::core::{ApiResource, GroupVersionKind};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, Id, JoinSet};

use crate::engine::kinds::profile::{ProfileRules, is_policy_kind};
use crate::engine::model::ids::{APIEXTENSIONS, GroupKind};
use crate::engine::model::intern::Interner;
use crate::engine::model::object::RetainedFields;
use crate::engine::model::object::{Crd, Node, Object, is_gateway_kind};
use crate::engine::state::snapshot::Change;
use crate::registration::Resource;

use super::guardrails::StoredGuardrail;
use super::raw::RawObject;
use super::watch::{Event, PartialRead, Source, follow};
use super::webhooks::Watched;
use super::{Published, Settings};

/// A CRD received from the API server.
#[derive(Debug)]
pub struct SeenCrd {
    object: Arc<Object>,
    /// Whether the API server already serves the kind.
    established: bool,
}

/// The API resource of each watched kind.
#[derive(Debug, Default)]
pub struct Resources(ArcSwap<BTreeMap<GroupKind, ApiResource>>);

/// Owns the watches and their tasks.
pub struct Kinds {
    source: Source,
    changes: mpsc::Sender<Change>,
    rules: watch::Receiver<Arc<ProfileRules>>,
    limit: usize,
    crds: BTreeMap<Arc<str>, SeenCrd>,
    running: BTreeMap<GroupKind, Running>,
    tasks: JoinSet<()>,
    resources: Arc<Resources>,
    watched: watch::Sender<Watched>,
    /// The recipient of the events of guardrails; they are not watched without.
    guardrails: Option<mpsc::Sender<Event<StoredGuardrail>>>,
    known: Published,
}

struct Running {
    resource: ApiResource,
    task: AbortHandle,
}

/// Why [`Kinds::run`] returns.
struct Ended(String);

/// Follows CRDs and sends them to [`Kinds::run`].
pub async fn watch_crds(source: Source, events: mpsc::Sender<Event<SeenCrd>>) -> String {
    let gk = GroupKind::CRD;
    source.sync.started(&gk);
    let read = |raw: &mut RawObject, gk: &GroupKind| {
        Ok(SeenCrd {
            object: Arc::new(raw.to_object(gk)?),
            established: raw.established,
        })
    };
    follow(source, gk, crd_resource(), events, read, |event| event).await;
    "the watch of CRDs ended".to_owned()
}

// === impl Resources ===

impl Resources {
    /// The API resource of a kind; `None` if it is not watched.
    pub fn get(&self, gk: &GroupKind) -> Option<ApiResource> {
        self.0.load().get(gk).cloned()
    }

    /// The kinds that are watched, or would be if attache had the right.
    pub fn kinds(&self) -> Vec<GroupKind> {
        self.0.load().keys().cloned().collect()
    }
}

// === impl Kinds ===

impl Kinds {
    /// Creates it without any watch.
    pub fn new(
        source: Source,
        changes: mpsc::Sender<Change>,
        rules: watch::Receiver<Arc<ProfileRules>>,
        settings: Settings,
        resources: Arc<Resources>,
    ) -> Self {
        Self {
            source,
            changes,
            rules,
            limit: settings.max_policy_kinds,
            crds: BTreeMap::new(),
            running: BTreeMap::new(),
            tasks: JoinSet::new(),
            resources,
            watched: watch::Sender::default(),
            guardrails: None,
            known: Published::default(),
        }
    }

    /// Shares objects with this state: an object that a new list repeats unchanged is not stored twice.
    #[must_use]
    pub fn knowing(self, known: Published) -> Self {
        Self { known, ..self }
    }

    /// Watches the guardrails of the cluster too.
    #[must_use]
    pub fn sending_guardrails(self, guardrails: mpsc::Sender<Event<StoredGuardrail>>) -> Self {
        Self {
            guardrails: Some(guardrails),
            ..self
        }
    }

    /// Publishes the watched policy kinds, from the first list of CRDs on.
    #[must_use]
    pub fn telling(self, watched: watch::Sender<Watched>) -> Self {
        Self { watched, ..self }
    }

    /// Runs until the writer or the watch of CRDs stops, and returns the reason.
    pub async fn run(mut self, mut crds: mpsc::Receiver<Event<SeenCrd>>) -> String {
        // Core kinds need no CRD, so they are listed at the same time as the CRDs.
        let mut kept = self.rules.borrow_and_update().retained_fields().clone();
        let core = self.wanted();
        self.start(core);
        let mut rules = self.rules.clone();
        loop {
            let ended = tokio::select! {
                () = changed(&mut rules) => self.on_rules(&mut kept).await,
                event = crds.recv() => match event {
                    Some(event) => self.on_crd(event).await,
                    None => Err(Ended("the watch of CRDs ended".to_owned())),
                },
                Some(done) = self.tasks.join_next() => Err(unexpected(done)),
            };
            if let Err(Ended(why)) = ended {
                return why;
            }
        }
    }

    async fn on_crd(&mut self, event: Event<SeenCrd>) -> Result<(), Ended> {
        let first = matches!(event, Event::Listed(_));
        let change = match event {
            Event::Listed(crds) => {
                let objects = crds.iter().map(|crd| crd.object.clone()).collect();
                self.crds = crds.into_iter().map(by_name).collect();
                Change::Listed(GroupKind::CRD, objects)
            }
            Event::Applied(crd) => {
                let object = crd.object.clone();
                self.crds.extend([by_name(crd)]);
                Change::Applied(object)
            }
            Event::Deleted(key) => {
                self.crds.remove(&key.name);
                Change::Deleted(key)
            }
        };
        let wanted = self.wanted();
        // The objects of a kind are added after its CRD and removed before it, because they are read according to it.
        self.stop_all_but(&wanted).await?;
        self.send(change).await?;
        self.tell(&wanted);
        self.start(wanted);
        if first {
            let kinds = self.running.keys().cloned();
            self.source.sync.require(kinds);
        }
        Ok(())
    }

    /// The configuration changed, so other kinds may be policy kinds now.
    async fn on_rules(&mut self, kept: &mut RetainedFields) -> Result<(), Ended> {
        let rules = self.rules.borrow().clone();
        let wanted = self.wanted();
        // Which fields an object keeps is decided when it is read. If that changes, everything is listed again.
        let again = *rules.retained_fields() != *kept;
        kept.clone_from(rules.retained_fields());
        self.stop(
            |gk, running| !again && wanted.get(gk) == Some(&running.resource),
            &wanted,
        )
        .await?;
        self.send(Change::Rules(rules)).await?;
        // Before the first list of CRDs no policy kind is wanted, which is not a change to publish.
        if self.watched.borrow().is_some() {
            self.tell(&wanted);
        }
        self.start(wanted);
        Ok(())
    }

    /// The kinds to watch: core kinds, Gateway API, and policy kinds up to the limit.
    fn wanted(&self) -> BTreeMap<GroupKind, ApiResource> {
        let mut wanted: BTreeMap<_, _> = core_kinds().into_iter().collect();
        let mut policies = BTreeMap::new();
        for crd in self.crds.values().filter_map(SeenCrd::usable) {
            let Some(resource) = resource(crd) else {
                continue;
            };
            let follows = self.guardrails.is_some() && is_guardrail(&crd.gk);
            if follows || is_gateway_kind(&crd.gk) {
                wanted.insert(crd.gk.clone(), resource);
            } else if is_policy_kind(&self.rules.borrow(), crd) {
                policies.insert(crd.gk.clone(), resource);
            }
        }
        if policies.len() > self.limit {
            // Kinds that are already watched come first, so that a flood of new kinds cannot displace them.
            let mut order: Vec<_> = policies.keys().cloned().collect();
            order.sort_by_key(|gk| !self.running.contains_key(gk));
            let left_out = order.split_off(self.limit.min(order.len()));
            policies.retain(|gk, _| !left_out.contains(gk));
            self.note_left_out(&left_out);
        } else {
            self.note_left_out(&[]);
        }
        wanted.append(&mut policies);
        wanted
    }

    fn tell(&self, wanted: &BTreeMap<GroupKind, ApiResource>) {
        let crds = self.crds.values().filter_map(SeenCrd::usable);
        let policies = crds.filter(|crd| {
            let is_policy = !is_gateway_kind(&crd.gk) && !is_guardrail(&crd.gk);
            is_policy && wanted.contains_key(&crd.gk)
        });
        let watched = Some(Arc::new(policies.map(Resource::from).collect()));
        self.watched.send_if_modified(|before| {
            let news = *before != watched;
            if news {
                *before = watched;
            }
            news
        });
    }

    fn note_left_out(&self, kinds: &[GroupKind]) {
        if self.source.sync.left_out(kinds, self.limit) && !kinds.is_empty() {
            tracing::warn!(
                limit = self.limit,
                left_out = kinds.len(),
                "too many policy kinds: not all are watched"
            );
        }
    }

    /// Stops the watches of all other kinds. It waits for each task to finish, so that no event arrives after `Gone`.
    async fn stop_all_but(
        &mut self,
        wanted: &BTreeMap<GroupKind, ApiResource>,
    ) -> Result<(), Ended> {
        self.stop(
            |gk, running| wanted.get(gk) == Some(&running.resource),
            wanted,
        )
        .await
    }

    async fn stop(
        &mut self,
        stays: impl Fn(&GroupKind, &Running) -> bool,
        wanted: &BTreeMap<GroupKind, ApiResource>,
    ) -> Result<(), Ended> {
        let running = self.running.iter();
        let unwanted: Vec<GroupKind> = running
            .filter(|(gk, running)| !stays(gk, running))
            .map(|(gk, _)| gk.clone())
            .collect();
        for gk in unwanted {
            let Some(running) = self.running.remove(&gk) else {
                continue;
            };
            running.task.abort();
            self.join(running.task.id()).await?;
            // Another version of the same kind has the same objects, so they stay until the new list arrives.
            if !wanted.contains_key(&gk) {
                tracing::info!(kind = %gk, "no longer watched");
                self.source.sync.stopped(&gk);
                if let Some(guardrails) = self.guardrails.as_ref().filter(|_| is_guardrail(&gk)) {
                    // Nobody waits for them any longer if this fails.
                    let _ = guardrails.send(Event::Listed(Vec::new())).await;
                }
                self.send(Change::Gone(gk)).await?;
            }
        }
        Ok(())
    }

    /// Waits for one task to finish. It is an error if another one finishes first.
    async fn join(&mut self, id: Id) -> Result<(), Ended> {
        match self.tasks.join_next_with_id().await {
            Some(Ok((ended, ()))) if ended != id => Err(unexpected(Ok(()))),
            Some(Err(error)) if error.id() != id => Err(unexpected(Err(error))),
            _ => Ok(()),
        }
    }

    fn start(&mut self, wanted: BTreeMap<GroupKind, ApiResource>) {
        let running: BTreeSet<_> = self.running.keys().cloned().collect();
        for (gk, resource) in &wanted {
            if running.contains(gk) {
                continue;
            }
            tracing::info!(kind = %gk, version = %resource.version, "watching");
            self.source.sync.started(gk);
            let task = self.follow(gk, resource);
            let running = Running {
                resource: resource.clone(),
                task,
            };
            self.running.insert(gk.clone(), running);
        }
        let mut reachable = wanted;
        reachable.insert(GroupKind::CRD, crd_resource());
        self.resources.0.store(Arc::new(reachable));
    }

    /// Starts the watch of a kind.
    fn follow(&mut self, gk: &GroupKind, resource: &ApiResource) -> AbortHandle {
        let (source, resource) = (self.source.clone(), resource.clone());
        if let Some(events) = self.guardrails.clone().filter(|_| is_guardrail(gk)) {
            let read = |raw: &mut RawObject, _: &GroupKind| Ok(StoredGuardrail::read(raw));
            let watch = follow(source, gk.clone(), resource, events, read, |event| event);
            return self.tasks.spawn(watch);
        }
        let listed = gk.clone();
        let (known, keeps) = (
            self.known.clone(),
            self.rules.borrow().retained_fields().clone(),
        );
        let mut interner = Interner::default();
        self.tasks.spawn(follow(
            source,
            gk.clone(),
            resource,
            self.changes.clone(),
            move |raw, gk| once(raw, gk, &known, &keeps, &mut interner),
            move |event| change(&listed, event),
        ))
    }

    async fn send(&self, change: Change) -> Result<(), Ended> {
        let sent = self.changes.send(change).await;
        sent.map_err(|_| Ended("the writer of snapshots ended".to_owned()))
    }
}

// === impl SeenCrd ===

impl SeenCrd {
    fn usable(&self) -> Option<&Crd> {
        match &self.object.node {
            Node::Crd(crd) if self.established => Some(crd),
            _ => None,
        }
    }
}

/// Waits for new rules; never returns if the sender is gone.
async fn changed(rules: &mut watch::Receiver<Arc<ProfileRules>>) {
    if rules.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn by_name(crd: SeenCrd) -> (Arc<str>, SeenCrd) {
    (Arc::clone(&crd.object.key.name), crd)
}

/// Trims an object to the fields that are kept. If the known state has an equal object, that one is reused, since
/// during a relist the old and the new state are both in memory and are mostly the same.
fn once(
    raw: &mut RawObject,
    gk: &GroupKind,
    known: &Published,
    keeps: &RetainedFields,
    interner: &mut Interner,
) -> Result<Arc<Object>, PartialRead<Arc<Object>>> {
    let kept = |mut object: Object| {
        object.trim(keeps);
        match known.load().get(&object.key) {
            Some(known) if known.is_identical(&object) => known.clone(),
            _ => Arc::new(object),
        }
    };
    raw.to_interned(gk, interner).map(kept).map_err(|why| {
        let left = raw.outline(gk, raw.header(), &why).map(kept);
        PartialRead { why, left }
    })
}

fn change(gk: &GroupKind, event: Event<Arc<Object>>) -> Change {
    match event {
        Event::Listed(objects) => Change::Listed(gk.clone(), objects),
        Event::Applied(object) => Change::Applied(object),
        Event::Deleted(key) => Change::Deleted(key),
    }
}

fn unexpected(done: Result<(), tokio::task::JoinError>) -> Ended {
    match done {
        Ok(()) => Ended("the watch of a kind ended".to_owned()),
        Err(error) => Ended(format!("the watch of a kind ended: {error}")),
    }
}

pub(super) fn core_kinds() -> [(GroupKind, ApiResource); 2] {
    [("Service", "services"), ("Namespace", "namespaces")].map(|(kind, plural)| {
        let gvk = GroupVersionKind::gvk("", "v1", kind);
        (
            GroupKind::core(kind),
            ApiResource::from_gvk_with_plural(&gvk, plural),
        )
    })
}

pub(super) fn crd_resource() -> ApiResource {
    let gvk = GroupVersionKind::gvk(APIEXTENSIONS, "v1", "CustomResourceDefinition");
    ApiResource::from_gvk_with_plural(&gvk, "customresourcedefinitions")
}

/// The API resource in the best served version of a CRD: the storage version, which needs no conversion, else the
/// first.
pub(super) fn resource(crd: &Crd) -> Option<ApiResource> {
    let version = crd.served.first()?;
    let gvk = GroupVersionKind::gvk(&crd.gk.group, version, &crd.gk.kind);
    Some(ApiResource::from_gvk_with_plural(&gvk, &crd.plural))
}
