//! Publishes current findings as report objects. One of several replicas writes: the holder of a
//! Lease.
//!
//! Only differences are written, with server-side apply. Each write carries the resource version
//! that it is based on, so a replica that has lost the Lease without noticing cannot overwrite the
//! reports of its successor.

mod objects;
mod writer;

use std::future::Future;
use std::sync::Arc;

use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::answer::openreports::{PolicyNames, Reports};
use crate::lease::hold;
use crate::metrics::Metrics;

use self::writer::Writer;

/// The Lease of the replica that writes.
const LEASE: &str = "attache-reports";

/// The newest reports.
pub(super) type Newest = watch::Sender<Option<Arc<Reports>>>;

/// The settings with which reports are written.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The policies of other namespaces that reports name.
    pub policy_names: PolicyNames,
    /// A `ClusterRole` that owns the reports: they are removed with it.
    pub owner: Option<String>,
}

/// The sender of reports to their writer.
#[derive(Debug)]
pub struct ReportSender {
    pub(super) policy_names: PolicyNames,
    pub(super) newest: Newest,
}

/// Starts to write the reports that are handed in, until `ending` is done. Then the Lease is given up.
pub fn start(
    client: Client,
    settings: Settings,
    metrics: Arc<Metrics>,
    ending: impl Future<Output = ()> + Send + 'static,
    tasks: &mut JoinSet<String>,
) -> ReportSender {
    let (newest, reports) = watch::channel(None);
    let lease = (&*settings.namespace, LEASE);
    let held = hold(client.clone(), lease, ending, tasks);
    let writer = Writer::new(client, settings.owner, held, metrics);
    tasks.spawn(writer.run(reports));
    ReportSender {
        policy_names: settings.policy_names,
        newest,
    }
}
