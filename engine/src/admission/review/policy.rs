//! Findings on a policy: its faults, its effect, and the policies that override it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fuel::too_much;
use super::precedence_reason::precedence_reason;
use crate::admission::finding::{Code, Finding};
use crate::admission::validate::{validate, validate_read};
use crate::attachment::conflict::overlap;
use crate::attachment::rejection::RejectionEffect;
use crate::effective::Resolver;
use crate::effective::protection::carries_others;
use crate::kinds::profile::{ConflictScope, SameTarget};
use crate::merge::field_conflicts;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{Node, Object, is_route};
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::state::snapshot::Snapshot;
use crate::status::conditions::{
    Accepted, PolicyStatus, State, TargetStatus, Winner, rejections_on, status,
};
use crate::topology::reports::controller;

use super::refused_policy::{is_refused, lost_if_let_through};
use super::stored_faults::warn_of_stored;
use super::{losses, one_change, status_disagreement};
use crate::attachment::Attachment;
use crate::model::wording;
use crate::policy::fuel::{MOST_COMPARED, MOST_CONFLICTS, MOST_SELECTED};

/// Findings on a policy as it will be after admission.
///
/// Old and new are judged on one snapshot; a finding that the old one already has is a warning.
pub(super) fn findings(snapshot: &Snapshot, object: Object, old: Option<Object>) -> Vec<Finding> {
    let key = object.key.clone();
    // In sequence: a spec may be large, and is parsed once and not kept.
    let stored = |object| {
        let (stored, spec) = snapshot.with_policy(Arc::new(object));
        let wrong = |policy: &Arc<Policy>| validate_read(snapshot, policy, spec, MOST_SELECTED);
        let wrong = stored.policy(&key).map(wrong).unwrap_or_default();
        (stored, wrong)
    };
    let (before, findings_before) = old.map(stored).unzip();
    let findings_before = findings_before.unwrap_or_default();
    let (after, mut findings) = stored(object);
    let Some(policy) = after.policy(&key) else {
        return Vec::new();
    };
    warn_of_stored(&mut findings, &findings_before);
    let mut resolver = Resolver::bounded(&after);
    if is_refused(policy, &findings) {
        findings.extend(lost_if_let_through(before.as_ref(), &mut resolver, policy));
        return findings;
    }
    let status = status(&mut resolver, policy);
    if resolver.is_spent() {
        findings.push(too_much(&key, "the effect of this policy"));
        return findings;
    }
    match &before {
        None => {
            findings.extend(applies_to(policy, &status));
            let carries_others = carries_others(&after, &key.gk);
            let may_take_away = carries_others || losses::may_take_away(policy, &status);
            let taken = if may_take_away || policy.adds_nothing() {
                losses::losses_by(&mut resolver, policy)
            } else {
                losses::TakenFromOthers::Nothing
            };
            taken.complete(&mut findings, policy);
            findings.extend(taken.findings(&mut resolver, policy));
        }
        Some(before) => {
            findings.extend(one_change::effective_changes(
                before,
                &mut resolver,
                &key,
                |_| true,
            ));
        }
    }
    let mut faults = in_force(&mut resolver, policy, &status);
    if let (Some(before), false) = (&before, faults.is_empty()) {
        warn_of_stored(&mut faults, &faults_in_force(before, &key));
    }
    findings.extend(faults);
    findings
}

/// The findings on what keeps a policy from being in force.
fn faults_in_force(snapshot: &Snapshot, key: &ObjectKey) -> Vec<Finding> {
    let mut resolver = Resolver::bounded(snapshot);
    let policy = snapshot.policy(key);
    policy.map_or_else(Vec::new, |policy| {
        let status = status(&mut resolver, policy);
        in_force(&mut resolver, policy, &status)
    })
}

/// Findings on a policy as it is in the snapshot, for any user.
pub(super) fn findings_as_attached(resolver: &mut Resolver<'_>, policy: &Policy) -> Vec<Finding> {
    let mut findings = validate(resolver.snapshot(), policy);
    if is_refused(policy, &findings) {
        if policy.object.reported.is_some() {
            findings.extend(status_disagreement::disagrees(
                policy,
                &status(resolver, policy),
            ));
        }
        findings.extend(lost_if_let_through(None, resolver, policy));
        return findings;
    }
    let status = status(resolver, policy);
    findings.extend(applies_to(policy, &status));
    findings.extend(status_disagreement::disagrees(policy, &status));
    let protects = !policy.profile.protects.is_empty() && losses::may_take_away(policy, &status);
    let carries_others = || carries_others(resolver.snapshot(), &policy.key().gk);
    if protects || policy.is_empty() || carries_others() {
        let taken = losses::losses_by(resolver, policy);
        taken.complete(&mut findings, policy);
        findings.extend(taken.protections(resolver, policy));
    }
    findings.extend(in_force(resolver, policy, &status));
    findings
}

