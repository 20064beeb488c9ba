//! The status of a guardrail object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fulfilment_counts::Count;

/// The condition that says whether a guardrail can be used.
const ACCEPTED: &str = "Accepted";

/// The status of a guardrail object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The generation of the object that was judged.
    pub observed_generation: Option<i64>,
    /// The number of targets that fulfil it.
    pub fulfilled: usize,
    /// The number of targets that break it.
    pub broken: usize,
    /// The number of targets for which a rule cannot be evaluated.
    pub errors: usize,
    /// The number of targets with an exception.
    pub excepted: usize,
    /// `Accepted`: whether it can be used.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// A condition, as Kubernetes defines it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its name.
    pub r#type: String,
    /// `True` or `False`.
    pub status: String,
    /// Why, in one word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
    /// When it became so.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
}

// === impl Status ===

impl Status {
    /// The status of a guardrail that was judged, or cannot be. `now` is the time (RFC 3339).
    pub fn new(generation: Option<i64>, judged: Result<&Count, &str>, now: &str) -> Self {
        let (status, reason, message) = match judged.map(|count| count.unusable.as_deref()) {
            Err(why) => ("False", "Invalid", why),
            Ok(Some(why)) => ("False", "PolicyKindUnknown", why),
            Ok(None) if judged.is_ok_and(Count::is_empty) => (
                "True",
                "Accepted",
                "no request reaches a target of this guardrail, so it has nothing to judge",
            ),
            Ok(None) => ("True", "Accepted", "it is judged"),
        };
        let nothing = Count::default();
        let count = judged.unwrap_or(&nothing);
        Self {
            observed_generation: generation,
            fulfilled: count.fulfilled,
            broken: count.broken,
            errors: count.errors,
            excepted: count.excepted,
            conditions: vec![Condition {
                r#type: ACCEPTED.to_owned(),
                status: status.to_owned(),
                reason: reason.to_owned(),
                message: message.to_owned(),
                last_transition_time: now.to_owned(),
            }],
        }
    }

    /// The same, with the times of conditions that did not change.
    #[must_use]
    pub fn since(mut self, before: &Self) -> Self {
        for condition in &mut self.conditions {
            let mut known = before.conditions.iter();
            let known = known.find(|known| {
                (&known.r#type, &known.status) == (&condition.r#type, &condition.status)
            });
            if let Some(known) = known {
                condition
                    .last_transition_time
                    .clone_from(&known.last_transition_time);
            }
        }
        self
    }
}
