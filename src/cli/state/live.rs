//! A cluster that is followed by watches.

use std::sync::Arc;

use super::view::View;
use crate::cache::api_error::ApiError;
use crate::cache::guardrails::GuardrailsInUse;
use crate::cache::lists::ReadScope;
use crate::cache::{self, Settings};
use crate::cli::Failure;
use crate::cli::cluster::Cluster;
use crate::cli::watch::Query;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::state::snapshot::Snapshot;
use crate::metrics::Metrics;

/// A cluster that is followed by watches.
pub(in crate::cli) struct Live {
    cluster: Cluster,
    rules: Arc<ProfileRules>,
    read_scope: ReadScope,
    watched: cache::Cluster,
    /// Kept alive: dropping it stops the watches.
    _rules: tokio::sync::watch::Sender<Arc<ProfileRules>>,
    seen: Option<Arc<Snapshot>>,
}

impl Live {
    /// Starts the watches.
    ///
    /// # Errors
    /// If the credentials are gone.
    pub(in crate::cli) fn start(
        mut cluster: Cluster,
        rules: Arc<ProfileRules>,
        read_scope: &ReadScope,
    ) -> Result<Self, Failure> {
        let (sender, receiver) = tokio::sync::watch::channel(Arc::clone(&rules));
        let metrics = Arc::new(Metrics::new()?);
        let watched = cluster.lasting(|client| {
            cache::Cluster::start(client, receiver, metrics, Settings::default())
        })?;
        Ok(Self {
            cluster,
            rules,
            read_scope: read_scope.clone(),
            watched,
            _rules: sender,
            seen: None,
        })
    }

    /// Whether the watches show all that is wanted; if not, each look lists the cluster.
    pub(in crate::cli) fn is_in_sync(&self) -> bool {
        self.knows(&self.watched.snapshot.load())
    }

    /// The guardrails that the watches show.
    pub(in crate::cli) fn guardrails(&self) -> &Arc<GuardrailsInUse> {
        &self.watched.guardrails
    }

    /// The cluster, to read more of it.
    pub(in crate::cli) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Whether the watches have everything that is wanted.
    fn knows(&self, snapshot: &Snapshot) -> bool {
        let sync = &self.watched.sync;
        let known = match &self.read_scope {
            ReadScope::Everything => true,
            ReadScope::Around(keys) => keys.iter().all(|key| snapshot.knows(&key.gk)),
        };
        known && sync.ready() && sync.checks().iter().all(|check| check.ok)
    }
}

impl Query<View> for Live {
    fn poll(&mut self) -> Result<Option<View>, Failure> {
        let snapshot = self.watched.snapshot.load_full();
        if self.knows(&snapshot) {
            let same = self
                .seen
                .as_ref()
                .is_some_and(|seen| Arc::ptr_eq(seen, &snapshot));
            self.seen = Some(Arc::clone(&snapshot));
            return Ok((!same).then(|| View::complete(Snapshot::clone(&snapshot), &self.rules)));
        }
        self.seen = None;
        let listed = self.cluster.read(&self.rules, &self.read_scope);
        let away = listed
            .missing
            .iter()
            .find_map(|missing| match &missing.why {
                ApiError::Away(why) => Some(why.clone()),
                _ => None,
            });
        match away {
            Some(why) => Err(format!("the API server does not answer: {why}; waiting").into()),
            None => Ok(Some(View::listed(listed, &self.rules))),
        }
    }
}
