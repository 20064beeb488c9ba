//! The webhook configurations are kept up to date, and failures to do so harm nothing else.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache::cache::sync::Check;
use attache::cache::webhooks::{ManagedWebhooks, Watched, WebhookState, Webhooks};
use attache::metrics::Metrics;
use attache::registration::{Endpoint, Policies, Resource, webhooks};
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, Response};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::kinds::rules;
use crate::under::*;
use testing::api_server::*;

const CA: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

/// A fake API server with only the two configurations.
#[derive(Clone, Default)]
struct Configurations(Arc<Mutex<Stored>>);

#[derive(Default)]
struct Stored {
    validating: Value,
    mutating: Value,
    patches: Vec<Value>,
    reads: usize,
    /// The status codes of the next patches.
    codes: Vec<u16>,
    /// The status code of every request.
    refused: Option<u16>,
}

struct Running {
    server: Configurations,
    watched: watch::Sender<Watched>,
    state: Arc<WebhookState>,
    metrics: Arc<Metrics>,
    task: JoinHandle<String>,
}

// === impl Configurations ===

impl Configurations {
    fn new() -> Self {
        let server = Self::default();
        server.with(|stored| {
            stored.validating = installed(Endpoint::Validate);
            stored.mutating = installed(Endpoint::Mutate);
        });
        server
    }

    fn with<T>(&self, f: impl FnOnce(&mut Stored) -> T) -> T {
        f(&mut self.0.lock().unwrap())
    }

    fn patches(&self) -> usize {
        self.with(|stored| stored.patches.len())
    }

    fn rules(&self) -> Value {
        self.with(|stored| stored.validating["webhooks"][0]["rules"].clone())
    }

    fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        kube::Client::new(service, "default")
    }

    async fn answer(
        &self,
        request: Request<kube::client::Body>,
    ) -> io::Result<Response<Full<bytes::Bytes>>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let (code, answer) = self.with(|stored| stored.answer(&parts, &body));
        let body = Full::new(bytes::Bytes::from(answer.to_string()));
        Ok(Response::builder().status(code).body(body).unwrap())
    }
}

impl Stored {
    fn answer(&mut self, request: &hyper::http::request::Parts, body: &[u8]) -> (u16, Value) {
        if let Some(code) = self.refused {
            return (code, status(code, "refused"));
        }
        let path = request.uri.path();
        assert!(path.ends_with("/attache"), "{path}");
        if request.method == Method::GET {
            self.reads += 1;
        }
        let configuration = if path.contains("/validatingwebhookconfigurations/") {
            &mut self.validating
        } else {
            &mut self.mutating
        };
        if configuration.is_null() {
            return (404, status(404, "not found"));
        }
        if request.method == Method::PATCH {
            let query = request.uri.query().unwrap();
            assert!(query.contains("fieldManager=attache"), "{query}");
            let wanted: Value = serde_json::from_slice(body).unwrap();
            self.patches.push(wanted.clone());
            if let Some(code) = self.codes.pop() {
                return (code, status(code, "refused"));
            }
            let webhook = &mut configuration["webhooks"][0];
            webhook["rules"] = wanted["webhooks"][0]["rules"].clone();
            let ca = &wanted["webhooks"][0]["clientConfig"]["caBundle"];
            if !ca.is_null() {
                webhook["clientConfig"]["caBundle"] = ca.clone();
            }
        }
        (200, configuration.clone())
    }
}

fn status(code: u16, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "", "code": code, "message": message})
}

/// As the manifests with `manage-webhooks` create them: without rules.
fn installed(endpoint: Endpoint) -> Value {
    let (name, _) = &webhooks(endpoint, false, &Policies::new())[0];
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": endpoint.kind(),
        "metadata": {"name": "attache", "resourceVersion": "1"},
        "webhooks": [{"name": name, "clientConfig": {"url": "https://127.0.0.1"}}],
    })
}

