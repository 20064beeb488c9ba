//! Certificates that attache makes for itself: one Secret, which all replicas share, and `caBundle` of the webhook
//! configurations.
//!
//! Every replica looks at both from time to time and takes the next step ([`Rotation::step`]). Writes carry the
//! resource version that they are based on, so of two replicas one is refused, and looks again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client, ResourceExt as _};
use serde_json::Value;
use tokio::time::sleep;

use super::sync::Check;
use super::watch::short;
use super::webhook_configurations::{CONFLICT, NOT_FOUND, WebhookConfigurations, answer, has_code};
use crate::certificates::{Pair, Rotation, Step, Stored, contains};
use crate::registration::{
    CA_FIELD_MANAGER, Endpoint, ca_update, injected_by_cert_manager, published,
};

/// The interval between two checks of the Secret and the configurations.
const POLL: Duration = Duration::from_secs(10);
/// After this many conflicts with other replicas, wait for the next round.
const ATTEMPTS: usize = 5;
const LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", "attache");

/// Puts a pair into service.
pub type Serve = Box<dyn Fn(&Pair) -> Result<(), String> + Send + Sync>;

/// The objects in which the certificates are kept.
#[derive(Clone, Debug)]
pub struct ManagedCertificates {
    /// The namespace of the Secret.
    pub namespace: String,
    /// The name of the Secret.
    pub secret: String,
    /// The name of the webhook configurations.
    pub webhooks: String,
    /// The settings with which they are made and renewed.
    pub rotation: Rotation,
}

/// The state of the task that keeps the certificates. Shared, without a lock.
#[derive(Debug)]
pub struct OwnState {
    problem: ArcSwap<Option<String>>,
    /// Whether the API server has trusted this replica once.
    was_trusted: AtomicBool,
}

/// The task that keeps them.
pub struct OwnCertificates {
    client: Client,
    configurations: WebhookConfigurations,
    managed: ManagedCertificates,
    serve: Serve,
    served: Option<Stored>,
    state: Arc<OwnState>,
}

/// The result of one attempt.
enum Attempt {
    Done,
    /// Another replica wrote between our read and our write.
    Conflict,
}

// === impl OwnState ===

impl OwnState {
    /// Not ready before the webhook configurations trust the served certificate. A later failure
    /// leaves it ready, because the pair in use may be valid for weeks.
    pub fn check(&self) -> Check {
        let problem = self.problem.load();
        Check {
            name: "own-certificates".to_owned(),
            ok: problem.is_none(),
            required: !self.was_trusted.load(Ordering::Relaxed),
            detail: (**problem).clone().unwrap_or_default(),
        }
    }

    /// Returns whether the problem is news.
    fn note(&self, problem: Option<String>) -> bool {
        if problem.is_none() {
            self.was_trusted.store(true, Ordering::Relaxed);
        }
        let is_news = **self.problem.load() != problem;
        self.problem.store(Arc::new(problem));
        is_news
    }
}

// === impl OwnCertificates ===

impl OwnCertificates {
    /// Creates the task; nothing happens before [`OwnCertificates::run`].
    pub fn new(client: Client, managed: ManagedCertificates, serve: Serve) -> Self {
        let waits = "waits for the first answer of the API server".to_owned();
        Self {
            configurations: WebhookConfigurations::new(client.clone(), managed.webhooks.clone()),
            client,
            managed,
            serve,
            served: None,
            state: Arc::new(OwnState {
                problem: ArcSwap::from_pointee(Some(waits)),
                was_trusted: AtomicBool::new(false),
            }),
        }
    }

    /// The state of the task.
    pub fn state(&self) -> Arc<OwnState> {
        Arc::clone(&self.state)
    }

    /// Runs for ever.
    pub async fn run(mut self) -> String {
        let poll = POLL.min(self.managed.rotation.life / 60);
        loop {
            let problem = self.round().await.err();
            if self.state.note(problem.clone()) {
                if let Some(why) = problem {
                    tracing::warn!(%why, "cannot keep attache's own certificates; trying again");
                } else {
                    tracing::info!("attache's own certificates are as they should be");
                }
            }
            sleep(poll).await;
        }
    }

    async fn round(&mut self) -> Result<(), String> {
        for _ in 0..ATTEMPTS {
            match self.attempt().await? {
                Attempt::Conflict => {}
                Attempt::Done => return Ok(()),
            }
        }
        Err("others write the Secret or the webhook configurations all the time".to_owned())
    }

