//! The places at which controllers report that a policy is rejected or not in force.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::rejection::RejectionFinder;
use super::reports::{Report, ancestors, entries};
use super::requests_to_backend::leading_routes;
use super::targets_of;
use crate::kinds::profile::Class;
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::Level;
use crate::model::object::is_route;
use crate::model::object::status::{ReportedAcceptance, StatusEntry, Subject};
use crate::policy::{Policy, condition_against};
use crate::state::snapshot::Snapshot;
use crate::topology::reports::controller;

/// Reasons that depend on the targets of the policy, or on what is above them.
const OF_TARGETS: [&str; 3] = ["TargetNotFound", "RefNotPermitted", "NoMatchingParent"];
/// The reason of a policy that loses to another one.
const CONFLICTED: &str = "Conflicted";

/// The places at which controllers reject a policy or report that it is not in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Nowhere.
    Nowhere,
    /// Everywhere.
    Everywhere,
    /// For requests through these ancestors; at others it is in force.
    Through(Vec<Place>),
}

/// The places at which a policy is rejected or reported not to be in force.
pub fn rejected(snapshot: &Snapshot, policy: &Policy) -> Rejected {
    if policy.object.reported.is_none() {
        return Rejected::Nowhere;
    }
    let finder = RejectionFinder::new(true);
    // Controllers that merge for each listener also report on the Gateway as a whole, and accept that.
    let by_listener = policy.profile.reported_invalid.is_some() && policy.chooses_to_merge();
    let (mut places, mut accepted, mut others) = (Vec::new(), Vec::new(), false);
    for entry in entries(snapshot, policy) {
        let is_denied = condition_against(&policy.profile, entry).is_some();
        match (is_denied, &entry.subject) {
            (true, _) if is_outdated_by_change(snapshot, policy, entry, &finder) => {}
            (true, Subject::Ancestor(place)) => {
                places.extend(gateways_of(snapshot, policy, entry, place));
            }
            (true, _) => return Rejected::Everywhere,
            // Where controllers merge for each listener, they report on those where all is well that they merged.
            (false, Subject::Ancestor(place))
                if by_listener && place.section.is_some() && entry.conditions.is_empty() =>
            {
                accepted.push(place);
            }
            (false, _) if entry.acceptance == ReportedAcceptance::Unsaid => {}
            (false, Subject::Ancestor(place)) => accepted.push(place),
            _ => others = true,
        }
    }
    let is_on_listeners = |whole: &Place| {
        let mut places = places.iter();
        whole.section.is_none()
            && places.any(|place| place.object == whole.object && place.section.is_some())
    };
    others |= accepted
        .into_iter()
        .any(|place| !(by_listener && is_on_listeners(place)));
    if places.is_empty() {
        Rejected::Nowhere
    } else if others || has_other_gateways(snapshot, policy, &places) {
        Rejected::Through(places)
    } else {
        Rejected::Everywhere
    }
}

/// The Gateways that a rejection is about: where it names the backend that a policy targets, those of its controller that lead there.
fn gateways_of(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &StatusEntry,
    place: &Place,
) -> Vec<Place> {
    let is_of_backend = *policy.profile.class == Class::Direct
        && Level::is_of_backend(&place.object.gk)
        && policy.targets.len() == 1
        && entry.controller.is_some();
    let leading = leading_routes(snapshot, &place.object).filter(|_| is_of_backend);
    let parents: BTreeSet<ObjectKey> = leading.map(|leading| leading.parent).collect();
    let sent_by = |by: Option<&Arc<str>>| {
        let senders = parents
            .iter()
            .filter(|parent| controller(snapshot, parent) == by);
        senders.map(ObjectKey::whole).collect::<Vec<Place>>()
    };
    let own = sent_by(entry.controller.as_ref());
    let own = if own.is_empty() { sent_by(None) } else { own };
    if own.is_empty() {
        ancestors(snapshot, entry, place).into_owned()
    } else {
        own
    }
}

/// Whether Gateways of other controllers, which report nothing, lead to the backends of a policy that is rejected at these places.
fn has_other_gateways(snapshot: &Snapshot, policy: &Policy, places: &[Place]) -> bool {
    let own = &policy.key().namespace;
    let is_named = |gateway: &ObjectKey| places.iter().any(|place| place.object == *gateway);
    let is_of_gateways = *policy.profile.class == Class::Direct
        && places
            .iter()
            .all(|place| place.object.gk.is_gateway_api("Gateway"));
    let known: Vec<_> = places
        .iter()
        .map(|place| controller(snapshot, &place.object))
        .collect();
    let targets = policy.targets.iter().filter(|_| is_of_gateways);
    let mut targets = targets.filter_map(|target| target.object(own));
    targets.any(|target| {
        let mut leading = leading_routes(snapshot, &target);
        leading.any(|leading| {
            let by = controller(snapshot, &leading.parent);
            !is_named(&leading.parent) && by.is_some() && !known.contains(&by)
        })
    })
}

