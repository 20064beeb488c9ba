//! Writes Kubernetes Events about policies that were allowed with a finding. Events are rate-limited, and reviews do
//! not wait for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::engine::model::ids::ObjectKey;
use crate::metrics::Metrics;

use super::kinds::Resources;
use super::watch::unquoted;

/// The most notices that wait to be written. Further ones are dropped.
const QUEUE: usize = 64;
/// The least time between two Events.
const PACE: Duration = Duration::from_secs(1);
/// The time for which the same finding on the same policy is not repeated.
const AGAIN: Duration = Duration::from_mins(10);
/// The most findings to remember, so that a flood of names does not use up memory.
const REMEMBERED: usize = 1_000;
/// The most bytes of a message; the API allows 1 kB.
const MAX_MESSAGE_BYTES: usize = 1_000;

/// A finding on a policy that was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The policy.
    pub policy: ObjectKey,
    /// The code of the finding.
    pub code: &'static str,
    /// The warning that the user got.
    pub line: String,
}

/// The sending half of the queue of notices.
#[derive(Clone, Debug)]
pub struct Notices(mpsc::Sender<Notice>);

/// Writes notices as Events.
pub struct Events {
    queue: mpsc::Receiver<Notice>,
    recorder: Recorder,
    resources: Arc<Resources>,
    metrics: Arc<Metrics>,
    sent: HashMap<(ObjectKey, &'static str), Instant>,
}

/// Creates the queue and the task that empties it.
pub fn events(
    client: kube::Client,
    resources: Arc<Resources>,
    metrics: Arc<Metrics>,
) -> (Notices, Events) {
    let (sender, queue) = mpsc::channel(QUEUE);
    let reporter = Reporter {
        controller: "attache.dev/attache".to_owned(),
        instance: None,
    };
    let events = Events {
        queue,
        recorder: Recorder::new(client, reporter),
        resources,
        metrics,
        sent: HashMap::new(),
    };
    (Notices(sender), events)
}

// === impl Notices ===

impl Notices {
    /// Queues a notice, or drops it if the queue is full.
    pub fn hand(&self, notice: Notice) {
        let _ = self.0.try_send(notice);
    }
}

// === impl Events ===

impl Events {
    /// Runs until all senders are gone.
    pub async fn run(mut self) -> String {
        let mut next = Instant::now();
        while let Some(notice) = self.queue.recv().await {
            let now = Instant::now();
            if self.is_known(&notice, now) {
                continue;
            }
            sleep_until(next).await;
            next = Instant::now() + PACE;
            let result = match self.write(&notice).await {
                Ok(()) => "written",
                Err(why) => {
                    let kind = &notice.policy.gk;
                    tracing::warn!(%kind, "no Event written; at `debug` the log says why");
                    tracing::debug!(policy = %notice.policy, %why, "no Event written");
                    "failed"
                }
            };
            self.metrics.events.with_label_values(&[result]).inc();
        }
        "nothing can be noted any more".to_owned()
    }

    fn is_known(&mut self, notice: &Notice, now: Instant) -> bool {
        let key = (notice.policy.clone(), notice.code);
        if self.sent.get(&key).is_some_and(|at| now < *at + AGAIN) {
            return true;
        }
        if self.sent.len() >= REMEMBERED {
            self.sent.retain(|_, at| now < *at + AGAIN);
        }
        if self.sent.len() < REMEMBERED {
            self.sent.insert(key, now);
        }
        false
    }

    async fn write(&self, notice: &Notice) -> Result<(), String> {
        let policy = &notice.policy;
        let resource = self.resources.get(&policy.gk);
        let resource = resource.ok_or("the kind is not watched")?;
        let reference = ObjectReference {
            api_version: Some(resource.api_version),
            kind: Some(resource.kind),
            name: Some(policy.name.to_string()),
            namespace: Some(policy.namespace.to_string()).filter(|name| !name.is_empty()),
            ..ObjectReference::default()
        };
        let event = Event {
            type_: EventType::Warning,
            reason: pascal(notice.code),
            note: Some(notice.line.chars().take(MAX_MESSAGE_BYTES / 4).collect()),
            action: "Admitted".to_owned(),
            secondary: None,
        };
        let published = self.recorder.publish(&event, &reference).await;
        published.map_err(|error| unquoted(&error))
    }
}

/// Converts a code to the form of an Event reason: `section-unknown` becomes `SectionUnknown`.
fn pascal(code: &str) -> String {
    let words = code.split('-').map(|word| {
        let (first, others) = word.split_at(word.len().min(1));
        format!("{}{others}", first.to_ascii_uppercase())
    });
    words.collect()
}
