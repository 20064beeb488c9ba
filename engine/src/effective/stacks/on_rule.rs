//! What distinguishes single rules of a route for the policies there: filters in place of settings, and the lack of a backend.

use std::sync::Arc;

use crate::effective::Resolver;
use crate::kinds::profile::{Profile, ReplacingFilter};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::json_text::JsonText;
use crate::model::level::Level;
use crate::model::object::{Node, Object};
use crate::model::section;
use crate::model::shared::Shared;
use crate::topology::RoutePath;
use crate::topology::delegation::rules_of;

/// The facts of a rule on which the settings in force there depend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::effective) struct OnRule {
    /// The filters that controllers use in place of settings: the index in the profile, and the value.
    filters: Vec<(usize, JsonText)>,
    /// Whether it answers requests without a backend, and settings are in force for these.
    pub(in crate::effective) without_backend: bool,
}

/// The facts of a route, and of the rules at the end of a path, on which the settings in force there depend.
#[derive(Clone, Copy, Debug)]
pub(in crate::effective) struct OnRoute<'a> {
    /// The kind of the route.
    pub(in crate::effective) kind: &'a GroupKind,
    /// Whether the rules answer requests without a backend, and settings are in force for these.
    pub(in crate::effective) without_backend: bool,
}

/// The rules of a route that have such filters, by label.
pub(in crate::effective) type RulesWithFilters = Vec<(Arc<str>, OnRule)>;

// === impl OnRule ===

impl OnRule {
    /// The facts of the rule to which a route path leads.
    pub(in crate::effective) fn at_end(
        profile: &Profile,
        with_filters: &RulesWithFilters,
        route: &Object,
        path: &RoutePath,
    ) -> Self {
        let mut steps = path.steps.iter();
        let rule = steps.find(|step| step.level == Level::Rule);
        let label = rule.and_then(|rule| rule.place.section.as_ref());
        let mut rules = with_filters.iter();
        let known = rules.find(|(with_filter, _)| Some(with_filter) == label);
        let lacks_backend = !path.complete
            && profile.applies_without_backend()
            && answers_without_backend(route, label);
        Self {
            without_backend: lacks_backend,
            ..known.map_or_else(Self::default, |(_, on_rule)| on_rule.clone())
        }
    }

    fn replacing<'a>(
        &'a self,
        profile: &'a Profile,
    ) -> impl Iterator<Item = (&'a ReplacingFilter, &'a JsonText)> {
        let facts: &[ReplacingFilter] = &profile.merging.replaced_by_filters;
        let filters = self.filters.iter();
        filters.filter_map(move |(index, value)| Some((facts.get(*index)?, value)))
    }
}

// === impl Resolver ===

impl Resolver<'_> {
    /// The effective policy on a rule whose filters replace some of its settings.
    pub(in crate::effective) fn effective_on_rule(
        &mut self,
        profile: &Profile,
        effective: Shared<EffectivePolicy>,
        on_rule: &OnRule,
        route: &ObjectKey,
    ) -> Shared<EffectivePolicy> {
        if on_rule.filters.is_empty() {
            return effective;
        }
        let filters = on_rule.replacing(profile);
        let replaced = filters.fold((*effective).clone(), |effective, (filter, value)| {
            effective.replaced_by(profile, filter, value, route)
        });
        self.arena.ids.share(replaced)
    }
}

/// The rules of a route with filters that controllers use in place of settings of the kind.
pub(in crate::effective) fn rules_with_filters(
    profile: &Profile,
    route: &Object,
) -> RulesWithFilters {
    let facts: &[ReplacingFilter] = &profile.merging.replaced_by_filters;
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    // A GRPCRoute has no filters of these types.
    if facts.is_empty() || !route.key.gk.is_gateway_api("HTTPRoute") {
        return Vec::new();
    }
    let rules = rules.iter().enumerate();
    let with_filters = rules.filter_map(|(index, rule)| Some((index, rule.filters.as_deref()?)));
    let on_rules = with_filters.filter_map(|(index, of_rule)| {
        let of_facts = facts.iter().enumerate();
        let filters = of_facts.filter_map(|(fact, replacing)| {
            Some((fact, of_rule.value(&replacing.filter)?.clone()))
        });
        let filters: Vec<(usize, JsonText)> = filters.collect();
        (!filters.is_empty()).then(|| {
            let on_rule = OnRule {
                filters,
                without_backend: false,
            };
            (section::rule_label(route, index), on_rule)
        })
    });
    on_rules.collect()
}

/// Whether a rule without a usable backend answers requests itself, as far as routes to which it delegates do not. Without rules, the
/// route does.
fn answers_without_backend(route: &Object, label: Option<&Arc<str>>) -> bool {
    let rules = rules_of(route);
    let Some(label) = label else {
        return rules.is_empty();
    };
    let mut rules = rules.iter().enumerate();
    !rules.any(|(index, rule)| rule.delegates() && section::rule_label(route, index) == *label)
}