fn kinds(plurals: &[&str]) -> Arc<Policies> {
    let resource = |plural: &&str| Resource {
        group: "example.dev".into(),
        namespaced: true,
        plural: (*plural).into(),
    };
    Arc::new(plurals.iter().map(resource).collect())
}

fn expected(plurals: &[&str]) -> Value {
    let (_, rules) = webhooks(Endpoint::Validate, false, &kinds(plurals)).remove(0);
    Value::Array(rules)
}

// === impl Running ===

impl Running {
    fn start(server: &Configurations, ca: Option<&std::path::Path>) -> Self {
        let metrics = Arc::new(Metrics::new().unwrap());
        let (watched, receiver) = watch::channel(None);
        let managed = ManagedWebhooks {
            endpoints: Endpoint::ALL.to_vec(),
            name: "attache".to_owned(),
            ca: ca.map(ToOwned::to_owned),
        };
        let webhooks = Webhooks::new(server.client(), managed, receiver, Arc::clone(&metrics));
        Self {
            server: server.clone(),
            watched,
            state: webhooks.state(),
            metrics,
            task: tokio::spawn(webhooks.run()),
        }
    }

    fn check(&self, name: &str) -> Check {
        let checks = self.state.checks();
        let found = checks.iter().find(|check| check.name == name);
        found
            .unwrap_or_else(|| panic!("{name} in {checks:?}"))
            .clone()
    }

