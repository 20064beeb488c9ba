//! The effect of a change on other objects: effective policies that change, policies that lose their target, and
//! references that a grant opens or closes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fuel::too_much;
use crate::admission::finding::{Code, Finding};
use crate::attachment::rejection::RejectionFinder;
use crate::attachment::{attached_to, permission, targets_of};
use crate::effective::impact::{EffectiveChange, SettingsComparison, diff};
use crate::effective::traffic::{Traffic, traffic};
use crate::effective::{PathGroup, Resolver};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::maps::HashSet;
use crate::model::object::{GrantFrom, GrantTo, Node, Object, section_noun};
use crate::model::section;
use crate::model::shared::Shared;
use crate::policy::Policy;
use crate::state::grants::{certificates_into, granted, routes_into};
use crate::state::snapshot::Snapshot;

use super::settings::{differences, in_force_afterwards};
use super::{lost_protection, new_rejections};
use crate::model::wording;
use crate::policy::fuel::LOOKED_AT;

/// The effect of a change of one object on effective policies, by kind.
pub(super) fn effective_changes(
    before: &Snapshot,
    resolver_after: &mut Resolver<'_>,
    key: &ObjectKey,
    counts: impl Fn(&EffectiveChange) -> bool,
) -> Vec<Finding> {
    effective_changes_of(
        before,
        resolver_after,
        key,
        std::slice::from_ref(key),
        counts,
    )
}

/// Whether something was in force, on a path or on the others to its target.
pub(super) fn takes_from_others(changed: &EffectiveChange) -> bool {
    changed.on_replaced_paths.is_some() || !changed.before.policies().is_empty()
}

