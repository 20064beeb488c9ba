//! The fields of policies that name targets, and the kinds that may be targets.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::NamingRestriction;
use super::values::paths::{read_all_within_spec, read_path, read_within_spec};
use crate::model::ids::GroupKind;
use crate::model::object::guessed_group;

/// One setting that controls a field of the target.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "ControlFile", rename_all = "camelCase", deny_unknown_fields)]
pub struct Control {
    /// The path within the settings: `retryOn`.
    #[serde(deserialize_with = "read_path")]
    #[schemars(with = "String")]
    pub setting: Vec<String>,
    /// The kind of the target.
    pub target: GroupKind,
    /// The path of the field from the root of the object: `spec.retryOn`.
    #[serde(deserialize_with = "read_within_spec")]
    pub field: String,
    /// Whether `false`, 0 and the empty string in the target count as unset, like an absent field.
    #[serde(default)]
    pub zero_is_unset: bool,
}

/// One field that holds references.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "RefFile", rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct RefField {
    /// The path from the root of the object: `spec.targetRef`.
    #[serde(deserialize_with = "read_within_spec")]
    pub path: String,
    /// Whether it is a list.
    #[serde(default)]
    pub many: bool,
    /// The group of a reference without one.
    pub default_group: Option<Arc<str>>,
    /// The kind of a reference without one.
    pub default_kind: Option<Arc<str>>,
    /// The namespace of a reference without one; the policy's own by default.
    pub default_namespace: Option<Arc<str>>,
    /// The key under which an entry has the labels that it selects by, if it is not `matchLabels`.
    pub labels: Option<String>,
    /// Whether an entry without labels selects nothing. Otherwise it selects everything.
    #[serde(default)]
    pub empty_selects_none: bool,
    /// Whether entries support `sectionName`.
    pub sections: Option<bool>,
    /// The member of an entry that names the section, if it is not `sectionName`. A number is read as a string, and an entry with a list
    /// as one entry for each item.
    pub section_field: Option<String>,
    /// A member of an entry that refers to sections by their port: the listeners of a Gateway on it, or the port of a
    /// Service.
    pub port_field: Option<String>,
    /// Whether entries must have a `group`.
    #[serde(default)]
    pub needs_group: bool,
    /// Whether entries must have a `sectionName`.
    #[serde(default)]
    pub needs_section: bool,
    /// Whether entries support `namespace`.
    pub namespace: Option<bool>,
    /// The maximum number of entries.
    pub max: Option<usize>,
    /// Whether duplicate targets are rejected.
    #[serde(default)]
    pub unique: bool,
    /// Fields that are ignored if this one is set: `spec.targetRefs`.
    #[serde(default, deserialize_with = "read_all_within_spec")]
    pub takes_precedence_over: Vec<String>,
    /// The kind of which all objects in the policy's own Namespace are targets, too, if that Namespace is one.
    pub in_namespace: Option<GroupKind>,
    /// `kind` and `name`, unless entries must have them.
    #[serde(skip)]
    pub may_lack: Vec<&'static str>,
    /// All members that entries may have, if a CRD states them.
    #[serde(skip)]
    pub members: Option<Vec<String>>,
    /// Whether a CRD treats entries as equal that differ only in members of unknown meaning.
    #[serde(skip)]
    pub keyed: bool,
    /// The kinds that a CRD allows in this field, if it lists all of them.
    #[serde(skip)]
    pub kinds: Option<Vec<GroupKind>>,
}

/// A kind that can be a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The kind.
    pub gk: GroupKind,
    /// Whether its sections can be targets.
    pub sections: bool,
    /// The policies that may name it; all if `None`.
    pub only: Option<NamingRestriction>,
    /// The names of the only objects that can be targets; all objects if empty.
    pub names: Vec<Arc<str>>,
}

// === impl Allowed ===

impl Allowed {
    /// Whether a reference may lead to objects of the kind: one by name, or one that selects.
    pub fn is_taken(&self, selects: bool) -> bool {
        selects || self.only != Some(NamingRestriction::Selectors)
    }
}

/// An annotation of targets that names a policy in their namespace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "AnnotationFile", deny_unknown_fields)]
pub struct Annotation {
    /// The kind of the targets.
    pub target: GroupKind,
    /// The key of the annotation.
    pub key: Arc<str>,
}

// === impl RefField ===

impl RefField {
    /// The member that names the section.
    pub fn section_member(&self) -> &str {
        self.section_field.as_deref().unwrap_or("sectionName")
    }

    /// Whether a CRD states the members of entries without this one. The API server prunes it then.
    pub fn lacks_member(&self, member: &str) -> bool {
        let members = self.members.as_ref();
        members.is_some_and(|members| members.iter().all(|known| known != member))
    }

    /// Whether entries may have a name. Those of `targetSelectors` may not, unless a CRD says
    /// otherwise.
    pub fn takes_name(&self) -> bool {
        let member = |members: &Vec<String>| members.iter().any(|member| member == "name");
        self.members
            .as_ref()
            .map_or(self.path != "targetSelectors", member)
    }

    /// Whether the meaning of a member of an entry is known.
    pub fn knows(&self, member: &str) -> bool {
        const KNOWN: [&str; 8] = [
            "group",
            "kind",
            "name",
            "namespace",
            "namespaces",
            "selector",
            "matchLabels",
            "matchExpressions",
        ];
        let of_the_kind = [&self.port_field, &self.labels];
        KNOWN.contains(&member)
            || member == self.section_member()
            || of_the_kind
                .into_iter()
                .flatten()
                .any(|known| known == member)
    }
}

// === impl Allowed ===

impl Allowed {
    /// The kind. If no group is given, the group of the Gateway API or core kind with this name.
    pub fn meant(&self) -> GroupKind {
        if &*self.gk.group == "*" {
            GroupKind::new(guessed_group(&self.gk.kind), self.gk.kind.clone())
        } else {
            self.gk.clone()
        }
    }
}
