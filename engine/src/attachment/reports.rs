//! Reports of the relevant controllers about policies.
//!
//! For a status entry that is not about a Gateway, the controllers that the profile of the kind names are relevant; all
//! controllers if it names none. One about a backend is relevant if its controller sends requests there.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::requests_to_backend::{LeadingRoute, leading_routes};
use super::targets_of;
use crate::kinds::profile::Class;
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::Level;
use crate::model::object::status::{
    Condition, ENFORCEMENT, ReportedAcceptance, StatusEntry, Subject, WAITING, WAYPOINT_ACCEPTED,
};
use crate::policy::{Policy, condition_against};
use crate::state::snapshot::Snapshot;
use crate::topology::reports::controller;

/// The common opinion of the controllers of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CombinedAcceptance {
    /// They report nothing.
    Unsaid,
    /// They report on an older generation.
    Outdated,
    /// All accept it.
    Accepted,
    /// Some accept it, some reject it.
    Divided,
    /// All reject it.
    Rejected,
}

/// The reports of the controllers of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerStatus {
    /// A summary.
    pub opinion: CombinedAcceptance,
    /// The conditions that are not good, in the order of the status.
    pub reports: Vec<Report>,
    /// The report that an accepted policy is not in force.
    pub not_enforced: Option<Report>,
    /// The report that other policies override it.
    pub overridden: Option<Overridden>,
}

/// The targets on which other policies override a policy, as its controllers report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overridden {
    /// On all its targets.
    Everywhere(Report),
    /// Somewhere; only for kinds whose profile states that their controllers report this (`status.overridden`).
    Somewhere(Report),
}

/// A condition that a controller reports for an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Report {
    /// The controller, if the status names one.
    pub controller: Option<Arc<str>>,
    /// The ancestor that the report is about, if the status names one.
    pub ancestor: Option<Place>,
    /// The condition.
    pub condition: Condition,
    /// Whether it rejects the object.
    pub is_rejection: bool,
    /// Whether attache expects the rejection, too.
    pub is_expected: bool,
}

/// The entries of relevant controllers in the status of a policy.
pub fn entries<'a>(
    snapshot: &'a Snapshot,
    policy: &'a Policy,
) -> impl Iterator<Item = &'a StatusEntry> + Clone {
    let reported = policy.object.reported.as_deref();
    let entries = reported.into_iter().flat_map(|reported| &reported.entries);
    entries.filter(|entry| counts(snapshot, policy, entry))
}

fn counts(snapshot: &Snapshot, policy: &Policy, entry: &StatusEntry) -> bool {
    if is_needless_waypoint_report(snapshot, policy, entry) {
        return false;
    }
    let Some(theirs) = &entry.controller else {
        return true;
    };
    let controllers = &policy.profile.controllers;
    let is_named = || controllers.is_empty() || controllers.contains(theirs);
    let Subject::Ancestor(place) = &entry.subject else {
        return is_named();
    };
    if is_summary(snapshot, policy, theirs, place) {
        return false;
    }
    let is_denied = condition_against(&policy.profile, entry).is_some();
    let places = ancestors(snapshot, entry, place);
    if places.iter().all(|place| snapshot.lacks(&place.object)) {
        // The entry is left over if the ancestor is gone. A rejection also counts if the controller leaves out namespaces.
        let was_there = |seen: &Snapshot| seen.get(&place.object).is_some();
        let is_left_over = !is_denied
            || snapshot.observed_by_controllers().is_some_and(was_there)
            || reports_on_others(snapshot, policy, theirs, place);
        if is_left_over {
            return false;
        }
    }
    let mut of_classes = places.iter();
    if let Some(known) = of_classes.find_map(|place| controller(snapshot, &place.object)) {
        return known == theirs;
    }
    // Only rejections are looked at closely: an acceptance changes nothing.
    is_named() && (!is_denied || sends_requests(snapshot, policy, &place.object, theirs))
}

/// The places that a status entry means by an ancestor: several if its controller leaves out the namespaces of Gateways.
pub(super) fn ancestors<'a>(
    snapshot: &Snapshot,
    entry: &StatusEntry,
    place: &'a Place,
) -> Cow<'a, [Place]> {
    let exact = Cow::Borrowed(std::slice::from_ref(place));
    let Some(theirs) = &entry.controller else {
        return exact;
    };
    let facts = snapshot.controller_facts(theirs);
    if facts.is_none_or(|facts| !facts.ancestors_without_namespace)
        || !place.object.gk.is_gateway_api("Gateway")
        || controller(snapshot, &place.object) == Some(theirs)
    {
        return exact;
    }
    let gateways = snapshot
        .objects(&place.object.gk)
        .map(|gateway| &gateway.key);
    let gateways = gateways.filter(|key| key.name == place.object.name);
    let theirs = gateways.filter(|key| controller(snapshot, key) == Some(theirs));
    let mut places: Vec<Place> = theirs.map(ObjectKey::whole).collect();
    places.sort();
    if places.is_empty() {
        return exact;
    }
    places.into()
}

/// Whether an ancestor stands for the targets to which a controller could not attach a policy (`StatusSummary` of agentgateway),
/// and it reports on others, too.
fn is_summary(snapshot: &Snapshot, policy: &Policy, theirs: &Arc<str>, place: &Place) -> bool {
    let facts = snapshot.controller_facts(theirs);
    let summary = facts.and_then(|facts| facts.summary_ancestor.as_deref());
    summary == Some(&*place.object.name) && reports_on_others(snapshot, policy, theirs, place)
}

