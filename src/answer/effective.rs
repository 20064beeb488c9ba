//! What is in force on a path, as programs read it (design 5.1).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{KindName, Named};
use crate::engine::effective::Group;
use crate::engine::ids::{GroupKind, Place};
use crate::engine::merge;

/// What the policies of one kind come to on one path.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effective {
    /// The kind of policy.
    pub policy_kind: KindName,
    /// The places of the path, from the least to the most specific.
    pub path: Vec<Named>,
    /// The settings in force; null where only the kind's own controller knows them.
    pub spec: Option<Value>,
    /// Where each setting came from, by JSON pointer into `spec`: a policy, or the target itself. What
    /// has a source and no value was removed by it.
    pub sources: BTreeMap<String, Named>,
}

// === impl Effective ===

impl Effective {
    /// What is in force on a path through these places.
    pub fn along(kind: &GroupKind, path: &[&Place], effective: &merge::Effective) -> Self {
        let (spec, sources) = match effective.spec() {
            Some((spec, sources)) => (Some(spec), sources),
            None => (None, Vec::new()),
        };
        let sources = sources.into_iter();
        Self {
            policy_kind: kind.into(),
            path: path.iter().map(|place| Named::from(*place)).collect(),
            spec,
            sources: sources
                .map(|(pointer, leaf)| (pointer, Named::from(&leaf.policy)))
                .collect(),
        }
    }
}

impl From<(&GroupKind, &Group)> for Effective {
    /// What is in force on the paths of a group, told of the first of them.
    fn from((kind, group): (&GroupKind, &Group)) -> Self {
        Self::along(kind, &group.path(), &group.effective)
    }
}
