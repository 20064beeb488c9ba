//! The configuration file: its form and its defaults.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::engine::conduct::Conduct;
use crate::engine::mutate::{Mutations, Switches};
use crate::engine::profile::file::ProfileFile;
use crate::engine::profile::{ProfileRules, builtin};
use crate::engine::severities::{Actions, Override, Severities};

/// The configuration that a directory may carry for `--from`.
const IN_DIRECTORY: &str = "attache.yaml";

/// The whole file. An unknown field is an error: a setting that is misspelt must not pass for set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Configuration {
    /// `attache.dev/v1`.
    pub api_version: String,
    /// `Configuration`.
    pub kind: String,
    /// Facts about policy kinds; they win over everything else that is known of a kind.
    #[serde(default)]
    pub profiles: Vec<ProfileFile>,
    /// What findings of each code do; where a code is left out, what it does by default.
    #[serde(default)]
    pub findings: Actions,
    /// What they do for some requests; the first that is met and names the code counts.
    #[serde(default)]
    pub overrides: Vec<Override>,
    /// What the mutating endpoint mends, by name; what is left out is off.
    #[serde(default)]
    pub mutations: Switches,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be opened.
    #[error("failed to read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not a configuration; the text has line and column.
    #[error("{path}: {why}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        why: String,
    },
    /// A profile that comes with attache is broken.
    #[error("{0}")]
    Builtin(String),
}

// === impl Configuration ===

impl Configuration {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be opened or does not have the form of a configuration.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        let form = |why| ConfigError::Form {
            path: path.to_owned(),
            why,
        };
        let read: Self = serde_saphyr::from_str(&text).map_err(|e| form(e.to_string()))?;
        if read.api_version != "attache.dev/v1" || read.kind != "Configuration" {
            return Err(form(
                "this is not a configuration: it needs apiVersion: attache.dev/v1 and kind: Configuration"
                    .to_owned(),
            ));
        }
        Ok(read)
    }

    /// The configuration of a run: the named file, else the one in the directory, else the defaults.
    ///
    /// # Errors
    /// As [`Configuration::read`].
    pub fn find(file: Option<&Path>, directory: Option<&Path>) -> Result<Self, ConfigError> {
        if let Some(file) = file {
            return Self::read(file);
        }
        match directory.map(|dir| dir.join(IN_DIRECTORY)) {
            Some(file) if file.is_file() => Self::read(&file),
            _ => Ok(Self::default()),
        }
    }

    /// How reviews are conducted.
    pub fn conduct(&self) -> Conduct {
        Conduct {
            severities: Severities::new(self.findings.clone(), self.overrides.clone()),
            mutations: Mutations::new(&self.mutations),
        }
    }

    /// What is known of policy kinds before their CRDs are seen.
    ///
    /// # Errors
    /// When a built-in profile is broken.
    pub fn rules(&self) -> Result<Arc<ProfileRules>, ConfigError> {
        let builtin = builtin().map_err(ConfigError::Builtin)?;
        Ok(Arc::new(ProfileRules::new(self.profiles.clone(), builtin)))
    }
}

#[cfg(test)]
mod tests {
    use super::Configuration;
    use crate::engine::mutate::Mutation;

    fn read(text: &str) -> Result<Configuration, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Configuration::read(file.path()).map_err(|e| e.to_string())
    }

    #[test]
    fn misspelt_field_is_named_with_its_line() {
        let error = read("apiVersion: attache.dev/v1\nkind: Configuration\nprofile: []\n");
        let error = error.unwrap_err();
        assert!(error.contains("profile"), "{error}");
        assert!(error.contains("line 3"), "{error}");
    }

    #[test]
    fn another_kind_of_file_is_refused() {
        let error = read("apiVersion: v1\nkind: ConfigMap\n").unwrap_err();
        assert!(error.contains("kind: Configuration"), "{error}");
    }

    #[test]
    fn a_mutation_is_on_where_it_is_named() {
        let head = "apiVersion: attache.dev/v1\nkind: Configuration\n";
        let on = "mutations: {normalize-targets: true, project-fields: false}\n";
        let conduct = read(&format!("{head}{on}")).unwrap().conduct();
        assert!(conduct.mutations.has(Mutation::NormalizeTargets));
        assert!(!conduct.mutations.has(Mutation::ProjectFields));
        assert!(!conduct.mutations.has(Mutation::DefaultStrategy));
        let error = read(&format!("{head}mutations: {{normalise-targets: true}}\n"));
        assert!(error.unwrap_err().contains("normalise-targets"));
    }

    #[test]
    fn nothing_named_is_the_default() {
        let found = Configuration::find(None, None).unwrap();
        assert!(found.profiles.is_empty());
        assert!(found.rules().is_ok());
    }
}
