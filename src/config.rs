//! The configuration file: its format and its defaults.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use attache_guardrails::{GuardrailFile, Guardrails};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::engine::admission::disclosure::{Disclosure, DisclosureLevels};
use crate::engine::admission::finding::Code;
use crate::engine::admission::mutate::{Mutations, Switches};
use crate::engine::admission::mutation::Mutation;
use crate::engine::admission::settings::{Guard, ReviewSettings};
use crate::engine::admission::severities::{Action, Actions, Override, Severities};
use crate::engine::admission::suppress::Suppressors;
use crate::engine::kinds::profile::ControllerFile;
use crate::engine::kinds::profile::file::ProfileFile;
use crate::engine::kinds::profile::{Builtin, ProfileRules};
use crate::engine::kinds::schema::by_name;
use crate::reading::{self, Pipes};

mod plain;
mod renamed;

pub(crate) use plain::plain;
pub use renamed::RENAMED;
use renamed::meant;
pub(crate) use renamed::offered;

/// The configuration file of a directory, used with `--from`.
pub(crate) const IN_DIRECTORY: &str = "attache.yaml";

/// The least value of `limits.cacheAgeSeconds`.
const LEAST_AGE: u64 = 120;

/// The end of the message of the parser for a key that is written twice.
const OPTION_OF_PARSER: &str = ", set DuplicateKeyPolicy in Options if acceptable";

/// The configuration file. An unknown field is an error, so that a misspelt setting is not ignored.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Configuration {
    /// `attache.dev/v1`.
    pub api_version: String,
    /// `Configuration`.
    pub kind: String,
    /// Facts about policy kinds. They take precedence over all other sources.
    #[serde(default)]
    pub profiles: Vec<ProfileFile>,
    /// Facts about Gateway controllers. Those of a controller take the place of all that attache knows of it.
    #[serde(default)]
    pub controllers: Vec<ControllerFile>,
    /// The action for findings, by code. A code that is left out has its default action.
    #[serde(default)]
    #[schemars(schema_with = "by_name::<Code, Action>")]
    pub findings: Actions,
    /// Other actions for some requests. The first override that matches the request and names the code applies.
    #[serde(default)]
    pub overrides: Vec<Override>,
    /// The users who may suppress findings with the annotation `attache.dev/ignore`.
    #[serde(default)]
    pub suppressions: SuppressionsFile,
    /// The most that any user learns about the policies of a kind.
    #[serde(default)]
    pub disclosure: Vec<Disclosure>,
    /// Whether attache records an Event on a policy that it admits although a finding denies it by default or something
    /// could not be checked. A change takes effect after a restart.
    #[serde(default)]
    pub events: bool,
    /// The mutations of the mutating endpoint, by name. A mutation that is left out is off.
    #[serde(default)]
    #[schemars(schema_with = "by_name::<Mutation, bool>")]
    pub mutations: Switches,
    /// Rules that the effective policies must fulfil.
    #[serde(default)]
    #[schemars(with = "Vec<GuardrailFile>")]
    pub guardrails: Guardrails,
    /// Limits of the server. A change takes effect after a restart.
    #[serde(default)]
    pub limits: LimitsFile,
}

/// The users who may suppress findings. Everyone who may write an object may suppress its warnings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuppressionsFile {
    /// Users who may suppress findings that deny; nobody by default.
    #[serde(default)]
    pub refusals: Suppressors,
}

/// Limits of the server. A limit that is left out has its default value.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitsFile {
    /// The maximum number of policy kinds that are watched; 200 by default.
    #[schemars(range(min = 1))]
    pub policy_kinds: Option<usize>,
    /// The maximum number of concurrent reviews, each with a body of up to 7 MiB; 64 by default.
    #[schemars(range(min = 1))]
    pub reviews: Option<usize>,
    /// The milliseconds that a review waits for a live read; 300 by default.
    #[schemars(range(min = 1))]
    pub live_read_millis: Option<u64>,
    /// The milliseconds that a review waits for an access review; 200 by default.
    #[schemars(range(min = 1))]
    pub access_millis: Option<u64>,
    /// The seconds without news from the watch of a kind after which the kind is stale, and reviews that depend on it say so.
    /// 300 by default; at least 120, because a working watch sends news at least every seventy
    /// seconds.
    #[schemars(range(min = 120))]
    pub cache_age_seconds: Option<u64>,
}

/// The text of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The path of the file.
    pub path: PathBuf,
    /// Its contents.
    pub text: String,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}", unreadable_message(path, source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// It is not a valid configuration; the message has line and column.
    #[error("{path}: {why}")]
    Form {
        /// The file.
        path: PathBuf,
        /// The problem, with line and column.
        why: String,
    },
    /// A built-in profile is invalid.
    #[error("{0}")]
    Builtin(String),
}

/// Why a file cannot be read.
fn unreadable_message(path: &Path, why: &std::io::Error) -> String {
    let path = path.display();
    match why.kind() {
        ErrorKind::NotFound => format!("{path} does not exist"),
        _ => format!("failed to read {path}: {why}"),
    }
}

// === impl Configuration ===

