//! What is in force on paths of one kind of policy, value by value with its source.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::named::{KindName, Named, named};
use crate::engine::effective::Group;
use crate::engine::ids::{GroupKind, Place};
use crate::engine::level::Step;

/// What is in force on paths that carry the same policies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effective {
    /// The kind of policy.
    pub policy_kind: KindName,
    /// The places of the first path, from the least to the most specific.
    pub path: Vec<Named>,
    /// How many paths it stands for: one for each pair of an entrance and a target.
    pub paths: usize,
    /// Where requests come in: listeners, or Services of a mesh; empty for what begins below them.
    pub entrances: Vec<Named>,
    /// The effective targets.
    pub targets: Vec<Named>,
    /// The namespaces whose requests alone take these paths (mesh); empty for those of everybody.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests_from: Vec<String>,
    /// That the paths begin at no listener, so no request takes them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_attached: bool,
    /// That the paths end before an effective target: its backend is not there or may not be used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// The settings; null where only the kind's controller knows the result.
    pub spec: Option<Value>,
    /// The policy, or the target itself, that each value came from, by JSON pointer into `spec`.
    pub sources: BTreeMap<String, Named>,
    /// What a policy removed, by the JSON pointer at which it would stand; `sources` has the policy.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub removed: BTreeSet<String>,
    /// The policies that take part in a result that only the kind's controller knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged_of: Vec<Named>,
}

impl Effective {
    /// What is in force on the paths of a group.
    pub fn new(kind: &GroupKind, group: &Group) -> Self {
        let mut sources = BTreeMap::new();
        let mut removed = BTreeSet::new();
        let known = group.effective.spec();
        let opaque = known.is_none();
        let spec = known.map(|(spec, leaves)| {
            for (pointer, leaf) in leaves {
                if leaf.value.is_null() {
                    removed.insert(pointer.clone());
                }
                sources.insert(pointer, Named::from(&leaf.policy));
            }
            spec
        });
        let entrances: BTreeSet<&Place> = group.uppers.iter().filter_map(|u| u.last()).collect();
        let targets: BTreeSet<&Place> = group.targets().collect();
        // Other paths take the requests of everybody.
        let consumers: Option<BTreeSet<&str>> = group
            .uppers
            .iter()
            .map(|upper| upper.consumer.as_deref())
            .collect();
        let consumers = consumers.unwrap_or_default().into_iter();
        Self {
            policy_kind: KindName::from(kind),
            path: group.path().into_iter().map(Named::from).collect(),
            paths: group.paths(),
            entrances: entrances.into_iter().map(Named::from).collect(),
            targets: targets.into_iter().map(Named::from).collect(),
            requests_from: consumers.map(str::to_owned).collect(),
            not_attached: !group.attached,
            incomplete: !group.complete,
            spec,
            sources,
            removed,
            merged_of: if opaque {
                named(&group.effective.policies())
            } else {
                Vec::new()
            },
        }
    }
}

/// A group without the paths that do not lead through a place; none where that leaves nothing.
pub fn through(group: &Group, place: &Place) -> Option<Group> {
    let leads = |steps: &[Step]| steps.iter().any(|step| step.place == *place);
    let uppers = group.uppers.iter().filter(|upper| leads(&upper.steps));
    let uppers: Vec<_> = uppers.cloned().collect();
    if !uppers.is_empty() {
        return Some(Group {
            uppers: uppers.into(),
            ..group.clone()
        });
    }
    let lowers = group.lowers.iter().filter(|lower| leads(&lower.steps));
    let lowers: Vec<_> = lowers.cloned().collect();
    (!lowers.is_empty()).then(|| Group {
        lowers,
        ..group.clone()
    })
}
