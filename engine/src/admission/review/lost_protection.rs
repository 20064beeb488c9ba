//! Findings on protections that a change takes away.

use std::collections::{BTreeMap, BTreeSet};

use super::fuel::too_much;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::effective::impact::EffectiveChange;
use crate::effective::protection::{
    AcceptedPolicy, Coverage, LostSources, ProtectionLoss, Remedy, lost, lost_at_listeners,
    lost_by_acceptance, lost_by_own_fields, remedies,
};
use crate::effective::renames::Renames;
use crate::effective::traffic::Opened;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::wording;
use crate::state::snapshot::Snapshot;

/// The most sections of one object that a message names.
const MOST_SECTIONS: usize = 3;

/// The protections of a kind that paths lose, one finding for each. `states` are the snapshots before and after the
/// change.
pub(super) fn protections(
    states: [&Snapshot; 2],
    key: &ObjectKey,
    kind: &GroupKind,
    all: &[EffectiveChange],
) -> Vec<Finding> {
    let Some(lost) = lost(states, Renames::NONE, kind, &all.iter()) else {
        let what = format!("the protections of {kind} that are lost");
        return vec![too_much(key, &what)];
    };
    let remedies = if lost.is_empty() {
        Vec::new()
    } else {
        remedies(states, key, kind)
    };
    let findings = lost.into_iter();
    let findings = findings.map(|loss| finding(key, kind, loss, &remedies));
    findings.collect()
}

/// The protections that routes lose by listeners that a change opens to them, of kinds that apply to
/// listeners. Also the protections that these objects give up by their own fields and labels.
pub(super) fn at_listeners(
    [before, after]: [&Snapshot; 2],
    key: &ObjectKey,
    opened: &BTreeMap<ObjectKey, Opened>,
    objects: &[ObjectKey],
) -> Vec<Finding> {
    let mut resolver_before = Resolver::bounded(before);
    let mut resolver_after = resolver_before.for_snapshot(after);
    let mut lost = lost_at_listeners([&mut resolver_before, &mut resolver_after], opened);
    lost.extend(lost_by_own_fields(
        [&mut resolver_before, &mut resolver_after],
        objects,
    ));
    if resolver_before.is_spent() || resolver_after.is_spent() {
        return vec![too_much(key, "the protections that routes lose")];
    }
    let lost = lost.into_iter();
    lost.map(|(kind, loss)| finding(key, &kind, loss, &[]))
        .collect()
}

/// The protections without which requests pass because a change of these objects lets controllers accept policies that take the
/// place of others; until then the requests got an error. Reported on the object by whose change a policy is accepted.
pub(super) fn by_acceptance(
    [before, after]: [&Snapshot; 2],
    objects: &[ObjectKey],
) -> Vec<Finding> {
    let Some(accepted) = lost_by_acceptance([before, after], objects) else {
        let what = "the policies that are accepted after this change";
        let first = objects.first().into_iter();
        return first.map(|key| too_much(key, what)).collect();
    };
    let findings = accepted.into_iter().flat_map(|accepted| {
        let AcceptedPolicy {
            policy,
            cause,
            without,
            losses,
            left_out,
        } = accepted;
        let remedies = if losses.is_empty() {
            Vec::new()
        } else {
            remedies([&without, after], &policy, &policy.gk)
        };
        let losses = losses.into_iter().map(|loss| {
            let finding = finding(&cause, &policy.gk, loss, &remedies);
            let message = format!(
                "{} is no longer rejected, so {}",
                policy.text(),
                finding.message
            );
            let subject = format!("{} by {policy}", finding.subject);
            Finding {
                message,
                subject,
                ..finding
            }
        });
        let left_out = left_out.into_iter().map(|loss| {
            let finding = finding(&cause, &policy.gk, loss, &[]);
            let subject = format!("{} left out of {policy}", finding.subject);
            Finding { subject, ..finding }
        });
        losses.chain(left_out).collect::<Vec<_>>()
    });
    findings.collect()
}

/// The finding on a protection that requests to a route lose, with its source.
pub(super) fn lost_by_requests(
    route: &ObjectKey,
    message: String,
    subject: String,
    lost: LostSources,
) -> Finding {
    let mut finding = Finding::new(Code::ProtectionLost, route, message).about(subject);
    finding.settings = wording::settings(&lost.settings).into();
    finding.source = lost.reasons.into_iter().collect::<Vec<_>>().join("; ");
    finding.mentions = lost.by.into_iter().chain(lost.now).collect();
    finding
}

/// The finding on a protection that paths lose.
fn finding(
    key: &ObjectKey,
    kind: &GroupKind,
    loss: ProtectionLoss,
    remedies: &[Remedy],
) -> Finding {
    let name = &loss.protection;
    let mut subject = format!("{kind} {name}");
    if !loss.opened.is_empty() {
        subject.push_str(" by a new path");
    }
    let mut finding = Finding::new(Code::ProtectionLost, key, what_is_lost(&loss)).about(subject);
    finding.places = loss.places().map(|place| (place, None)).collect();
    let LostSources {
        settings,
        reasons,
        by,
        now,
        ..
    } = loss.lost;
    finding.settings = wording::settings(&settings).into();
    let remedy = remedies.iter().find(|remedy| remedy.keeps(name));
    let reasons = || reasons.into_iter().collect::<Vec<_>>().join("; ");
    finding.source = remedy.map_or_else(reasons, |remedy| {
        format!("with {remedy} the route keeps it")
    });
    let opened = loss.opened.iter().map(|place| place.object.clone());
    let elsewhere = opened.filter(|owner| owner.namespace != key.namespace);
    let mentions = by.into_iter().chain(now).chain(elsewhere);
    finding.mentions = mentions.filter(|policy| policy != key).collect();
    finding
}

/// `HTTPRoute shop/cart loses the authentication of SecurityPolicy infra/sign-in`.
fn what_is_lost(loss: &ProtectionLoss) -> String {
    let by: Vec<String> = loss.lost.by.iter().map(ObjectKey::text).collect();
    let places: Vec<String> = loss.places().map(|place| place.to_string()).collect();
    // Sections are named only for a single object.
    let objects = if loss.objects.len() == 1 && (1..=MOST_SECTIONS).contains(&places.len()) {
        places.join(" and ")
    } else {
        wording::named(&loss.objects)
    };
    let (by, name) = (by.join(", "), &loss.protection);
    let is_one = loss.objects.len() == 1 && !(2..=MOST_SECTIONS).contains(&places.len());
    if loss.opened.is_empty() {
        let verb = match (loss.lost.remains, is_one) {
            (Coverage::NoRequests, true) => "loses",
            (Coverage::NoRequests, false) => "lose",
            (_, true) => "keeps only part of",
            (_, false) => "keep only part of",
        };
        if loss.lost.by == loss.objects {
            let its = if is_one { "its" } else { "their" };
            return format!("{objects} {verb} {its} {name}");
        }
        return format!("{objects} {verb} the {name} of {by}");
    }
    let entries: BTreeSet<String> = loss.opened.iter().map(ToString::to_string).collect();
    let verb = if is_one { "gets" } else { "get" };
    let without = match loss.lost.remains {
        Coverage::NoRequests => "without",
        _ => "with only part of",
    };
    format!(
        "{objects} now {verb} requests through {}, {without} the {name} of {by}",
        wording::first(&entries)
    )
}
