//! A cluster under test that watches the fake API server.

use std::sync::Arc;
use std::time::Duration;

use attache::cache::sync::{Check, KindState};
use attache::cache::{Cluster, Settings};
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::object::Object;
use attache::metrics::Metrics;
use testing::api_server::Server;
use testing::eventually::until_within;
use tokio::sync::watch;

pub struct Under {
    pub cluster: Cluster,
    pub metrics: Arc<Metrics>,
    /// The profile rules of the configuration.
    pub rules: watch::Sender<Arc<ProfileRules>>,
}

impl Under {
    pub fn test(server: &Server) -> Self {
        Self::with(server, Settings::default())
    }

    pub fn with(server: &Server, settings: Settings) -> Self {
        let metrics = Arc::new(Metrics::new().unwrap());
        let (rules, known) = watch::channel(Arc::new(ProfileRules::default()));
        let cluster = Cluster::start(server.client(), known, Arc::clone(&metrics), settings);
        Self {
            cluster,
            metrics,
            rules,
        }
    }

    pub fn ready(&self) -> bool {
        self.cluster.sync.ready()
    }

    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.cluster.snapshot.load().get(key).cloned()
    }

    pub fn count(&self, gk: &GroupKind) -> usize {
        self.cluster.snapshot.load().count(gk)
    }

    pub fn knows(&self, gk: &GroupKind) -> bool {
        self.cluster.snapshot.load().knows(gk)
    }

    pub fn state(&self, gk: &GroupKind) -> Option<KindState> {
        self.cluster.sync.state(gk)
    }

    pub fn check(&self, name: &str) -> Check {
        let checks = self.cluster.sync.checks();
        let found = checks.iter().find(|check| check.name == name);
        found
            .unwrap_or_else(|| panic!("{name} in {checks:?}"))
            .clone()
    }

    /// The value of a series in a scrape. `None` if it is missing.
    pub fn metric(&self, series: &str) -> Option<f64> {
        let page = self.metrics.text().unwrap();
        let mut values = page.lines().filter_map(|line| line.strip_prefix(series));
        values.find_map(|rest| rest.strip_prefix(' ')?.parse().ok())
    }

    /// The number of kinds that are not watched for a reason.
    pub fn unwatched(&self, reason: &str) -> Option<f64> {
        self.metric(&format!("attache_unwatched_kinds{{reason=\"{reason}\"}}"))
    }

    pub async fn until_ready(&self) {
        eventually("ready", || self.ready()).await;
    }
}

/// Waits in virtual time: it advances only when the tasks under test wait.
pub async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    until_within(Duration::from_mins(10), what, is_so).await;
}
