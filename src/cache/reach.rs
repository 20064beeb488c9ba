//! How to reach a cluster: the kubeconfig that is named, else the usual places.

use std::path::Path;

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// Why no cluster can be reached, in words for the person at the terminal.
pub type Unreachable = Box<dyn std::error::Error + Send + Sync>;

/// The client configuration for a cluster.
///
/// # Errors
/// When the kubeconfig cannot be used, or none is found.
pub async fn config(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<Config, Unreachable> {
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    Ok(match kubeconfig {
        Some(file) => {
            let kubeconfig = Kubeconfig::read_from(file)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await?
        }
        None if context.is_some() => Config::from_kubeconfig(&options).await?,
        None => Config::infer().await.map_err(|e| {
            format!("no cluster: {e}; give --kubeconfig, or --from for a directory of manifests")
        })?,
    })
}
