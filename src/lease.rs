//! Chooses one of several replicas by a Lease: what several must not do at once, one of them does.

use std::time::Duration;

use kube_lease_manager::{LeaseManager, LeaseManagerBuilder, LeaseManagerError};
use tokio::sync::watch;
use tokio::time::sleep;

/// How long a replica stays chosen without a sign of life. Another one takes over after that.
const LIFE: u64 = 20;
/// How long before the end of that time it renews.
const GRACE: u64 = 8;
/// The pause before another attempt to create or find the Lease.
const AGAIN: Duration = Duration::from_secs(5);
/// The field manager of the Lease. The library needs a name of its own for each replica, or it would not see conflicts.
const FIELD_MANAGER: &str = "attache";

/// A Lease that one of the replicas holds.
#[derive(Clone)]
pub struct Lease {
    /// The API server.
    pub client: kube::Client,
    /// Its namespace and name.
    pub name: (String, String),
}

// === impl Lease ===

impl Lease {
    /// Takes part in the election until the task ends. The channel says whether this replica is chosen.
    pub fn compete(self) -> (watch::Receiver<bool>, impl Future<Output = String>) {
        let (tell, chosen) = watch::channel(false);
        (chosen, self.run(tell))
    }

    async fn run(self, tell: watch::Sender<bool>) -> String {
        let mut is_told = false;
        loop {
            match self.manager().await {
                Ok(manager) => {
                    is_told = false;
                    follow(manager, &tell).await;
                    tell.send_replace(false);
                }
                Err(error) if !is_told => {
                    let (namespace, name) = &self.name;
                    tracing::warn!(%namespace, lease = %name, %error, "the Lease cannot be used: no replica is chosen");
                    is_told = true;
                }
                Err(_) => {}
            }
            sleep(AGAIN).await;
        }
    }

    async fn manager(&self) -> Result<LeaseManager, LeaseManagerError> {
        let (namespace, name) = &self.name;
        let mut builder = LeaseManagerBuilder::new(self.client.clone(), name)
            .with_namespace(namespace)
            .with_duration(LIFE)
            .with_grace(GRACE);
        // The name of the pod. Without one, the library makes up a name.
        if let Ok(pod) = std::env::var("HOSTNAME")
            && !pod.is_empty()
        {
            let own = format!("{pod}_{}", std::process::id());
            builder = builder
                .with_field_manager(format!("{FIELD_MANAGER}_{own}"))
                .with_identity(own);
        }
        builder.build().await
    }
}

/// Passes on whether this replica is chosen, until the election ends.
async fn follow(manager: LeaseManager, tell: &watch::Sender<bool>) {
    let (mut chosen, election) = manager.watch().await;
    while chosen.changed().await.is_ok() {
        let leads = *chosen.borrow_and_update();
        tracing::info!(leads, "the Lease has a new holder or lost it");
        tell.send_replace(leads);
    }
    election.abort();
}
