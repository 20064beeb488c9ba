//! The fields of `spec` that hold target references.

use serde_json::Value;

use super::allowed;
use super::rules::Rules;
use super::{REF_FIELDS, Schemas, Version, entry_schema, max_items, property};
use crate::kinds::cel::CelBudget;
use crate::kinds::profile::{Allowed, CrossNamespace, RefField};
use crate::model::ids::GroupKind;

/// The facts about targets that all versions of a kind have in common.
pub(super) struct DerivedTargets {
    pub(super) refs: Vec<RefField>,
    /// The kinds that can be targets, if the rules of every field list all of them. Fields of selectors count if
    /// there is no other field.
    pub(super) allow: Option<Vec<Allowed>>,
    pub(super) core_too: bool,
}

/// A field in one version, or combined for several versions.
struct DerivedField {
    reference: RefField,
    /// The kinds that its rules allow, if they allow only some.
    kinds: Option<Vec<GroupKind>>,
}

/// Whether a schema has target references: group, kind, and a name or labels.
pub(super) fn are_of_a_policy(schemas: &Schemas) -> bool {
    let mut versions = schemas.versions();
    versions.any(|version| {
        REF_FIELDS
            .iter()
            .any(|field| is_reference(version.spec, field))
    })
}

fn is_reference(spec: &Value, field: &str) -> bool {
    entry_schema(spec, field).is_some_and(|(entry, _)| {
        let has = |name: &str| property(entry, name).is_some();
        let named = has("name") || has("selector") || has("matchLabels");
        has("group") && has("kind") && (named || field == "targetSelectors")
    })
}

/// Fields that hold references: those of the stored version, then those that only other served versions have. If
/// several versions have a field, all must agree on restrictions.
pub(super) fn targets(schemas: &Schemas, budget: &mut CelBudget) -> DerivedTargets {
    let mut fields: Vec<DerivedField> = Vec::new();
    for version in schemas.versions() {
        for name in REF_FIELDS {
            let Some(field) = field(version, name, budget) else {
                continue;
            };
            match fields.iter_mut().find(|known| known.reference.path == name) {
                Some(known) => known.join(field),
                None => fields.push(field),
            }
        }
    }
    let (allow, core_too) = match allowed(&fields) {
        Some((allow, core_too)) => (Some(allow), core_too),
        None => (None, false),
    };
    DerivedTargets {
        refs: fields
            .into_iter()
            .map(DerivedField::into_reference)
            .collect(),
        allow,
        core_too,
    }
}

/// The kinds that all fields together allow, and whether `core` is one of their groups.
fn allowed(fields: &[DerivedField]) -> Option<(Vec<Allowed>, bool)> {
    let named = |field: &&DerivedField| field.reference.path != "targetSelectors";
    let any_named = fields.iter().any(|field| named(&field));
    let mut allowed: Vec<Allowed> = Vec::new();
    let mut core_too = false;
    for field in fields.iter().filter(|field| named(field) || !any_named) {
        for gk in field.kinds.as_ref()? {
            let core = &*gk.group == "core";
            core_too |= core;
            let gk = if core {
                GroupKind::core(&gk.kind)
            } else {
                gk.clone()
            };
            let sections = field.reference.sections.unwrap_or(true);
            match allowed.iter_mut().find(|known| known.gk == gk) {
                Some(known) => known.sections |= sections,
                None => allowed.push(Allowed {
                    gk,
                    sections,
                    only: None,
                    names: Vec::new(),
                }),
            }
        }
    }
    allowed.sort_by(|a, b| a.gk.cmp(&b.gk));
    (!allowed.is_empty()).then_some((allowed, core_too))
}