/// Whether a policy is rejected because of other objects that are assumed to differ: then the opinion of its
/// controllers is not known yet.
fn is_outdated_by_change(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &StatusEntry,
    finder: &RejectionFinder,
) -> bool {
    let Some(seen) = snapshot.observed_by_controllers() else {
        return false;
    };
    let Some(reason) = entry.rejection().map(|condition| &*condition.reason) else {
        return false;
    };
    let own = &policy.key().namespace;
    if reason == CONFLICTED {
        return has_changed_conflicting_policy(snapshot, seen, policy);
    }
    let mut named = policy.targets.iter().filter_map(|t| t.object(own));
    let is_ancestor = || match &entry.subject {
        Subject::Ancestor(place) => snapshot.is_hypothetical(&place.object),
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => false,
    };
    if OF_TARGETS.contains(&reason)
        && (is_ancestor() || named.any(|target| snapshot.is_hypothetical(&target)))
    {
        return true;
    }
    policy.targets.iter().any(|target| {
        targets_of(seen, own, target).into_iter().any(|object| {
            let place = Place {
                object,
                section: target.section.clone(),
            };
            finder.is_resolved_by_change(snapshot, policy, &place)
        })
    })
}

/// Whether another policy of the kind that has one of the targets of a policy is assumed to differ, or to be gone.
fn has_changed_conflicting_policy(snapshot: &Snapshot, seen: &Snapshot, policy: &Policy) -> bool {
    let own = &policy.key().namespace;
    let changed = snapshot.changed_of_kind(&policy.key().gk);
    let mut changed_policies = changed.filter(|key| *key != policy.key());
    changed_policies.any(|key| {
        let Some(changed_policy) = seen.policy(key) else {
            return false;
        };
        let mut targets = policy.targets.iter();
        targets.any(|target| {
            let mut objects = targets_of(seen, own, target).into_iter();
            objects.any(|object| {
                changed_policy.has_target(&object, seen.get(&object).map(|one| &**one))
            })
        })
    })
}

/// The report that rejects a policy; otherwise the one that it is not in force.
pub fn rejection(snapshot: &Snapshot, policy: &Policy) -> Option<Report> {
    let entries = entries(snapshot, policy);
    let mut rejecting = entries.clone();
    let rejection = rejecting.find_map(|entry| Some(Report::new(entry, entry.rejection()?)));
    let mut all = entries;
    let denial = |entry| {
        Some(Report::new(
            entry,
            condition_against(&policy.profile, entry)?,
        ))
    };
    rejection.or_else(|| all.find_map(denial))
}

/// The report that a policy is not in force, if its controllers accept it.
pub fn not_enforced(snapshot: &Snapshot, policy: &Policy) -> Option<Report> {
    rejection(snapshot, policy).filter(|report| !report.is_rejection)
}

/// The reports that reject a policy, or that it is not in force, for single ancestors.
pub fn rejections_by_ancestor(snapshot: &Snapshot, policy: &Policy) -> Vec<Report> {
    let finder = RejectionFinder::new(true);
    let entries = entries(snapshot, policy);
    let entries = entries.filter(|entry| !is_outdated_by_change(snapshot, policy, entry, &finder));
    let mut reports = Vec::new();
    for entry in entries {
        let (Subject::Ancestor(place), Some(denial)) =
            (&entry.subject, condition_against(&policy.profile, entry))
        else {
            continue;
        };
        let places = ancestors(snapshot, entry, place).into_owned();
        reports.extend(places.into_iter().map(|place| Report {
            ancestor: Some(place),
            ..Report::new(entry, denial)
        }));
    }
    reports
}

/// Whether the controllers of a policy reject it at an object, and all of them for this reason. Reports that do not name
/// an ancestor count for every object.
pub fn is_rejected_only_for(
    snapshot: &Snapshot,
    policy: &Policy,
    object: &ObjectKey,
    reason: &str,
) -> bool {
    let entries = entries(snapshot, policy).filter(|entry| match &entry.subject {
        // Policies on routes report on the Gateways above them.
        Subject::Ancestor(place) => place.object == *object || is_route(&object.gk),
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => true,
    });
    let denial = |entry| condition_against(&policy.profile, entry);
    let mut rejections = entries.filter_map(denial).peekable();
    rejections.peek().is_some() && rejections.all(|rejection| *rejection.reason == *reason)
}

// === impl Rejected ===

impl Rejected {
    /// Whether none of a policy is in force at an object.
    pub fn at(&self, object: &ObjectKey) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::Through(places) => {
                let mut places = places.iter();
                places.any(|place| place.section.is_none() && place.object == *object)
            }
        }
    }
}
