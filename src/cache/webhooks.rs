//! Keeps the rules and `caBundle` of attache's own webhook configurations up to date.
//!
//! Every replica does this. They all apply the same, so the second one finds nothing to change. A failure affects
//! nothing else: it is reported and tried again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use kube::Client;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::metrics::Metrics;
use crate::reading::{self, Pipes};
use crate::registration::{Endpoint, FIELD_MANAGER, Policies, ca_bundle, update_for};

use super::sync::Check;
use super::webhook_configurations::WebhookConfigurations;

/// The watched policy kinds; `None` before the first list of CRDs.
pub type Watched = Option<Arc<Policies>>;

/// The interval between two checks of the configurations, which others may have changed. A watch would need one more
/// permission.
const POLL: Duration = Duration::from_secs(10);
/// CRDs are often applied in groups: after a change, wait this long for the others.
const SETTLE: Duration = Duration::from_secs(1);
/// After this many conflicts with other writers, wait for the next round.
const ATTEMPTS: usize = 3;

/// The configurations to keep up to date.
#[derive(Clone, Debug)]
pub struct ManagedWebhooks {
    /// The name of both configurations.
    pub name: String,
    /// The file with the CA in PEM, read again each time; without it `caBundle` is left alone.
    pub ca: Option<PathBuf>,
    /// Those of the two configurations to keep up to date.
    pub endpoints: Vec<Endpoint>,
}

/// The last result for each part. Shared, without a lock.
#[derive(Debug, Default)]
pub struct WebhookState(ArcSwap<BTreeMap<&'static str, Option<String>>>);

/// The task that updates the configurations.
pub struct Webhooks {
    configurations: WebhookConfigurations,
    managed: ManagedWebhooks,
    watched: watch::Receiver<Watched>,
    state: Arc<WebhookState>,
    metrics: Arc<Metrics>,
    /// The last valid CA, so that a file that is missing for a moment changes nothing.
    ca: Option<String>,
}

/// The result for one configuration.
enum UpdateResult {
    Unchanged,
    Applied,
    /// Somebody wrote between our read and our write, as other replicas do.
    Conflict,
}

// === impl WebhookState ===

impl WebhookState {
    /// A check for each configuration, and for the CA if there is one to keep.
    pub fn checks(&self) -> Vec<Check> {
        let state = self.0.load();
        let check = |(name, trouble): (&&str, &Option<String>)| Check {
            name: format!("webhooks:{name}"),
            ok: trouble.is_none(),
            required: false,
            detail: trouble.clone().unwrap_or_default(),
        };
        state.iter().map(check).collect()
    }

    /// Records the result for a part. Returns true if it changed.
    fn note(&self, part: &'static str, trouble: Option<&str>) -> bool {
        let before = self.0.load();
        let trouble = trouble.map(str::to_owned);
        if before.get(part) == Some(&trouble) {
            return false;
        }
        let mut after = BTreeMap::clone(&before);
        after.insert(part, trouble);
        self.0.store(Arc::new(after));
        true
    }
}

// === impl Webhooks ===

impl Webhooks {
    /// Creates the task; nothing happens before [`Webhooks::run`].
    pub fn new(
        client: Client,
        managed: ManagedWebhooks,
        watched: watch::Receiver<Watched>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let state = Arc::new(WebhookState::default());
        for endpoint in &managed.endpoints {
            state.note(endpoint.word(), Some("waits for the first list of CRDs"));
        }
        Self {
            configurations: WebhookConfigurations::new(client, managed.name.clone()),
            managed,
            watched,
            state,
            metrics,
            ca: None,
        }
    }

    /// The last results.
    pub fn state(&self) -> Arc<WebhookState> {
        Arc::clone(&self.state)
    }

    /// Runs until the kinds are no longer watched, and returns the reason.
    pub async fn run(mut self) -> String {
        loop {
            tokio::select! {
                changed = self.watched.changed() => match changed {
                    Ok(()) => sleep(SETTLE).await,
                    Err(_) => return "the kinds are not followed any more".to_owned(),
                },
                () = sleep(POLL) => {}
            }
            self.round().await;
        }
    }

    async fn round(&mut self) {
        let watched = self.watched.borrow_and_update().clone();
        // Without the known kinds, the rules would stop sending attache their requests.
        let Some(policies) = watched else {
            return;
        };
        self.read_ca().await;
        for endpoint in self.managed.endpoints.clone() {
            let result = self.keep(endpoint, &policies).await;
            self.tell(endpoint, result);
        }
    }

    async fn read_ca(&mut self) {
        let Some(file) = &self.managed.ca else {
            return;
        };
        let path = file.clone();
        let read = move || reading::bytes(&path, reading::SMALL, Pipes::Refused);
        let read = match tokio::task::spawn_blocking(read).await {
            Ok(Ok(pem)) => ca_bundle(&pem),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let trouble = match read {
            Ok(ca) => {
                self.ca = Some(ca);
                None
            }
            Err(why) => Some(format!("failed to read {}: {why}", file.display())),
        };
        if self.state.note("ca", trouble.as_deref())
            && let Some(why) = trouble
        {
            tracing::warn!(%why, "the CA in the webhook configurations stays as it is");
        }
    }

    async fn keep(&self, endpoint: Endpoint, policies: &Policies) -> Result<UpdateResult, String> {
        for _ in 0..ATTEMPTS {
            match self.attempt(endpoint, policies).await? {
                UpdateResult::Conflict => {}
                left => return Ok(left),
            }
        }
        Err("others write it all the time".to_owned())
    }

    async fn attempt(
        &self,
        endpoint: Endpoint,
        policies: &Policies,
    ) -> Result<UpdateResult, String> {
        let Some(current) = self.configurations.get(endpoint).await? else {
            let name = &self.managed.name;
            return match endpoint {
                // The mutating webhook is optional.
                Endpoint::Mutate => Ok(UpdateResult::Unchanged),
                Endpoint::Validate => Err(format!("there is no {} {name}", endpoint.kind())),
            };
        };
        let Some(wanted) = update_for(endpoint, &current, policies, self.ca.as_deref())? else {
            return Ok(UpdateResult::Unchanged);
        };
        let applied = self.configurations.apply(endpoint, FIELD_MANAGER, &wanted);
        Ok(if applied.await? {
            UpdateResult::Applied
        } else {
            UpdateResult::Conflict
        })
    }

    fn tell(&self, endpoint: Endpoint, kept: Result<UpdateResult, String>) {
        let word = endpoint.word();
        let (result, trouble) = match kept {
            Ok(UpdateResult::Applied) => {
                tracing::info!(
                    webhooks = word,
                    name = self.managed.name,
                    "configuration applied"
                );
                (Some("applied"), None)
            }
            Ok(UpdateResult::Unchanged | UpdateResult::Conflict) => (None, None),
            Err(why) => (Some("failed"), Some(why)),
        };
        let current = self.metrics.webhook_current.with_label_values(&[word]);
        current.set(i64::from(trouble.is_none()));
        if let Some(result) = result {
            let updates = &self.metrics.webhook_updates;
            updates.with_label_values(&[word, result]).inc();
        }
        let news = self.state.note(word, trouble.as_deref());
        match trouble {
            Some(why) if news => {
                tracing::warn!(webhooks = word, %why, "cannot keep the configuration; trying again");
            }
            None if news => tracing::info!(webhooks = word, "configuration is as it should be"),
            _ => {}
        }
    }
}
