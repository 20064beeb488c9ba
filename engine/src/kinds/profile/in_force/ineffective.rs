//! Settings that do nothing if a policy is attached at some levels, everywhere or only for some requests.

use std::sync::Arc;

use serde_json::Value;

use crate::kinds::profile::file::IneffectiveFile;
use crate::kinds::profile::values::paths::within_spec;
use crate::kinds::profile::{
    EmptySpec, Fact, FieldConditions, IgnoredSettings, OnListeners, Profile, SpecPath,
};
use crate::model::ids::GroupKind;
use crate::model::level::Level;

/// Settings that do nothing at a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ineffective {
    /// The level.
    pub level: Level,
    /// The requests that it is about.
    pub requests: ListenerAndRouteFilter,
    /// The policies that it is about, by their settings.
    pub(crate) policies: FieldConditions,
    /// The settings, as paths within `spec`.
    pub settings: Vec<String>,
    /// The facts that apply there, under which these fields are not settings.
    pub profile: Arc<Profile>,
}

/// Requests, by the listener and the route that take them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenerAndRouteFilter {
    /// The protocols of the listeners; all if there is none.
    pub protocols: Vec<Arc<str>>,
    /// The kinds of the routes; all if there is none.
    pub routes: Vec<GroupKind>,
    /// Whether requests are excluded for which the policy of a route merges the settings in by a
    /// strategy that it names.
    pub unless_merged: bool,
    /// Whether only requests count that a rule answers without a backend.
    pub without_backend: bool,
}

/// The listener and the route of a path, as far as facts about settings depend on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnPath<'a> {
    /// The facts about listeners of its protocol, if there are some.
    pub listener: Option<&'a OnListeners>,
    /// The kind of the route, if there is one.
    pub route: Option<&'a GroupKind>,
    /// Whether the rule has no backend that can be used.
    pub without_backend: bool,
}

// === impl OnPath ===

impl OnPath<'_> {
    /// Whether the listener or the route is known.
    pub fn is_some(self) -> bool {
        self.listener.is_some() || self.route.is_some()
    }
}

// === impl ListenerAndRouteFilter ===

impl ListenerAndRouteFilter {
    fn from_file(file: &IneffectiveFile) -> Self {
        let kinds = file.routes.iter();
        Self {
            protocols: file.protocols.clone(),
            routes: kinds.map(|kind| GroupKind::gateway_api(kind)).collect(),
            unless_merged: file.unless_merged,
            without_backend: file.without_backend,
        }
    }

    /// Whether it is about all requests.
    pub fn is_all(&self) -> bool {
        self.protocols.is_empty()
            && self.routes.is_empty()
            && !self.unless_merged
            && !self.without_backend
    }

    fn has(&self, path: OnPath<'_>) -> bool {
        let takes = |on: &OnListeners| self.protocols.iter().any(|one| on.protocols.contains(one));
        (self.protocols.is_empty() || path.listener.is_some_and(takes))
            && (self.routes.is_empty()
                || path.route.is_some_and(|route| self.routes.contains(route)))
            && (!self.without_backend || path.without_backend)
    }
}

// === impl Ineffective ===

impl Ineffective {
    /// The settings that do nothing at some levels. Those for some requests come first, with those for all.
    pub(in crate::kinds::profile) fn read(
        general: &Profile,
        files: &[IneffectiveFile],
    ) -> Vec<Self> {
        let mut all: Vec<(Level, ListenerAndRouteFilter, FieldConditions)> = Vec::new();
        for file in files {
            let requests = ListenerAndRouteFilter::from_file(file);
            for level in &file.levels {
                let known = (*level, requests.clone(), file.when.clone());
                if !all.contains(&known) {
                    all.push(known);
                }
            }
        }
        all.sort_by_key(|(level, requests, _)| (requests.is_all(), *level));
        let idle = all.into_iter().map(|(level, requests, of_policies)| {
            let here = files.iter().filter(|file| {
                let of = ListenerAndRouteFilter::from_file(file);
                file.levels.contains(&level)
                    && (of.is_all() || of == requests)
                    && file.when == of_policies
            });
            let settings = here.flat_map(|file| &file.settings);
            let settings = settings.map(|path| within_spec(path)).collect();
            Self::new(general, level, requests, of_policies, settings)
        });
        idle.collect()
    }

    /// Derives it from the facts for other levels.
    fn new(
        general: &Profile,
        level: Level,
        requests: ListenerAndRouteFilter,
        policies: FieldConditions,
        settings: Vec<String>,
    ) -> Self {
        let mut profile = general.clone();
        if !policies.is_empty() {
            // Such a policy does nothing there; it is not one without settings.
            profile.merging.empty_spec.value = Some(EmptySpec::Ignored);
        }
        profile.ineffective = Fact::default();
        let (nested, whole): (Vec<&String>, Vec<&String>) =
            settings.iter().partition(|setting| setting.contains('.'));
        profile.exclude.value.extend(whole.into_iter().cloned());
        if !nested.is_empty() {
            let nested = nested.into_iter().cloned().map(SpecPath::from);
            let unread = IgnoredSettings::always(nested.collect());
            profile.merging.ignored_settings.value.push(unread);
        }
        Self {
            level,
            requests,
            policies,
            settings,
            profile: Arc::new(profile),
        }
    }
}

// === impl Profile ===

impl Profile {
    /// Whether settings do nothing on routes of a kind, and on other routes they do.
    pub(crate) fn has_idle_settings_on(&self, route: &GroupKind) -> bool {
        let mut all = self.ineffective.iter();
        all.any(|idle| idle.requests.routes.contains(route))
    }

    /// Whether settings are in force for requests that a rule answers without a backend, of a kind whose paths end at backends.
    pub(crate) fn applies_without_backend(&self) -> bool {
        let mut all = self.ineffective.iter();
        all.any(|idle| idle.requests.without_backend)
    }

    /// The settings of a policy with a spec that do nothing at a level on a path, and their index in the list.
    pub(crate) fn idle_at(
        &self,
        level: Level,
        path: OnPath<'_>,
        spec: impl Fn() -> Value,
    ) -> Option<(usize, &Ineffective)> {
        let mut all = self.ineffective.iter().enumerate();
        all.find(|(_, idle)| {
            idle.level == level && idle.requests.has(path) && idle.policies.all_in_lazy(&spec)
        })
    }
}
