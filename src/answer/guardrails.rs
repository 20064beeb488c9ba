//! `attache guardrails`: which targets fulfil each guardrail.

use std::collections::{BTreeMap, BTreeSet};

use attache_guardrails::{
    Exception, Fault, Fulfilment, Guardrail, Guardrails, each_target, targets, unknown_kind,
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
#[serde(rename_all = "camelCase")]
pub struct GuardrailReport {
    /// The guardrails, by name.
    pub guardrails: Vec<Guarded>,
    /// Lines without an effect in annotations with exceptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_effect: Vec<LineWithoutEffect>,
}

/// A line without an effect in the annotation of a target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "IdleLine")]
pub struct LineWithoutEffect {
    /// The target.
    pub target: Named,
    /// Why it has no effect.
    pub why: String,
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
    /// Possible mistakes in it: names that do not exist, or no target at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it judges nothing, and a name that says what it judges is misspelt.
    #[serde(skip)]
    pub is_misspelt: bool,
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
    /// The beginning of the first of the paths.
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
    /// Whether it is in an annotation of the target, and not in the guardrail.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub annotated: bool,
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
        .map(|guardrail| (&*guardrail.name, Guarded::new(snapshot, guardrail, today)))
        .collect();
    each_target(
        snapshot,
        all,
        today,
        |key| within.is_none_or(|namespace| *key.namespace == *namespace),
        |guardrail, target, fulfilment| {
            if let Some(guarded) = by_guardrail.get_mut(&*guardrail.name) {
                let ended = guardrail.ended(snapshot, target, today);
                let ended = ended.map(|one| ListedException::new(&one, today));
                guarded.exceptions.extend(ended);
                guarded.note(target, fulfilment, today);
            }
        },
    );
    for finding in all.own_findings(snapshot, today) {
        let is_notice = finding.notice;
        let field = finding.field.map(|field| field.0);
        // The list of exceptions says when they end.
        if field
            .as_ref()
            .is_some_and(|field| field.ends_with("].until"))
        {
            continue;
        }
        if let Some(guarded) = by_guardrail.get_mut(&*finding.object.name) {
            let is_match = |field: &String| field.starts_with("spec.match");
            guarded.is_misspelt |= !is_notice && field.as_ref().is_some_and(is_match);
            let field = field.map(|field| format!("{field}: "));
            let note = format!("{}{}", field.unwrap_or_default(), finding.message);
            if guarded.error.as_ref() != Some(&finding.message) {
                guarded.notes.push(note);
            }
        }
    }
    let mut guardrails: Vec<Guarded> = by_guardrail.into_values().collect();
    for guarded in &mut guardrails {
        guarded.note_if_idle();
        guarded.is_misspelt &= guarded.is_idle();
    }
    GuardrailReport {
        guardrails,
        without_effect: without_effect(snapshot, all, within, today),
    }
}

/// The lines without an effect in annotations of all targets.
fn without_effect(
    snapshot: &Snapshot,
    all: &Guardrails,
    within: Option<&str>,
    today: Date,
) -> Vec<LineWithoutEffect> {
    let keys: BTreeSet<ObjectKey> = all
        .iter()
        .flat_map(|guardrail| targets(snapshot, guardrail))
        .filter(|key| within.is_none_or(|namespace| *key.namespace == *namespace))
        .collect();
    let lines = keys.iter().flat_map(|key| {
        let all = all.without_effect(snapshot, key, today).into_iter();
        all.map(|why| LineWithoutEffect {
            target: key.into(),
            why,
        })
    });
    lines.collect()
}

// === impl GuardrailReport ===

impl GuardrailReport {
    /// Puts other guardrails in the place of those with these names.
    pub fn replace(&mut self, names: &BTreeSet<String>, others: Vec<Guarded>) {
        self.guardrails
            .retain(|guarded| !names.contains(&guarded.name));
        self.guardrails.extend(others);
        self.guardrails.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

// === impl ListedException ===

impl ListedException {
    fn new(exception: &Exception, today: Date) -> Self {
        Self {
            namespace: exception.namespace.clone(),
            name: exception.name.clone(),
            until: exception.until.to_string(),
            ended: exception.is_over(today),
            reason: exception.reason.clone(),
            annotated: exception.is_annotated,
        }
    }
}

// === impl Guarded ===

impl Guarded {
    fn new(snapshot: &Snapshot, guardrail: &Guardrail, today: Date) -> Self {
        let exceptions = guardrail.exceptions.iter();
        let exceptions = exceptions.map(|exception| ListedException::new(exception, today));
        Self {
            name: guardrail.name.clone(),
            action: guardrail.action.as_str(),
            policy_kind: guardrail.policy_kind.as_ref().map(KindName::from),
            error: unknown_kind(snapshot, guardrail),
            fulfilled: 0,
            broken: 0,
            errors: 0,
            excepted: 0,
            faults: Vec::new(),
            exceptions: exceptions.collect(),
            notes: Vec::new(),
            is_misspelt: false,
        }
    }

    fn is_idle(&self) -> bool {
        self.fulfilled + self.broken + self.errors + self.excepted == 0
    }

    /// Notes that nothing is judged.
    fn note_if_idle(&mut self) {
        if self.is_idle() && self.error.is_none() {
            let note = "no request reaches a target of this guardrail, so it has nothing to judge";
            self.notes.push(note.to_owned());
        }
    }

    fn note(&mut self, target: &ObjectKey, fulfilment: Fulfilment, today: Date) {
        let faults = match fulfilment {
            Fulfilment::Fulfilled => {
                self.fulfilled += 1;
                return;
            }
            Fulfilment::Excepted(exception) => {
                self.excepted += 1;
                if exception.is_annotated {
                    self.exceptions
                        .push(ListedException::new(&exception, today));
                }
                return;
            }
            Fulfilment::Broken(faults) => faults,
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