    async fn attempt(&mut self) -> Result<Attempt, String> {
        let mut configurations = Vec::new();
        for endpoint in Endpoint::ALL {
            if let Some(configuration) = self.configuration(endpoint).await? {
                configurations.push((endpoint, configuration));
            }
        }
        if configurations.is_empty() {
            let name = &self.managed.webhooks;
            return Err(format!("there is no webhook configuration {name}"));
        }
        let bundles = configurations
            .iter()
            .flat_map(|(_, configuration)| published(configuration));
        let bundles: Vec<String> = bundles.collect();
        let known = self.secret().await?;
        let stored = known.as_ref().and_then(contents);
        let step = self.managed.rotation.step(
            stored.as_ref(),
            self.served.as_ref(),
            &bundles,
            Timestamp::now(),
        );
        let step = step.map_err(|error| format!("failed to make a certificate: {error}"))?;
        let current = match (step, stored) {
            (Step::Write(new, why), _) => {
                if !self.write(known, &new).await? {
                    return Ok(Attempt::Conflict);
                }
                tracing::info!(
                    secret = self.managed.secret,
                    why,
                    "own certificates written"
                );
                new
            }
            (Step::Keep, Some(stored)) => stored,
            // There is something to keep only if it could be read.
            (Step::Keep, None) => return Ok(Attempt::Conflict),
        };
        if self.served.as_ref().map(|served| &served.pair) != Some(&current.pair) {
            (self.serve)(&current.pair)?;
        }
        let bundle = current.bundle();
        self.served = Some(current);
        for (endpoint, configuration) in &configurations {
            if !self.publish(*endpoint, configuration, &bundle).await? {
                return Ok(Attempt::Conflict);
            }
        }
        Ok(Attempt::Done)
    }

    async fn secret(&self) -> Result<Option<Secret>, String> {
        let name = &self.managed.secret;
        match answer(self.secrets().get(name)).await? {
            Ok(secret) => Ok(Some(secret)),
            Err(error) if has_code(&error, NOT_FOUND) => Ok(None),
            Err(error) => Err(self.failed("read", &error)),
        }
    }

    /// Returns `false` if somebody else wrote first.
    async fn write(&self, known: Option<Secret>, new: &Stored) -> Result<bool, String> {
        let is_new = known.is_none();
        let mut secret = known.unwrap_or_default();
        secret.metadata.name = Some(self.managed.secret.clone());
        let (label, value) = LABEL;
        secret
            .labels_mut()
            .insert(label.to_owned(), value.to_owned());
        let data = new.data().into_iter();
        secret.data = Some(data.map(|(key, bytes)| (key, ByteString(bytes))).collect());
        let (api, params) = (self.secrets(), PostParams::default());
        let written = if is_new {
            answer(api.create(&params, &secret)).await?
        } else {
            answer(api.replace(&self.managed.secret, &params, &secret)).await?
        };
        match written {
            Ok(_) => Ok(true),
            Err(error) if has_code(&error, CONFLICT) || has_code(&error, NOT_FOUND) => Ok(false),
            Err(error) => Err(self.failed("write", &error)),
        }
    }

    fn failed(&self, verb: &str, error: &kube::Error) -> String {
        let ManagedCertificates {
            namespace, secret, ..
        } = &self.managed;
        format!(
            "failed to {verb} Secret {namespace}/{secret}: {}",
            short(error)
        )
    }

    async fn configuration(&self, endpoint: Endpoint) -> Result<Option<Value>, String> {
        let configuration = self.configurations.get(endpoint).await;
        configuration.map_err(|why| {
            let (kind, name) = (endpoint.kind(), self.configurations.name());
            format!("failed to read {kind} {name}: {why}")
        })
    }

    /// Returns `false` if somebody else wrote first.
    async fn publish(
        &self,
        endpoint: Endpoint,
        current: &Value,
        bundle: &str,
    ) -> Result<bool, String> {
        let encoded = STANDARD.encode(bundle);
        let Some(wanted) = ca_update(endpoint, current, &encoded) else {
            return Ok(true);
        };
        let name = self.configurations.name();
        if let Some(annotation) = injected_by_cert_manager(current) {
            // It adds its own CA to those that are there, so that calls succeed until the last replica with attache's
            // own certificate has ended.
            if published(current)
                .iter()
                .all(|known| contains(known, bundle))
            {
                return Ok(true);
            }
            return Err(format!(
                "cert-manager writes caBundle of {} {name}, by the annotation {annotation}: remove the annotation, or serve the certificate of cert-manager with --tls-cert and --tls-key",
                endpoint.kind()
            ));
        }
        let applied = self
            .configurations
            .apply(endpoint, CA_FIELD_MANAGER, &wanted);
        let applied = applied.await.map_err(|why| {
            format!(
                "failed to write caBundle of {} {name}: {why}",
                endpoint.kind()
            )
        })?;
        if applied {
            tracing::info!(webhooks = endpoint.word(), name, "caBundle applied");
        }
        Ok(applied)
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), &self.managed.namespace)
    }
}

fn contents(secret: &Secret) -> Option<Stored> {
    let data = secret.data.iter().flatten();
    let data = data.map(|(key, ByteString(bytes))| (key.clone(), bytes.clone()));
    Stored::read(&data.collect())
}
