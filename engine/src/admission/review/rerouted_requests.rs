//! Findings on requests that another rule of a changed route takes, and that lose a protection with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fuel::too_much;
use super::lost_protection::lost_by_requests;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::effective::protection::{
    Coverage, EXTERNAL_AUTH_FILTER, LostSources, has_external_auth_filter, loses_filter,
    lost_between,
};
use crate::effective::renames::renamed_sections;
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{Object, is_route};
use crate::model::shared::Shared;
use crate::model::wording;
use crate::routing::rerouted_within;
use crate::state::snapshot::Snapshot;

/// The protections that requests lose because a rule takes them that has not the policy of the rule which took them before. Only
/// kinds whose policies name rules of the route, or whose settings filters of rules replace, differ from rule to rule.
pub(super) fn findings(
    [before, after]: [&Snapshot; 2],
    old: &Arc<Object>,
    new: &Arc<Object>,
) -> Vec<Finding> {
    if !is_route(&new.key.gk) || old.node == new.node {
        return Vec::new();
    }
    let mut kinds = kinds_on_rules([before, after], &new.key);
    kinds.extend(kinds_with_filters(after, [old, new]));
    if kinds.is_empty() && !has_external_auth_filter(old) {
        return Vec::new();
    }
    let renames = renamed_sections([before, after], &new.key);
    let mut resolver_before = Resolver::bounded(before);
    let mut resolver_after = resolver_before.for_snapshot(after);
    let mut findings = Vec::new();
    let rerouted = rerouted_within(after, old, new);
    if rerouted.is_cut {
        findings.push(too_much(
            &new.key,
            "which rules take the requests to this route",
        ));
    }
    for ((from, to), requests) in rerouted.moved {
        let (from, to) = (new.key.section(from), new.key.section(to));
        if renames.later_place(&from) == to {
            continue;
        }
        if loses_filter([before, after], &mut resolver_after, &from, &to) {
            findings.push(without_filter([&from, &to], &requests));
        }
        for kind in &kinds {
            let Some(profile) = after.profile(kind) else {
                continue;
            };
            let effective_before = effective(&mut resolver_before, kind, &from);
            let effective_after = effective(&mut resolver_after, kind, &to);
            if resolver_before.is_spent() || resolver_after.is_spent() {
                return vec![too_much(&new.key, "the protections that routes lose")];
            }
            let lost = lost_between(
                profile,
                (before, &effective_before),
                (after, &effective_after),
            );
            let lost = lost.into_iter();
            findings.extend(
                lost.map(|(name, lost)| finding(kind, [&from, &to], &requests, &name, lost)),
            );
        }
    }
    findings
}

fn without_filter([from, to]: [&Place; 2], requests: &BTreeSet<String>) -> Finding {
    let message = format!(
        "{to} takes {}, which {from} took before, without its {EXTERNAL_AUTH_FILTER}",
        wording::first(requests)
    );
    let subject = format!("{EXTERNAL_AUTH_FILTER} from {from} to {to}");
    Finding::new(Code::ProtectionLost, &to.object, message).about(subject)
}

fn finding(
    kind: &GroupKind,
    [from, to]: [&Place; 2],
    requests: &BTreeSet<String>,
    protection: &str,
    lost: LostSources,
) -> Finding {
    let by: Vec<String> = lost.by.iter().map(ObjectKey::text).collect();
    let without = match lost.remains {
        Coverage::NoRequests => "without",
        _ => "with only part of",
    };
    let message = format!(
        "{to} takes {}, which {from} took before, {without} the {protection} of {}",
        wording::first(requests),
        by.join(", ")
    );
    let subject = format!("{kind} {protection} from {from} to {to}");
    lost_by_requests(&to.object, message, subject, lost)
}

/// The kinds with protecting settings whose policies name sections of a route in one of the states.
fn kinds_on_rules(states: [&Snapshot; 2], route: &ObjectKey) -> BTreeSet<GroupKind> {
    let policies = states
        .into_iter()
        .flat_map(|state| state.policies_naming(route));
    let on_rules = policies.filter(|policy| {
        let mut targets = policy.targets.iter();
        !policy.profile.protects.is_empty() && targets.any(|target| target.section.is_some())
    });
    on_rules.map(|policy| policy.key().gk.clone()).collect()
}

/// The kinds with protecting settings that filters of a rule of the route replace, in one of its versions.
fn kinds_with_filters(after: &Snapshot, versions: [&Arc<Object>; 2]) -> BTreeSet<GroupKind> {
    let filters = versions.into_iter().flat_map(|route| route.filters());
    let types: BTreeSet<&Arc<str>> = filters.flat_map(|filters| &filters.types).collect();
    let is_replaced = |kind: &&GroupKind| {
        after.profile(kind).is_some_and(|profile| {
            let mut filters = profile.merging.replaced_by_filters.iter();
            !profile.protects.is_empty() && filters.any(|one| types.contains(&one.filter))
        })
    };
    after.used_kinds().filter(is_replaced).cloned().collect()
}

/// The effective policies of a kind on the paths to a rule.
fn effective(
    resolver: &mut Resolver<'_>,
    kind: &GroupKind,
    rule: &Place,
) -> Vec<Shared<EffectivePolicy>> {
    let groups = resolver.paths_through(&rule.object, kind);
    let groups = groups.iter().filter(|group| {
        let mut routes = group.paths.routes.iter();
        group.complete && group.attached && routes.any(|path| path.target() == Some(rule))
    });
    groups.map(|group| group.effective.clone()).collect()
}
