//! Policies that their controllers report to be invalid, and that apply to requests all the same: they keep their place, or their
//! requests get an error.

use super::reported_rejections::{self, Rejected};
use crate::kinds::profile::ReportedInvalid;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// The reason that the profiles speak of.
const INVALID: &str = "Invalid";

/// A policy that its controllers report to be invalid.
pub(super) struct InvalidReport<'a> {
    /// The effect of such a report, by the profile of the kind.
    pub(super) fact: &'a ReportedInvalid,
    /// The message of the controller.
    pub(super) message: String,
    /// The whole condition: `Accepted=False (Invalid): …`.
    pub(super) condition: String,
    /// Whether requests that the policy is for get an error.
    pub(super) requests_fail: bool,
}

// === impl Policy ===

impl Policy {
    /// The report of its controllers that it is invalid, with the effect on the policy. `None` also
    /// for a policy with several targets: controllers do not say which of them they mean.
    pub(super) fn reported_invalid<'a>(&'a self, snapshot: &Snapshot) -> Option<InvalidReport<'a>> {
        let fact = self.profile.reported_invalid.as_ref()?;
        self.object.reported.as_ref()?;
        let [target] = &*self.targets else {
            return None;
        };
        let is_whole = reported_rejections::rejected(snapshot, self) == Rejected::Everywhere;
        if !is_whole || !fact.is_about(&target.gk.kind) {
            return None;
        }
        let report = reported_rejections::rejection(snapshot, self)?;
        let is_it = report.is_rejection
            && *report.condition.reason == *INVALID
            && !fact.is_absent_with(&report.condition.message);
        is_it.then(|| InvalidReport {
            fact,
            message: report.condition.message.to_string(),
            condition: report.to_string(),
            requests_fail: fact.requests_fail && !self.fails_open(&fact.fail_open),
        })
    }

    /// Whether its controllers may report that it is invalid, and its profile states the effect of
    /// that.
    pub(super) fn may_be_reported_invalid(&self) -> bool {
        self.profile.reported_invalid.is_some() && self.object.reported.is_some()
    }
}
