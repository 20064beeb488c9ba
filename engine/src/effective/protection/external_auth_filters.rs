//! `ExternalAuth` filters that rules of routes give up: their requests are no longer authorized.

use std::collections::BTreeSet;

use super::provided::Provided;
use super::{Coverage, LostSources, ProtectionLoss};
use crate::effective::Resolver;
use crate::effective::renames::renamed_sections;
use crate::kinds::profile::{Profile, Protection, ReplacingFilter, UnsupportedFilterEffect};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{Node, Object, ParentRef, Rule};
use crate::model::section::rule_label;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::rules_of;
use crate::topology::{controller_facts, with_sets};

/// The most routes below changed Gateways that are looked at.
const MOST_ROUTES: usize = 1_000;

/// The type of the filters.
const EXTERNAL_AUTH: &str = "ExternalAuth";

/// The name of the protection, for users.
pub const EXTERNAL_AUTH_FILTER: &str = "ExternalAuth filter";

/// The `ExternalAuth` filters that rules of the routes among these objects give up, unless policies authorize the requests in their
/// place. One loss for each route.
pub(super) fn lost_filters(
    [before, after]: [&Snapshot; 2],
    resolver_after: &mut Resolver<'_>,
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let owners = objects.iter().filter(|key| key.gk.has_listeners());
    let owners = owners.filter_map(|owner| after.get(owner));
    let owners = owners.flat_map(|owner| with_sets(after, owner));
    let below = owners.flat_map(|owner| after.below(&owner.key).map(|route| &route.key));
    let below = below.filter(|key| {
        let [old, new] = [before, after].map(|state| state.get(key).map(|route| &route.node));
        old == new
    });
    let routes: BTreeSet<&ObjectKey> = objects.iter().chain(below.take(MOST_ROUTES)).collect();
    let routes = routes
        .into_iter()
        .filter(|key| key.gk.is_gateway_api("HTTPRoute"));
    let losses = routes.filter_map(|key| {
        let (old, new) = (before.get(key)?, after.get(key)?);
        if !has_external_auth_filter(old) || !is_carried_out(before, old) {
            return None;
        }
        let becomes_ignored = !is_ignored(before, old) && is_ignored(after, new);
        let renames = renamed_sections([before, after], key);
        let with_filter = rules(old).filter(|(_, rule)| has_filter(rule));
        // The requests of a rule keep the filter if the rule that has all of its matches now has one.
        let keeps = |index: usize| {
            let wanted = matches(old, index);
            let mut later = rules(new).filter(|(_, rule)| has_filter(rule));
            later.any(|(index, _)| {
                let has = matches(new, index);
                !wanted.is_empty() && wanted.iter().all(|one| has.contains(one))
            })
        };
        let with_filter = with_filter.filter(|(index, _)| becomes_ignored || !keeps(*index));
        let places =
            with_filter.map(|(index, _)| renames.later_place(&key.section(rule_label(old, index))));
        let opened = places.filter(|place| {
            let opens = |rule: &Rule| {
                sends_without_filter(rule) || becomes_ignored && !rule.backends.is_empty()
            };
            rule_at(new, place).is_some_and(opens)
                && !is_authorized_by_policies(resolver_after, place)
        });
        let opened: BTreeSet<Place> = opened.collect();
        if opened.is_empty() {
            return None;
        }
        let taken = LostSources {
            by: BTreeSet::from([key.clone()]),
            remains: Coverage::NoRequests,
            ..LostSources::nothing()
        };
        let mut loss = ProtectionLoss::of_object(EXTERNAL_AUTH_FILTER, key, taken);
        loss.add_sections(opened);
        loss.join_sections(after);
        Some((key.gk.clone(), loss))
    });
    losses.collect()
}

/// Whether requests that the rule `from` took before a change are authorized by its `ExternalAuth` filter, and by nothing on the rule
/// `to` that takes them after it.
pub fn loses_filter(
    [before, after]: [&Snapshot; 2],
    resolver_after: &mut Resolver<'_>,
    from: &Place,
    to: &Place,
) -> bool {
    let has = |state: &Snapshot, place: &Place, condition: fn(&Rule) -> bool| {
        let route = state.get(&place.object);
        let rule = route.and_then(|route| rule_at(route, place));
        rule.is_some_and(condition)
    };
    let is_carried_out = || {
        let route = before.get(&from.object);
        route.is_some_and(|route| is_carried_out(before, route))
    };
    has(before, from, has_filter)
        && has(after, to, sends_without_filter)
        && is_carried_out()
        && !is_authorized_by_policies(resolver_after, to)
}