/// Findings on the controllers of the kind, and on the policies that override this one.
fn in_force(resolver: &mut Resolver<'_>, policy: &Policy, status: &PolicyStatus) -> Vec<Finding> {
    let snapshot = resolver.snapshot();
    let mut findings: Vec<Finding> = other_controllers(resolver, policy, status)
        .into_iter()
        .collect();
    if findings.is_empty() {
        findings.extend(no_effect(policy, status));
    }
    for target in &status.targets {
        findings.extend(conflicting(snapshot, policy, target));
        findings.extend(rejected(policy, target));
        findings.extend(rejected_in_part(snapshot, policy, target));
        findings.extend(winners(snapshot, policy, target));
        findings.extend(conflicts(resolver, policy, target));
    }
    findings
}

/// The findings on targets where the policy has no effect, or may have none. Below a target that is no route, routes and
/// backends may still be created.
fn no_effect<'a>(
    policy: &'a Policy,
    status: &'a PolicyStatus,
) -> impl Iterator<Item = Finding> + 'a {
    let targets = status.targets.iter().filter(|_| !policy.adds_nothing());
    // A cache may lack the object without which no request comes.
    let may_be_missing = ["GatewayClass", "Gateway", "ListenerSet"].map(GroupKind::gateway_api);
    // With several targets, the policy may be in force on the others.
    let is_only = status.targets.len() == 1;
    targets.filter_map(move |target| {
        let place = &target.target;
        if let Some(State::Unknown(why)) = &target.state {
            let message = if is_only {
                format!("whether it has an effect is not known: {why}")
            } else {
                format!("whether it has an effect on {place} is not known: {why}")
            };
            let finding = Finding::new(Code::Unverified, policy.key(), message);
            return Some(finding.about(place.to_string()).only_if(false));
        }
        let Some(State::NoEffect(none)) = &target.state else {
            return None;
        };
        let why = &none.why;
        (!none.waits || is_route(&place.object.gk)).then(|| {
            let message = if is_only && why.contains(&place.to_string()) {
                format!("it has no effect: {why}")
            } else {
                format!("it has no effect on {place}: {why}")
            };
            Finding::new(Code::NoEffect, policy.key(), message)
                .about(place.to_string())
                .refuted_by(&may_be_missing)
        })
    })
}

/// The finding on objects that it applies to beyond its declared targets.
fn applies_to(policy: &Policy, status: &PolicyStatus) -> Option<Finding> {
    let declared: BTreeSet<&ObjectKey> = status.targets.iter().map(|t| &t.target.object).collect();
    let objects = status.objects().into_iter();
    let reached: BTreeSet<ObjectKey> = objects.filter(|o| !declared.contains(o)).cloned().collect();
    (!reached.is_empty()).then(|| {
        Finding::new(Code::Affects, policy.key(), wording::counted(&reached)).about("affects")
    })
}

/// The finding if all Gateways of the policy belong to controllers that do not apply the kind, or some of those of a route.
/// `None` if the controllers of the kind are unknown.
fn other_controllers(
    resolver: &mut Resolver<'_>,
    policy: &Policy,
    status: &PolicyStatus,
) -> Option<Finding> {
    let profile = &policy.profile;
    if !profile.knows_controllers() {
        return None;
    }
    let mut others = BTreeSet::new();
    let mut unknown = None;
    let mut is_run = false;
    for target in &status.targets {
        for gateway in resolver.gateways_of(&target.target.object) {
            let controller = controller(resolver.snapshot(), &gateway).cloned();
            // A class without a name of its controller says nothing.
            let Some(controller) = controller.filter(|name| !name.is_empty()) else {
                return gateways_not_applying(policy, status);
            };
            if !profile.is_ignored_by(&controller)
                || is_of_class(resolver.snapshot(), policy, &gateway)
            {
                is_run = true;
                continue;
            }
            let is_known = resolver.snapshot().knows_controller(&controller);
            // Installations may give controllers names of their own, in the domain of the project.
            if !is_known && profile.has_controller_of_domain(&controller) {
                is_run = true;
                continue;
            }
            if !is_known {
                unknown =
                    unknown.or_else(|| Some((target.target.clone(), gateway, controller.clone())));
            }
            others.insert(controller);
        }
    }
    if is_run {
        let unknown = unknown.map(|unknown| not_known(policy, unknown));
        return gateways_not_applying(policy, status).or(unknown);
    }
    if resolver.is_spent() {
        // The search was not complete.
        return None;
    }
    let kind = &profile.gk.kind;
    let (ours, named) = (listed(&*profile.controllers), listed(&others));
    let message = if ours.is_empty() {
        format!("the Gateways that it reaches are run by {named}, which does not implement {kind}")
    } else {
        format!(
            "only {ours} implements {kind}, and the Gateways that it reaches are run by {named}"
        )
    };
    (!others.is_empty())
        .then(|| Finding::new(Code::ControllerMismatch, policy.key(), message).about("controllers"))
}

