//! Differences between the reported status and the status that attache expects.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Accepted, PolicyStatus, State};
use crate::attachment::reports::{CombinedAcceptance, ControllerStatus, Overridden, Report};

/// A disagreement of controllers and attache about a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename = "Differs", rename_all = "kebab-case")]
pub enum Disagreement {
    /// attache expects it to be accepted; its controller rejects it, somewhere or everywhere.
    Rejected,
    /// attache expects it to be rejected; its controller accepts it.
    Accepted,
    /// attache expects it to be in force; its controller reports that it is not.
    NotEnforced,
    /// attache expects it to be in force; its controller reports that other policies override it.
    Overridden,
}

// === impl Disagreement ===

impl Disagreement {
    /// All variants.
    pub const ALL: [Self; 4] = [
        Self::Rejected,
        Self::Accepted,
        Self::NotEnforced,
        Self::Overridden,
    ];

    /// The name in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Accepted => "accepted",
            Self::NotEnforced => "not-enforced",
            Self::Overridden => "overridden",
        }
    }
}

/// The disagreement about a policy with this expected status.
pub fn disagreement(
    accepted: &Accepted,
    state: Option<&State>,
    controllers: &ControllerStatus,
) -> Option<Disagreement> {
    let is_overridden = matches!(controllers.overridden, Some(Overridden::Everywhere(_)));
    let is_in_force = matches!(state, Some(State::Enforced | State::PartiallyEnforced));
    match (accepted, controllers.opinion) {
        (Accepted::Rejected(report), _) => of_report(report),
        (Accepted::Accepted, CombinedAcceptance::Divided) => Some(Disagreement::Rejected),
        (Accepted::Accepted, _) if is_in_force && controllers.not_enforced.is_some() => {
            Some(Disagreement::NotEnforced)
        }
        (Accepted::Accepted, _) if is_in_force && is_overridden => Some(Disagreement::Overridden),
        (
            Accepted::Conflicted(_)
            | Accepted::ExpectedRejection(_)
            | Accepted::Invalid
            | Accepted::TargetNotFound,
            CombinedAcceptance::Accepted,
        ) => Some(Disagreement::Accepted),
        _ => None,
    }
}

fn of_report(report: &Report) -> Option<Disagreement> {
    match report.is_rejection {
        true if report.is_expected => None,
        true => Some(Disagreement::Rejected),
        false => Some(Disagreement::NotEnforced),
    }
}

/// A rejection is expected if the policy is left out on some sections of a target.
fn unexpected(differs: Option<Disagreement>, is_left_out: bool) -> Option<Disagreement> {
    differs.filter(|differs| !(is_left_out && *differs == Disagreement::Rejected))
}

// === impl PolicyStatus ===

impl PolicyStatus {
    /// The disagreement between its controllers and attache.
    pub fn disagreement(&self) -> Option<Disagreement> {
        let mut targets = self.targets.iter();
        let rejected = targets.find_map(|target| match &target.accepted {
            Accepted::Rejected(report) => of_report(report),
            _ => None,
        });
        if rejected.is_some() {
            return rejected;
        }
        let mut targets = self.targets.iter();
        let is_left_out = targets.any(|target| target.left_out.is_some());
        let differs = disagreement(&self.accepted, self.state.as_ref(), &self.controllers);
        let differs = unexpected(differs, is_left_out);
        // A report that it is overridden on some targets contradicts a policy that is enforced everywhere.
        let is_somewhere = matches!(self.controllers.overridden, Some(Overridden::Somewhere(_)));
        let is_whole = self.accepted == Accepted::Accepted && self.state == Some(State::Enforced);
        differs.or((is_somewhere && is_whole).then_some(Disagreement::Overridden))
    }
}