/// Whether a controller reports on a policy as it is now at another ancestor, which exists.
fn reports_on_others(
    snapshot: &Snapshot,
    policy: &Policy,
    theirs: &Arc<str>,
    place: &Place,
) -> bool {
    let reported = policy.object.reported.iter();
    let mut entries = reported.flat_map(|reported| &reported.entries);
    entries.any(|entry| {
        let exists = |other: &Place| other != place && snapshot.get(&other.object).is_some();
        let is_other = matches!(&entry.subject, Subject::Ancestor(other) if exists(other));
        let is_current = entry.acceptance != ReportedAcceptance::Outdated;
        is_other && is_current && entry.controller.as_ref() == Some(theirs)
    })
}

/// Whether requests reach a backend that a controller sends, or whose sender is not known. Where no request reaches it, the report
/// counts as well.
fn sends_requests(
    snapshot: &Snapshot,
    policy: &Policy,
    backend: &ObjectKey,
    theirs: &Arc<str>,
) -> bool {
    if *policy.profile.class != Class::Direct || !Level::is_of_backend(&backend.gk) {
        return true;
    }
    let mut leading = leading_routes(snapshot, backend).peekable();
    let is_theirs = |leading: LeadingRoute<'_>| {
        let sender = controller(snapshot, &leading.parent);
        sender.is_none_or(|sender| sender == theirs)
    };
    leading.peek().is_none() || leading.any(is_theirs)
}

/// Whether an entry says no more than that a policy is not bound to a waypoint, and all its targets are Gateways that are no
/// waypoints.
fn is_needless_waypoint_report(snapshot: &Snapshot, policy: &Policy, entry: &StatusEntry) -> bool {
    let mut conditions = entry.conditions.iter();
    let is_about_waypoints = |condition: &Condition| &*condition.name == WAYPOINT_ACCEPTED;
    let says_no_more = entry.rejection().is_some() && conditions.all(is_about_waypoints);
    if !says_no_more || policy.targets.is_empty() {
        return false;
    }
    let own = &policy.key().namespace;
    let is_other = |object: &ObjectKey| {
        let by = controller(snapshot, object);
        let facts = by.and_then(|by| snapshot.controller_facts(by));
        let serves_routes = |name: &Arc<str>| {
            facts.is_some_and(|facts| !facts.without_routes.iter().any(|one| **one == **name))
        };
        by.is_some_and(serves_routes)
    };
    policy.targets.iter().all(|target| {
        let objects = targets_of(snapshot, own, target);
        !objects.is_empty() && objects.iter().all(is_other)
    })
}

// === impl ControllerStatus ===

impl ControllerStatus {
    /// The report that an accepted policy is not in force yet.
    pub fn waiting(&self) -> Option<&Report> {
        let waits = |report: &&Report| {
            let condition = &report.condition;
            condition.is_current
                && !condition.holds
                && ENFORCEMENT.contains(&&*condition.name)
                && WAITING.contains(&&*condition.reason)
        };
        self.reports.iter().find(waits)
    }

    /// Collects the reports about a policy.
    pub fn collect(snapshot: &Snapshot, policy: &Policy) -> Self {
        let entries = entries(snapshot, policy);
        let has = |acceptance| entries.clone().any(|entry| entry.acceptance == acceptance);
        let opinion = match (
            has(ReportedAcceptance::Rejected),
            has(ReportedAcceptance::Accepted),
            has(ReportedAcceptance::Outdated),
        ) {
            (true, false, false) => CombinedAcceptance::Rejected,
            (true, ..) => CombinedAcceptance::Divided,
            (false, _, true) => CombinedAcceptance::Outdated,
            (false, true, false) => CombinedAcceptance::Accepted,
            (false, false, false) => CombinedAcceptance::Unsaid,
        };
        let mut reports = Vec::new();
        for entry in entries.clone() {
            let conditions = entry.conditions.iter();
            reports.extend(conditions.map(|condition| Report::new(entry, condition)));
        }
        let not_enforced =
            |entry: &StatusEntry| Some(Report::new(entry, entry.not_enforced().next()?));
        let find = |condition_is: fn(&Condition) -> bool| {
            entries.clone().find_map(|entry| {
                let mut conditions = entry.conditions.iter();
                Some(Report::new(entry, conditions.find(|c| condition_is(c))?))
            })
        };
        let everywhere = find(Condition::is_overridden).map(Overridden::Everywhere);
        let somewhere = || {
            let tells = *policy.profile.reports_overridden;
            let report = find(Condition::is_overridden_somewhere).filter(|_| tells);
            report.map(Overridden::Somewhere)
        };
        Self {
            opinion,
            reports,
            not_enforced: entries.clone().find_map(not_enforced),
            overridden: everywhere.or_else(somewhere),
        }
    }
}

// === impl Report ===

/// Formatted like [`Condition`].
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl Report {
    pub(super) fn new(entry: &StatusEntry, condition: &Condition) -> Self {
        Self {
            controller: entry.controller.clone(),
            ancestor: match &entry.subject {
                Subject::Ancestor(place) => Some(place.clone()),
                _ => None,
            },
            condition: condition.clone(),
            is_rejection: entry.rejection() == Some(condition),
            is_expected: false,
        }
    }
}