    async fn until(&self, what: &str, plurals: &[&str]) {
        eventually(what, || self.server.rules() == expected(plurals)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn rules_follow_the_kinds_and_are_written_only_when_they_differ() {
    let server = Configurations::new();
    let running = Running::start(&server, None);
    sleep(Duration::from_mins(2)).await;
    assert_eq!(server.patches(), 0, "no kind is known yet");
    assert!(!running.check("webhooks:validating").ok);

    running.watched.send_replace(Some(kinds(&["retries"])));
    running.until("written", &["retries"]).await;
    sleep(Duration::from_mins(5)).await;
    assert_eq!(server.patches(), 2, "one for each configuration");
    assert!(running.check("webhooks:validating").ok);
    assert!(running.check("webhooks:mutating").ok);

    running.watched.send_replace(Some(kinds(&[])));
    running.until("taken out", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn many_kinds_at_once_are_written_once() {
    let server = Configurations::new();
    let running = Running::start(&server, None);
    let mut all = Vec::new();
    for plural in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        all.push(plural);
        running.watched.send_replace(Some(kinds(&all)));
        sleep(Duration::from_millis(100)).await;
    }
    running.until("written", &all).await;
    sleep(Duration::from_mins(1)).await;
    assert_eq!(server.patches(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_change_by_hand_is_put_back() {
    let server = Configurations::new();
    let running = Running::start(&server, None);
    running.watched.send_replace(Some(kinds(&["retries"])));
    running.until("written", &["retries"]).await;
    server.with(|stored| stored.validating["webhooks"][0]["rules"] = json!([]));
    running.until("put back", &["retries"]).await;
}

#[tokio::test(start_paused = true)]
async fn another_replica_that_was_faster_is_no_failure() {
    let server = Configurations::new();
    server.with(|stored| stored.codes = vec![409]);
    let running = Running::start(&server, None);
    running.watched.send_replace(Some(kinds(&["retries"])));
    running.until("written", &["retries"]).await;
    let text = running.metrics.text().unwrap();
    let updates = text
        .lines()
        .filter(|line| line.starts_with("attache_webhook_updates"));
    let mut failed = updates.filter(|line| line.contains("result=\"failed\""));
    assert!(failed.all(|line| line.ends_with(" 0")), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_reported_and_retried() {
    let server = Configurations::new();
    server.with(|stored| stored.refused = Some(403));
    let running = Running::start(&server, None);
    running.watched.send_replace(Some(kinds(&["retries"])));
    sleep(Duration::from_mins(1)).await;
    let check = running.check("webhooks:validating");
    assert_eq!((check.ok, check.required), (false, false));
    assert_eq!(check.detail, "refused");
    let text = running.metrics.text().unwrap();
    for line in [
        "attache_webhook_current{configuration=\"validating\"} 0",
        "attache_webhook_updates_total{configuration=\"mutating\",result=\"failed\"}",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let none = "attache_webhook_updates_total{configuration=\"mutating\",result=\"failed\"} 0";
    assert!(!text.contains(none), "{text}");
    assert!(!running.task.is_finished());

    server.with(|stored| stored.refused = None);
    running.until("written", &["retries"]).await;
    eventually("well", || running.check("webhooks:validating").ok).await;
}

#[tokio::test(start_paused = true)]
async fn the_mutating_configuration_may_be_left_out_the_validating_may_not() {
    let server = Configurations::new();
    server.with(|stored| {
        stored.validating = Value::Null;
        stored.mutating = Value::Null;
    });
    let running = Running::start(&server, None);
    running.watched.send_replace(Some(kinds(&[])));
    eventually("looked at", || running.check("webhooks:mutating").ok).await;
    let check = running.check("webhooks:validating");
    assert_eq!(
        check.detail,
        "there is no ValidatingWebhookConfiguration attache"
    );
}

#[tokio::test(start_paused = true)]
async fn the_ca_follows_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.crt");
    let server = Configurations::new();
    let running = Running::start(&server, Some(&file));
    running.watched.send_replace(Some(kinds(&[])));
    running.until("written without a CA", &[]).await;
    let check = running.check("webhooks:ca");
    assert!(check.detail.contains("failed to read"), "{check:?}");

    let ca = || server.with(|s| s.validating["webhooks"][0]["clientConfig"]["caBundle"].clone());
    assert_eq!(ca(), Value::Null);
    std::fs::write(&file, CA).unwrap();
    eventually("written", || ca() != Value::Null).await;
    let first = ca();
    std::fs::write(&file, format!("{CA}{CA}")).unwrap();
    eventually("followed", || ca() != first).await;
    assert!(running.check("webhooks:ca").ok);

    let second = ca();
    std::fs::write(&file, "rubbish").unwrap();
    eventually("told", || !running.check("webhooks:ca").ok).await;
    assert_eq!(ca(), second, "what was good stays");
}

#[tokio::test(start_paused = true)]
async fn the_watched_kinds_are_reported() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    assert!(
        under.cluster.watched.borrow().is_none(),
        "nothing listed yet"
    );
    under.until_ready().await;
    let watched = || under.cluster.watched.borrow().clone();
    // Kinds of Gateway API are not policy kinds.
    assert_eq!(watched(), Some(kinds(&["retrypolicies"])));
    let limits = policy_crd("example.dev", "LimitPolicy");
    server.install(&limits);
    eventually("two", || {
        watched() == Some(kinds(&["limitpolicies", "retrypolicies"]))
    })
    .await;
    server.uninstall(&limits);
    eventually("one", || watched() == Some(kinds(&["retrypolicies"]))).await;
}

#[tokio::test(start_paused = true)]
async fn other_rules_change_the_reported_kinds() {
    let server = Server::with_kinds();
    server.hold(CRDS);
    let under = Under::test(&server);
    let spec = json!({"group": "example.dev", "kind": "RetryPolicy"});
    under
        .rules
        .send_replace(rules(&json!({"match": spec, "class": "direct"})));
    sleep(Duration::from_mins(1)).await;
    let watched = || under.cluster.watched.borrow().clone();
    assert_eq!(watched(), None, "definitions are not known yet");
    server.release(CRDS);
    eventually("one", || watched() == Some(kinds(&["retrypolicies"]))).await;
    under
        .rules
        .send_replace(rules(&json!({"match": spec, "policy": false})));
    eventually("none", || watched() == Some(kinds(&[]))).await;
}
