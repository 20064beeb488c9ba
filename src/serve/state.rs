//! Builds the state from a directory or a cluster, and keeps it current.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Args, Failure, say};
use crate::background::reports::{self, ReportSender};
use crate::cache::access::Access;
use crate::cache::confirm::Confirm as LiveRead;
use crate::cache::directory::{Links, written_twice};
use crate::cache::events::{Notice, Notices};
use crate::cache::guardrail_status::GuardrailStatus;
use crate::cache::guardrails::GuardrailsInUse;
use crate::cache::kinds::Resources;
use crate::cache::kubeconfig;
use crate::cache::own_certificates::{ManagedCertificates, OwnCertificates, OwnState, Serve};
use crate::cache::reload::{self, Directory};
use crate::cache::sync::SyncState;
use crate::cache::webhooks::{ManagedWebhooks, WebhookState, Webhooks};
use crate::cache::{Cluster, Published, Settings, tuned};
use crate::certificates::Rotation;
use crate::config::Configuration;
use crate::engine::kinds::profile::ProfileRules;
use crate::http::dependencies::{Dependencies, Note};
use crate::http::drain::{self, Phase};
use crate::http::tls::Certificates;
use crate::lease::{HeldUntil, hold};
use crate::metrics::Metrics;
use crate::registration::Endpoint;
use crate::status_writer::StatusWriter;
use crate::telemetry::traces::Traces;

/// The interval between two checks of the directory.
const DIRECTORY_POLL: Duration = Duration::from_secs(1);
/// A kind is stale after this long without contact, and reviews that depend on it say so. An API server restarts in
/// less.
const CACHE_AGE: Duration = Duration::from_mins(5);

/// The interval between two counts of the targets of guardrails, if something has changed.
const GUARDRAIL_STATUS: Duration = Duration::from_secs(10);
/// The interval between two searches for objects to which policies have started or stopped to apply.
const STATUS: Duration = Duration::from_secs(2);

/// The running source of the state.
pub(super) struct State {
    pub(super) snapshot: Published,
    pub(super) guardrails: Arc<GuardrailsInUse>,
    pub(super) dependencies: Dependencies,
    /// The way to the cluster, for the page.
    pub(super) cluster_access: Option<ClusterAccess>,
    pub(super) sources: TaskStates,
    /// The recipient of findings for reports, if they are written.
    pub(super) reports: Option<ReportSender>,
    pub(super) tasks: JoinSet<String>,
}

/// A cluster, to ask about users and single objects.
pub(super) struct ClusterAccess {
    pub(super) client: kube::Client,
    pub(super) resources: Arc<Resources>,
    pub(super) confirm: Arc<LiveRead>,
}

/// The states of the background tasks, for `/readyz`.
#[derive(Clone, Default)]
pub(super) struct TaskStates {
    pub(super) sync: Option<Arc<SyncState>>,
    pub(super) webhooks: Option<Arc<WebhookState>>,
    pub(super) own_certificates: Option<Arc<OwnState>>,
}

pub(super) async fn from_directory(
    path: &Path,
    links: Links,
    rules: watch::Receiver<Arc<ProfileRules>>,
    metrics: &Arc<Metrics>,
) -> Result<State, Failure> {
    if !path.is_dir() {
        return Err(format!("{} is not a directory", path.display()).into());
    }
    let directory = Directory {
        paths: vec![path.to_owned()],
        links,
        namespace: "default".to_owned(),
        rules: rules.borrow().clone(),
    };
    let reading = directory.clone();
    let reading = tokio::task::spawn_blocking(move || reading.load()).await?;
    let loaded = reading.loaded;
    for problem in &loaded.problems {
        problem.log();
    }
    say(&loaded.counts.summary(&path.display().to_string()));
    if let Some(line) = written_twice(&loaded.duplicates) {
        say(&line);
    }
    let snapshot: Published = Arc::new(ArcSwap::from_pointee(loaded.snapshot));
    let guardrails = Arc::<GuardrailsInUse>::default();
    guardrails.replace(reading.guardrails);
    let mut tasks = JoinSet::new();
    let published = snapshot.clone();
    tasks.spawn(reload::watch_directory(
        directory,
        reading.fingerprint,
        rules,
        DIRECTORY_POLL,
        published,
        guardrails.clone(),
        metrics.clone(),
    ));
    let status = GuardrailStatus {
        client: None,
        in_use: guardrails.clone(),
        snapshot: snapshot.clone(),
        metrics: metrics.clone(),
        every: GUARDRAIL_STATUS,
    };
    tasks.spawn(status.run());
    Ok(State {
        snapshot,
        guardrails,
        dependencies: Dependencies::default(),
        cluster_access: None,
        sources: TaskStates::default(),
        reports: None,
        tasks,
    })
}

