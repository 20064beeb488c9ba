//! `-k` and `--helm`: manifests that kustomize or Helm renders, for every command that reads files.

use std::path::PathBuf;

use crate::cache::directory::Links;
use crate::cache::manifest::Manifests;
use crate::cache::repository;

/// The help of `--kustomize` where the result is applied.
pub(super) const KUSTOMIZE_TO_APPLY: &str = "Build this kustomization, with kustomize or kubectl, and read the result as \
    PATH. Can be repeated";
/// The help of `--helm` where the result is applied.
pub(super) const HELM_TO_APPLY: &str =
    "Render this Helm chart, with helm, and read the result as PATH. Can be repeated";

/// Manifests rendered by kustomize or Helm.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Rendered {
    /// Build this kustomization, with kustomize or kubectl, and read the result. Can be repeated.
    #[arg(short, long, value_name = "DIR")]
    pub(super) kustomize: Vec<PathBuf>,
    /// Render this Helm chart, with helm, and read the result. Can be repeated.
    #[arg(long, value_name = "DIR")]
    pub(super) helm: Vec<PathBuf>,
    /// A values file for --helm; can be repeated.
    #[arg(long, value_name = "FILE", requires = "helm")]
    pub(super) values: Vec<PathBuf>,
}

// === impl Rendered ===

impl Rendered {
    /// Whether nothing is named.
    pub(super) fn is_empty(&self) -> bool {
        self.kustomize.is_empty() && self.helm.is_empty()
    }

    /// The directories that are named.
    pub(super) fn dirs(&self) -> impl Iterator<Item = &PathBuf> {
        self.kustomize.iter().chain(&self.helm)
    }

    /// Renders all of them.
    ///
    /// # Errors
    /// When a program is missing, or fails.
    pub(super) fn read(&self, namespace: &str) -> Result<Manifests, String> {
        let mut all = Manifests::default();
        if let Some(dir) = self.dirs().find(|dir| !dir.exists()) {
            return Err(format!("{} does not exist", dir.display()));
        }
        for dir in &self.kustomize {
            all.append(repository::kustomization(dir)?);
        }
        for dir in &self.helm {
            all.append(repository::chart(dir, &self.values, namespace)?);
        }
        Ok(all)
    }

    /// The manifests of the kustomizations as they are written, without running a program.
    pub(super) fn unbuilt(&self) -> Manifests {
        let files: Vec<PathBuf> = self
            .kustomize
            .iter()
            .flat_map(|dir| repository::sources(dir))
            .collect();
        repository::unbuilt(&files, Links::Within)
    }

    /// The files and directories that the rendered manifests depend on.
    pub(super) fn watched(&self) -> impl Iterator<Item = PathBuf> {
        let read = self
            .kustomize
            .iter()
            .flat_map(|dir| repository::read_by(dir));
        read.chain(self.helm.iter().chain(&self.values).cloned())
    }

    /// The arguments as they were written.
    pub(super) fn again(&self) -> impl Iterator<Item = (&'static str, String)> {
        let lists = [
            ("--kustomize", &self.kustomize),
            ("--helm", &self.helm),
            ("--values", &self.values),
        ];
        let option = |(name, paths): (&'static str, &Vec<PathBuf>)| {
            let paths = paths.iter().map(|path| (name, path.display().to_string()));
            paths.collect::<Vec<_>>()
        };
        lists.into_iter().flat_map(option)
    }
}
