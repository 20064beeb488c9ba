//! Brings the reports of the cluster in line with the findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::{Api as KubeApi, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::objects::{Objects, Place, Stored, content, served};
use crate::answer::openreports::{Api, Reports};
use crate::cache::api_error::ApiError;
use crate::lease::HeldUntil;
use crate::metrics::Metrics;

/// The interval between two checks whether something is left to do.
const TICK: Duration = Duration::from_secs(2);
/// The least time between two writes of one report.
const BETWEEN: Duration = Duration::from_secs(10);
/// The interval between two comparisons with the cluster, in which others may have changed or removed reports.
const COMPARE: Duration = Duration::from_secs(30);
/// The interval between two searches for an API as long as none is served.
const NONE_SERVED: Duration = Duration::from_secs(10);

/// Writes the reports while this replica holds the Lease.
pub(super) struct Writer {
    client: Client,
    owner: Option<String>,
    held: HeldUntil,
    metrics: Arc<Metrics>,
    known: Option<Known>,
    /// When each report was written last.
    written: BTreeMap<Place, Instant>,
    /// The API at the last look, and when that was.
    api: Option<(Option<Api>, Instant)>,
    trouble: Option<String>,
}

/// The reports in the cluster.
struct Known {
    objects: Objects,
    stored: BTreeMap<Place, Stored>,
    /// Owner references of the reports.
    owners: Option<Value>,
    compared: Instant,
}

type Done<T> = Result<T, String>;

// === impl Writer ===

impl Writer {
    pub(super) fn new(
        client: Client,
        owner: Option<String>,
        held: HeldUntil,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            client,
            owner,
            held,
            metrics,
            known: None,
            written: BTreeMap::new(),
            api: None,
            trouble: None,
        }
    }

    /// Does not return unless no more findings can come.
    pub(super) async fn run(
        mut self,
        mut reports: watch::Receiver<Option<Arc<Reports>>>,
    ) -> String {
        loop {
            let newest = reports.borrow_and_update().clone();
            let done = self.round(newest.as_deref()).await;
            self.note(done.err());
            tokio::select! {
                changed = reports.changed() => if changed.is_err() {
                    return "the current state is not judged any more".to_owned();
                },
                () = sleep(TICK) => {}
            }
        }
    }

    async fn round(&mut self, reports: Option<&Reports>) -> Done<()> {
        let api = self.look().await?;
        if self.held.left().is_none() {
            // Another replica may write now.
            self.known = None;
            return Ok(());
        }
        let Some(reports) = reports else {
            return Ok(());
        };
        match (&mut self.known, api) {
            (_, None) => {
                self.known = None;
                return Ok(());
            }
            (Some(known), Some(api)) if known.objects.api == api => {
                if known.compared.elapsed() >= COMPARE {
                    known.compare().await?;
                    known.owners = owners(&self.client, self.owner.as_deref()).await?;
                }
            }
            (_, Some(api)) => self.known = Some(self.read(api).await?),
        }
        self.write(reports).await
    }

    /// The API that was served at the last look.
    async fn look(&mut self) -> Done<Option<Api>> {
        let before = self.api;
        let is_new = |api: Option<Api>, at: Instant| {
            at.elapsed() < if api.is_some() { COMPARE } else { NONE_SERVED }
        };
        let api = match before {
            Some((api, at)) if is_new(api, at) => api,
            _ => {
                let api = served(&self.client)
                    .await
                    .map_err(|error| error_text(&error))?;
                self.api = Some((api, Instant::now()));
                api
            }
        };
        let name = |api: Option<Api>| api.map_or("none", Api::group);
        let gauge = &self.metrics.report_writer;
        if before.is_none_or(|(before, _)| before != api) {
            if let Some((before, _)) = before {
                // An error only means that the series is already gone.
                let _ = gauge.remove_label_values(&[name(before)]);
            }
            if let Some(api) = api {
                tracing::info!(api = api.api_version(), "reports are written to this API");
            } else {
                tracing::warn!(
                    "no reports are written: the API server serves neither openreports.io/v1alpha1 nor \
                     wgpolicyk8s.io/v1alpha2; install the CRDs of one of them"
                );
            }
        }
        let writes = i64::from(self.held.left().is_some());
        gauge.with_label_values(&[name(api)]).set(writes);
        Ok(api)
    }

    /// Reads all reports. Those in the other API, which was served alone before, are removed.
    async fn read(&self, api: Api) -> Done<Known> {
        let objects = Objects::new(self.client.clone(), api);
        let stored = objects.all().await.map_err(|error| error_text(&error))?;
        for other in Api::ALL.into_iter().filter(|other| *other != api) {
            let other = Objects::new(self.client.clone(), other);
            // If it cannot be listed, it is not served.
            for (place, version) in other.versions().await.unwrap_or_default() {
                self.held.during(other.delete(&place, &version)).await;
            }
        }
        Ok(Known {
            objects,
            stored,
            owners: owners(&self.client, self.owner.as_deref()).await?,
            compared: Instant::now(),
        })
    }

    async fn write(&mut self, reports: &Reports) -> Done<()> {
        let Some(known) = &mut self.known else {
            return Ok(());
        };
        self.written.retain(|_, at| at.elapsed() < BETWEEN);
        let wanted = reports.namespaces().map(Option::<&Arc<str>>::cloned);
        let places: BTreeSet<Place> = wanted.chain(known.stored.keys().cloned()).collect();
        let mut failed = Ok(());
        for place in places {
            if self.written.contains_key(&place) {
                continue;
            }
            let (operation, done) = match known.step(reports, &place) {
                Step::None => continue,
                Step::Apply(object) => ("apply", known.apply(&self.held, &place, &object).await),
                Step::Delete(version) => {
                    ("delete", known.delete(&self.held, &place, &version).await)
                }
            };
            let result = match done {
                Ok(true) => {
                    self.written.insert(place, Instant::now());
                    "done"
                }
                // The Lease is lost.
                Ok(false) => return Ok(()),
                Err(why) => {
                    failed = Err(why);
                    "failed"
                }
            };
            let labels = [operation, result];
            self.metrics.report_writes.with_label_values(&labels).inc();
        }
        failed
    }

    fn note(&mut self, trouble: Option<String>) {
        if let Some(why) = trouble
            .as_ref()
            .filter(|why| self.trouble.as_ref() != Some(*why))
        {
            tracing::warn!(%why, "reports cannot be written; trying again");
        }
        self.trouble = trouble;
    }
}

