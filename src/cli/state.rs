//! Where a command looks: a cluster, or a directory of manifests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Failure;
use crate::cache::{crds, directory, reach, tuned};
use crate::config::Configuration;
use crate::engine::ids::GroupKind;
use crate::engine::object::Crd;
use crate::engine::profile::ProfileRules;

/// The arguments that say where.
#[derive(Debug, clap::Args)]
pub(super) struct State {
    /// Look at a directory of manifests instead of a cluster.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context"])]
    from: Option<PathBuf>,
    /// The cluster's kubeconfig; without it the usual places.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The configuration file; with --from, attache.yaml of the directory when it has one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The definitions that are there, and how policy kinds are told among them.
#[derive(Debug)]
pub(super) struct Definitions {
    /// What is known of policy kinds before their definitions are seen.
    pub rules: Arc<ProfileRules>,
    /// The definitions, of every kind.
    pub crds: Vec<Arc<Crd>>,
    /// The policy kinds that a directory has objects of, with or without a definition.
    pub used: Vec<GroupKind>,
}

// === impl State ===

impl State {
    /// Reads the definitions.
    ///
    /// # Errors
    /// When there is no such directory or cluster, or the configuration is wrong.
    pub(super) fn definitions(&self) -> Result<Definitions, Failure> {
        let config = Configuration::find(self.config.as_deref(), self.from.as_deref())?;
        let rules = config.rules()?;
        let (crds, used) = match &self.from {
            Some(directory) => from_directory(directory, &rules)?,
            None => (self.of_cluster()?, Vec::new()),
        };
        Ok(Definitions { rules, crds, used })
    }

    fn of_cluster(&self) -> Result<Vec<Arc<Crd>>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let config = reach::config(self.kubeconfig.as_deref(), self.context.as_deref()).await?;
            let client = kube::Client::try_from(tuned(config))?;
            Ok(crds::list(client).await?)
        })
    }
}

type Found = (Vec<Arc<Crd>>, Vec<GroupKind>);

fn from_directory(directory: &Path, rules: &Arc<ProfileRules>) -> Result<Found, Failure> {
    if !directory.is_dir() {
        return Err(format!("{} is not a directory", directory.display()).into());
    }
    let loaded = directory::load(&[directory.to_owned()], rules, "default");
    for problem in &loaded.problems {
        eprintln!("attache: {problem}");
    }
    let used = loaded.counts.policy_kinds.into_iter().collect();
    Ok((loaded.crds, used))
}
