//! Reloads the configuration file. Changes apply at once; an invalid file changes nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::cache::guardrails::GuardrailsInUse;
use crate::config::{ConfigError, Configuration, Text, builtin};
use crate::engine::admission::settings::ReviewSettings;
use crate::engine::kinds::profile::ProfileRules;
use crate::http::admin::Check;
use crate::metrics::Metrics;

/// A configuration in use and its source.
pub(super) struct FollowedConfiguration {
    /// The file that the user named.
    pub(super) file: Option<PathBuf>,
    /// The directory that may contain one.
    pub(super) directory: Option<PathBuf>,
    /// The newest text that could be read; initially that of the start.
    pub(super) seen: Option<Text>,
    /// The review settings in use.
    pub(super) settings: Arc<ArcSwap<ReviewSettings>>,
    /// The guardrails in use.
    pub(super) guardrails: Arc<GuardrailsInUse>,
    /// Whether whole specs are retained, for the page.
    pub(super) retains_specs: bool,
    /// Passes new profile rules to the watches.
    pub(super) rules: watch::Sender<Arc<ProfileRules>>,
    /// The state of the check in `/readyz`.
    pub(super) health: Health,
    pub(super) metrics: Arc<Metrics>,
}

/// The problem with the newest file, if any.
#[derive(Clone, Default)]
pub(super) struct Health(Arc<ArcSwap<Option<String>>>);

// === impl Health ===

impl Health {
    pub(super) fn check(&self) -> Check {
        let wrong = self.0.load();
        Check {
            name: "configuration".to_owned(),
            ok: wrong.is_none(),
            // The previous configuration stays in use.
            required: false,
            detail: (**wrong).clone().unwrap_or_default(),
        }
    }
}

// === impl FollowedConfiguration ===

impl FollowedConfiguration {
    /// Polls at the interval `every`; does not return.
    pub(super) async fn run(mut self, every: Duration) -> String {
        self.metrics.config_current.set(1);
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let read = Text::find(self.file.as_deref(), self.directory.as_deref());
            let is_same = read.as_ref().is_ok_and(|text| *text == self.seen);
            if is_same && self.health.0.load().is_none() {
                continue;
            }
            let used = read.and_then(|text| {
                let used = self.take(text.as_ref());
                self.seen = text;
                used
            });
            self.note(used.err().map(|error| error.to_string()));
        }
    }

    fn take(&self, text: Option<&Text>) -> Result<(), ConfigError> {
        let config = Configuration::from_text(text)?;
        let rules = rules(&config, self.retains_specs)?;
        self.settings
            .store(Arc::new(settings(&config, &self.guardrails)));
        self.rules.send_replace(rules);
        tracing::info!("configuration loaded");
        Ok(())
    }

    fn note(&self, wrong: Option<String>) {
        let result = if wrong.is_some() { "failed" } else { "loaded" };
        if wrong.is_some() && **self.health.0.load() == wrong {
            return;
        }
        self.metrics.config_loads.with_label_values(&[result]).inc();
        self.metrics.config_current.set(i64::from(wrong.is_none()));
        if let Some(why) = &wrong {
            tracing::error!(%why, "the configuration cannot be used; the previous one stays in use");
        }
        self.health.0.store(Arc::new(wrong));
    }
}

/// The rules of a configuration. `retains_specs` keeps the whole specs of objects, for the page.
///
/// # Errors
/// Fails if a built-in profile is invalid.
pub(super) fn rules(
    config: &Configuration,
    retains_specs: bool,
) -> Result<Arc<ProfileRules>, ConfigError> {
    let rules = config.rules(builtin()?);
    Ok(if retains_specs {
        Arc::new(ProfileRules::clone(&rules).retaining_specs())
    } else {
        rules
    })
}

/// The review settings of a configuration. Its guardrails are put into use.
pub(super) fn settings(
    config: &Configuration,
    guardrails: &Arc<GuardrailsInUse>,
) -> ReviewSettings {
    guardrails.configure(config.guardrails.clone());
    ReviewSettings {
        guard: Some(guardrails.clone()),
        ..config.review_settings()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arc_swap::ArcSwap;
    use tokio::sync::watch;

    use super::{FollowedConfiguration, Health};
    use crate::config::{Configuration, Text};
    use crate::engine::model::ids::GroupKind;
    use crate::metrics::Metrics;

    const HEAD: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";

    async fn eventually(what: &str, holds: impl Fn() -> bool) {
        for _ in 0..100 {
            if holds() {
                return;
            }
            // Virtual time.
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        panic!("not: {what}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_counts_and_a_broken_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("attache.yaml");
        let write = |text: &str| std::fs::write(&file, format!("{HEAD}{text}")).unwrap();
        write("");
        let text = Text::find(Some(&file), None).unwrap();
        let config = Configuration::from_text(text.as_ref()).unwrap();
        let (rules, given) = watch::channel(config.rules(crate::config::builtin().unwrap()));
        let review_settings = Arc::new(ArcSwap::from_pointee(config.review_settings()));
        let health = Health::default();
        let metrics = Arc::new(Metrics::new().unwrap());
        let follow = FollowedConfiguration {
            file: Some(file.clone()),
            directory: None,
            seen: text,
            settings: review_settings.clone(),
            guardrails: Arc::default(),
            retains_specs: false,
            rules,
            health: health.clone(),
            metrics: metrics.clone(),
        };
        let task = tokio::spawn(follow.run(Duration::from_secs(2)));
        let levels = || !review_settings.load().levels.is_empty();
        let gk = GroupKind::new("example.com", "Widget");
        let knows = || given.borrow().profile(&gk, None).is_some();
        assert!(health.check().ok && !levels() && !knows());
        let current = || metrics.config_current.get() == 1;
        let loads = |result: &str| metrics.config_loads.with_label_values(&[result]).get();
        eventually("the one of the start is current", current).await;

        write("profiles: [{match: {group: example.com, kind: Widget}}]\n");
        eventually("the profile is known", knows).await;
        assert_eq!((metrics.config_current.get(), loads("failed")), (1, 0));
        let loaded = loads("loaded");
        write(
            "profiles: [{match: {group: example.com, kind: Widget}}]\ndisclosure: [{match: {group: example.com, kind: Widget}, level: name}]\n",
        );
        eventually("the level counts", levels).await;

        write("disclosur: []\n");
        eventually("it is said", || !health.check().ok).await;
        let why = health.check().detail;
        assert!(
            why.contains("line 3") && why.contains("disclosure"),
            "{why}"
        );
        assert!(levels() && knows(), "the one before goes on");
        assert_eq!(metrics.config_current.get(), 0);
        assert_eq!((loads("loaded"), loads("failed")), (loaded + 1, 1));

        std::fs::remove_file(&file).unwrap();
        eventually("its absence is said", || {
            health.check().detail.contains("does not exist")
        })
        .await;
        assert!(levels());

        // Reading a pipe would block for ever.
        nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
        eventually("what it has become is said", || {
            health.check().detail.contains("it is a pipe")
        })
        .await;
        std::fs::remove_file(&file).unwrap();

        write("");
        eventually("all is well", || health.check().ok && !levels() && !knows()).await;
        assert_eq!(metrics.config_current.get(), 1);
        task.abort();
    }
}
