//! Whether a policy has the fields and targets without which it is rejected.

use serde_json::Value;

use super::{TargetEntry, entries};
use crate::kinds::profile::{ANY_VALUE, Profile, Requirement};

// === impl Profile ===

impl Profile {
    /// The missing fields for which a policy with this spec is rejected: `needs rules where action is DENY`.
    pub fn unmet(&self, spec: &Value) -> Option<String> {
        let mut requirements = self.requirements.iter();
        let unmet = requirements.find(|requirement| !is_met(requirement, spec, self));
        unmet.map(Requirement::text)
    }
}

fn is_met(requirement: &Requirement, spec: &Value, profile: &Profile) -> bool {
    let Requirement {
        any_of,
        targets,
        when,
    } = requirement;
    let asked = when.iter().all(|(path, texts)| {
        let value = value_at(spec, path);
        let is = |text: &String| value.and_then(Value::as_str) == Some(text);
        texts
            .iter()
            .any(|text| is(text) || (text == ANY_VALUE && is_set(value)))
    });
    let has_field = || any_of.iter().any(|path| is_set(value_at(spec, path)));
    let is_target = |entry: &TargetEntry<'_>| {
        let target = entry.target.as_ref().ok();
        target.is_none_or(|target| targets.iter().any(|kind| **kind == *target.gk.kind))
    };
    let has_targets = || targets.is_empty() || entries(spec, profile).iter().all(is_target);
    !asked || ((any_of.is_empty() || has_field()) && has_targets())
}

fn value_at<'a>(spec: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(spec, |value, name| value.get(name))
}

fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}
