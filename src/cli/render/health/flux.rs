//! Health checks for Flux: `healthCheckExprs` in CEL.
//!
//! Flux evaluates `failed` before `current`, and a policy for which neither holds is in progress. `inProgress` would come
//! before both, and hide a failure behind another ancestor that is not ready. The members of the object are the variables; one
//! that is missing is an error, after which Flux asks again until its timeout. So an expression that must hold without a
//! status looks at `metadata.managedFields`, which every object has.

use std::fmt::Write as _;

use serde_json::json;

use super::{LeftOut, head, indented};
use crate::answer::health::{CONDITION_NAMES, Conditions, HealthRule};

/// The place that the expressions are written for.
const BEFORE: &str = "spec:\n  healthCheckExprs:";
/// The version of a kind of which none is known; Flux looks at the group alone.
const ANY_VERSION: &str = "v1";
/// Whether somebody wrote a status.
const HAS_STATUS: &str =
    r#"metadata.managedFields.exists(m, has(m.subresource) && m.subresource == "status")"#;

/// The expressions of these rules.
pub(crate) fn checks(rules: &[HealthRule], left_out: &[LeftOut]) -> String {
    let mut text = head("Health checks for policies in Flux.", left_out);
    text.push_str(BEFORE);
    text.push_str(if rules.is_empty() { " []\n" } else { "\n" });
    for rule in rules {
        let version = rule.version.as_deref().unwrap_or(ANY_VERSION);
        let _ = write!(
            text,
            "  - apiVersion: {}/{version}\n    kind: {}\n    failed: |-\n{}    current: |-\n{}",
            rule.gk.group,
            rule.gk.kind,
            indented(&failed(rule), 6),
            indented(&current(rule), 6),
        );
    }
    text
}

/// The condition that the policy has a fault which will not go away by waiting.
fn failed(rule: &HealthRule) -> String {
    let fault = any_condition(rule, &is_fault(rule));
    if rule.may_be_empty {
        format!("{HAS_STATUS} &&\n{fault}")
    } else {
        fault
    }
}

/// The condition that controllers accept the policy as it is now.
fn current(rule: &HealthRule) -> String {
    let waiting = is_waiting(rule);
    let accepted = is_accepted(rule);
    let settled = match rule.place {
        Conditions::Whole => format!(
            "has(status.conditions) &&\n!status.conditions.exists(c, {waiting}) &&\nstatus.conditions.exists(c, {accepted})"
        ),
        Conditions::Entries(list) => format!(
            "has(status.{list}) && size(status.{list}) > 0 &&\n{}.all(e, has(e.conditions) &&\n  \
             !e.conditions.exists(c, {waiting}) &&\n  e.conditions.exists(c, {accepted}))",
            entries(rule, list)
        ),
    };
    if rule.may_be_empty {
        let condition = any_condition(rule, &is_positive(rule));
        format!("!{HAS_STATUS} ||\n!({condition}) ||\n({settled})")
    } else {
        settled
    }
}

/// The entries that count. Those of other controllers count only if those that are known report nothing.
fn entries(rule: &HealthRule, list: &str) -> String {
    if rule.controllers.is_empty() {
        return format!("status.{list}");
    }
    let controllers = json!(rule.controllers);
    let known = format!("has(e.controllerName) && e.controllerName in {controllers}");
    format!(
        "(status.{list}.exists(e, {known}) ?\n  status.{list}.filter(e, {known}) :\n  status.{list})"
    )
}

fn any_condition(rule: &HealthRule, holds: &str) -> String {
    match rule.place {
        Conditions::Whole => {
            format!("has(status.conditions) &&\nstatus.conditions.exists(c, {holds})")
        }
        Conditions::Entries(list) => format!(
            "has(status.{list}) &&\n{}.exists(e, has(e.conditions) &&\n  e.conditions.exists(c, {holds}))",
            entries(rule, list)
        ),
    }
}

fn is_current() -> &'static str {
    "(!has(c.observedGeneration) || int(c.observedGeneration) >= metadata.generation)"
}

/// An expression that the reason of the condition is one of these, or that its reason and message
/// are those of an idle policy.
fn has_reason(rule: &HealthRule, reasons: &[&str]) -> String {
    let mut text = format!("has(c.reason) && (c.reason in {}", json!(reasons));
    for idle in &rule.idle {
        let (kind, reason) = (json!(idle.r#type), json!(idle.reason));
        let message = json!(idle.message);
        let is_message = if idle.message_is_prefix {
            format!("c.message.startsWith({message})")
        } else {
            format!("c.message == {message}")
        };
        let _ = write!(
            text,
            " ||\n    c.type == {kind} && c.reason == {reason} && has(c.message) && {is_message}"
        );
    }
    text + ")"
}

fn is_positive(rule: &HealthRule) -> String {
    format!("c.type in {}", json!(rule.positive))
}

/// Conditions that are a fault, or not settled, if they are not `True`.
fn is_judged(rule: &HealthRule) -> String {
    let mut judged: Vec<&str> = rule.positive.iter().map(AsRef::as_ref).collect();
    judged.push(CONDITION_NAMES.resolved);
    format!("c.type in {}", json!(judged))
}

fn is_fault(rule: &HealthRule) -> String {
    let harmless = [
        &[CONDITION_NAMES.overridden, CONDITION_NAMES.merged],
        CONDITION_NAMES.waiting,
    ]
    .concat();
    format!(
        "{} && (\n    c.type == {} && c.status == \"True\" ||\n    {} && c.status == \"False\" && !({}))",
        is_current(),
        json!(CONDITION_NAMES.conflicted),
        is_judged(rule),
        has_reason(rule, &harmless)
    )
}

fn is_waiting(rule: &HealthRule) -> String {
    format!(
        "{} && (!{} ||\n    !(c.status in [\"True\", \"False\"]) ||\n    c.status == \"False\" && has(c.reason) && c.reason in {})",
        is_judged(rule),
        is_current(),
        json!(CONDITION_NAMES.waiting)
    )
}

/// Some controllers write nothing else about an ancestor where the policy is merged or overridden.
fn is_accepted(rule: &HealthRule) -> String {
    let others = [CONDITION_NAMES.overridden, CONDITION_NAMES.merged];
    format!(
        "{} && (c.status == \"True\" || {}) ||\n    c.type in {} && c.status == \"True\" && {}",
        is_positive(rule),
        has_reason(rule, &others),
        json!(others),
        is_current()
    )
}