fn field(version: Version<'_>, name: &'static str, budget: &mut CelBudget) -> Option<DerivedField> {
    let spec = version.spec;
    let (entry, many) = entry_schema(spec, name)?;
    property(entry, "kind")?;
    let default = |part: &str| {
        let value = property(entry, part).and_then(|schema| schema.get("default"));
        value.and_then(Value::as_str).map(Into::into)
    };
    let list = property(spec, name).filter(|_| many);
    let takes = |part: &str| property(entry, part).is_some();
    // If anything is allowed, the listed members are not all.
    let closed = !takes_anything(entry);
    let rules = Rules::for_field(version, name, budget)?;
    let kinds = allowed::kinds(&rules, budget);
    let sections = takes("sectionName") && !allowed::forbid(&rules, "sectionName", budget);
    let namespace = takes("namespaces")
        || (takes("namespace") && !allowed::forbid(&rules, "namespace", budget));
    let unique = match list {
        Some(list) => is_keyed(list, entry) || allowed::unique(&rules, kinds.as_ref(), budget),
        None => false,
    };
    let reference = RefField {
        path: name.to_owned(),
        many,
        default_group: default("group"),
        default_kind: default("kind"),
        sections: (sections || closed).then_some(sections),
        needs_section: allowed::require(&rules, "sectionName", budget),
        namespace: (namespace || closed).then_some(namespace),
        max: list.and_then(max_items),
        unique,
        may_lack: ["kind", "name"]
            .into_iter()
            .filter(|part| !requires(entry, part))
            .collect(),
        members: closed.then(|| members(entry)),
        needs_group: requires(entry, "group"),
        keyed: unique,
        ..RefField::default()
    };
    Some(DerivedField { reference, kinds })
}

// === impl DerivedField ===

impl DerivedField {
    /// The field with its kinds.
    fn into_reference(self) -> RefField {
        RefField {
            kinds: self.kinds,
            ..self.reference
        }
    }

    /// Combines the facts of two versions: targets that one of them allows are allowed.
    fn join(&mut self, other: Self) {
        let (one, two) = (&mut self.reference, other.reference);
        one.many |= two.many;
        one.default_group = one
            .default_group
            .take()
            .filter(|group| two.default_group.as_ref() == Some(group));
        one.default_kind = one
            .default_kind
            .take()
            .filter(|kind| two.default_kind.as_ref() == Some(kind));
        one.sections = either(one.sections, two.sections);
        one.needs_section &= two.needs_section;
        one.namespace = either(one.namespace, two.namespace);
        one.max = one.max.zip(two.max).map(|(a, b)| a.max(b));
        one.unique &= two.unique;
        one.keyed &= two.keyed;
        one.needs_group &= two.needs_group;
        let more = two.may_lack.into_iter();
        let more: Vec<_> = more.filter(|part| !one.may_lack.contains(part)).collect();
        one.may_lack.extend(more);
        let both = one.members.take().zip(two.members);
        one.members = both.map(|(mut members, more)| {
            members.extend(more);
            members.sort();
            members.dedup();
            members
        });
        self.kinds = self.kinds.take().zip(other.kinds).map(|(mut kinds, more)| {
            let more: Vec<_> = more.into_iter().filter(|gk| !kinds.contains(gk)).collect();
            kinds.extend(more);
            kinds
        });
    }
}

/// Whether one of two allows something; unknown if either is.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    one.zip(other).map(|(one, other)| one || other)
}

fn members(entry: &Value) -> Vec<String> {
    let properties = entry.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|members| members.keys());
    names.cloned().collect()
}

fn takes_anything(schema: &Value) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
}

/// Whether the API server rejects equal entries of a list because of its keys. Entries that differ in another key are
/// not equal.
fn is_keyed(list: &Value, entry: &Value) -> bool {
    const COMPARED: [&str; 5] = ["group", "kind", "name", "namespace", "sectionName"];
    let compared = |key: &str| COMPARED.contains(&key);
    let list_type = list.get("x-kubernetes-list-type").and_then(Value::as_str);
    match list_type {
        Some("map") => {
            let keys = list.get("x-kubernetes-list-map-keys");
            let mut keys = keys.and_then(Value::as_array).into_iter().flatten();
            keys.all(|key| key.as_str().is_some_and(compared))
        }
        Some("set") => {
            let fields = entry.get("properties").and_then(Value::as_object);
            let mut fields = fields.into_iter().flatten();
            !takes_anything(entry) && fields.all(|(name, _)| compared(name))
        }
        _ => false,
    }
}

/// Whether a schema requires a field.
fn requires(schema: &Value, field: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|fields| fields.iter().any(|name| name == field))
}

/// Whether the schema itself requires a reference.
pub(super) fn required(spec: &Value) -> bool {
    REF_FIELDS.iter().any(|field| requires(spec, field))
}

/// Whether entries support `namespace`; `None` if there are no entries, or if they may contain anything.
pub(super) fn cross_namespace(refs: &[RefField]) -> Option<CrossNamespace> {
    let answers = refs.iter().map(|field| field.namespace);
    if answers.clone().any(|takes| takes == Some(true)) {
        return Some(CrossNamespace::Grant);
    }
    let none = !refs.is_empty() && answers.clone().all(|takes| takes == Some(false));
    none.then_some(CrossNamespace::Forbidden)
}
