//! The effect of many changes at once on other objects: a set of manifests applied to a state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::admission::finding::{Code, Finding};
use crate::attachment::rejection::RejectionFinder;
use crate::attachment::{Attachment, AttachmentPermission, Dependents, attached_to, permission};
use crate::effective::Resolver;
use crate::effective::impact::{EffectiveChange, diff};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Object, is_route};
use crate::policy::{Policy, Select};
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::{delegates, rules_of};

use super::one_change::takes_from_others;
use super::{losses, lost_protection, new_rejections, one_change};

/// The effect of a change of these objects, all at once, on policies that are not among them, on effective policies,
/// and on references. Unchanged objects are skipped.
pub fn findings_on_changes(
    before: &Snapshot,
    after: &Snapshot,
    objects: &BTreeSet<ObjectKey>,
) -> Vec<Finding> {
    let differs = |key: &&ObjectKey| match (before.get(key), after.get(key)) {
        (Some(old), Some(new)) => !old.is_same(new),
        (None, Some(_)) => key.gk.is_gateway_api("ReferenceGrant"),
        _ => false,
    };
    let changed: Vec<ObjectKey> = objects.iter().filter(differs).cloned().collect();
    let created = objects.iter().filter(|key| before.get(key).is_none());
    let created: Vec<ObjectKey> = created.cloned().collect();
    let objects_created = created.iter().filter_map(|key| after.get(key));
    let objects_created: Vec<&Object> = objects_created.map(|object| &**object).collect();
    let opening = changing_other_paths(after, &objects_created);
    let mut findings = effects([before, after], &changed, &created, &opening);
    let all: Vec<ObjectKey> = changed.iter().chain(&created).cloned().collect();
    findings.extend(lost_protection::by_acceptance([before, after], &all));
    let mut resolver_after = Resolver::new(after);
    for policy in created.iter().filter_map(|key| after.policy(key)) {
        findings.extend(
            losses::losses_by(&mut resolver_after, policy).effect(&mut resolver_after, policy),
        );
    }
    for key in &opening {
        findings.extend(one_change::opened_by_created(
            before,
            after,
            key,
            usize::MAX - 1,
        ));
    }
    for key in &changed {
        let one = std::slice::from_ref(key);
        findings.extend(one_change::listener_changes(
            before,
            after,
            key,
            one,
            usize::MAX - 1,
        ));
        if key.gk.is_gateway_api("ReferenceGrant") {
            findings.extend(one_change::grant(before, after, key, usize::MAX));
        } else if let (Some(old), Some(new)) = (before.get(key), after.get(key)) {
            let mut lost =
                orphaned_by_own_fields(before, after, old, new, RejectionFinder::default);
            if key.gk.is_core("Namespace") {
                lost.extend(orphaned_by_namespace(before, after, key));
            }
            findings.extend(lost.into_iter().filter(|finding| {
                // The findings on a policy that changes too already cover this.
                finding
                    .mentions
                    .iter()
                    .all(|mention| !objects.contains(mention))
            }));
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

/// The findings about changed effective policies. Each path is reported once: for a changed policy
/// that it carries, otherwise for a changed object on it, otherwise for the first changed object.
/// Changes by a created policy are among the findings on that policy.
fn effects(
    [before, after]: [&Snapshot; 2],
    changed: &[ObjectKey],
    created: &[ObjectKey],
    opening: &BTreeSet<&ObjectKey>,
) -> Vec<Finding> {
    let changed = changed.iter().chain(opening.iter().copied());
    let changed: Vec<ObjectKey> = changed.cloned().collect();
    let causes: BTreeSet<&ObjectKey> = changed.iter().collect();
    let created: BTreeSet<&ObjectKey> = created.iter().collect();
    let mut by_cause: BTreeMap<(&ObjectKey, GroupKind), Vec<EffectiveChange>> = BTreeMap::new();
    let mut resolver_before = Resolver::new(before);
    let mut resolver_after = resolver_before.for_snapshot(after);
    let all = diff(&mut resolver_before, &mut resolver_after, &changed).into_iter();
    for change in all.filter(EffectiveChange::is_policy_change) {
        let mut add = |cause, change: EffectiveChange| {
            let of_cause = by_cause.entry((cause, change.kind.clone()));
            of_cause.or_default().push(change);
        };
        match by_policy(&causes, &change) {
            Some(cause) => add(cause, change),
            None if by_policy(&created, &change).is_some()
                && change.on_replaced_paths.is_none() => {}
            None => {
                for path in change.each_path() {
                    let cause = on_path(&causes, &path).or(changed.first());
                    let counts =
                        |cause: &&ObjectKey| !opening.contains(cause) || takes_from_others(&path);
                    if let Some(cause) = cause.filter(counts) {
                        add(cause, path);
                    }
                }
            }
        }
    }
    let mut findings = Vec::new();
    for ((cause, kind), all) in &by_cause {
        findings.extend(lost_protection::protections(
            [before, after],
            cause,
            kind,
            all,
        ));
        let snapshots = [before, after];
        findings.extend(new_rejections::by_change(snapshots, cause, &changed, all));
        findings.extend(one_change::effect(
            before,
            &mut resolver_after,
            cause,
            kind,
            all,
        ));
    }
    findings
}

/// Those of these objects whose existence may change the paths of other objects, or the policies on them: routes that name one as
/// their parent or to which one delegates, routes whose policies controllers reject because of another route, and targets of policies whose
/// settings name one.
pub(super) fn changing_other_paths<'a>(
    snapshot: &Snapshot,
    objects: &[&'a Object],
) -> BTreeSet<&'a ObjectKey> {
    let others = objects.iter().filter(|object| !is_route(&object.key.gk));
    let mut dependents = Dependents::of(snapshot, others.map(|object| &object.key));
    let may_fail = |kind: &&GroupKind| {
        let profile = snapshot.profile(kind);
        profile.is_some_and(|profile| profile.may_fail_requests())
    };
    let kinds = snapshot.used_kinds().filter(may_fail);
    let policies = kinds.flat_map(|kind| snapshot.policies(kind));
    let named: BTreeSet<&ObjectKey> = policies
        .flat_map(|policy| dependents.causes(policy))
        .collect();
    let changing = objects
        .iter()
        .filter(|object| named.contains(&object.key) || changes_paths_of_routes(snapshot, object));
    changing.map(|object| &object.key).collect()
}

/// Whether the existence of an object may change the paths of routes or the policies on them, without regard to settings that name it.
fn changes_paths_of_routes(snapshot: &Snapshot, object: &Object) -> bool {
    let gk = &object.key.gk;
    let is_above_others = || {
        let mut rules = rules_of(object).iter();
        rules.any(|rule| {
            let mut known = snapshot.delegations();
            known.any(|facts| delegates(facts, rule))
        })
    };
    let rejects_others = || {
        let mut used = snapshot.used_kinds();
        used.any(|kind| {
            let profile = snapshot.profile(kind);
            profile.is_some_and(|profile| {
                profile
                    .rejected_because
                    .iter()
                    .any(|cause| cause.is_by_routes())
            })
        })
    };
    gk.has_listeners() || (is_route(gk) && (is_above_others() || rejects_others()))
}

fn by_policy<'a>(
    changed: &BTreeSet<&'a ObjectKey>,
    change: &EffectiveChange,
) -> Option<&'a ObjectKey> {
    let sides = [&change.before, &change.after];
    let policies = sides.iter().flat_map(|side| side.policies());
    policies
        .filter_map(|policy| changed.get(&policy).copied())
        .min()
}

