//! A Lease, so that one replica writes at a time.
//!
//! It is renewed, taken and given up with the resource version that was read, so of two replicas one is refused. Whether a
//! Lease has expired is judged by how long it has not changed here, not by the clocks of other machines. The libraries for
//! this do otherwise: kube-lease-manager 0.13 writes without a resource version and compares clocks, so two replicas may hold
//! the Lease at once.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::sync::Mutex as Turn;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::cache::api_error::ApiError;

/// After this long without a renewal, another replica takes it.
const DURATION: Duration = Duration::from_secs(15);
/// The holder stops this long before that: its clock may run slower than that of others.
const MARGIN: Duration = Duration::from_secs(2);
/// The interval between two renewals by the holder.
const RENEW: Duration = Duration::from_secs(5);
/// The interval between two checks by the others.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
/// The longest that a request may take.
const REQUEST: Duration = Duration::from_secs(4);

/// Until when this replica holds the Lease.
#[derive(Clone, Debug, Default)]
pub struct HeldUntil {
    until: Arc<Mutex<Option<Instant>>>,
    /// Taken for each write, so that the Lease is not given up during one.
    turn: Arc<Turn<()>>,
}

/// The task that holds the Lease, or waits for it.
#[derive(Debug)]
struct LeaseTask {
    api: Api<Lease>,
    name: String,
    identity: String,
    held: HeldUntil,
    seen: Option<ObservedLease>,
}

/// The Lease of another holder as it was last seen, and since when it has not changed.
#[derive(Debug)]
struct ObservedLease {
    version: Option<String>,
    since: Instant,
}

/// Starts the task that holds the Lease with this name, or waits for it, until `ending` is done; then it gives the Lease up.
pub fn hold(
    client: Client,
    (namespace, name): (&str, &str),
    ending: impl Future<Output = ()> + Send + 'static,
    tasks: &mut JoinSet<String>,
) -> HeldUntil {
    let held = HeldUntil::default();
    let claim = LeaseTask {
        api: Api::namespaced(client, namespace),
        name: name.to_owned(),
        identity: identity(),
        held: held.clone(),
        seen: None,
    };
    tasks.spawn(claim.run(ending));
    held
}

// === impl HeldUntil ===