/// The finding that requests reach a target through a Gateway of a controller of which attache knows nothing.
fn not_known(
    policy: &Policy,
    (target, gateway, controller): (Place, ObjectKey, Arc<str>),
) -> Finding {
    let kind = &policy.profile.gk.kind;
    let message = format!(
        "attache does not know whether {controller}, which runs {gateway}, implements {kind}: requests may reach {target} through this Gateway without the policy"
    );
    Finding::new(Code::ControllerMismatch, policy.key(), message).about("controllers")
}

/// The finding that requests reach targets of the policy through Gateways to which it does not apply.
fn gateways_not_applying(policy: &Policy, status: &PolicyStatus) -> Option<Finding> {
    let passes = |target: &&TargetStatus| !target.gateways_not_applying.is_empty();
    let target = status.targets.iter().find(passes)?;
    let gateways = target.gateways_not_applying.iter();
    let gateways: Vec<String> = gateways.map(ToString::to_string).collect();
    let (kind, gateways) = (&policy.profile.gk.kind, gateways.join(", "));
    let message = format!(
        "{kind} does not apply to requests that reach {} through {gateways}",
        target.target.object
    );
    Some(Finding::new(Code::ControllerMismatch, policy.key(), message).about("controllers"))
}

/// Whether the kind applies to a Gateway because of its class, whichever controller runs it.
fn is_of_class(snapshot: &Snapshot, policy: &Policy, gateway: &ObjectKey) -> bool {
    let node = snapshot.get(gateway).map(|gateway| &gateway.node);
    let classes = &policy.profile.classes;
    matches!(node, Some(Node::Gateway { class, .. }) if classes.contains(class))
}

fn listed<'a>(names: impl IntoIterator<Item = &'a Arc<str>>) -> String {
    let names: Vec<&str> = names.into_iter().map(|name| &**name).collect();
    names.join(", ")
}

/// The finding on the policy for which this one is rejected on a target.
fn conflicting(snapshot: &Snapshot, policy: &Policy, target: &TargetStatus) -> Option<Finding> {
    let Accepted::Conflicted(with) = &target.accepted else {
        return None;
    };
    let other_policy = snapshot.policy(with)?;
    let place = match *policy.profile.conflict_scope {
        ConflictScope::Target => &target.target.object.whole(),
        _ => &target.target,
    };
    let message = match *policy.profile.same_target {
        SameTarget::FieldOverlap => {
            let field = overlap(policy, other_policy).unwrap_or_default().join(".");
            format!(
                "{with} already sets {field} on {place}, so the controller rejects this policy: remove {field} from one of the two"
            )
        }
        SameTarget::EqualField => {
            let fields = policy.profile.conflict_fields.iter();
            let fields: Vec<String> = fields.map(|field| field.join(".")).collect();
            let fields = fields.join(", ");
            format!(
                "{with} sets {fields} on {place} to another value, so the controller rejects both: set the same value"
            )
        }
        SameTarget::NoneWins => format!(
            "{with} also targets {place}, and the controller accepts only one policy there and rejects both: remove one"
        ),
        _ => format!(
            "ignored: {place} already has {with}, which {}; keep the settings in one of the two",
            precedence_reason(other_policy, policy).verb
        ),
    };
    let mut finding = Finding::new(Code::Conflicted, policy.key(), message)
        .about(format!("{} {with}", target.target));
    finding.mentions.insert(with.clone());
    Some(finding)
}

/// The finding that its controllers reject it on a target, by their report or by facts about them.
fn rejected(policy: &Policy, target: &TargetStatus) -> Option<Finding> {
    let place = &target.target;
    let message = match &target.accepted {
        Accepted::Rejected(report) => {
            format!("it is not in force on {place}: its controller reports {report}")
        }
        Accepted::ExpectedRejection(why) => {
            format!("it has no effect on {place}: {}", why.sentence())
        }
        _ => {
            let left_out = target.left_out()?;
            let scope = match target.left_out.as_deref().map(|why| &why.effect) {
                Some(RejectionEffect::WithoutSetting(_)) => format!("on {place}"),
                _ => format!("it has no effect on a part of {place}:"),
            };
            format!("{scope} attache expects its controller to leave out {left_out}")
        }
    };
    Some(Finding::new(Code::Rejected, policy.key(), message).about(place.to_string()))
}