impl Configuration {
    /// Reads a file.
    ///
    /// # Errors
    /// Fails if it cannot be read or is not a valid configuration.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Text::read(path, Pipes::Read)?.parse()
    }

    /// The configuration to use: the named file, else the one in the directory, else the defaults.
    ///
    /// # Errors
    /// As [`Configuration::read`].
    pub fn find(file: Option<&Path>, directory: Option<&Path>) -> Result<Self, ConfigError> {
        let path = file.map(Path::to_owned).or_else(|| in_directory(directory));
        path.map_or_else(|| Ok(Self::default()), |file| Self::read(&file))
    }

    /// Parses a text; `None` gives the defaults.
    ///
    /// # Errors
    /// Fails if it is not a valid configuration.
    pub fn from_text(text: Option<&Text>) -> Result<Self, ConfigError> {
        text.map_or_else(|| Ok(Self::default()), Text::parse)
    }

    /// The settings of reviews.
    pub fn review_settings(&self) -> ReviewSettings {
        ReviewSettings {
            severities: Severities::new(self.findings.clone(), self.overrides.clone()),
            levels: DisclosureLevels::new(&self.disclosure),
            mutations: Mutations::new(&self.mutations),
            suppressors: self.suppressions.refusals.clone(),
            guard: (!self.guardrails.is_empty())
                .then(|| Arc::new(self.guardrails.clone()) as Arc<dyn Guard>),
        }
    }

    /// The rules for policy kinds, before any CRD is known.
    pub fn rules(&self, builtin: &Builtin) -> Arc<ProfileRules> {
        let rules = ProfileRules::new(self.profiles.clone(), Arc::clone(&builtin.profiles));
        let controllers = builtin.controllers.clone();
        Arc::new(rules.with_controllers(self.controllers.clone(), controllers))
    }
}

/// The built-in facts about policy kinds and controllers. Commands that look at several states ask
/// for them again, so they are read once.
///
/// # Errors
/// Fails if a built-in profile is invalid.
pub fn builtin() -> Result<&'static Builtin, ConfigError> {
    static READ: LazyLock<Result<Builtin, String>> = LazyLock::new(Builtin::read);
    READ.as_ref()
        .map_err(|why| ConfigError::Builtin(why.clone()))
}

// === impl Text ===

impl Text {
    fn read(path: &Path, pipes: Pipes) -> Result<Self, ConfigError> {
        let path = path.to_owned();
        match reading::text(&path, reading::SMALL, pipes) {
            Ok(text) => Ok(Self { path, text }),
            Err(source) => Err(ConfigError::Read { path, source }),
        }
    }

    /// The text of the configuration to use; `None` if the defaults apply. It is read repeatedly, so a pipe is refused.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn find(
        file: Option<&Path>,
        directory: Option<&Path>,
    ) -> Result<Option<Self>, ConfigError> {
        let path = file.map(Path::to_owned).or_else(|| in_directory(directory));
        path.map(|file| Self::read(&file, Pipes::Refused))
            .transpose()
    }

    fn parse(&self) -> Result<Configuration, ConfigError> {
        let form = |why| ConfigError::Form {
            path: self.path.clone(),
            why,
        };
        let mut lines = self.text.lines();
        if lines.any(|line| line.trim_end() == "kind: Guardrail") {
            return Err(form(
                "this is a Guardrail, not a configuration: use attache guardrails -f, or write it below guardrails in a configuration"
                    .to_owned(),
            ));
        }
        let read: Configuration =
            serde_saphyr::from_str(&self.text).map_err(|error| form(self.wrong(&error)))?;
        if read.api_version != "attache.dev/v1" || read.kind != "Configuration" {
            return Err(form(
                "this is not a configuration: it needs apiVersion: attache.dev/v1 and kind: Configuration"
                    .to_owned(),
            ));
        }
        read.limits.refused().map_or(Ok(read), |why| Err(form(why)))
    }

    /// The error message. If the file is a link out of the directory, it is not quoted, because it may be a secret.
    fn wrong(&self, error: &serde_saphyr::Error) -> String {
        if !reading::leads_out(&self.path) {
            // Only programs that use the parser have this option.
            let why = meant(&error.to_string().replace(OPTION_OF_PARSER, ""));
            return plain(&why, &self.path.display().to_string());
        }
        let line = error.location().map_or(0, |at| at.line());
        format!(
            "this is not a configuration (line {line}); the reason is withheld, because a link leads to this file from elsewhere"
        )
    }
}

// === impl LimitsFile ===

impl LimitsFile {
    /// The problem with the limits, if any.
    fn refused(&self) -> Option<String> {
        let limits = [
            ("policyKinds", self.policy_kinds == Some(0)),
            ("reviews", self.reviews == Some(0)),
            ("liveReadMillis", self.live_read_millis == Some(0)),
            ("accessMillis", self.access_millis == Some(0)),
        ];
        if let Some((name, _)) = limits.into_iter().find(|(_, is_zero)| *is_zero) {
            return Some(format!(
                "limits.{name} must be at least 1: with 0 no review could be answered; leave it out for the default"
            ));
        }
        self.cache_age_seconds.filter(|age| *age < LEAST_AGE).map(|_| {
            format!(
                "limits.cacheAgeSeconds must be at least {LEAST_AGE}: a working watch may send no news for seventy seconds"
            )
        })
    }
}

