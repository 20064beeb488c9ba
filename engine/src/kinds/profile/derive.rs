//! Facts derived from the schema of a CRD.
//!
//! They are derived once, when the CRD arrives. Only the names of the fields and the rules on the spec are kept of
//! its schema.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Allowed, Class, CrossNamespace, NameComparison, RefField, StatusShape, Strategies,
    VersionSchema,
};
use crate::kinds::cel::CelBudget;
use crate::model::ids::GroupKind;
use crate::model::level::Level;

mod allowed;
mod constraints;
mod departures;
mod mutations;
mod rules;
mod strategies;
mod targets;
mod versions;

#[cfg(test)]
mod tests;

pub use departures::{Departure, MOST_TARGETS};

/// Fields of `spec` that hold references in every kind that follows the pattern.
pub(crate) const REF_FIELDS: [&str; 3] = ["targetRef", "targetRefs", "targetSelectors"];

/// The schemas of one kind from which facts are derived.
///
/// Objects arrive in every served version, and each may contain what its own version allows. A fact that leads to a
/// refusal must therefore hold in all versions that have the field.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    /// The schema of the whole object in the stored version, without `properties`; it may contain rules.
    pub root: Value,
    /// The schema of `spec` in the stored version.
    pub spec: Value,
    /// The schemas of `spec` in other served versions.
    pub others: Vec<Value>,
    /// The schema of `status` in the stored version.
    pub status: Value,
    /// Whether status is a subresource of the stored version.
    pub status_subresource: bool,
    /// The names of the versions, the stored one first.
    pub names: Vec<Arc<str>>,
    /// Whether the API server keeps fields that the schemas do not have (`preserveUnknownFields`).
    pub keeps_all: bool,
}

/// The facts that a CRD states about its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// Whether it has target references: group, kind, and a name or labels.
    pub is_policy: bool,
    /// Fields that hold references; may be empty.
    pub refs: Vec<RefField>,
    /// Whether the schema itself requires a reference.
    pub required: bool,
    /// Whether it rejects references in both the singular and the plural field.
    pub one_form: bool,
    /// Kinds that can be targets, if it lists all of them.
    pub allow: Option<Vec<Allowed>>,
    /// The comparison of group and kind, if it states that.
    pub spelled: Option<NameComparison>,
    /// Whether entries support a namespace.
    pub cross_namespace: Option<CrossNamespace>,
    /// Its strategies.
    pub strategies: Strategies,
    /// The part of the status that reports the outcome of a policy.
    pub status: Option<StatusShape>,
    /// `maxItems` of `status.ancestors`.
    pub max_ancestors: Option<usize>,
    /// The mutations that its schemas permit.
    pub permitted_mutations: DerivedMutations,
    /// Its departures from the pattern.
    pub departures: Vec<Departure>,
    /// The fields and rules of each version; if there are several, all of them together come last.
    pub versions: Arc<[VersionSchema]>,
}

/// One version of a kind.
#[derive(Clone, Copy)]
struct Version<'a> {
    /// The schema of the whole object; `None` if unknown.
    root: Option<&'a Value>,
    spec: &'a Value,
}

// === impl Schemas ===

impl Schemas {
    /// All versions, the stored one first.
    fn versions(&self) -> impl Iterator<Item = Version<'_>> {
        let stored = Version {
            root: Some(&self.root),
            spec: &self.spec,
        };
        let others = self.others.iter().map(|spec| Version { root: None, spec });
        std::iter::once(stored).chain(others)
    }
}

/// The mutations that the schemas of a kind permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DerivedMutations {
    /// Whether a reference in the singular field can be moved to the plural one, in every version.
    pub takes_plural: bool,
    /// Whether the status may contain conditions anywhere, as far as is known.
    pub has_conditions: bool,
    /// Whether `status.conditions` is a list with one entry per type, so that each writer has its own entries.
    pub conditions_by_type: bool,
}

// === impl Derived ===