/// The findings that controllers reject it for requests through single ancestors of a target.
fn rejected_in_part(snapshot: &Snapshot, policy: &Policy, target: &TargetStatus) -> Vec<Finding> {
    if target.state != Some(State::PartiallyEnforced) {
        return Vec::new();
    }
    let place = &target.target;
    let reports = rejections_on(snapshot, policy, place).into_iter();
    let findings = reports.filter_map(|report| {
        let ancestor = report.ancestor.as_ref()?;
        let message = format!(
            "it is not in force on {place} for requests through {ancestor}: its controller reports {report}"
        );
        let finding = Finding::new(Code::Rejected, policy.key(), message);
        Some(finding.about(format!("{place} {ancestor}")))
    });
    findings.collect()
}

/// The findings on the policies that override it on a target, everywhere or somewhere.
fn winners(snapshot: &Snapshot, policy: &Policy, target: &TargetStatus) -> Vec<Finding> {
    let code = match target.state {
        Some(State::Overridden) => Code::Overridden,
        Some(State::PartiallyEnforced) => Code::PartlyOverridden,
        _ => return Vec::new(),
    };
    let at = target.target.to_string();
    let winners = target.overridden_by.iter().map(|(key, winner)| {
        let name = key.text();
        let about = [&at, " ", &name].concat();
        let message = match code {
            Code::Overridden => format!("it has no effect on {at}: overridden by {name}"),
            _ => format!("overridden in part by {name}"),
        };
        let mut finding = Finding::new(code, policy.key(), message).about(about);
        finding.notice = gives_way(snapshot, policy, target, (key, winner));
        finding.settings = winner.settings.clone().into();
        finding.source = wording::origin(policy.key(), &winner.from);
        // GEP-713: of two defaults on one level, the newer wins. The message names the rule, because users expect the older.
        if let Some(other_policy) = snapshot.policy(key)
            && winner.from.contains(&target.target)
            && other_policy.is_for_all_namespaces() == policy.is_for_all_namespaces()
        {
            let which = precedence_reason(other_policy, policy).noun;
            finding.source = format!("{}, where the {which} wins", finding.source);
        }
        finding.mentions.insert(key.clone());
        finding
    });
    winners.collect()
}

/// Whether a policy loses as intended: it is a default, and the winner is more specific. It does not if
/// the winner overrides it from above or is attached to the same target.
fn gives_way(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &TargetStatus,
    (key, winner): (&ObjectKey, &Winner),
) -> bool {
    let overrides = |key: &ObjectKey| {
        let winner = snapshot.policy(key);
        winner.is_some_and(|winner| winner.stanzas().any(StanzaRef::is_override))
    };
    policy.stanzas().all(StanzaRef::is_default)
        && !overrides(key)
        && !winner.from.contains(&target.target)
}

/// Fields that another policy of GEP-713 of 2021 sets to a different value on the same target.
fn conflicts(resolver: &mut Resolver<'_>, policy: &Policy, target: &TargetStatus) -> Vec<Finding> {
    if !policy.profile.strategies.value.follows_2021 || target.accepted != Accepted::Accepted {
        return Vec::new();
    }
    let attachments = resolver.attached(&target.target.object);
    let same_kind = attachments.iter().filter(|attachment| {
        attachment.policy.key().gk == policy.key().gk && attachment.section == target.target.section
    });
    let same_kind: Vec<_> = same_kind.collect();
    let (mine, others): (Vec<_>, Vec<_>) = same_kind
        .into_iter()
        .partition(|attachment| attachment.policy.key() == policy.key());
    // Targets that differ in members of unknown meaning are different targets.
    let same_target = |other: &&Attachment| {
        mine.iter()
            .any(|attachment| attachment.unknown == other.unknown)
    };
    let others = others.into_iter().filter(same_target);
    let (most_leaves, most) = if resolver.is_limited() {
        (MOST_COMPARED, MOST_CONFLICTS)
    } else {
        (usize::MAX, usize::MAX)
    };
    let (mut findings, mut compared) = (Vec::new(), 0);
    let too_much = || too_much(policy.key(), "further conflicts");
    for other in others {
        if compared >= most_leaves || findings.len() >= most {
            findings.push(too_much());
            break;
        }
        // Each policy is read and looked up in the other.
        compared += policy.leaves() + other.policy.leaves() + other.policy.reading_cost();
        let older = other.policy.precedence() < policy.precedence();
        let wins = if older {
            "its value is in force"
        } else {
            "the value of this policy is in force"
        };
        let room = most - findings.len();
        let fields = field_conflicts(policy, &other.policy);
        if fields.len() > room {
            findings.push(too_much());
        }
        for field in fields.into_iter().take(room) {
            let message = format!(
                "{} sets another value; {wins}: set it in one of the two",
                other.policy.key()
            );
            let mut finding = Finding::new(Code::FieldConflict, policy.key(), message)
                .at(&field)
                .about(format!("{} {field}", target.target));
            finding.mentions.insert(other.policy.key().clone());
            findings.push(finding);
        }
    }
    findings
}
