//! Policies without settings.

use std::sync::{Arc, OnceLock};

use super::{Policy, Stanza};
use super::{PolicyStanza, StanzaRef};
use crate::kinds::profile::{MergeWith, Op, Profile, Strategy, WeaknessResult};
use crate::model::object::Object;
use crate::model::object::is_route;

impl Policy {
    /// The policy as its controllers treat it when they reject it and it still replaces policies above it: it has no
    /// settings. Routes to which only some settings apply keep them if these are not the cause, which is unknown if a controller
    /// `reported` the rejection.
    pub(crate) fn without_settings(&self, reported: bool) -> Self {
        let variants = self.variants.iter().enumerate().map(|(place, made)| {
            let on_routes = self.profile.on_routes.get(place);
            let Some(on) = on_routes.filter(|on| reported || self.is_rejected_for(&on.settings))
            else {
                return made.clone();
            };
            let nothing = self.under(&on.profile, place).without_effect();
            OnceLock::from(Arc::new(nothing))
        });
        Self {
            stanzas: Box::new([PolicyStanza::nothing(self.key())]),
            reading_cost: 0,
            variants: variants.collect(),
            ..self.clone()
        }
    }

    /// Whether its controllers reject it for one of these fields of its spec.
    fn is_rejected_for(&self, settings: &[String]) -> bool {
        let mut causes = self
            .rejected_by
            .iter()
            .filter_map(|index| self.profile.rejected_if.get(*index));
        causes.any(|cause| cause.reads_one_of(settings))
    }

    /// The policy without one of its settings, as keys within them; `None` if no others are left.
    pub(crate) fn without_setting(&self, path: &[String]) -> Option<Self> {
        let mut spec = self.spec();
        let (last, above) = path.split_last()?;
        let outer = above
            .iter()
            .try_fold(&mut spec, |value, key| value.get_mut(key))?;
        outer.as_object_mut()?.remove(last)?;
        let object = Object {
            spec: Some(spec.to_string().into()),
            ..(*self.object).clone()
        };
        let rest = Self::read(Arc::new(object), self.profile.clone());
        let rest = rest.at_listeners(self.variant().at()).unwrap_or(rest);
        (!rest.is_empty()).then_some(rest)
    }

    /// The policy as its controllers treat it when they reject it and newer ones on its target still lose to it.
    pub(crate) fn without_effect(&self) -> Self {
        Self {
            stanzas: Box::default(),
            reading_cost: 0,
            variants: Box::default(),
            ..self.clone()
        }
    }

    /// The policy as its controllers treat it when they accept it and do not enforce it: it takes its place among the
    /// others, and none of its settings is in force. `None` if it replaces no others.
    pub(crate) fn not_enforced(&self) -> Option<Self> {
        let pieces = self.stanzas.iter();
        let emptied: Box<[PolicyStanza]> = pieces
            .filter_map(|piece| piece.emptied(self.key()))
            .collect();
        (!emptied.is_empty()).then(|| Self {
            stanzas: emptied,
            reading_cost: 0,
            variants: Box::default(),
            ..self.clone()
        })
    }

    /// Why its controllers do not apply it, if an annotation says so: a dry run.
    pub fn why_not_applied(&self) -> Option<&Arc<str>> {
        not_applied(&self.object, &self.profile)
    }

    /// Whether it has no settings and does not count.
    pub fn has_no_effect(&self) -> bool {
        self.stanzas.is_empty()
    }

    /// Whether it has no settings. It may still replace others.
    pub fn is_empty(&self) -> bool {
        self.stanzas.iter().all(PolicyStanza::is_empty)
    }

    /// Whether it has no settings, and merges with others if it counts at all.
    pub fn adds_nothing(&self) -> bool {
        let merges = |stanza: &Stanza| {
            let is_additive = matches!(stanza.strategy, Strategy::Merge(_, Op::Additive));
            !stanza.strategy.is_whole() && !is_additive
        };
        let mut stanzas = self.strategies.iter().flat_map(|stanzas| stanzas.iter());
        self.has_no_effect() || (self.is_empty() && stanzas.all(merges))
    }

    /// Whether it may take the place of policies of its route even if it has no settings: it applies to a rule, and merges only
    /// with policies above the routes.
    pub fn may_override_without_settings(&self) -> bool {
        let mut targets = self.targets.iter();
        let by_nearest = *self.profile.merging.merge_with == MergeWith::NearestAboveRoutes;
        by_nearest
            && !self.has_no_effect()
            && targets.any(|target| target.section.is_some() && is_route(&target.gk))
    }

    /// Whether it has settings, but none of those without which a policy of its kind counts as empty: conditions without
    /// rules.
    pub fn lacks_required(&self) -> bool {
        !self.is_empty() && self.stanzas.iter().all(PolicyStanza::lacks_required)
    }

    /// Whether it has no settings and replaces others as a whole.
    pub fn replaces_by_nothing(&self) -> bool {
        let mut parts = self.stanzas();
        !self.stanzas.is_empty() && self.is_empty() && parts.all(StanzaRef::is_whole)
    }
}

/// Why controllers do not apply a policy, if an annotation says so.
pub(super) fn not_applied<'a>(object: &Object, profile: &'a Profile) -> Option<&'a Arc<str>> {
    let mut weaknesses = profile.weakened_by.iter();
    let not_applied = weaknesses.find(|weakness| {
        let is_whole = weakness.settings.iter().any(|path| path.is_empty());
        let condition = weakness.condition();
        let by_annotation = condition.reads_annotations() && !condition.reads_fields();
        is_whole
            && by_annotation
            && weakness.result == WeaknessResult::NotApplied
            && condition.holds_for(Some(&object.meta))
    });
    not_applied?.text.as_ref()
}
