//! A cluster as commands read it: connect, discover the served kinds, list once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::http::{HeaderName, HeaderValue};
use kube::{Client, Config};
use tokio::runtime::{Builder, Runtime};

use super::Failure;
use super::names::Names;
use super::time::timeout;
use crate::cache::api_error::ApiError;
use crate::cache::crds::Crds;
use crate::cache::lists::{Listed, ReadScope, Reader};
use crate::cache::raw::RawObject;
use crate::cache::served::Served;
use crate::cache::{connect, kubeconfig, tuned};
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::GroupKind;

/// A user waits for the answer, so an API server that is silent for this long counts as down.
const PATIENCE: Duration = Duration::from_secs(20);

/// The cluster to read, and the user to read it as.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Access {
    /// The kubeconfig file; by default $KUBECONFIG or ~/.kube/config.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The kubeconfig context.
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// Impersonate this user.
    #[arg(long = "as", value_name = "USER")]
    pub(super) user: Option<String>,
    /// Impersonate this group; can be repeated.
    #[arg(long = "as-group", value_name = "GROUP", requires = "user")]
    pub(super) groups: Vec<String>,
    /// Timeout of each request to the API server: 10s, 1m, or 0 for none.
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub(super) request_timeout: Option<Duration>,
}

/// A cluster whose API discovery is complete.
#[derive(Debug)]
pub(super) struct Cluster {
    runtime: Arc<Runtime>,
    reader: Reader,
    config: Config,
    /// The namespace of objects without one.
    pub(super) namespace: String,
}

impl Cluster {
    /// Connects to a cluster. `given_namespace` is the namespace from the command line.
    ///
    /// # Errors
    /// If the kubeconfig cannot be used or the API server does not answer.
    pub(super) fn open(access: &Access, given_namespace: Option<String>) -> Result<Self, Failure> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let (reader, namespace, config) = runtime.block_on(async {
            let config =
                kubeconfig::config(access.kubeconfig.as_deref(), access.context.as_deref());
            let config = config.await?;
            let address = config.cluster_url.to_string();
            let namespace = given_namespace.unwrap_or_else(|| config.default_namespace.clone());
            let mut config = tuned(config);
            config.read_timeout = Some(PATIENCE);
            if let Some(time) = access.request_timeout {
                config.read_timeout = Some(time).filter(|time| !time.is_zero());
                config.connect_timeout = config.read_timeout;
            }
            impersonate(&mut config, access)?;
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

    /// The names of kinds: from discovery, and for kinds that the API server does not serve yet, from their CRDs.
    pub(super) fn names(&self, rules: &Arc<ProfileRules>) -> Names {
        let (runtime, reader) = (Arc::clone(&self.runtime), self.reader.clone());
        let later = Arc::clone(rules);
        Names::from_served(self.reader.served(), [], rules).or_later(move || {
            let mut served = reader.served().clone();
            if let Ok(definitions) = runtime.block_on(reader.definitions()) {
                served.add_missing(Served::from_crds(
                    definitions.crds.iter().map(AsRef::as_ref),
                ));
            }
            Names::from_served(&served, [], &later)
        })
    }

    /// All CRDs.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(super) fn definitions(&self) -> Result<Arc<Crds>, ApiError> {
        self.runtime.block_on(self.reader.definitions())
    }

    /// The policy kinds that a profile names and the API server serves.
    pub(super) fn policy_kinds(&self, rules: &ProfileRules) -> Vec<GroupKind> {
        let served = self.reader.served();
        rules
            .kinds()
            .filter(|gk| served.get(gk).is_some())
            .cloned()
            .collect()
    }

    /// Kinds that may be policy kinds; only their CRDs could tell.
    pub(super) fn unexplained(&self, rules: &ProfileRules) -> Vec<GroupKind> {
        self.reader.unexplained(rules)
    }

    /// Starts a long-running task with a client that reconnects.
    ///
    /// # Errors
    /// If the credentials are gone.
    pub(super) fn lasting<T>(&mut self, start: impl FnOnce(Client) -> T) -> Result<T, Failure> {
        let _guard = self.runtime.enter();
        let client = Client::try_from(self.config.clone());
        let client = client.map_err(|error| ApiError::classify(&error).to_string())?;
        self.reader.connect(client.clone());
        Ok(start(client))
    }

    /// The `Guardrail` objects.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(super) fn guardrails(&self) -> Result<Vec<RawObject>, ApiError> {
        self.runtime.block_on(self.reader.guardrails())
    }

    /// The user who asks, if the API server names it.
    pub(super) fn user(&self) -> Option<String> {
        self.runtime.block_on(self.reader.user())
    }

    /// The runtime of its requests.
    pub(super) fn runtime(&self) -> Arc<Runtime> {
        Arc::clone(&self.runtime)
    }

    /// Reads more of it.
    pub(super) fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// Lists the wanted objects.
    pub(super) fn read(&self, rules: &Arc<ProfileRules>, read_scope: &ReadScope) -> Listed {
        self.runtime.block_on(self.reader.read(rules, read_scope))
    }
}

/// Adds impersonation headers, as kubectl does.
fn impersonate(config: &mut Config, access: &Access) -> Result<(), Failure> {
    let user = access
        .user
        .iter()
        .map(|user| ("impersonate-user", "--as", user));
    let groups = access
        .groups
        .iter()
        .map(|group| ("impersonate-group", "--as-group", group));
    for (header, flag, value) in user.chain(groups) {
        let value = HeaderValue::from_str(value);
        let value = value.map_err(|_| {
            format!("{flag}: names of users and groups cannot have these characters")
        })?;
        config
            .headers
            .push((HeaderName::from_static(header), value));
    }
    Ok(())
}

/// The error message for an API server that does not answer, with a remedy.
fn unreachable(address: &str, trouble: &ApiError) -> Failure {
    let address = address.trim_end_matches('/');
    match trouble {
        ApiError::Unknown(why) => format!(
            "the API server at {address} rejects the credentials: {why}. Log in again, or select other credentials with --context"
        ),
        ApiError::Forbidden(said) if trouble.is_of_impersonation() => format!(
            "the API server at {address} does not allow impersonation: {said}. Remove --as and --as-group, \
             or ask for permission to impersonate"
        ),
        other => format!(
            "the API server at {address} does not answer: {other}. Is it the right cluster? Select another with --context or --kubeconfig"
        ),
    }
    .into()
}
