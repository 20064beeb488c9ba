//! Counts which targets fulfil the guardrails, for the metrics and for the status of `Guardrail` objects. It runs in the
//! background, so reviews do not wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use attache_guardrails::{Count, Guardrails, Status, count, guardrail_kind};
use jiff::civil::Date;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::engine::state::snapshot::Snapshot;
use crate::metrics::Metrics;
use crate::today;

use super::Published;
use super::guardrails::{GuardrailsInUse, StoredGuardrail};
use super::watch::short;

/// The owner of the status fields.
const FIELD_MANAGER: &str = "attache";
/// Counting takes at most one part in this many of the time.
const SHARE: u32 = 10;

/// Counts and writes.
pub struct GuardrailStatus {
    /// The API server; `None` if no object has a status.
    pub client: Option<kube::Client>,
    /// The guardrails.
    pub in_use: Arc<GuardrailsInUse>,
    /// The state.
    pub snapshot: Published,
    /// Gets the numbers.
    pub metrics: Arc<Metrics>,
    /// The least time between two counts.
    pub every: Duration,
}

/// The inputs and the result of the last count.
#[derive(Default)]
struct LastCount {
    /// Weak, so as not to keep them in memory.
    snapshot: Weak<Snapshot>,
    guardrails: Weak<Guardrails>,
    day: Option<Date>,
    shown: BTreeSet<String>,
    /// The status that each object has, as far as it is known.
    written: BTreeMap<Arc<str>, Status>,
    is_refused: bool,
}

// === impl GuardrailStatus ===

impl GuardrailStatus {
    /// Counts again when something has changed. Does not return unless counting panics.
    pub async fn run(self) -> String {
        let mut last = LastCount::default();
        let mut pause = self.every;
        loop {
            sleep(pause).await;
            let (snapshot, guardrails) = (self.snapshot.load_full(), self.in_use.all());
            let now = jiff::Timestamp::now();
            let today = today::date(now);
            let is_same = last.snapshot.as_ptr() == Arc::as_ptr(&snapshot)
                && last.guardrails.as_ptr() == Arc::as_ptr(&guardrails)
                && last.day == Some(today);
            if is_same {
                continue;
            }
            last.snapshot = Arc::downgrade(&snapshot);
            last.guardrails = Arc::downgrade(&guardrails);
            last.day = Some(today);
            let stored = self.in_use.stored();
            let started = Instant::now();
            let counting =
                tokio::task::spawn_blocking(move || count(&snapshot, &guardrails, today));
            let Ok(counts) = counting.await else {
                return "counting the targets of guardrails panicked".to_owned();
            };
            pause = self.every.max(started.elapsed() * SHARE);
            self.show(&counts, &mut last.shown);
            let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            self.write(&stored, &counts, &now, &mut last).await;
        }
    }

    fn show(&self, counts: &BTreeMap<String, Count>, shown: &mut BTreeSet<String>) {
        let gauge = &self.metrics.guardrail_targets;
        let set = |name: &str, results: [(&str, usize); 4]| {
            for (result, number) in results {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                gauge.with_label_values(&[name, result]).set(number);
            }
        };
        let mut exceptions = [0; 3];
        for (name, count) in counts {
            set(
                name,
                [
                    ("fulfilled", count.fulfilled),
                    ("broken", count.broken),
                    ("error", count.errors),
                    ("excepted", count.excepted),
                ],
            );
            for (sum, number) in exceptions.iter_mut().zip(count.exceptions) {
                *sum += number;
            }
        }
        let names: BTreeSet<String> = counts.keys().cloned().collect();
        for gone in shown.difference(&names) {
            for result in ["fulfilled", "broken", "error", "excepted"] {
                // An error only means that the series is already gone.
                let _ = gauge.remove_label_values(&[gone, result]);
            }
        }
        *shown = names;
        for (state, number) in ["lasting", "ending", "ended"].iter().zip(exceptions) {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            let gauge = &self.metrics.guardrail_exceptions;
            gauge.with_label_values(&[state]).set(number);
        }
    }

    /// Writes the status of the objects whose numbers have changed.
    async fn write(
        &self,
        stored: &[StoredGuardrail],
        counts: &BTreeMap<String, Count>,
        now: &str,
        last: &mut LastCount,
    ) {
        let Some(client) = &self.client else {
            return;
        };
        last.written
            .retain(|name, _| stored.iter().any(|one| one.name == *name));
        let gvk = GroupVersionKind::gvk(&guardrail_kind().group, "v1alpha1", "Guardrail");
        let resource = ApiResource::from_gvk_with_plural(&gvk, "guardrails");
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        for one in stored {
            let judged = match &one.read {
                Ok(_) => match counts.get(&*one.name) {
                    Some(count) => Ok(count),
                    // It has come since the count.
                    None => continue,
                },
                Err(why) => Err(why.as_str()),
            };
            let status = Status::new(one.generation, judged, now);
            let written = last.written.get(&one.name);
            if written.is_some_and(|written| status.clone().since(written) == *written) {
                continue;
            }
            match write(&api, &one.name, status).await {
                Ok(status) => {
                    last.written.insert(one.name.clone(), status);
                    last.is_refused = false;
                }
                Err(error) => {
                    // Tried again with the next count.
                    last.day = None;
                    if !last.is_refused {
                        let why = short(&error);
                        tracing::warn!(guardrail = %one.name, %why, "the status of a guardrail cannot be written");
                    }
                    last.is_refused = true;
                }
            }
        }
    }
}

/// Writes a status unless the object has it already, and returns it.
async fn write(
    api: &Api<DynamicObject>,
    name: &str,
    status: Status,
) -> Result<Status, kube::Error> {
    let object = api.get(name).await?;
    let stored = object.data.get("status").cloned();
    let stored: Option<Status> = stored.and_then(|stored| serde_json::from_value(stored).ok());
    let status = match &stored {
        Some(stored) => status.since(stored),
        None => status,
    };
    if stored.as_ref() == Some(&status) {
        return Ok(status);
    }
    let patch = json!({
        "apiVersion": "attache.dev/v1alpha1",
        "kind": "Guardrail",
        "metadata": {"name": name},
        "status": status,
    });
    let params = PatchParams::apply(FIELD_MANAGER).force();
    api.patch_status(name, &params, &Patch::Apply(&patch))
        .await?;
    Ok(status)
}