/// The effects of a change of these objects, reported on the first one. The others are deleted with it.
pub(super) fn effective_changes_of(
    before: &Snapshot,
    resolver_after: &mut Resolver<'_>,
    key: &ObjectKey,
    objects: &[ObjectKey],
    counts: impl Fn(&EffectiveChange) -> bool,
) -> Vec<Finding> {
    let mut kinds: BTreeMap<GroupKind, Vec<EffectiveChange>> = BTreeMap::new();
    let mut resolver_before = resolver_after.for_snapshot(before);
    let mut changed = diff(&mut resolver_before, resolver_after, objects);
    if resolver_before.is_spent() || resolver_after.is_spent() {
        return vec![too_much(key, "the effect of this change")];
    }
    let after = resolver_after.snapshot();
    let gone = objects.iter().filter(|key| after.get(key).is_none());
    let gone: BTreeSet<&ObjectKey> = gone.collect();
    if !gone.is_empty() {
        let all = changed.into_iter();
        changed = all.flat_map(|change| stays(change, &gone)).collect();
    }
    for changed in changed {
        if changed.is_policy_change() && counts(&changed) {
            kinds.entry(changed.kind.clone()).or_default().push(changed);
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    for (kind, all) in &kinds {
        findings.extend(lost_protection::protections(
            [before, resolver_after.snapshot()],
            key,
            kind,
            all,
        ));
        findings.extend(new_rejections::by_change(
            [before, resolver_after.snapshot()],
            key,
            objects,
            all,
        ));
        findings.extend(effect(before, resolver_after, key, kind, all));
    }
    let states = [before, resolver_after.snapshot()];
    findings.extend(lost_protection::by_acceptance(states, objects));
    if resolver_after.is_spent() {
        return vec![too_much(key, "the effect of this change")];
    }
    findings
}

/// The paths of a change whose targets stay: nothing is lost on an object that goes itself.
fn stays(change: EffectiveChange, gone: &BTreeSet<&ObjectKey>) -> Vec<EffectiveChange> {
    let goes = |target: &Place| gone.contains(&target.object);
    if !change.paths.targets().any(goes) {
        return vec![change];
    }
    if change.paths.targets().all(goes) {
        return Vec::new();
    }
    let paths = change.each_path();
    paths
        .filter(|path| !path.paths.targets().all(goes))
        .collect()
}

/// Findings, reported on `key`, about routes that lose or gain listeners because of a change of `objects`.
pub(super) fn listener_changes(
    before: &Snapshot,
    after: &Snapshot,
    key: &ObjectKey,
    objects: &[ObjectKey],
    limit: usize,
) -> Vec<Finding> {
    let lost = traffic([before, after], objects, limit);
    let mut findings = lost_protection::at_listeners([before, after], key, &lost.opened, objects);
    if !lost.detached.is_empty() {
        let message = match lost.detached.first() {
            Some(route) if lost.detached.len() == 1 => {
                format!("{route} loses its only listener, so no request reaches it")
            }
            _ => {
                let routes = wording::counted(&lost.detached);
                format!(
                    "these routes lose their only listener, so no request reaches them: {routes}"
                )
            }
        };
        findings.push(Finding::new(Code::RouteDetached, key, message).about("all"));
    }
    if !lost.reduced.is_empty() {
        let routes: BTreeSet<ObjectKey> = lost.reduced.keys().cloned().collect();
        let listeners: BTreeSet<String> = lost
            .reduced
            .values()
            .flatten()
            .map(ToString::to_string)
            .collect();
        let listeners = wording::first(&listeners);
        let message = match routes.first() {
            Some(route) if routes.len() == 1 => {
                format!("{route} gets no more requests through {listeners}")
            }
            _ => {
                let routes = wording::counted(&routes);
                format!("these routes get no more requests through {listeners}: {routes}")
            }
        };
        findings.push(Finding::new(Code::RouteDetached, key, message).about("some"));
    }
    for (gateway, class) in &lost.unserved {
        let message = format!("no controller serves {gateway} any more: {class} does not exist");
        let subject = format!("class of {gateway}");
        findings.push(Finding::new(Code::RouteDetached, key, message).about(subject));
    }
    findings.extend(hostnames_taken(key, &lost));
    for (moved, routes) in &lost.moved {
        let message = format!(
            "{} takes requests to {} {moved}",
            moved.listener,
            wording::counted(routes)
        );
        let subject = format!("moved {}", moved.listener);
        findings.push(Finding::new(Code::RouteDetached, key, message).about(subject));
    }
    if !lost.gained.is_empty() {
        let routes: BTreeSet<ObjectKey> = lost.gained.keys().cloned().collect();
        let listeners = lost.gained.values().flatten();
        let listeners: BTreeSet<String> = listeners.map(ToString::to_string).collect();
        let verb = if routes.len() == 1 { "gets" } else { "get" };
        let message = format!(
            "{} {verb} requests through {} after this change",
            wording::counted(&routes),
            wording::first(&listeners)
        );
        findings.push(Finding::new(Code::RouteAttached, key, message).about("gained"));
    }
    if lost.is_cut {
        findings.push(too_much(key, "the effect on further routes"));
    }
    findings
}

/// Findings, reported on a created object, about routes that get requests by its listeners, and lose a protection so.
pub(super) fn opened_by_created(
    before: &Snapshot,
    after: &Snapshot,
    key: &ObjectKey,
    limit: usize,
) -> Vec<Finding> {
    let traffic = traffic([before, after], std::slice::from_ref(key), limit);
    let mut findings = lost_protection::at_listeners([before, after], key, &traffic.opened, &[]);
    findings.extend(hostnames_taken(key, &traffic));
    if traffic.is_cut {
        findings.push(too_much(key, "the effect on further routes"));
    }
    findings
}

/// Findings, reported on `key`, about hostnames that new listeners take from routes of other listeners.
fn hostnames_taken(key: &ObjectKey, traffic: &Traffic) -> impl Iterator<Item = Finding> {
    traffic.taken.iter().map(|(listener, taken)| {
        let hostnames = taken.hostnames.iter().map(ToString::to_string).collect();
        let takes = if taken.is_unsure {
            "takes, unless its controller does not keep listeners apart,"
        } else {
            "takes"
        };
        let message = format!(
            "{listener} {takes} the requests for {} from {}",
            wording::first(&hostnames),
            wording::counted(&taken.routes)
        );
        let subject = format!("hostnames of {listener}");
        Finding::new(Code::RouteDetached, key, message).about(subject)
    })
}

/// The finding about changed effective policies of a kind, on paths that exist before and after.
pub(super) fn effect(
    before: &Snapshot,
    resolver: &mut Resolver<'_>,
    key: &ObjectKey,
    kind: &GroupKind,
    all: &[EffectiveChange],
) -> Option<Finding> {
    let after = resolver.snapshot();
    let altered = all
        .iter()
        .filter(|change| change.exists_before_and_after && change.alters_settings());
    let all: Vec<&EffectiveChange> = altered.collect();
    if all.is_empty() {
        return None;
    }
    let objects = all.iter().flat_map(|change| change.paths.objects());
    let objects: BTreeSet<ObjectKey> = objects.cloned().collect();
    let mut message = format!("{kind} on {}", wording::named(&objects));
    if let (1, Some(object)) = (objects.len(), objects.first()) {
        let groups = resolver.paths_through(object, kind);
        let paths: usize = groups.iter().map(PathGroup::path_count).sum();
        let changed: usize = all.iter().map(|change| change.count()).sum();
        if paths > changed {
            message = format!("{message}, {changed} of {paths} paths");
        }
    }
    let mut finding = Finding::new(Code::EffectiveChange, key, message).about(kind.to_string());
    let least = all
        .iter()
        .min_by_key(|change| (&change.paths.routes, &*change.paths.ancestors));
    if let Some(first) = least {
        let mut same = SettingsComparison::default();
        let mut alike = |c: &EffectiveChange| {
            same.settings(&c.before, &first.before) && same.settings(&c.after, &first.after)
        };
        if all.iter().copied().all(&mut alike) {
            let snapshots = [before, after];
            finding.settings = differences(snapshots, first).into();
        }
    }
    finding.source = in_force_afterwards(after, &all);
    // There are many paths and few results.
    let mut mentioned: HashSet<&Shared<EffectivePolicy>> = HashSet::default();
    for effective in all
        .iter()
        .flat_map(|changed| [&changed.before, &changed.after])
    {
        if mentioned.insert(effective) {
            finding.mentions.extend(effective.policies());
        }
    }
    finding
        .mentions
        .retain(|mention| after.profile(&mention.gk).is_some() && mention != key);
    Some(finding)
}

/// Policies attached to a section that the change removes.
pub(super) fn sections(
    before: &Snapshot,
    old: &Object,
    new: &Object,
    rejections: &RejectionFinder,
) -> Vec<Finding> {
    let left: BTreeSet<Arc<str>> = section::labels(new).into_iter().collect();
    let noun = section_noun(&new.key.gk).unwrap_or("section");
    let labels_before: BTreeSet<Arc<str>> = section::labels(old).into_iter().collect();
    let attachments = attached_to(before, &new.key, rejections);
    let on_gone = attachments.iter().filter_map(|attachment| {
        let section = attachment.section.as_ref()?;
        (labels_before.contains(section) && !left.contains(section))
            .then_some((&attachment.policy, section))
    });
    let findings = on_gone.map(|(policy, section)| {
        let message = format!(
            "{} targets {noun} {section:?}, which this change removes; change its target or delete it",
            policy.key()
        );
        orphaned(Code::SectionOrphaned, &new.key, policy, message)
    });
    findings.collect()
}

pub(super) fn orphaned(
    code: Code,
    object: &ObjectKey,
    policy: &Policy,
    message: String,
) -> Finding {
    let mut finding = Finding::new(code, object, message).about(policy.key().to_string());
    finding.mentions.insert(policy.key().clone());
    finding
}

/// References that a grant opens or closes, of at most `limit` references that it may affect.
pub(super) fn grant(
    before: &Snapshot,
    after: &Snapshot,
    key: &ObjectKey,
    limit: usize,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut references = references(before, after, key, limit);
    if references.len() > limit {
        references.pop_last();
        findings.push(too_much(key, "the effect on further references"));
    }
    for (reference, to) in references {
        let let_in = |snapshot: &Snapshot| is_let_in(snapshot, &reference, &to);
        let (code, verb) = match (let_in(before), let_in(after)) {
            (true, false) => (Code::GrantClosed, "may no longer"),
            (false, true) => (Code::GrantOpened, "may now"),
            _ => continue,
        };
        let message = format!("{reference} {verb} refer to {to}");
        let mut finding = Finding::new(code, key, message).about(format!("{reference} {to}"));
        if after.policy(&reference).is_some() {
            finding.mentions.insert(reference.clone());
        }
        findings.push(finding);
    }
    findings
}

fn is_let_in(snapshot: &Snapshot, reference: &ObjectKey, to: &ObjectKey) -> bool {
    match snapshot.policy(reference) {
        Some(policy) => policy.targets.iter().any(|target| {
            let own = &policy.key().namespace;
            let object = snapshot.get(to).map(|object| &**object);
            target.matches(own, to, object)
                && permission(snapshot, policy, target, to).is_attached()
        }),
        None => granted(snapshot, &reference.gk, &reference.namespace, to),
    }
}

/// References into the namespace of a grant, from the kinds and namespaces that it names before or after: the first
/// `limit`, plus one if there are more. Entries that are the same before and after are skipped if the grant's targets
/// are the same.
fn references(
    before: &Snapshot,
    after: &Snapshot,
    key: &ObjectKey,
    limit: usize,
) -> BTreeSet<(ObjectKey, ObjectKey)> {
    let mut references = BTreeSet::new();
    let mut add = |reference: (ObjectKey, ObjectKey)| {
        references.insert(reference);
        if references.len().saturating_sub(1) > limit {
            references.pop_last();
        }
    };
    let entries_in = |snapshot| entries(snapshot, key);
    let ((entries_before, to_before), (entries_after, to_after)) =
        (entries_in(before), entries_in(after));
    let same_to = to_before == to_after;
    for (snapshot, from, others) in [
        (before, &entries_before, &entries_after),
        (after, &entries_after, &entries_before),
    ] {
        for entry in from
            .iter()
            .filter(|entry| !(same_to && others.contains(*entry)))
        {
            let there = snapshot.policies(&entry.gk);
            for policy in there.filter(|p| p.key().namespace == entry.namespace) {
                let into = targets_into(snapshot, policy, &key.namespace, limit);
                into.map(|to| (policy.key().clone(), to)).for_each(&mut add);
            }
            let routes = routes_into(snapshot, entry, &key.namespace).into_iter();
            let certificates = certificates_into(snapshot, entry, &key.namespace);
            routes.chain(certificates).for_each(&mut add);
        }
    }
    references
}

/// The objects that a policy names or selects in a namespace, whether it may or not. Selectors that would need too
/// many comparisons are skipped: the changes of effective policies are reported separately.
fn targets_into<'a>(
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    namespace: &'a Arc<str>,
    limit: usize,
) -> impl Iterator<Item = ObjectKey> + 'a {
    let own = &policy.key().namespace;
    let selectors = snapshot
        .count(&policy.key().gk)
        .saturating_mul(policy.targets.len());
    let few = policy.targets.iter().filter(move |t| {
        let looks = selectors.saturating_mul(snapshot.count(&t.gk));
        !t.selects() || looks <= limit.saturating_mul(LOOKED_AT)
    });
    let objects = few.flat_map(|t| targets_of(snapshot, own, t));
    objects.filter(move |to| to.namespace == *namespace)
}

/// The entries that a grant allows references from, without duplicates, and those that it allows references to.
fn entries<'a>(
    snapshot: &'a Snapshot,
    key: &ObjectKey,
) -> (BTreeSet<&'a GrantFrom>, &'a [GrantTo]) {
    match snapshot.get(key).map(|object| &object.node) {
        Some(Node::ReferenceGrant { from, to }) => (from.iter().collect(), to),
        _ => (BTreeSet::new(), &[]),
    }
}