pub(super) async fn from_cluster(
    args: &Args,
    rules: watch::Receiver<Arc<ProfileRules>>,
    config: &Configuration,
    certificates: &Arc<Certificates>,
    phases: watch::Receiver<Phase>,
    metrics: &Arc<Metrics>,
) -> Result<State, Failure> {
    let reached = kubeconfig::config(args.kubeconfig.as_deref(), args.context.as_deref()).await?;
    let namespace = reached.default_namespace.clone();
    let client = kube::Client::try_from(tuned(reached))?;
    let managed = (!args.manage_webhooks.is_empty()).then(|| ManagedWebhooks {
        name: args.webhook_name.clone(),
        ca: args.ca_cert.clone(),
        endpoints: Endpoint::ALL
            .into_iter()
            .filter(|endpoint| {
                args.manage_webhooks
                    .iter()
                    .any(|which| which.has(*endpoint))
            })
            .collect(),
    });
    let mut state = followed(client.clone(), managed, rules, config, metrics);
    if args.write_status {
        let (namespace, name) = named(&args.status_lease, &namespace);
        let (client, lease) = (client.clone(), (&*namespace, &*name));
        let held = hold(client, lease, draining(phases.clone()), &mut state.tasks);
        write_status(&mut state, held, metrics);
    }
    if let Some(named) = args.reports {
        let settings = reports::Settings {
            namespace: namespace.clone(),
            policy_names: named.into(),
            owner: args.reports_owner.clone(),
        };
        let (client, metrics) = (client.clone(), metrics.clone());
        let ending = draining(phases);
        let report_sender = reports::start(client, settings, metrics, ending, &mut state.tasks);
        state.reports = Some(report_sender);
    }
    if args.manage_certs {
        let managed = managed_certificates(args, &namespace);
        let own = OwnCertificates::new(client, managed, into_service(certificates, metrics));
        state.sources.own_certificates = Some(own.state());
        state.tasks.spawn(own.run());
    }
    Ok(state)
}

/// Ends when the server begins to drain.
async fn draining(mut phases: watch::Receiver<Phase>) {
    drain::reached(&mut phases, Phase::Draining).await;
}

/// Starts the tasks that write the status of objects.
fn write_status(state: &mut State, leads: HeldUntil, metrics: &Arc<Metrics>) {
    let Some((sync, cluster_access)) = state
        .sources
        .sync
        .clone()
        .zip(state.cluster_access.as_ref())
    else {
        return;
    };
    let (client, resources) = (
        cluster_access.client.clone(),
        cluster_access.resources.clone(),
    );
    let writer = StatusWriter {
        client,
        snapshot: state.snapshot.clone(),
        sync,
        resources,
        leads,
        metrics: metrics.clone(),
        every: STATUS,
    };
    state.tasks.spawn(writer.run());
}

/// Namespace and name in `[NAMESPACE/]NAME`.
fn named(text: &str, own: &str) -> (String, String) {
    match text.split_once('/') {
        Some((namespace, name)) => (namespace.to_owned(), name.to_owned()),
        None => (own.to_owned(), text.to_owned()),
    }
}

fn managed_certificates(args: &Args, own: &str) -> ManagedCertificates {
    let (namespace, secret) = named(&args.cert_secret, own);
    let mut names = args.cert_names.clone();
    if names.is_empty() {
        names.push(format!("attache.{namespace}.svc"));
    }
    ManagedCertificates {
        secret,
        webhooks: args.webhook_name.clone(),
        rotation: Rotation {
            names,
            life: args.cert_life,
        },
        namespace,
    }
}

/// Connects attache's own certificates with the server.
fn into_service(certificates: &Arc<Certificates>, metrics: &Arc<Metrics>) -> Serve {
    let (certificates, metrics) = (certificates.clone(), metrics.clone());
    Box::new(move |pair| {
        let stored = certificates.store(pair.cert.as_bytes(), pair.key.as_bytes());
        let result = if stored.is_ok() { "loaded" } else { "failed" };
        metrics.cert_reload.with_label_values(&[result]).inc();
        let current = metrics.cert_current.with_label_values(&["serving"]);
        current.set(i64::from(stored.is_ok()));
        certificates.tell_end(&metrics);
        stored.map_err(|error| error.to_string())
    })
}

