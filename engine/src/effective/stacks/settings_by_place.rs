//! The policies on a path with the settings that apply there: not all settings apply to every listener, route and level.

use std::sync::Arc;

use super::stack_level::{Stack, StackLevel};
use crate::kinds::profile::{OnPath, OnRoutes};
use crate::merge::contenders;
use crate::model::ids::ObjectKey;
use crate::model::level::Level;
use crate::model::maps::HashMap;
use crate::policy::fuel::Fuel;
use crate::policy::{ListenerFacts, Policy};

/// Policies without their settings that do not apply to a listener; each is made once.
#[derive(Debug, Default)]
pub(super) struct PoliciesAtListeners {
    known: HashMap<(ObjectKey, ListenerFacts), Arc<Policy>>,
}

// === impl PoliciesAtListeners ===

impl PoliciesAtListeners {
    /// The stack on listeners where not all settings apply: each policy with those that do, without policies that have
    /// none and do not count then.
    pub(super) fn stack(&mut self, stack: Stack, at: ListenerFacts, fuel: &Fuel) -> Stack {
        let levels = stack.into_iter().filter_map(|level| {
            let there = level.policies.iter();
            let there = there.map(|policy| self.policy(policy, at, fuel));
            let there = there.filter(|policy| !policy.has_no_effect());
            let policies: Vec<Arc<Policy>> = there.collect();
            (!policies.is_empty()).then(|| StackLevel {
                policies: policies.into(),
                ..level
            })
        });
        levels.collect()
    }

    /// Whether some settings of these policies do not apply to a listener.
    pub(super) fn matters(&mut self, stacks: [&Stack; 2], at: ListenerFacts, fuel: &Fuel) -> bool {
        let levels = stacks.into_iter().flatten();
        let mut policies = levels.flat_map(|level| level.policies.iter());
        policies.any(|policy| !Arc::ptr_eq(&self.policy(policy, at, fuel), policy))
    }

    fn policy(&mut self, policy: &Arc<Policy>, at: ListenerFacts, fuel: &Fuel) -> Arc<Policy> {
        // One that is rejected here has no settings, and may have some on other listeners.
        if policy.is_empty() {
            return policy.clone();
        }
        let known = self.known.entry((policy.key().clone(), at));
        let made = || {
            fuel.spend(policy.leaves() + policy.reading_cost());
            let variant = policy.at_listeners(at).map(Arc::new);
            variant.unwrap_or_else(|| policy.clone())
        };
        known.or_insert_with(made).clone()
    }
}

/// The stack on routes to which other facts apply: each policy with its settings for them, without policies that have
/// none. A policy that is superseded by an older one stays superseded, whatever the older one sets.
pub(super) fn on_routes(stack: Stack, place: usize, on: &OnRoutes) -> Stack {
    let acts = |level: &StackLevel| on.sections || level.step.level != Level::Rule;
    let levels = stack.into_iter().filter(acts).filter_map(|level| {
        let there = contenders(&on.profile, &level.policies).iter();
        let there = there.filter_map(|policy| policy.on_routes(place));
        let there = there.filter(|policy| !policy.has_no_effect());
        let policies: Vec<Arc<Policy>> = there.cloned().collect();
        (!policies.is_empty()).then(|| StackLevel {
            step: level.step,
            policies: policies.into(),
            rare_facts: level.rare_facts,
        })
    });
    levels.collect()
}

/// The stack without settings that do nothing at their level, and without policies that have no other settings.
pub(super) fn without_ineffective(stack: Stack, path: OnPath<'_>) -> Stack {
    let most_specific = stack.iter().max_by_key(|level| level.step.level);
    let merging = most_specific.filter(|level| {
        let first = level.policies.first();
        level.step.level >= Level::Route && first.is_some_and(|policy| policy.chooses_to_merge())
    });
    let merging = merging.map(|level| level.step.level);
    let levels = stack.into_iter().filter_map(|mut level| {
        let at = level.step.level;
        let is_merged = merging.is_some_and(|merging| merging > at);
        let is_idle = |policy: &Arc<Policy>| {
            let idle = policy.profile.idle_at(at, path, || policy.spec());
            idle.is_some_and(|(_, idle)| !(idle.requests.unless_merged && is_merged))
        };
        if level.policies.iter().any(is_idle) {
            let there = level.policies.iter();
            let there = there.map(|policy| policy.at_level(at, path).unwrap_or(policy));
            let there: Vec<Arc<Policy>> = there
                .filter(|policy| !policy.has_no_effect())
                .cloned()
                .collect();
            if there.is_empty() {
                return None;
            }
            level.policies = there.into();
        }
        Some(level)
    });
    levels.collect()
}
