//! The guardrails that a request breaks. Only those that it breaks anew refuse it (the ratchet).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use attache_engine::admission::disclosure::Subject;
use attache_engine::admission::finding::Finding;
use attache_engine::admission::request::{Operation, Request};
use attache_engine::admission::review::States;
use attache_engine::admission::settings::Guard;
use attache_engine::effective::Resolver;
use attache_engine::effective::impact::objects_to_compare;
use attache_engine::effective::renames::Renames;
use attache_engine::effective::renames::renamed_sections;
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::level::Level;
use attache_engine::routing::RouteVersions;
use attache_engine::state::deleted_with::{MOST_DELETED, deleted_with, without};
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::fault_group::{FaultGroup, Targets, finding, note};
use crate::file::Action;
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::judge::{Before, Fault, Judge, SharedPaths};
use crate::path::PathId;
use crate::removed_kind::removed_kind;
use crate::rerouted_requests::TakenRequests;
use crate::target_paths::{by_later_id, deepest};
use crate::target_paths_in_state::{Scope, TargetPathsInState};
use crate::{applied_guardrail, values};

/// The most targets that a refusal is confirmed for by live reads, each by its own.
const MOST_TARGETS_READ: usize = 4;

/// A change to judge.
#[derive(Clone, Copy, Debug)]
pub struct GuardedChange<'a> {
    /// The state before.
    pub before: &'a Snapshot,
    /// The state after.
    pub after: &'a Snapshot,
    /// The object that changes. Findings are reported on it.
    pub object: &'a ObjectKey,
    /// Both versions of routes that the change updates.
    pub route_versions: &'a RouteVersions,
    /// Targets whose faults from before are left out, because another call reports them.
    pub reported_before: Option<&'a BTreeSet<ObjectKey>>,
    /// Whether rules that were broken before are left out.
    pub only_new: bool,
    /// Whether the work is bounded by the fuel of a request.
    pub is_bounded: bool,
    /// The operation.
    pub operation: Operation,
    /// The user, if known.
    pub subject: Option<&'a Subject>,
    /// The current date.
    pub today: Date,
}

// === impl GuardedChange ===

impl<'a> GuardedChange<'a> {
    /// A change of an object in a file, without a request and a user. All rules are judged, also
    /// those that were broken before.
    pub fn offline(
        [before, after]: [&'a Snapshot; 2],
        object: &'a ObjectKey,
        route_versions: &'a RouteVersions,
        today: Date,
    ) -> Self {
        Self {
            before,
            after,
            object,
            route_versions,
            reported_before: None,
            only_new: false,
            is_bounded: false,
            operation: match (before.get(object), after.get(object)) {
                (Some(_), None) => Operation::Delete,
                (Some(_), Some(_)) => Operation::Update,
                (None, _) => Operation::Create,
            },
            subject: None,
            today,
        }
    }
}

impl Guard for Guardrails {
    fn findings(
        &self,
        states: &States,
        operation: Operation,
        subject: Option<&Subject>,
        today: Date,
    ) -> Vec<Finding> {
        let mut findings = self.on_annotation(states, subject, today);
        findings.extend(self.no_longer_applied([&states.before, &states.after], &states.key));
        findings.extend(self.changed(&GuardedChange {
            before: &states.before,
            after: &states.after,
            object: &states.key,
            route_versions: &states.route_versions,
            reported_before: None,
            is_bounded: true,
            only_new: false,
            operation,
            subject,
            today,
        }));
        findings
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn on_rule(&self, snapshot: &Snapshot, request: &Request<'_>, today: Date) -> Vec<Finding> {
        applied_guardrail::on_rule(self, snapshot, request, today)
    }
}

// === impl Guardrails ===

impl Guardrails {
    /// The findings on a change, by guardrails that refuse or warn.
    pub fn changed(&self, change: &GuardedChange<'_>) -> Vec<Finding> {
        let asked: Vec<&Guardrail> = self
            .iter()
            .filter(|guardrail| guardrail.action != Action::Audit)
            .collect();
        if asked.is_empty() {
            return Vec::new();
        }
        if removed_kind([change.before, change.after], change.object).is_none() {
            return self.broken_by(change, &asked, &deleted_too(change));
        }
        // The kind stays, so that the targets are judged without its policies.
        let policies = deleted_with(change.before, &BTreeSet::from([change.object.clone()]));
        if change.is_bounded && policies.len() > MOST_DELETED {
            return vec![too_much(change.object)];
        }
        let after = without(change.before.clone(), &policies);
        let judged = GuardedChange {
            after: &after,
            ..*change
        };
        self.broken_by(&judged, &asked, &policies)
    }

