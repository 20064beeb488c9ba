//! Reports of the relevant controllers about policies.
//!
//! For a status entry that is not about a Gateway, the controllers that the profile of the kind names are relevant; all
//! controllers if it names none.

use std::fmt;
use std::sync::Arc;

use crate::kinds::profile::Profile;
use crate::model::ids::Place;
use crate::model::object::reported::{Acceptance, Condition, Entry, Subject};
use crate::policy::Policy;
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
) -> impl Iterator<Item = &'a Entry> + Clone {
    let reported = policy.object.reported.as_deref();
    let entries = reported.into_iter().flat_map(|reported| &reported.entries);
    entries.filter(|entry| counts(snapshot, &policy.profile, entry))
}

fn counts(snapshot: &Snapshot, profile: &Profile, entry: &Entry) -> bool {
    let Some(theirs) = &entry.controller else {
        return true;
    };
    let of_class = match &entry.subject {
        Subject::Ancestor(place) => controller(snapshot, &place.object),
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => None,
    };
    match of_class {
        Some(known) => known == theirs,
        None => profile.controllers.is_empty() || profile.controllers.contains(theirs),
    }
}

// === impl ControllerStatus ===

impl ControllerStatus {
    /// Collects the reports about a policy.
    pub fn collect(snapshot: &Snapshot, policy: &Policy) -> Self {
        let entries = entries(snapshot, policy);
        let has = |acceptance| entries.clone().any(|entry| entry.acceptance == acceptance);
        let opinion = match (
            has(Acceptance::Rejected),
            has(Acceptance::Accepted),
            has(Acceptance::Outdated),
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
        let not_enforced = |entry: &Entry| Some(Report::new(entry, entry.not_enforced().next()?));
        let find = |condition_is: fn(&Condition) -> bool| {
            entries.clone().find_map(|entry| {
                let mut conditions = entry.conditions.iter();
                Some(Report::new(entry, conditions.find(|c| condition_is(c))?))
            })
        };
        let everywhere = find(Condition::is_overridden).map(Overridden::Everywhere);
        let somewhere = || {
            let tells = *policy.profile.tells_overridden;
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
    pub(super) fn new(entry: &Entry, condition: &Condition) -> Self {
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
