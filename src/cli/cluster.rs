//! A cluster as commands look at it: reached, asked what it serves, read once.

use std::sync::Arc;
use std::time::Duration;

use hyper::http::{HeaderName, HeaderValue};
use kube::{Client, Config};
use tokio::runtime::{Builder, Runtime};

use super::Failure;
use super::names::Names;
use super::state::State;
use crate::cache::crds::Found;
use crate::cache::lists::{Listed, Reader, Wants};
use crate::cache::served::Served;
use crate::cache::trouble::Trouble;
use crate::cache::{connect, reach, tuned};
use crate::engine::ids::GroupKind;
use crate::engine::profile::ProfileRules;

/// A person waits: an API server that is silent for so long is not going to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A cluster that has said what it serves.
#[derive(Debug)]
pub(super) struct Cluster {
    runtime: Arc<Runtime>,
    reader: Reader,
    config: Config,
    /// The namespace of what says none.
    pub(super) namespace: String,
}

impl Cluster {
    /// Reaches a cluster. `said` is the namespace that was named.
    ///
    /// # Errors
    /// When the kubeconfig cannot be used, or the API server does not answer.
    pub(super) fn open(state: &State, said: Option<String>) -> Result<Self, Failure> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let (reader, namespace, config) = runtime.block_on(async {
            let config = reach::config(state.kubeconfig.as_deref(), state.context.as_deref());
            let config = config.await?;
            let address = config.cluster_url.to_string();
            let namespace = said.unwrap_or_else(|| config.default_namespace.clone());
            let mut config = tuned(config);
            config.read_timeout = Some(PATIENCE);
            if let Some(time) = state.request_timeout {
                config.read_timeout = Some(time).filter(|time| !time.is_zero());
                config.connect_timeout = config.read_timeout;
            }
            impersonate(&mut config, state)?;
            let reached = async {
                let client = connect::once(config.clone()).await?;
                Reader::open(client, &namespace).await
            };
            let reader = reached.await;
            let reader = reader.map_err(|trouble| unreachable(&address, &trouble))?;
            Ok::<_, Failure>((reader, namespace, config))
        })?;
        Ok(Self {
            runtime: Arc::new(runtime),
            reader,
            namespace,
            config,
        })
    }

    /// What kinds are called: as the API server says, and where it does not yet, as their definitions
    /// say.
    pub(super) fn names(&self) -> Names {
        let (runtime, reader) = (Arc::clone(&self.runtime), self.reader.clone());
        Names::of(self.reader.served(), []).or_later(move || {
            let mut served = reader.served().clone();
            if let Ok(found) = runtime.block_on(reader.definitions()) {
                served.add_missing(Served::of(found.crds.iter().map(AsRef::as_ref)));
            }
            Names::of(&served, [])
        })
    }

    /// The definitions, of every kind.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub(super) fn definitions(&self) -> Result<Arc<Found>, Trouble> {
        self.runtime.block_on(self.reader.definitions())
    }

    /// The policy kinds that are served and that profiles name.
    pub(super) fn policy_kinds(&self, rules: &ProfileRules) -> Vec<GroupKind> {
        let served = self.reader.served();
        rules
            .kinds()
            .filter(|gk| served.get(gk).is_some())
            .cloned()
            .collect()
    }

    /// Kinds that may be policy kinds, which only their definitions would tell.
    pub(super) fn unexplained(&self, rules: &ProfileRules) -> Vec<GroupKind> {
        self.reader.unexplained(rules)
    }

    /// Starts what goes on for long: with a client that connects again when it has to.
    ///
    /// # Errors
    /// When there are no credentials any more.
    pub(super) fn lasting<T>(&mut self, start: impl FnOnce(Client) -> T) -> Result<T, Failure> {
        let _guard = self.runtime.enter();
        let client = Client::try_from(self.config.clone());
        let client = client.map_err(|error| Trouble::of(&error).to_string())?;
        self.reader.connect(client.clone());
        Ok(start(client))
    }

    /// Reads what is wanted.
    pub(super) fn read(&self, rules: &Arc<ProfileRules>, wants: &Wants) -> Listed {
        self.runtime.block_on(self.reader.read(rules, wants))
    }
}

/// Asks in the name of somebody else, as kubectl does it.
fn impersonate(config: &mut Config, state: &State) -> Result<(), Failure> {
    let user = state
        .user
        .iter()
        .map(|user| ("impersonate-user", "--as", user));
    let groups = state
        .groups
        .iter()
        .map(|group| ("impersonate-group", "--as-group", group));
    for (header, flag, value) in user.chain(groups) {
        let value = HeaderValue::from_str(value);
        let value =
            value.map_err(|_| format!("{flag}: no name of a user or group has such characters"))?;
        config
            .headers
            .push((HeaderName::from_static(header), value));
    }
    Ok(())
}

/// What to do about an API server that cannot be asked.
fn unreachable(address: &str, trouble: &Trouble) -> Failure {
    let address = address.trim_end_matches('/');
    match trouble {
        Trouble::Unknown(why) => format!(
            "the API server at {address} does not know who asks: {why}. Log in again, or name other credentials with --context"
        ),
        other => format!(
            "the API server at {address} does not answer: {other}. Is it the right cluster? Name another with --context or --kubeconfig"
        ),
    }
    .into()
}
