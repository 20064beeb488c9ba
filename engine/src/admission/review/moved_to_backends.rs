//! Findings on requests that a rule of a changed route sends to other backends, and that lose a protection with it: TLS to backends.

use std::sync::Arc;

use super::fuel::too_much;
use super::lost_protection::lost_by_requests;
use crate::admission::finding::Finding;
use crate::effective::Resolver;
use crate::effective::protection::{LostSources, lost_between};
use crate::effective::renames::renamed_sections;
use crate::kinds::profile::Class;
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{BackendRef, Node, Object, Rule};
use crate::model::section::{backend_label, rule_label};
use crate::model::shared::Shared;
use crate::model::wording;
use crate::state::snapshot::Snapshot;

/// The protections by policies on backends that requests lose because their rule names other backends. The policies of other kinds
/// are compared path by path.
pub(super) fn findings(
    [before, after]: [&Snapshot; 2],
    old: &Arc<Object>,
    new: &Arc<Object>,
) -> Vec<Finding> {
    let (Node::Route { rules: earlier, .. }, Node::Route { rules: later, .. }) =
        (&old.node, &new.node)
    else {
        return Vec::new();
    };
    if earlier == later {
        return Vec::new();
    }
    let renames = renamed_sections([before, after], &new.key);
    let mut resolver_before = Resolver::bounded(before);
    let mut resolver_after = resolver_before.for_snapshot(after);
    let mut findings = Vec::new();
    for (i, rule) in earlier.iter().enumerate() {
        let place = renames.later_place(&old.key.section(rule_label(old, i)));
        let at = |i: &usize| Some(rule_label(new, *i)) == place.section;
        let Some(now) = (0..later.len()).find(at).and_then(|i| later.get(i)) else {
            continue;
        };
        let [from, to] = [(before, rule), (after, now)].map(|(state, rule)| backends(state, rule));
        if to.is_empty() || to.iter().all(|backend| from.contains(backend)) {
            continue;
        }
        for kind in kinds_on_backends(before, &from) {
            let Some(profile) = before.profile(&kind) else {
                continue;
            };
            let effective_before = effective(&mut resolver_before, &kind, &from);
            let effective_after = effective(&mut resolver_after, &kind, &to);
            if resolver_before.is_spent() || resolver_after.is_spent() {
                return vec![too_much(&new.key, "the protections that routes lose")];
            }
            let lost = lost_between(
                profile,
                (before, &effective_before),
                (after, &effective_after),
            );
            let lost = lost.into_iter();
            findings.extend(lost.map(|(name, lost)| finding(&kind, &place, &to, &name, lost)));
        }
    }
    findings
}

fn finding(
    kind: &GroupKind,
    rule: &Place,
    backends: &[Place],
    protection: &str,
    lost: LostSources,
) -> Finding {
    let by: Vec<String> = lost.by.iter().map(ObjectKey::text).collect();
    let backends = backends.iter().map(ToString::to_string).collect();
    let message = format!(
        "requests of {rule} go to {} without the {protection} of {}",
        wording::first(&backends),
        by.join(", ")
    );
    let subject = format!("{kind} {protection} to backends of {rule}");
    lost_by_requests(&rule.object, message, subject, lost)
}

/// The ports of backends that get requests of a rule, as far as the backends exist.
fn backends(snapshot: &Snapshot, rule: &Rule) -> Vec<Place> {
    let with_share = rule.backends.iter().filter(|named| !named.has_no_share);
    let place = |named: &BackendRef| {
        let backend = snapshot.get(&named.object)?;
        let label = named.port.and_then(|port| backend_label(backend, port));
        Some(Place {
            object: named.object.clone(),
            section: label,
        })
    };
    with_share.filter_map(place).collect()
}

/// The kinds with protecting settings whose policies apply only to their targets, and of which a policy names one of these backends.
fn kinds_on_backends(snapshot: &Snapshot, backends: &[Place]) -> Vec<GroupKind> {
    let is_used = |kind: &&GroupKind| {
        let profile = snapshot.profile(kind);
        profile
            .is_some_and(|profile| *profile.class == Class::Direct && !profile.protects.is_empty())
    };
    let names = |kind: &&GroupKind| {
        backends.iter().any(|backend| {
            let mut policies = snapshot.policies_naming(&backend.object);
            policies.any(|policy| policy.key().gk == **kind)
        })
    };
    let kinds = snapshot.used_kinds().filter(is_used).filter(names);
    kinds.cloned().collect()
}

/// The effective policies of a kind on these backends: on the port, or on the whole where no policy names the port.
fn effective(
    resolver: &mut Resolver<'_>,
    kind: &GroupKind,
    backends: &[Place],
) -> Vec<Shared<EffectivePolicy>> {
    let mut all = Vec::new();
    for backend in backends {
        let groups = resolver.paths_even_without_policies(&backend.object, kind);
        let on = |place: &Place| {
            let mut groups = groups.iter();
            groups.find(|group| group.target() == Some(place))
        };
        let group = on(backend).or_else(|| on(&backend.object.whole()));
        all.extend(group.map(|group| group.effective.clone()));
    }
    all
}
