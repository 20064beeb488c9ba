//! The effective policy of one kind on a path, each value with its source.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::named::{KindName, Named, named};
use crate::engine::effective::{PathGroup, PathSet};
use crate::engine::merge;
use crate::engine::model::ids::{GroupKind, Place};
use crate::engine::model::level::Step;

/// The effective policy of one kind on one path.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Effective")]
pub struct EffectiveSettings {
    /// The policy kind.
    pub policy_kind: KindName,
    /// The objects and sections of the path, from the least to the most specific.
    pub path: Vec<Named>,
    /// The settings in force; null if only the controller of the kind knows them.
    pub spec: Option<Value>,
    /// The source of each setting, by JSON pointer into `spec`: a policy, or the target itself. A setting with a source
    /// and no value was removed by that source.
    pub sources: BTreeMap<String, Named>,
    /// The settings that were removed, as JSON pointers into `spec`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub removed: BTreeSet<String>,
    /// The policies that merge into a result that only the controller of the kind knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged_of: Vec<Named>,
}

/// The effective policy on all paths with the same policies; `path` is the first of these paths.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveOnPaths {
    /// The effective policy.
    #[serde(flatten)]
    pub effective: EffectiveSettings,
    /// The number of paths: one for each pair of a listener, or Service of a mesh, and an effective target.
    pub paths: usize,
    /// The listeners, or Services of a mesh, at which the paths begin; empty if they begin below.
    pub listeners: Vec<Named>,
    /// The effective targets.
    pub targets: Vec<Named>,
    /// The only namespaces whose requests take these paths (mesh); empty for requests from any namespace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests_from: Vec<String>,
    /// Whether the paths begin at no listener, or at one that controllers of the kind do not follow, so that the policy
    /// does not apply there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_attached: bool,
    /// Whether the paths end before an effective target, because the backend does not exist or may not be used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

// === impl EffectiveSettings ===

impl EffectiveSettings {
    /// The effective policy on a path through these places.
    pub fn along(kind: &GroupKind, path: &[&Place], effective: &merge::EffectivePolicy) -> Self {
        let mut sources = BTreeMap::new();
        let mut removed = BTreeSet::new();
        let known = effective.spec();
        let merged_of = match known {
            Some(_) => Vec::new(),
            None => named(&effective.policies()),
        };
        let spec = known.map(|(spec, leaves)| {
            for (pointer, leaf) in leaves {
                if leaf.value.is_null() {
                    removed.insert(pointer.clone());
                }
                sources.insert(pointer, Named::from(&leaf.policy));
            }
            spec
        });
        Self {
            policy_kind: kind.into(),
            path: path.iter().map(|place| Named::from(*place)).collect(),
            spec,
            sources,
            removed,
            merged_of,
        }
    }
}

// === impl EffectiveOnPaths ===

impl From<(&GroupKind, &PathGroup)> for EffectiveOnPaths {
    fn from((kind, group): (&GroupKind, &PathGroup)) -> Self {
        let listeners: BTreeSet<&Place> = group
            .paths
            .ancestors
            .iter()
            .filter_map(|u| u.last())
            .collect();
        let targets: BTreeSet<&Place> = group.paths.targets().collect();
        // Paths without a consumer namespace take requests from every namespace.
        let consumers: Option<BTreeSet<&str>> = group
            .paths
            .ancestors
            .iter()
            .map(|ancestor_path| ancestor_path.consumer.as_deref())
            .collect();
        let consumers = consumers.unwrap_or_default().into_iter();
        Self {
            effective: EffectiveSettings::along(kind, &group.path(), &group.effective),
            paths: group.path_count(),
            listeners: listeners.into_iter().map(Named::from).collect(),
            targets: targets.into_iter().map(Named::from).collect(),
            requests_from: consumers.map(str::to_owned).collect(),
            not_attached: !group.attached,
            incomplete: !group.complete,
        }
    }
}

/// The part of a path group whose paths lead through a place. `None` if no path does.
pub fn through(group: &PathGroup, place: &Place) -> Option<PathGroup> {
    let leads = |steps: &[Step]| steps.iter().any(|step| step.place == *place);
    let ancestor_paths = group
        .paths
        .ancestors
        .iter()
        .filter(|ancestor_path| leads(&ancestor_path.steps));
    let ancestor_paths: Vec<_> = ancestor_paths.cloned().collect();
    if !ancestor_paths.is_empty() {
        return Some(PathGroup {
            paths: PathSet {
                ancestors: ancestor_paths.into(),
                routes: group.paths.routes.clone(),
            },
            ..group.clone()
        });
    }
    let route_paths = group
        .paths
        .routes
        .iter()
        .filter(|route_path| leads(&route_path.steps));
    let route_paths: Vec<_> = route_paths.cloned().collect();
    (!route_paths.is_empty()).then(|| PathGroup {
        paths: PathSet {
            ancestors: group.paths.ancestors.clone(),
            routes: route_paths.into(),
        },
        ..group.clone()
    })
}