/// Whether a rule of a route has such a filter.
pub fn has_external_auth_filter(route: &Object) -> bool {
    rules_of(route).iter().any(has_filter)
}

fn rules(route: &Object) -> impl Iterator<Item = (usize, &Rule)> {
    rules_of(route).iter().enumerate()
}

/// The rule at a place, by its label.
fn rule_at<'a>(route: &'a Object, place: &Place) -> Option<&'a Rule> {
    let mut rules = rules(route);
    let found = rules.find(|(index, _)| Some(rule_label(route, *index)) == place.section);
    found.map(|(_, rule)| rule)
}

fn has_filter(rule: &Rule) -> bool {
    let mut types = rule.filters.iter().flat_map(|filters| &filters.types);
    types.any(|name| **name == *EXTERNAL_AUTH)
}

/// Whether a rule sends requests to backends, and has no such filter.
fn sends_without_filter(rule: &Rule) -> bool {
    !rule.backends.is_empty() && !has_filter(rule)
}

/// The matches of a rule; none if they cannot be compared.
fn matches(route: &Object, index: usize) -> Vec<u64> {
    match &route.node {
        Node::Route { matches, .. } => matches.of_rule(index),
        _ => Vec::new(),
    }
}

/// Whether a controller of one of its Gateways may carry the filter out.
fn is_carried_out(snapshot: &Snapshot, route: &Object) -> bool {
    let parents = route.parents();
    // Another route delegates to it.
    let is_below = parents.is_empty();
    is_below || (parents.iter()).any(|parent| without_support(snapshot, parent).is_none())
}

/// Whether a controller of one of its Gateways serves requests as if the filter were not there.
fn is_ignored(snapshot: &Snapshot, route: &Object) -> bool {
    let mut parents = route.parents().iter();
    parents
        .any(|parent| without_support(snapshot, parent) == Some(UnsupportedFilterEffect::Ignored))
}

/// The effect of the filter at a parent whose controller does not support it.
fn without_support(snapshot: &Snapshot, parent: &ParentRef) -> Option<UnsupportedFilterEffect> {
    let facts = controller_facts(snapshot, &parent.object)?;
    let facts = facts.unsupported_filters.as_ref()?;
    facts.in_rule(&[EXTERNAL_AUTH]).map(|_| facts.then)
}

/// Whether policies authorize the requests to a rule by the setting that controllers replace by the filter.
fn is_authorized_by_policies(resolver: &mut Resolver<'_>, rule: &Place) -> bool {
    let snapshot = resolver.snapshot();
    snapshot.used_kinds().any(|kind| {
        let Some(profile) = snapshot.profile(kind) else {
            return false;
        };
        let replaced: Vec<Protection> = replaced_settings(profile).collect();
        if replaced.is_empty() {
            return false;
        }
        let groups = resolver.paths_through(&rule.object, kind).into_iter();
        let mut at_rule = groups
            .filter(|group| group.attached && group.paths.steps().any(|step| step.place == *rule))
            .peekable();
        at_rule.peek().is_some()
            && at_rule.all(|group| {
                let mut replaced = replaced.iter();
                replaced.any(|setting| {
                    let provided =
                        Provided::from_effective(snapshot, profile, setting, &group.effective);
                    provided.coverage == Coverage::AllRequests
                })
            })
    })
}

/// The settings that controllers replace by the filter, each as a protection.
fn replaced_settings(profile: &Profile) -> impl Iterator<Item = Protection> {
    let facts: &[ReplacingFilter] = &profile.merging.replaced_by_filters;
    let replaced = facts.iter().filter(|fact| *fact.filter == *EXTERNAL_AUTH);
    replaced.map(|fact| Protection {
        name: EXTERNAL_AUTH_FILTER.into(),
        settings: vec![fact.setting.clone()],
    })
}
