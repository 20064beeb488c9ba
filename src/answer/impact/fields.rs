//! Compares two effective policies setting by setting.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Named;
use crate::engine::merge::{ComparedBy, EffectivePolicy};
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::setting_path::SettingPath;
use crate::engine::model::wording;
use crate::engine::policy::Setting;

/// A setting that changes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Field {
    /// Its path: `retry.codes`, `rules[name=a].limit`; `spec` for a policy that counts without settings.
    pub field: String,
    /// Its value before the change; null if it had none.
    pub before: Option<Value>,
    /// Its value after the change; null if it has none.
    pub after: Option<Value>,
    /// The policy that sets the value after the change, or removes it, or had set it before. It is the target itself if
    /// the target has that setting in its own spec.
    pub source: Named,
    /// Whether `source` removes the setting.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub removed: bool,
}

/// The identity of a setting. Policies that are in force side by side do not replace each other's settings, so theirs
/// are compared policy by policy.
type SettingIdentity = (SettingPath, Option<ObjectKey>);

/// The settings that differ, and the policies whose settings come or go with that. No settings if only the kind's own
/// controller knows them.
pub(super) fn fields(
    before: &EffectivePolicy,
    after: &EffectivePolicy,
) -> (Vec<Field>, BTreeSet<ObjectKey>) {
    if before.is_opaque() || after.is_opaque() {
        let mut all = before.policies();
        all.extend(after.policies());
        return (Vec::new(), all);
    }
    let mut moved = BTreeSet::new();
    let by = ComparedBy::for_results(before, after);
    let (leaves_before, leaves_after) = (leaves(before, &by), leaves(after, &by));
    let all: BTreeSet<&SettingIdentity> = leaves_before.keys().chain(leaves_after.keys()).collect();
    let differing = all.into_iter().filter_map(|identity| {
        let (old, new) = (leaves_before.get(identity), leaves_after.get(identity));
        let value = |leaf: Option<&&Setting>| {
            let value = leaf.map(|leaf| &leaf.value)?;
            (!value.is_null()).then(|| value.value())
        };
        let (before, after) = (value(old), value(new));
        let source = new.or(old)?;
        if before == after {
            return None;
        }
        moved.extend(
            [old, new]
                .into_iter()
                .flatten()
                .map(|leaf| leaf.policy.clone()),
        );
        let field = Field {
            field: wording::field(&identity.0),
            before,
            removed: new.is_some_and(|leaf| leaf.value.is_null()),
            after,
            source: Named::from(&source.policy),
        };
        Some((identity.0.is_empty(), field))
    });
    let mut fields: Vec<(bool, Field)> = differing.collect();
    // That a policy sets nothing is a difference if there is no other.
    if fields.iter().any(|(is_root, _)| !is_root) {
        fields.retain(|(is_root, _)| !is_root);
    }
    let fields = fields.into_iter().map(|(_, field)| field);
    (fields.collect(), moved)
}

fn leaves<'a>(
    effective: &'a EffectivePolicy,
    by: &ComparedBy,
) -> BTreeMap<SettingIdentity, &'a Setting> {
    let leaves = effective.leaves().into_iter();
    let identity = |(path, leaf): (SettingPath, &'a Setting)| {
        let policy = by.policy(&path, leaf);
        ((path, policy), leaf)
    };
    leaves.map(identity).collect()
}
