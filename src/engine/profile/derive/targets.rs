//! The fields of `spec` that hold target references.

use std::collections::BTreeSet;

use serde_json::Value;

use super::allowed;
use super::rules::{Entry, texts};
use super::{REF_FIELDS, Schemas, entry_schema, max_items, property};
use crate::engine::cel::{Known, Rule};
use crate::engine::profile::{CrossNamespace, RefField};

/// Whether a schema has target references: group, kind, and a name or labels.
pub(super) fn are_of_a_policy(schemas: &Schemas) -> bool {
    std::iter::once(&schemas.spec)
        .chain(&schemas.others)
        .any(|spec| REF_FIELDS.iter().any(|field| is_reference(spec, field)))
}

fn is_reference(spec: &Value, field: &str) -> bool {
    entry_schema(spec, field).is_some_and(|(entry, _)| {
        let has = |name: &str| property(entry, name).is_some();
        let named = has("name") || has("selector") || has("matchLabels");
        has("group") && has("kind") && (named || field == "targetSelectors")
    })
}

/// Fields that hold references: those of the stored version, then those that only other served
/// versions have. Objects come in any of them.
pub(super) fn refs(schemas: &Schemas) -> Vec<RefField> {
    let mut found: Vec<RefField> = Vec::new();
    for spec in std::iter::once(&schemas.spec).chain(&schemas.others) {
        for field in REF_FIELDS {
            if !found.iter().any(|known| known.path == field) {
                found.extend(reference(schemas, spec, field));
            }
        }
    }
    found
}

fn reference(schemas: &Schemas, spec: &Value, field: &str) -> Option<RefField> {
    let (entry, many) = entry_schema(spec, field)?;
    property(entry, "kind")?;
    let default = |part: &str| {
        let value = property(entry, part).and_then(|schema| schema.get("default"));
        value.and_then(Value::as_str).map(Into::into)
    };
    let list = property(spec, field).filter(|_| many);
    let takes = |part: &str| property(entry, part).is_some();
    let about_sections = allowed::sections(schemas, spec, field);
    Some(RefField {
        path: field.to_owned(),
        many,
        default_group: default("group"),
        default_kind: default("kind"),
        sections: Some(takes("sectionName") && !about_sections.forbidden),
        needs_section: about_sections.required,
        namespace: Some(
            takes("namespaces")
                || (takes("namespace") && !allowed::forbids_namespace(schemas, spec, field)),
        ),
        max: list.and_then(max_items),
        unique: list.is_some_and(is_keyed) || (many && allowed::unique(schemas, spec, field)),
        ..RefField::default()
    })
}

/// Whether a list has keys, so that the API server refuses equal entries.
fn is_keyed(list: &Value) -> bool {
    let list_type = list.get("x-kubernetes-list-type");
    matches!(list_type.and_then(Value::as_str), Some("map" | "set"))
}

/// Whether the schema itself demands a reference.
pub(super) fn required(spec: &Value) -> bool {
    let required = spec.get("required").and_then(Value::as_array);
    required.is_some_and(|fields| {
        let mut names = fields.iter().filter_map(Value::as_str);
        names.any(|name| REF_FIELDS.contains(&name))
    })
}

/// Whether `targetRefs` may say what `targetRef` says, in every version: it has all its parts, and
/// nothing demands the singular. Objects come in any version, and what a version does not know is
/// dropped.
pub(super) fn takes_plural(schemas: &Schemas) -> bool {
    let mut versions = std::iter::once(&schemas.spec).chain(&schemas.others);
    versions.all(plural_instead)
}

fn plural_instead(spec: &Value) -> bool {
    let [single, plural, _] = REF_FIELDS;
    let (Some((one, false)), Some((many, true))) =
        (entry_schema(spec, single), entry_schema(spec, plural))
    else {
        return false;
    };
    let parts = |entry: &Value| -> BTreeSet<String> {
        let fields = entry.get("properties").and_then(Value::as_object);
        fields
            .into_iter()
            .flatten()
            .map(|(k, _)| k.clone())
            .collect()
    };
    let demanded = spec.get("required").and_then(Value::as_array);
    let demanded = demanded.is_some_and(|fields| fields.iter().any(|field| field == single));
    let alone = |field: &str, value: Known| Known::Map {
        fields: [(field.into(), value)].into(),
        whole: true,
    };
    let known = || Entry::default().known();
    let of_one = alone(single, known());
    let of_many = alone(plural, Known::List(vec![known()]));
    let mut rules = texts(spec).filter_map(Rule::parse);
    let refused =
        rules.any(|rule| rule.holds(&of_many) == Some(false) && rule.holds(&of_one) != Some(false));
    !demanded && !refused && parts(one).is_subset(&parts(many))
}

/// Whether entries take `namespace`; none where there are no entries.
pub(super) fn cross_namespace(refs: &[RefField]) -> Option<CrossNamespace> {
    let said = refs.iter().filter_map(|field| field.namespace);
    let takes = said.reduce(|a, b| a || b)?;
    Some(if takes {
        CrossNamespace::Grant
    } else {
        CrossNamespace::Forbidden
    })
}