/// Watches a cluster as configured, and keeps webhook configurations up to date if asked to.
fn followed(
    client: kube::Client,
    managed: Option<ManagedWebhooks>,
    rules: watch::Receiver<Arc<ProfileRules>>,
    config: &Configuration,
    metrics: &Arc<Metrics>,
) -> State {
    let default = Settings::default();
    let settings = Settings {
        max_policy_kinds: config
            .limits
            .policy_kinds
            .unwrap_or(default.max_policy_kinds),
        events: config.events,
        live_read: millis(config.limits.live_read_millis, default.live_read),
        access: millis(config.limits.access_millis, default.access),
    };
    let mut cluster = Cluster::start(client.clone(), rules, metrics.clone(), settings);
    let status = GuardrailStatus {
        client: Some(client.clone()),
        in_use: cluster.guardrails.clone(),
        snapshot: cluster.snapshot.clone(),
        metrics: metrics.clone(),
        every: GUARDRAIL_STATUS,
    };
    cluster.tasks.spawn(status.run());
    let cluster_access = ClusterAccess {
        client: client.clone(),
        resources: cluster.resources,
        confirm: Arc::clone(&cluster.confirm),
    };
    let webhooks = managed.map(|managed| {
        let webhooks = Webhooks::new(client, managed, cluster.watched, metrics.clone());
        let state = webhooks.state();
        cluster.tasks.spawn(webhooks.run());
        state
    });
    let mut dependencies = dependencies(cluster.confirm, cluster.access, cluster.notices);
    let limit = config.limits.cache_age_seconds;
    let limit = limit.map_or(CACHE_AGE, Duration::from_secs);
    let sync = cluster.sync.clone();
    dependencies.age = Some(Arc::new(move || sync.stale_kinds(limit)));
    State {
        snapshot: cluster.snapshot,
        guardrails: cluster.guardrails,
        dependencies,
        cluster_access: Some(cluster_access),
        sources: TaskStates {
            sync: Some(cluster.sync),
            webhooks,
            own_certificates: None,
        },
        reports: None,
        tasks: cluster.tasks,
    }
}

/// Connects `cache` and `http`, which do not depend on each other.
fn dependencies(
    confirm: Arc<LiveRead>,
    access: Arc<Access>,
    notices: Option<Notices>,
) -> Dependencies {
    let lists = confirm.clone();
    Dependencies {
        list: Some(Arc::new(move |kind| {
            let lists = lists.clone();
            Box::pin(async move { lists.list(kind).await })
        })),
        confirm: Some(Arc::new(move |key| {
            let confirm = confirm.clone();
            Box::pin(async move { confirm.read(key).await })
        })),
        may_get: Some(Arc::new(move |subject, policy| {
            let access = access.clone();
            Box::pin(async move { access.may_get(subject, policy).await })
        })),
        note: notices.map(|notices| -> Note {
            Arc::new(move |policy, code, line| notices.hand(Notice { policy, code, line }))
        }),
        age: None,
        traces: Traces::default(),
    }
}

fn millis(configured: Option<u64>, default: Duration) -> Duration {
    configured.map_or(default, Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use bytes::Bytes;
    use http_body_util::Full;
    use hyper::{Request, Response};
    use tokio::sync::watch;
    use tokio::time::sleep;

    use super::followed;
    use crate::config::{Configuration, Text};
    use crate::engine::admission::staleness::StaleKinds;
    use crate::metrics::Metrics;

    /// An API server without objects, which can be made to fail.
    fn empty(is_gone: Arc<AtomicBool>) -> kube::Client {
        let answer = move |request: Request<kube::client::Body>| {
            let is_gone = is_gone.load(Ordering::Relaxed);
            async move {
                let query = request.uri().query().unwrap_or_default();
                if query.contains("watch=true") {
                    std::future::pending::<()>().await;
                }
                let list = Bytes::from(r#"{"metadata":{"resourceVersion":"1"},"items":[]}"#);
                let mut answer = Response::new(Full::new(list));
                if is_gone {
                    *answer.status_mut() = hyper::StatusCode::SERVICE_UNAVAILABLE;
                }
                Ok::<_, Infallible>(answer)
            }
        };
        kube::Client::new(tower::service_fn(answer), "default")
    }

    #[tokio::test(start_paused = true)]
    async fn the_configuration_says_from_which_age_on_the_cache_is_old() {
        for (limits, old_after_three_minutes) in
            [("", false), ("limits: {cacheAgeSeconds: 120}", true)]
        {
            let text = Text {
                path: "attache.yaml".into(),
                text: format!("apiVersion: attache.dev/v1\nkind: Configuration\n{limits}\n"),
            };
            let config = Configuration::from_text(Some(&text)).unwrap();
            let (_rules, known) = watch::channel(config.rules(crate::config::builtin().unwrap()));
            let metrics = Arc::new(Metrics::new().unwrap());
            let is_gone = Arc::<AtomicBool>::default();
            let state = followed(empty(is_gone.clone()), None, known, &config, &metrics);
            let (sync, age) = (state.sources.sync.unwrap(), state.dependencies.age.unwrap());
            while !sync.ready() {
                sleep(Duration::from_millis(10)).await;
            }
            is_gone.store(true, Ordering::Relaxed);
            sleep(Duration::from_mins(3)).await;
            assert_eq!(
                age() != StaleKinds::default(),
                old_after_three_minutes,
                "{limits:?}"
            );
            sleep(Duration::from_mins(3)).await;
            assert!(age() != StaleKinds::default(), "{limits:?}: as by default");
        }
    }
}
