//! The profiles before CRDs are added: those of the configuration and the built-in ones, and facts about controllers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::DelegationFile;
use super::builtin::{BuiltinProfiles, by_kind};
use super::controller::{AttachedKindFile, ControllerFile, GeneratedRouteFile};
use super::{Profile, Source, file, resolve};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Crd, RetainedFields};

mod retained;

/// The configured and the built-in profiles, before CRDs are added.
#[derive(Clone, Debug, Default)]
pub struct ProfileRules {
    config: BTreeMap<GroupKind, file::ProfileFile>,
    builtin: Arc<BuiltinProfiles>,
    keeps: RetainedFields,
    /// Facts about controllers, by name.
    controllers: BTreeMap<String, ControllerFile>,
}

// === impl ProfileRules ===

impl ProfileRules {
    /// Configured profiles take precedence over built-in ones.
    pub fn new(config: Vec<file::ProfileFile>, builtin: Arc<BuiltinProfiles>) -> Self {
        let config = by_kind(config);
        let keeps = retained::retained(config.values().chain(builtin.iter()));
        Self {
            config,
            builtin,
            keeps,
            controllers: BTreeMap::new(),
        }
    }

    /// The built-in profiles.
    pub fn builtin(&self) -> impl Iterator<Item = &file::ProfileFile> {
        self.builtin.iter()
    }

    /// Adds facts about controllers; configured ones take precedence over built-in ones.
    #[must_use]
    pub fn with_controllers(
        mut self,
        config: Vec<ControllerFile>,
        builtin: Vec<ControllerFile>,
    ) -> Self {
        let all = builtin.into_iter().chain(config);
        let all: Vec<ControllerFile> = all.collect();
        let delegation = all.iter().filter_map(|facts| facts.delegation.as_ref());
        let annotations = delegation.filter_map(|facts| facts.inherit_matches.as_ref());
        let annotations = annotations.map(|annotation| annotation.key.clone());
        self.keeps.annotations.extend(annotations);
        let all = all.into_iter();
        self.controllers = all.map(|facts| (facts.name.clone(), facts)).collect();
        self
    }

    /// Retains the whole spec of every object.
    #[must_use]
    pub fn retaining_specs(mut self) -> Self {
        self.keeps.all_specs = true;
        self
    }

    /// The facts about a controller; `None` if there are none.
    pub fn controller(&self, name: &str) -> Option<&ControllerFile> {
        self.controllers.get(name).or_else(|| {
            let mut all = self.controllers.values();
            all.find(|facts| facts.is_also(name))
        })
    }

    /// The `controllerName` of a `GatewayClass` that a controller creates itself; `None` if none creates it.
    pub fn controller_of_created(&self, class: &str) -> Option<&Arc<str>> {
        let mut controllers = self.controllers.values();
        controllers.find_map(|facts| facts.creates_classes.get(class))
    }

    /// The facts of controllers about routes that delegate to others, one for each controller that follows them.
    pub fn delegations(&self) -> impl Iterator<Item = &DelegationFile> {
        let controllers = self.controllers.values();
        controllers.filter_map(|facts| facts.delegation.as_ref())
    }

    /// Whether a controller sends no requests to backends of a kind that others take.
    pub fn rejects_backends(&self, controller: &str, kind: &GroupKind) -> bool {
        let takes = |facts: &ControllerFile| {
            let kinds = facts.backend_kinds.as_ref();
            kinds.map(|kinds| kinds.contains(kind))
        };
        let rejects = self.controller(controller).and_then(takes) == Some(false);
        rejects
            && self
                .controllers
                .values()
                .any(|facts| takes(facts) == Some(true))
    }

    /// Whether a controller has a protocol of its own with this name, without a domain.
    pub fn is_protocol_of_controllers(&self, protocol: &str) -> bool {
        let mut controllers = self.controllers.values();
        controllers.any(|facts| facts.protocols.iter().any(|own| own == protocol))
    }

    /// The kinds of which controllers make routes.
    pub fn generated_routes(&self) -> impl Iterator<Item = &GeneratedRouteFile> {
        let controllers = self.controllers.values();
        controllers.flat_map(|facts| &facts.generated_routes)
    }

    /// Kinds of controllers that attach to Gateways like routes.
    pub fn attached_kinds(&self) -> impl Iterator<Item = &AttachedKindFile> {
        let controllers = self.controllers.values();
        controllers.flat_map(|facts| &facts.attached_kinds)
    }

    /// Whether a backend is no object but stands for all objects of its kind whose parent is the rule.
    pub fn is_for_all(&self, backend: &ObjectKey) -> bool {
        self.attached_kinds()
            .any(|kind| kind.stands_for_all(backend))
    }

    /// Kinds that are policy kinds regardless of their CRD.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        let kinds = self.config.keys().chain(self.builtin.kinds());
        kinds.filter(|gk| self.is_policy_kind(gk) == Some(true))
    }

    /// The parts of objects that are retained because profiles need them.
    pub fn retained_fields(&self) -> &RetainedFields {
        &self.keeps
    }

    /// Whether there is a built-in profile for a kind.
    pub fn is_builtin(&self, gk: &GroupKind) -> bool {
        self.builtin.get(gk).is_some()
    }

    /// Whether profiles state that a kind is no policy kind, although it may look like one.
    pub fn excludes(&self, gk: &GroupKind) -> bool {
        self.is_policy_kind(gk) == Some(false)
    }

    /// Whether profiles state that a kind is, or is not, a policy kind.
    fn is_policy_kind(&self, gk: &GroupKind) -> Option<bool> {
        let file = self.config.get(gk).or_else(|| self.builtin.get(gk))?;
        Some(file.policy.unwrap_or(true))
    }

    /// The profile of a kind; `None` if it is not a policy kind.
    pub fn profile(&self, gk: &GroupKind, crd: Option<&Crd>) -> Option<Arc<Profile>> {
        let is_policy = match crd {
            Some(crd) => is_policy_kind(self, crd),
            None => self.is_policy_kind(gk) == Some(true),
        };
        if !is_policy {
            return None;
        }
        if crd.is_none() && !self.config.contains_key(gk) {
            return self.builtin.alone(gk).cloned();
        }
        let explicit = [
            (self.config.get(gk), Source::Config),
            (self.builtin.get(gk), Source::Builtin),
        ];
        Some(Arc::new(resolve::resolve(gk, &explicit, crd)))
    }
}

/// Whether a CRD defines a policy kind: it has a profile, the label, or the right schema.
pub fn is_policy_kind(rules: &ProfileRules, crd: &Crd) -> bool {
    let looks_like_one = crd.policy_label.is_some() || crd.facts.is_policy;
    rules.is_policy_kind(&crd.gk).unwrap_or(looks_like_one)
}
