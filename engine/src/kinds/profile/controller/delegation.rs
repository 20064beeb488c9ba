//! Facts about the delegation of an `HTTPRoute` to others: how a controller finds the routes, and how policies of the
//! routes merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::profile::{Direction, Op, SpecPath, Strategy};
use crate::model::ids::GroupKind;
use crate::model::object::Object;

/// The facts of a controller about `HTTPRoutes` that delegate to others: the others are backends of their rules, by name
/// or, with the name `*`, all of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DelegationFile {
    /// The label by which a backend selects routes, if it can.
    pub by_label: Option<ByLabelFile>,
    /// The annotation that makes a route inherit the matches of the rule that delegates to it. Its own matches are added to
    /// them.
    pub inherit_matches: Option<AnnotationSwitchFile>,
    /// Whether the route below gets each request that matches both the rule that delegates and a rule of its own. By default a
    /// match of the route below must be within one of the rule that delegates.
    #[serde(default)]
    pub independent_matches: bool,
    /// Whether a backend with a name such as `team=a` selects the routes of its namespace with this label.
    #[serde(default)]
    pub labels_as_names: bool,
}

/// A backend that selects routes by a label, with its name as the value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ByLabelFile {
    /// The group of the backend.
    pub group: String,
    /// The kind of the backend.
    pub kind: String,
    /// The label of the routes.
    pub label: String,
    /// The namespace of the backend that means all namespaces, if there is one.
    pub any_namespace: Option<String>,
}

/// An annotation that switches something on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnnotationSwitchFile {
    /// Its key.
    pub key: String,
    /// The values that switch it on, in lower case.
    pub values: Vec<String>,
}

/// The strategies by which policies of a route that delegates merge with those of the routes below, by an annotation of that
/// route.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "DelegationMergeFile")]
pub struct DelegationMergeFile {
    /// The key of the annotation.
    pub annotation: String,
    /// By value of the annotation. Without a known value, the policies merge like those of other levels.
    #[schemars(with = "BTreeMap<String, DelegationMerge>")]
    pub values: BTreeMap<String, Arc<DelegationMerge>>,
}

/// The strategy by which the policies of a route that delegates merge with the result of those below, field by field.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "DelegationMergeValue")]
pub struct DelegationMerge {
    /// The side that wins.
    pub direction: Direction,
    /// Settings that are in force for both: `spec.extAuth`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accumulate: Vec<SpecPath>,
}

// === impl DelegationFile ===

impl DelegationFile {
    /// Whether a backend of a kind stands for routes.
    pub fn has_kind(&self, gk: &GroupKind) -> bool {
        let by_label = self.by_label.as_ref();
        gk.is_gateway_api("HTTPRoute")
            || by_label.is_some_and(|by| *by.group == *gk.group && *by.kind == *gk.kind)
    }

    /// Whether a route adds the matches of the rule that delegates to it to its own.
    pub fn inherits_matches(&self, route: &Object) -> bool {
        self.inherit_matches.as_ref().is_some_and(|annotation| {
            let value = route.meta.annotations.get(annotation.key.as_str());
            value.is_some_and(|value| annotation.values.contains(&value.to_ascii_lowercase()))
        })
    }
}

// === impl DelegationMergeFile ===

impl DelegationMergeFile {
    /// The strategy by which the policies of a route merge with those of the routes that it delegates to, if it says so.
    pub fn merge_of(&self, route: &Object) -> Option<&Arc<DelegationMerge>> {
        let value = route.meta.annotations.get(self.annotation.as_str())?;
        self.values.get(&**value)
    }
}

// === impl DelegationMerge ===

impl DelegationMerge {
    /// The strategy by which the policies of the route merge as one.
    pub fn strategy(&self) -> Strategy {
        Strategy::Merge(self.direction, Op::ByKey)
    }
}
