//! `attache guardrails`: which targets fulfil each guardrail.

use std::collections::BTreeMap;

use attache_guardrails::{
    Action, Fault, Guardrail, Guardrails, Standing, each_target, unknown_kind,
};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::Answer;
use super::named::{KindName, Named, named};
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

/// Guardrails, and which targets fulfil them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GuardrailReport {
    /// The guardrails, by name.
    pub guardrails: Vec<Guarded>,
}

/// A guardrail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Guarded {
    /// The name.
    pub name: String,
    /// `deny`, `warn` or `audit`.
    pub action: &'static str,
    /// The policy kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_kind: Option<KindName>,
    /// Why nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of targets that fulfil it.
    pub fulfilled: usize,
    /// The number of targets that break it.
    pub broken: usize,
    /// The number of targets for which a rule cannot be evaluated.
    pub errors: usize,
    /// The number of targets with an exception.
    pub excepted: usize,
    /// The targets that break it, and those for which a rule cannot be evaluated.
    pub faults: Vec<BrokenTarget>,
    /// The exceptions.
    pub exceptions: Vec<ListedException>,
}

/// A target that breaks a guardrail, or for which it cannot be evaluated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrokenTarget {
    /// The target.
    pub target: Named,
    /// The index of the rule, from 0.
    pub rule: usize,
    /// Whether the rule cannot be evaluated.
    pub is_error: bool,
    /// The message of the rule, or why it cannot be evaluated.
    pub message: String,
    /// Where the first of the paths begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// The number of paths.
    pub paths: usize,
    /// The policies in force on the first path.
    pub policies: Vec<Named>,
}

/// An exception.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedException {
    /// The namespace of the target.
    pub namespace: String,
    /// The name of the target.
    pub name: String,
    /// The last day.
    pub until: String,
    /// Whether the last day is over.
    pub ended: bool,
    /// The reason.
    pub reason: String,
}

impl Answer for GuardrailReport {
    const KIND: &'static str = "GuardrailReport";
}

/// Judges all targets of all guardrails; `within` limits them to one namespace.
pub fn guardrails(
    snapshot: &Snapshot,
    all: &Guardrails,
    within: Option<&str>,
    today: Date,
) -> GuardrailReport {
    let mut by_guardrail: BTreeMap<&str, Guarded> = all
        .iter()
        .map(|guardrail| (&*guardrail.name, Guarded::of(snapshot, guardrail, today)))
        .collect();
    each_target(
        snapshot,
        all,
        today,
        |key| within.is_none_or(|namespace| *key.namespace == *namespace),
        |guardrail, target, standing| {
            if let Some(guarded) = by_guardrail.get_mut(&*guardrail.name) {
                guarded.note(target, standing);
            }
        },
    );
    GuardrailReport {
        guardrails: by_guardrail.into_values().collect(),
    }
}

// === impl Guarded ===

impl Guarded {
    fn of(snapshot: &Snapshot, guardrail: &Guardrail, today: Date) -> Self {
        let exceptions = guardrail
            .exceptions
            .iter()
            .map(|exception| ListedException {
                namespace: exception.namespace.clone(),
                name: exception.name.clone(),
                until: exception.until.to_string(),
                ended: exception.is_over(today),
                reason: exception.reason.clone(),
            });
        Self {
            name: guardrail.name.clone(),
            action: match guardrail.action {
                Action::Deny => "deny",
                Action::Warn => "warn",
                Action::Audit => "audit",
            },
            policy_kind: guardrail.policy_kind.as_ref().map(KindName::from),
            error: unknown_kind(snapshot, guardrail),
            fulfilled: 0,
            broken: 0,
            errors: 0,
            excepted: 0,
            faults: Vec::new(),
            exceptions: exceptions.collect(),
        }
    }

    fn note(&mut self, target: &ObjectKey, standing: Standing) {
        let faults = match standing {
            Standing::Fulfilled => {
                self.fulfilled += 1;
                return;
            }
            Standing::Excepted(_) => {
                self.excepted += 1;
                return;
            }
            Standing::Broken(faults) => faults,
        };
        if faults.iter().any(|fault| !fault.is_error) {
            self.broken += 1;
        } else {
            self.errors += 1;
        }
        let mut by_rule: BTreeMap<(usize, bool), Vec<Fault>> = BTreeMap::new();
        for fault in faults {
            by_rule
                .entry((fault.rule, fault.is_error))
                .or_default()
                .push(fault);
        }
        for ((rule, is_error), faults) in by_rule {
            let paths = faults.len();
            let Some(first) = faults.into_iter().next() else {
                continue;
            };
            self.faults.push(BrokenTarget {
                target: target.into(),
                rule,
                is_error,
                message: first.message,
                through: first.through,
                paths,
                policies: named(&first.policies),
            });
        }
    }
}