    /// The findings on a change that also removes other objects.
    fn broken_by(
        &self,
        change: &GuardedChange<'_>,
        asked: &[&Guardrail],
        removed: &BTreeSet<ObjectKey>,
    ) -> Vec<Finding> {
        let mut resolver_before = if change.is_bounded {
            Resolver::bounded(change.before)
        } else {
            Resolver::new(change.before)
        };
        let mut resolver_after = resolver_before.for_snapshot(change.after);
        let key = change.object;
        let targets = touched(
            [&mut resolver_before, &mut resolver_after],
            (change, removed),
            asked,
        );
        if resolver_before.is_spent() || resolver_after.is_spent() {
            // Which targets the change touches is not known, so none of them is judged.
            return vec![too_much(key)];
        }
        let request = values::request(Some((key, change.operation)), change.subject);
        let groups = change.subject.map_or(0, |subject| subject.groups.len());
        let mut judges = [request.clone(), request].map(|request| {
            let judge = Judge::with(self.functions(), request, groups);
            if change.is_bounded {
                judge.bounded()
            } else {
                judge
            }
        });
        let renames = renamed_sections([change.before, change.after], key);
        let taken = TakenRequests::new(change, &renames);
        let mut is_cut = false;
        let mut broken: BTreeMap<FaultGroup<'_>, Targets> = BTreeMap::new();
        for (kind, targets) in &targets {
            let kind = kind.as_ref();
            let of_kind: Vec<&Guardrail> = asked
                .iter()
                .filter(|guardrail| guardrail.policy_kind.as_ref() == kind)
                .copied()
                .collect();
            let is_asked = |target: &&ObjectKey| {
                let mut guardrails = of_kind.iter();
                guardrails.any(|guardrail| guardrail.matcher.has(change.after, target))
            };
            let targets: Vec<&ObjectKey> = targets.iter().filter(is_asked).collect();
            let scope = scope(change, kind);
            let mut sides = [
                TargetPathsInState::new(&mut resolver_before, scope, &targets),
                TargetPathsInState::new(&mut resolver_after, scope, &targets),
            ];
            for target in targets {
                let reported = change.reported_before;
                let with_old = reported.is_none_or(|reported| !reported.contains(target));
                judge_target(
                    &mut sides,
                    &mut judges,
                    &of_kind,
                    target,
                    (change.today, &renames, &taken),
                    with_old,
                    &mut broken,
                );
                let [before, after] = &sides;
                let (before, after) = (&before.resolver, &after.resolver);
                if before.is_spent() || after.is_spent() || judges.iter().any(Judge::is_spent) {
                    is_cut = true;
                    break;
                }
            }
        }
        is_cut |= taken.is_cut();
        let by_name: BTreeMap<&str, &Guardrail> =
            asked.iter().map(|one| (&*one.name, *one)).collect();
        broken.retain(|group, _| !(change.only_new && group.is_old));
        let findings = broken.into_iter().filter_map(|(group, targets)| {
            let guardrail = by_name.get(group.guardrail)?;
            let mut finding = finding(key, guardrail, &group, &targets);
            if finding.refuses() {
                finding = confirmed(finding, guardrail, change, &targets);
            }
            Some(finding)
        });
        // Findings from before the fuel was used up are valid.
        findings.chain(is_cut.then(|| too_much(key))).collect()
    }
}

/// A refusal with what could refute it on the API server: a policy that the cache does not have yet, or a target that it still has and
/// that was deleted together with its policies.
fn confirmed(
    finding: Finding,
    guardrail: &Guardrail,
    change: &GuardedChange<'_>,
    targets: &Targets,
) -> Finding {
    let finding = match &guardrail.policy_kind {
        Some(kind) => finding.refuted_by([kind]),
        None => finding.refuted_by(served_kinds(change.after)),
    };
    let others = targets.objects.iter();
    let others = others.filter(|target| *target != change.object);
    finding.refuted_by_absence_of(others.take(MOST_TARGETS_READ).cloned())
}

/// The policy kinds that are judged: one kind, or all of them.
fn scope<'k>(change: &GuardedChange<'_>, kind: Option<&'k GroupKind>) -> Scope<'k> {
    if let Some(kind) = kind {
        return Scope::Kind(kind);
    }
    // A kind may have its first or its last policy.
    let ends = [change.before, change.after].map(|side| deepest(side, side.used_kinds()));
    Scope::All(ends.into_iter().fold(Level::Rule, Level::max))
}

fn judge_target<'g>(
    [paths_before, paths_after]: &mut [TargetPathsInState<'_, '_>; 2],
    [earlier, now]: &mut [Judge<'g>; 2],
    guardrails: &[&'g Guardrail],
    target: &ObjectKey,
    (today, renames, taken): (Date, &Renames, &TakenRequests<'_>),
    with_old: bool,
    broken: &mut BTreeMap<FaultGroup<'g>, Targets>,
) {
    let applies: Vec<&&'g Guardrail> = guardrails
        .iter()
        .filter(|guardrail| {
            guardrail
                .matcher
                .has(paths_after.resolver.snapshot(), target)
        })
        .filter(|guardrail| {
            guardrail
                .exception(paths_after.resolver.snapshot(), target, today)
                .is_none()
        })
        .collect();
    if applies.is_empty() {
        return;
    }
    let (old, new) = (paths_before.paths(target), paths_after.paths(target));
    let gateways_before = paths_before.gateways(target);
    let gateways_after = paths_after.gateways(target);
    let (resolver_before, resolver_after) = (&*paths_before.resolver, &*paths_after.resolver);
    let old = old.paths(resolver_before.snapshot());
    let new = new.paths(resolver_after.snapshot());
    let before = by_later_id(&old, renames);
    let mut new = SharedPaths::new(&new, Before::Paths(&before, resolver_before.snapshot()));
    // The state before is judged as if nothing changed it.
    let mut old = SharedPaths::new(&old, Before::Same);
    for guardrail in applies {
        let result = now.judge(resolver_after, guardrail, &mut new, &gateways_after);
        if result.faults.is_empty() {
            continue;
        }
        let faults_before = earlier_faults(
            earlier,
            resolver_before,
            guardrail,
            target,
            &mut old,
            &gateways_before,
        );
        let faults_before: HashSet<(usize, bool, PathId)> = faults_before
            .into_iter()
            .map(|old| (old.rule, old.is_error, old.id.later(renames)))
            .collect();
        for fault in result.faults {
            let had_fault =
                |id: &PathId| faults_before.contains(&(fault.rule, fault.is_error, id.clone()));
            let is_old = had_fault(&fault.id) && !taken.had_no_fault(&fault.id, had_fault);
            if with_old || !is_old {
                note(broken, guardrail, target, fault, is_old);
            }
        }
    }
}

fn earlier_faults<'g>(
    judge: &mut Judge<'g>,
    resolver_before: &Resolver<'_>,
    guardrail: &'g Guardrail,
    target: &ObjectKey,
    paths: &mut SharedPaths<'_, 'g>,
    gateways: &BTreeSet<ObjectKey>,
) -> Vec<Fault> {
    let snapshot = resolver_before.snapshot();
    // A target that did not exist broke no guardrail.
    if snapshot.get(target).is_none() || !guardrail.matcher.has(snapshot, target) {
        return Vec::new();
    }
    let result = judge.judge(resolver_before, guardrail, paths, gateways);
    result.faults
}

/// The objects around which the effective policies of the kinds may change, and those that may become targets; `None` is
/// for guardrails about all kinds.
fn touched(
    sides: [&mut Resolver<'_>; 2],
    (change, removed): (&GuardedChange<'_>, &BTreeSet<ObjectKey>),
    guardrails: &[&Guardrail],
) -> BTreeMap<Option<GroupKind>, BTreeSet<ObjectKey>> {
    let asked: BTreeSet<Option<GroupKind>> = guardrails
        .iter()
        .map(|guardrail| guardrail.policy_kind.clone())
        .collect();
    let about_all = asked.contains(&None);
    let mut kinds: BTreeSet<GroupKind> = asked.iter().flatten().cloned().collect();
    if about_all {
        kinds.extend(served_kinds(change.before).cloned());
        kinds.extend(served_kinds(change.after).cloned());
    }
    if kinds.is_empty() {
        // Targets without any policy may break a guardrail: this kind, which has none, stands for all.
        kinds.insert(GroupKind::core(""));
    }
    let kinds: Vec<GroupKind> = kinds.into_iter().collect();
    let changed = std::iter::once(change.object).chain(removed);
    let changed: Vec<ObjectKey> = changed.cloned().collect();
    let mut touched_by_kind: BTreeMap<Option<GroupKind>, BTreeSet<ObjectKey>> = BTreeMap::new();
    for resolver in sides {
        for (kind, objects) in objects_to_compare(resolver, &changed, &kinds) {
            if about_all {
                touched_by_kind
                    .entry(None)
                    .or_default()
                    .extend(objects.iter().cloned());
            }
            let kind = Some(kind);
            if asked.contains(&kind) {
                touched_by_kind.entry(kind).or_default().extend(objects);
            }
        }
    }
    // Without any policy kind, a new route is a target nevertheless.
    if about_all {
        let known = touched_by_kind.entry(None).or_default();
        known.insert(change.object.clone());
    }
    // The labels of a Namespace decide which guardrails apply to the objects in it.
    if change.object.gk.is_core("Namespace") {
        for guardrail in guardrails {
            let kinds = guardrail.matcher.kinds.iter();
            let objects = kinds.flat_map(|kind| change.after.objects(kind));
            let inside = objects
                .map(|object| &object.key)
                .filter(|key| key.namespace == change.object.name);
            let known = touched_by_kind
                .entry(guardrail.policy_kind.clone())
                .or_default();
            known.extend(inside.cloned());
        }
    }
    touched_by_kind
}

/// The objects that are deleted with the changed one: those in a Namespace, those of the kind of a CRD.
fn deleted_too(change: &GuardedChange<'_>) -> BTreeSet<ObjectKey> {
    if change.after.get(change.object).is_some() {
        return BTreeSet::new();
    }
    let with_it = deleted_with(change.before, &BTreeSet::from([change.object.clone()]));
    // If there are too many, a review leaves them in the state.
    let with_it = with_it.into_iter();
    with_it
        .filter(|key| change.after.get(key).is_none())
        .collect()
}

/// The policy kinds that the API server serves, or that have policies among manifests.
fn served_kinds(snapshot: &Snapshot) -> impl Iterator<Item = &GroupKind> {
    let defined: HashSet<&GroupKind> = snapshot.definitions().map(|crd| &crd.gk).collect();
    snapshot
        .policy_kinds()
        .filter(move |kind| snapshot.count(kind) > 0 || defined.contains(kind))
}

fn too_much(key: &ObjectKey) -> Finding {
    Finding::too_much(key, "the effect on guardrails", "attache guardrails")
}
