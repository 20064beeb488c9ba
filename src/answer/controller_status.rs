//! The status that controllers wrote on a policy, next to the state that attache expects.

use schemars::JsonSchema;
use serde::Serialize;

use super::named::Named;
use crate::engine::attachment::reports::{
    CombinedAcceptance, ControllerStatus, Overridden, Report,
};
use crate::engine::status::conditions::Disagreement;

/// The state and the conditions that the status of a policy reports; empty without a status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FromStatus {
    /// The state that its controllers report for the policy as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_state: Option<ReportedState>,
    /// The conditions in its status, except those that are current and report success.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<ReportedCondition>,
    /// The disagreement of its controllers and attache about the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<Disagreement>,
}

/// The state that controllers report for a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ReportedState {
    /// They accept it.
    Accepted,
    /// They reject it.
    Rejected,
    /// They reject it for some ancestors.
    PartlyRejected,
    /// They have not yet observed its current generation.
    Outdated,
}

/// A condition that a controller reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Reported")]
pub struct ReportedCondition {
    /// The controller, if the status names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// The ancestor that the condition is about, if the status names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ancestor: Option<Named>,
    /// The type of the condition.
    pub condition: String,
    /// `True` or `False`.
    pub status: &'static str,
    /// Its reason.
    pub reason: String,
    /// Its message, on one line.
    pub message: String,
    /// The generation that the controller observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether that is the current generation.
    pub current: bool,
}

// === impl FromStatus ===

impl FromStatus {
    /// The status, and how it differs from the expected state.
    pub fn with(reported: &ControllerStatus, differs: Option<Disagreement>) -> Self {
        Self {
            reported_state: match reported.opinion {
                CombinedAcceptance::Unsaid => None,
                CombinedAcceptance::Outdated => Some(ReportedState::Outdated),
                CombinedAcceptance::Accepted => Some(ReportedState::Accepted),
                CombinedAcceptance::Divided => Some(ReportedState::PartlyRejected),
                CombinedAcceptance::Rejected => Some(ReportedState::Rejected),
            },
            reported: reported
                .reports
                .iter()
                .map(ReportedCondition::from)
                .collect(),
            disagreement: differs,
        }
    }
}

/// The part of the status that a user should know, in words. `None` if it only confirms the expected state.
pub fn in_words(reported: &ControllerStatus, differs: Option<Disagreement>) -> Option<String> {
    let rejection = reported.reports.iter().find(|report| report.is_rejection);
    match (differs, reported.opinion) {
        (Some(Disagreement::Rejected), CombinedAcceptance::Divided) => {
            let ancestor = rejection.and_then(|report| report.ancestor.as_ref());
            let report = rejection.map(ToString::to_string);
            let report = report.unwrap_or_default();
            Some(match ancestor {
                Some(ancestor) => format!("for {ancestor} its controller reports {report}"),
                None => format!("its controller reports {report}"),
            })
        }
        (Some(Disagreement::Rejected), _) => {
            rejection.map(|report| format!("its controller reports {report}"))
        }
        (Some(Disagreement::NotEnforced), _) => {
            let report = reported.not_enforced.as_ref()?;
            Some(format!("its controller reports {report}"))
        }
        (Some(Disagreement::Overridden), _) => {
            let (Overridden::Everywhere(report) | Overridden::Somewhere(report)) =
                reported.overridden.as_ref()?;
            Some(format!("its controller reports {report}"))
        }
        (Some(Disagreement::Accepted), _) => Some("its controller accepts it".to_owned()),
        (None, CombinedAcceptance::Outdated) => {
            Some("its controller has not seen this generation yet".to_owned())
        }
        (None, _) => {
            let report = reported.waiting()?;
            Some(format!("its controller reports {report}"))
        }
    }
}

impl From<&Report> for ReportedCondition {
    fn from(report: &Report) -> Self {
        let condition = &report.condition;
        Self {
            controller: report.controller.as_ref().map(ToString::to_string),
            ancestor: report.ancestor.as_ref().map(Named::from),
            condition: condition.name.to_string(),
            status: if condition.holds { "True" } else { "False" },
            reason: condition.reason.to_string(),
            message: condition.message.to_string(),
            observed_generation: condition.observed_generation,
            current: condition.is_current,
        }
    }
}