fn on_path<'a>(
    changed: &BTreeSet<&'a ObjectKey>,
    change: &EffectiveChange,
) -> Option<&'a ObjectKey> {
    let steps = change.paths.steps();
    steps
        .filter_map(|step| changed.get(&step.place.object).copied())
        .min()
}

/// Policies that lose a section of an object or the object itself, because it no longer has the labels or the annotation
/// that they select, or the filter that names them.
pub(super) fn orphaned_by_own_fields(
    before: &Snapshot,
    after: &Snapshot,
    old: &Object,
    new: &Object,
    finder: impl Fn() -> RejectionFinder,
) -> Vec<Finding> {
    let key = &new.key;
    let mut findings = one_change::sections(before, old, new, &finder());
    let mentioned: BTreeSet<ObjectKey> = findings
        .iter()
        .flat_map(|f| f.mentions.iter().cloned())
        .collect();
    let finders = [finder(), finder()];
    for (attachment, stays) in attachments(&finders, [before, after], key) {
        let policy = attachment.policy.key();
        // A policy that still names the object is rejected there: it needs no other target.
        let is_left = |policy: &Arc<Policy>| !policy.has_target(key, Some(new));
        let loses = !stays && after.policy(policy).is_some_and(is_left);
        if loses && !mentioned.contains(policy) {
            let message = orphaned_message(&attachment.policy, old);
            let code = Code::TargetOrphaned;
            findings.push(one_change::orphaned(code, key, &attachment.policy, message));
        }
    }
    findings.dedup();
    findings
}