impl Derived {
    /// Derives all facts from the schemas.
    pub fn read(schemas: &Schemas) -> Self {
        let mut budget = CelBudget::new();
        let targets = targets::targets(schemas, &mut budget);
        let mut derived = Self {
            is_policy: targets::are_of_a_policy(schemas),
            required: schemas
                .versions()
                .all(|version| targets::required(version.spec)),
            one_form: allowed::one_form(schemas, &targets.refs, &mut budget),
            cross_namespace: targets::cross_namespace(&targets.refs),
            strategies: strategies::strategies(schemas, &mut budget),
            status: status(&schemas.status),
            max_ancestors: property(&schemas.status, "ancestors").and_then(max_items),
            refs: targets.refs,
            allow: targets.allow,
            spelled: targets.core_too.then_some(NameComparison::CoreAlias),
            permitted_mutations: DerivedMutations {
                takes_plural: mutations::takes_plural(schemas, &mut budget),
                has_conditions: has_conditions(&schemas.status),
                conditions_by_type: conditions_by_type(&schemas.status),
            },
            departures: Vec::new(),
            versions: versions::versions(schemas),
        };
        derived.departures = departures::departures(schemas, &derived);
        derived
    }

    /// Two allowed target kinds at different levels, if there are any: the first one, and the first at another level.
    /// Namespaces occur at several levels.
    pub fn levels(&self) -> Option<(GroupKind, GroupKind)> {
        let allow = self.allow.as_ref()?;
        let first = allow.first()?.meant();
        let level = Level::of_kind(&first);
        let other = allow.iter().map(Allowed::meant);
        let mut other = other.filter(|gk| Level::of_kind(gk) != level);
        Some((first, other.next()?))
    }
}

/// The class that a label states, regardless of case; `true` states none.
pub(crate) fn labelled(label: &str) -> Option<Class> {
    if label.eq_ignore_ascii_case("direct") {
        Some(Class::Direct)
    } else if label.eq_ignore_ascii_case("inherited") {
        Some(Class::Inherited)
    } else {
        None
    }
}

fn status(status: &Value) -> Option<StatusShape> {
    if status.is_null() {
        return Some(StatusShape::None);
    }
    let shapes = [
        ("ancestors", StatusShape::Ancestors),
        ("controllers", StatusShape::Controllers),
        ("conditions", StatusShape::Conditions),
    ];
    let mut shapes = shapes.into_iter();
    let field_and_shape = shapes.find(|(field, _)| property(status, field).is_some());
    let has_fields = status.get("properties").is_some();
    field_and_shape
        .map(|(_, shape)| shape)
        .or(has_fields.then_some(StatusShape::Other))
}

/// A schema that allows any field allows conditions too.
fn has_conditions(status: &Value) -> bool {
    let any = status.get("x-kubernetes-preserve-unknown-fields");
    let fields = status.get("properties").and_then(Value::as_object);
    let mut fields = fields.into_iter().flatten();
    any.is_some()
        || status.get("items").is_some_and(has_conditions)
        || fields.any(|(name, schema)| name == "conditions" || has_conditions(schema))
}

fn conditions_by_type(status: &Value) -> bool {
    let Some(conditions) = property(status, "conditions") else {
        return false;
    };
    let keys = conditions.get("x-kubernetes-list-map-keys");
    conditions
        .get("x-kubernetes-list-type")
        .is_some_and(|kind| kind == "map")
        && keys.is_some_and(|keys| *keys == serde_json::json!(["type"]))
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn max_items(list: &Value) -> Option<usize> {
    usize::try_from(list.get("maxItems")?.as_u64()?).ok()
}

/// The schema of one entry of a field, and whether the field is a list.
fn entry_schema<'a>(spec: &'a Value, field: &str) -> Option<(&'a Value, bool)> {
    let schema = property(spec, field)?;
    match schema.get("items") {
        Some(items) => Some((items, true)),
        None => Some((schema, false)),
    }
}