/// The configuration file in a directory, unless it is a link out of it.
fn in_directory(directory: Option<&Path>) -> Option<PathBuf> {
    reading::within(directory?, IN_DIRECTORY)
}

#[cfg(test)]
mod tests {
    use super::Configuration;

    #[test]
    fn the_schema_knows_every_name() {
        let schema = schemars::schema_for!(Configuration);
        let schema = jsonschema::validator_for(schema.as_value()).unwrap();
        let is_valid = |more: &str| {
            let text = format!("apiVersion: attache.dev/v1\nkind: Configuration\n{more}");
            schema.is_valid(&serde_saphyr::from_str(&text).unwrap())
        };
        assert!(is_valid("findings: {section-unknown: warn}"));
        assert!(!is_valid("findings: {section-unknwon: warn}"));
        assert!(!is_valid("findings: {section-unknown: maybe}"));
        assert!(is_valid("mutations: {normalize-targets: true}"));
        assert!(!is_valid("mutations: {normalise-targets: true}"));
        assert!(is_valid(
            "overrides: [{when: {groups: [a]}, findings: {affects: 'off'}}]"
        ));
        assert!(!is_valid(
            "overrides: [{when: {group: [a]}, findings: {affects: 'off'}}]"
        ));
        assert!(!is_valid("overrides: [{findings: {affect: off}}]"));
    }
    use crate::engine::admission::mutation::Mutation;

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
        assert!(error.contains("did you mean \"profiles\"?"), "{error}");
    }

    #[test]
    fn a_key_that_is_there_twice_is_named_without_words_of_the_parser() {
        let error =
            read("apiVersion: attache.dev/v1\nkind: Configuration\nevents: true\nevents: false\n");
        let error = error.unwrap_err();
        assert!(error.contains("duplicate mapping key: events"), "{error}");
        assert!(!error.contains("DuplicateKeyPolicy"), "{error}");
    }

    #[test]
    fn another_kind_of_file_is_refused() {
        let error = read("apiVersion: v1\nkind: ConfigMap\n").unwrap_err();
        assert!(error.contains("kind: Configuration"), "{error}");
    }

    #[test]
    fn a_guardrail_is_named_with_its_option() {
        let error =
            read("apiVersion: attache.dev/v1alpha1\nkind: Guardrail\nmetadata: {name: a}\n");
        let error = error.unwrap_err();
        assert!(error.contains("use attache guardrails -f"), "{error}");
    }

    #[test]
    fn a_mutation_is_on_where_it_is_named() {
        let head = "apiVersion: attache.dev/v1\nkind: Configuration\n";
        let on = "mutations: {normalize-targets: true, project-fields: false}\n";
        let review_settings = read(&format!("{head}{on}")).unwrap().review_settings();
        assert!(review_settings.mutations.has(Mutation::NormalizeTargets));
        assert!(!review_settings.mutations.has(Mutation::ProjectFields));
        assert!(!review_settings.mutations.has(Mutation::DefaultStrategy));
        let error = read(&format!("{head}mutations: {{normalise-targets: true}}\n"));
        assert!(error.unwrap_err().contains("normalise-targets"));
    }

    #[test]
    fn a_cache_is_not_old_before_its_watches_have_spoken() {
        let head = "apiVersion: attache.dev/v1\nkind: Configuration\n";
        let with_age = |seconds| read(&format!("{head}limits: {{cacheAgeSeconds: {seconds}}}\n"));
        assert_eq!(with_age(120).unwrap().limits.cache_age_seconds, Some(120));
        let error = with_age(60).unwrap_err();
        assert!(
            error.contains("cacheAgeSeconds must be at least 120"),
            "{error}"
        );
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        let head = "apiVersion: attache.dev/v1\nkind: Configuration\n";
        for limit in ["policyKinds", "reviews", "liveReadMillis", "accessMillis"] {
            let error = read(&format!("{head}limits: {{{limit}: 0}}\n")).unwrap_err();
            assert!(
                error.contains(&format!("limits.{limit} must be at least 1")),
                "{error}"
            );
            assert!(read(&format!("{head}limits: {{{limit}: 1}}\n")).is_ok());
        }
    }

    #[test]
    fn what_a_link_leads_to_is_not_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(elsewhere.path(), "TOKEN=hush\nunknown: hush\n").unwrap();
        let link = dir.path().join("attache.yaml");
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        let error = Configuration::read(&link).unwrap_err().to_string();
        assert!(
            error.contains("not a configuration") && !error.contains("hush"),
            "{error}"
        );
        // Without a reference to it, the file is not even read.
        assert!(Configuration::find(None, Some(dir.path())).is_ok());
    }

    #[test]
    fn an_empty_configuration_is_the_default() {
        let configuration = Configuration::find(None, None).unwrap();
        assert!(configuration.profiles.is_empty());
        assert!(
            configuration
                .rules(super::builtin().unwrap())
                .kinds()
                .next()
                .is_some()
        );
    }
}