impl HeldUntil {
    /// The time that is left; `None` if this replica does not hold the Lease.
    pub fn left(&self) -> Option<Duration> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until?.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then_some(left)
    }

    /// Whether this replica holds the Lease for as long as a request may take.
    pub fn lasts(&self) -> bool {
        self.left().is_some_and(|left| left >= REQUEST)
    }

    /// Does one write, if this replica holds the Lease for as long as the write may take. `None` if it does not, or if the
    /// write took too long.
    pub async fn during<T>(&self, write: impl Future<Output = T>) -> Option<T> {
        let _turn = self.turn.lock().await;
        let left = self.left().filter(|left| *left >= REQUEST)?;
        timeout(left.min(REQUEST), write).await.ok()
    }

    fn set(&self, until: Option<Instant>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

// === impl LeaseTask ===

impl LeaseTask {
    /// Holds the Lease, or waits for it, until `ending` is done; then gives it up. Does not return.
    async fn run(mut self, ending: impl Future<Output = ()>) -> String {
        let mut trouble = None;
        tokio::pin!(ending);
        loop {
            let pause = tokio::select! {
                () = &mut ending => break,
                asked = self.ask() => match asked {
                    Ok(true) => {
                        trouble = None;
                        RENEW
                    }
                    Ok(false) => {
                        trouble = None;
                        RETRY_INTERVAL
                    }
                    Err(why) => {
                        if trouble.as_ref() != Some(&why) {
                            tracing::warn!(lease = self.name, %why, "the Lease cannot be read or written");
                        }
                        trouble = Some(why);
                        RETRY_INTERVAL
                    }
                },
            };
            tokio::select! {
                () = &mut ending => break,
                () = sleep(pause) => {}
            }
        }
        self.give_up().await;
        std::future::pending().await
    }

    /// Takes or renews the Lease. Returns whether this replica holds it. After an error it holds it until it expires.
    async fn ask(&mut self) -> Result<bool, String> {
        let started = Instant::now();
        let held = match timeout(REQUEST, self.attempt()).await {
            Ok(held) => held.map_err(|error| ApiError::classify(&error).to_string())?,
            Err(_) => return Err("the API server does not answer in time".to_owned()),
        };
        let was_held = self.held.left().is_some();
        let until = held.then(|| started + DURATION - MARGIN);
        self.held.set(until);
        if was_held != held {
            tracing::info!(
                lease = self.name,
                held,
                "the holder of the Lease has changed"
            );
        }
        Ok(held)
    }

    async fn attempt(&mut self) -> Result<bool, kube::Error> {
        let Some(lease) = self.api.get_opt(&self.name).await? else {
            let mut lease = Lease {
                metadata: ObjectMeta {
                    name: Some(self.name.clone()),
                    ..ObjectMeta::default()
                },
                spec: None,
            };
            lease.spec = Some(self.spec(&lease));
            let made = self.api.create(&PostParams::default(), &lease).await;
            return won(made);
        };
        if !self.may_take(&lease) {
            return Ok(false);
        }
        let taken = Lease {
            spec: Some(self.spec(&lease)),
            ..lease
        };
        won(self
            .api
            .replace(&self.name, &PostParams::default(), &taken)
            .await)
    }

    /// Whether nobody else holds it: its holder is this replica, or nobody, or has not renewed it in time.
    fn may_take(&mut self, lease: &Lease) -> bool {
        let spec = lease.spec.as_ref();
        let holder = spec.and_then(|spec| spec.holder_identity.as_deref());
        if holder.is_none_or(|holder| holder.is_empty() || holder == self.identity) {
            self.seen = None;
            return true;
        }
        let version = lease.metadata.resource_version.clone();
        let seen = self.seen.take().filter(|seen| seen.version == version);
        let seen = self.seen.insert(seen.unwrap_or_else(|| ObservedLease {
            version,
            since: Instant::now(),
        }));
        let stated_seconds = spec.and_then(|spec| spec.lease_duration_seconds);
        let duration = stated_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let duration = duration.map_or(DURATION, Duration::from_secs);
        seen.since.elapsed() > duration
    }

    /// The content of the Lease if this replica holds it from now on.
    fn spec(&self, before: &Lease) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let spec = before.spec.clone().unwrap_or_default();
        let is_renewal = spec.holder_identity.as_deref() == Some(&self.identity);
        let transitions = spec.lease_transitions.unwrap_or_default();
        LeaseSpec {
            acquire_time: match spec.acquire_time {
                Some(since) if is_renewal => Some(since),
                _ => Some(now.clone()),
            },
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            lease_transitions: Some(if is_renewal {
                transitions
            } else {
                transitions.saturating_add(1)
            }),
            renew_time: Some(now),
            ..spec
        }
    }

    /// Gives the Lease up, so that another replica need not wait until it expires.
    async fn give_up(&mut self) {
        self.held.set(None);
        // Waits for a write that has begun.
        let _turn = self.held.turn.lock().await;
        let given = async {
            let mut lease = self.api.get(&self.name).await?;
            let spec = lease.spec.get_or_insert_default();
            if spec.holder_identity.as_deref() == Some(&self.identity) {
                spec.holder_identity = None;
                self.api
                    .replace(&self.name, &PostParams::default(), &lease)
                    .await?;
            }
            Ok::<_, kube::Error>(())
        };
        // Otherwise it expires.
        let _ = timeout(REQUEST, given).await;
    }
}

/// Whether a write was the first. A conflict means that another replica was faster.
fn won(written: Result<Lease, kube::Error>) -> Result<bool, kube::Error> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// The name of the pod, and something that tells two processes in it apart.
fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "attache".to_owned());
    let started = Timestamp::now().as_nanosecond();
    format!("{host}_{}_{started:x}", std::process::id())
}