/// The next write of a report.
enum Step {
    None,
    Apply(Value),
    Delete(String),
}

// === impl Known ===

impl Known {
    fn step(&self, reports: &Reports, place: &Place) -> Step {
        let stored = self.stored.get(place);
        let now = jiff::Timestamp::now().as_second();
        let seen = |fingerprint: &str| {
            let before = stored.and_then(|stored| stored.seen.get(fingerprint));
            Some(before.copied().unwrap_or(now))
        };
        let object = reports.object(self.objects.api, place.as_ref(), seen);
        match (object, stored) {
            (None, None) => Step::None,
            (None, Some(stored)) => Step::Delete(stored.version.clone()),
            (Some(mut object), stored) => {
                let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
                if let (Some(metadata), Some(owners)) = (metadata, &self.owners) {
                    metadata.insert("ownerReferences".to_owned(), owners.clone());
                }
                match stored {
                    Some(stored) if stored.content == content(&object) => Step::None,
                    _ => Step::Apply(object),
                }
            }
        }
    }

    /// Returns whether it was written; not if the Lease is lost.
    async fn apply(&mut self, held: &HeldUntil, place: &Place, object: &Value) -> Done<bool> {
        let over = self.stored.get(place).map(|stored| stored.version.clone());
        let write = self.objects.apply(place, object, over.as_deref());
        let Some(written) = held.during(write).await else {
            return Ok(false);
        };
        match written {
            Ok(version) => {
                let stored = Stored::written(object, version);
                self.stored.insert(place.clone(), stored);
                Ok(true)
            }
            Err(error) => self.failed(place, &error).await,
        }
    }

    async fn delete(&mut self, held: &HeldUntil, place: &Place, version: &str) -> Done<bool> {
        match held.during(self.objects.delete(place, version)).await {
            None => Ok(false),
            Some(Ok(())) => {
                self.stored.remove(place);
                Ok(true)
            }
            Some(Err(error)) => self.failed(place, &error).await,
        }
    }

    /// Reads a report again after a write that failed because the report had changed.
    async fn failed(&mut self, place: &Place, error: &kube::Error) -> Done<bool> {
        let is_other =
            matches!(error, kube::Error::Api(status) if [404, 409].contains(&status.code));
        if is_other {
            self.reread(place).await?;
        }
        let namespace = place.as_deref().unwrap_or("objects without a namespace");
        Err(format!("the report of {namespace}: {}", error_text(error)))
    }

    async fn reread(&mut self, place: &Place) -> Done<()> {
        match self.objects.one(place).await {
            Ok(Some(stored)) => self.stored.insert(place.clone(), stored),
            Ok(None) => self.stored.remove(place),
            Err(error) => return Err(error_text(&error)),
        };
        Ok(())
    }

    /// Reads the reports again that others have changed or removed.
    async fn compare(&mut self) -> Done<()> {
        let versions = self
            .objects
            .versions()
            .await
            .map_err(|error| error_text(&error))?;
        self.stored.retain(|place, _| versions.contains_key(place));
        for (place, version) in versions {
            let known = self.stored.get(&place).map(|stored| &stored.version);
            if known != Some(&version) {
                self.reread(&place).await?;
            }
        }
        self.compared = Instant::now();
        Ok(())
    }
}

/// References to the `ClusterRole` that owns the reports.
async fn owners(client: &Client, name: Option<&str>) -> Done<Option<Value>> {
    let Some(name) = name else {
        return Ok(None);
    };
    let api: KubeApi<ClusterRole> = KubeApi::all(client.clone());
    let role = api.get_metadata(name).await;
    let role = role.map_err(|error| {
        format!(
            "the owner of the reports, ClusterRole {name}: {}",
            error_text(&error)
        )
    })?;
    Ok(Some(json!([{
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "name": name,
        "uid": role.uid().unwrap_or_default(),
    }])))
}

fn error_text(error: &kube::Error) -> String {
    ApiError::classify(error).to_string()
}
