//! Loads a kubeconfig: the file that the user names, else those in the usual places.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::engine::model::hint::{nearest, quoted};

/// Why no cluster can be reached, for the person at the terminal.
pub type Unreachable = Box<dyn std::error::Error + Send + Sync>;

/// The environment variable that lists kubeconfigs, as for kubectl.
const VARIABLE: &str = "KUBECONFIG";

/// The client configuration for a cluster.
///
/// # Errors
/// Fails if the kubeconfig cannot be used, or there is none.
pub async fn config(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<Config, Unreachable> {
    let files = match kubeconfig {
        Some(file) => vec![file.to_owned()],
        None => usual(),
    };
    let mut merged: Option<Kubeconfig> = None;
    let mut read: Vec<&Path> = Vec::new();
    for file in &files {
        let result = match Kubeconfig::read_from(file) {
            // The default files need not exist.
            Err(KubeconfigError::ReadConfig(why, _))
                if kubeconfig.is_none() && why.kind() == io::ErrorKind::NotFound =>
            {
                continue;
            }
            found => found.map_err(|error| unusable(file, &error))?,
        };
        read.push(file);
        merged = Some(match merged {
            Some(before) => before.merge(result).map_err(|e| unusable(file, &e))?,
            None => result,
        });
    }
    // A Pod has no kubeconfig, or an empty one.
    let not_empty = merged.filter(|merged_config| {
        merged_config.current_context.is_some() || !merged_config.contexts.is_empty()
    });
    let Some(usable) = not_empty else {
        return in_cluster(kubeconfig, context, &files);
    };
    let shown: Vec<String> = read.iter().map(|file| file.display().to_string()).collect();
    let shown = shown.join(", ");
    check_context(&usable, context, &shown)?;
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(usable, &options).await;
    config.map_err(|error| format!("the kubeconfig {shown} cannot be used: {error}").into())
}

/// The name of the context in use; `None` if there is not a kubeconfig.
pub fn context(kubeconfig: Option<&Path>, context: Option<&str>) -> Option<String> {
    if let Some(context) = context {
        return Some(context.to_owned());
    }
    let files = kubeconfig.map_or_else(usual, |file| vec![file.to_owned()]);
    // If several files name one, the first file counts.
    let mut contexts = files.iter().filter_map(|file| {
        let read = Kubeconfig::read_from(file).ok()?;
        read.current_context.filter(|name| !name.is_empty())
    });
    contexts.next()
}

/// The files that kubectl would use.
fn usual() -> Vec<PathBuf> {
    let value = env::var_os(VARIABLE).unwrap_or_default();
    let paths: Vec<PathBuf> = env::split_paths(&value)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if !paths.is_empty() {
        return paths;
    }
    let home = env::home_dir();
    home.map(|home| home.join(".kube/config"))
        .into_iter()
        .collect()
}

fn in_cluster(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
    files: &[PathBuf],
) -> Result<Config, Unreachable> {
    let shown: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    if let Some(file) = kubeconfig {
        return Err(format!("the kubeconfig {} names no cluster", file.display()).into());
    }
    if context.is_none()
        && let Ok(config) = Config::incluster()
    {
        return Ok(config);
    }
    Err(format!(
        "no cluster is configured: nothing in {}. Name a kubeconfig with --kubeconfig, or read manifests instead: --from DIR (attache diff: name two directories)",
        shown.join(", ")
    )
    .into())
}

fn unusable(file: &Path, error: &KubeconfigError) -> Unreachable {
    let file = file.display();
    let why = match error {
        KubeconfigError::ReadConfig(why, _) => format!("cannot be read: {why}"),
        KubeconfigError::Parse(why) => {
            let why = why.to_string();
            let why = why.lines().next().unwrap_or_default();
            format!("is not a kubeconfig: {}", why.trim_end_matches(':'))
        }
        other => format!("cannot be used: {other}"),
    };
    format!("the kubeconfig {file} {why}").into()
}

/// If the user names an unknown context, the error lists the known ones.
fn check_context(
    kubeconfig: &Kubeconfig,
    context: Option<&str>,
    shown: &str,
) -> Result<(), Unreachable> {
    let names: Vec<&str> = kubeconfig
        .contexts
        .iter()
        .map(|named| named.name.as_str())
        .collect();
    let Some(wanted) = context.or(kubeconfig.current_context.as_deref()) else {
        let names = quoted(&names);
        return Err(format!(
            "the kubeconfig {shown} has no current context: name one with --context; there is {names}"
        )
        .into());
    };
    if names.contains(&wanted) {
        return Ok(());
    }
    let hint = match nearest(wanted, &names) {
        Some(near) => format!("; did you mean {near:?}?"),
        None if names.is_empty() => String::new(),
        None => format!("; there is {}", quoted(&names)),
    };
    Err(format!("the kubeconfig {shown} has no context {wanted:?}{hint}").into())
}