/// The policies that are attached to an object before a change, each with whether it is attached to it afterwards, too.
fn attachments(
    [finder_before, finder_after]: &[RejectionFinder; 2],
    [before, after]: [&Snapshot; 2],
    key: &ObjectKey,
) -> impl Iterator<Item = (Attachment, bool)> {
    let left = attached_to(after, key, finder_after).into_iter();
    let left: BTreeSet<ObjectKey> = left.map(|other| other.policy.key().clone()).collect();
    attached_to(before, key, finder_before)
        .into_iter()
        .map(move |attachment| {
            let stays = left.contains(attachment.policy.key());
            (attachment, stays)
        })
}

/// Policies that lose all of their targets in a Namespace, because it no longer has the labels that they select.
fn orphaned_by_namespace(
    before: &Snapshot,
    after: &Snapshot,
    namespace: &ObjectKey,
) -> Vec<Finding> {
    let finders = [RejectionFinder::default(), RejectionFinder::default()];
    let mut lost: BTreeMap<ObjectKey, bool> = BTreeMap::new();
    for object in before.below(namespace) {
        for (attachment, stays) in attachments(&finders, [before, after], &object.key) {
            let policy = attachment.policy.key();
            let later = after.get(&object.key).map(|object| &**object);
            // A policy that may still be attached is rejected there: it needs no other target.
            let may_stay = |policy: &Arc<Policy>| {
                let own = &policy.key().namespace;
                let targets = policy.targets.iter();
                let mut targets = targets.filter(|one| one.matches(own, &object.key, later));
                targets.any(|one| {
                    permission(after, policy, one, &object.key) == AttachmentPermission::Allowed
                })
            };
            let later_policy = after.policy(policy);
            let loses = !stays && later_policy.is_some_and(|policy| !may_stay(policy));
            *lost.entry(policy.clone()).or_insert(true) &= loses;
        }
    }
    let lost = lost.into_iter().filter(|(_, all)| *all);
    let findings = lost.filter_map(|(policy, _)| {
        let policy = after.policy(&policy)?;
        let message = format!(
            "{} loses its targets in {namespace}: the labels of {namespace} no longer match its selector",
            policy.key()
        );
        Some(one_change::orphaned(Code::TargetOrphaned, namespace, policy, message))
    });
    findings.collect()
}

/// `AuthPolicy infra/auth loses its target: the labels of Gateway infra/edge no longer match its selector`. `old` is the
/// object before the change.
fn orphaned_message(policy: &Policy, old: &Object) -> String {
    let (key, own) = (&old.key, &policy.key().namespace);
    let is_annotated = policy.targets.iter().any(|target| {
        matches!(target.select, Select::Annotated(..)) && target.matches(own, key, Some(old))
    });
    let is_selected = policy
        .targets
        .iter()
        .any(|target| target.selects() && target.matches(own, key, Some(old)));
    let why = if is_annotated {
        format!("{key} no longer has the annotation that names it")
    } else if is_selected {
        format!("the labels of {key} no longer match its selector")
    } else {
        format!("no filter of {key} names it any more")
    };
    format!("{} loses its target: {why}", policy.key())
}
