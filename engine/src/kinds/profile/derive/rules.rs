//! The validation rules of a CRD about one target field, evaluated on an entry in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::{Version, entry_schema, property};
use crate::kinds::cel::{CelBudget, CelRule, PartialValue};

/// The rules about a target field.
pub(super) struct Rules<'a> {
    field: &'a str,
    many: bool,
    parsed: Vec<(At, CelRule)>,
    enums: BTreeMap<&'static str, BTreeSet<&'a str>>,
}

/// The location of a rule, which decides what `self` is in it.
#[derive(Clone, Copy)]
enum At {
    Root,
    Spec,
    Field,
    Entry,
    Part(&'static str),
}

/// The members of an entry that rules are evaluated for.
const PARTS: [&str; 5] = ["group", "kind", "name", "namespace", "sectionName"];

// === impl Rules ===

impl<'a> Rules<'a> {
    /// The rules of the object, its spec, the field, its entries and their members. Rules that cannot be parsed are
    /// ignored.
    pub(super) fn for_field(
        version: Version<'a>,
        field: &'a str,
        budget: &mut CelBudget,
    ) -> Option<Self> {
        let spec = version.spec;
        let (entry, many) = entry_schema(spec, field)?;
        let mut rules_of_field = Self {
            field,
            many,
            parsed: Vec::new(),
            enums: BTreeMap::new(),
        };
        rules_of_field.add(entry, At::Entry, budget);
        for part in PARTS {
            if let Some(schema) = property(entry, part) {
                rules_of_field.add(schema, At::Part(part), budget);
                let values = schema.get("enum").and_then(Value::as_array);
                if let Some(values) = values {
                    let texts = values.iter().filter_map(Value::as_str).collect();
                    rules_of_field.enums.insert(part, texts);
                }
            }
        }
        if many && let Some(list) = property(spec, field) {
            rules_of_field.add(list, At::Field, budget);
        }
        rules_of_field.add(spec, At::Spec, budget);
        if let Some(root) = version.root {
            rules_of_field.add(root, At::Root, budget);
        }
        Some(rules_of_field)
    }

    fn add(&mut self, schema: &Value, at: At, budget: &mut CelBudget) {
        let rules = texts(schema).filter_map(|text| CelRule::parse(text, budget));
        self.parsed.extend(rules.map(|rule| (at, rule)));
    }

    /// Every string in the rules and enums.
    pub(super) fn texts(&self) -> BTreeSet<Arc<str>> {
        let of_rules = self.parsed.iter().flat_map(|(_, rule)| rule.texts());
        let of_enums = self.enums.values().flatten().copied();
        of_rules
            .map(Into::into)
            .chain(of_enums.map(Into::into))
            .collect()
    }

    /// Whether a policy with this entry at any position among others is rejected, regardless of the rest.
    pub(super) fn reject(&self, entry: &PartialEntry, budget: &mut CelBudget) -> bool {
        let outside = self
            .enums
            .iter()
            .any(|(part, values)| match entry.0.get(*part) {
                Some(PartialValue::Text(text)) => !values.contains(&**text),
                Some(PartialValue::OtherString) => true,
                _ => false,
            });
        if outside {
            return true;
        }
        let field = if self.many {
            PartialValue::ListContaining(vec![entry.known()])
        } else {
            entry.known()
        };
        self.reject_field(&entry.known(), &field, budget)
    }

    /// Whether a policy with exactly these entries is rejected.
    pub(super) fn reject_list(&self, entries: &[PartialValue], budget: &mut CelBudget) -> bool {
        let Some(first) = entries.first() else {
            return false;
        };
        self.many && self.reject_field(first, &PartialValue::List(entries.to_vec()), budget)
    }

    fn reject_field(
        &self,
        entry: &PartialValue,
        field: &PartialValue,
        budget: &mut CelBudget,
    ) -> bool {
        let spec = some([(self.field, field.clone())]);
        let mut rules = self.parsed.iter();
        rules.any(|(at, rule)| {
            let this = match at {
                At::Root => &some([("spec", spec.clone())]),
                At::Spec => &spec,
                At::Field => field,
                At::Entry => entry,
                At::Part(part) => match entry {
                    PartialValue::Map { fields, .. } => match fields.get(*part) {
                        Some(PartialValue::Absent) | None => return false,
                        Some(value) => value,
                    },
                    _ => return false,
                },
            };
            rule.holds(this, budget) == Some(false)
        })
    }
}

/// A partly known entry of a target field.
#[derive(Clone, Default)]
pub(super) struct PartialEntry(BTreeMap<Arc<str>, PartialValue>);

impl PartialEntry {
    /// Adds a member.
    pub(super) fn with(mut self, part: &str, value: PartialValue) -> Self {
        self.0.insert(part.into(), value);
        self
    }

    /// Converts it to a value.
    pub(super) fn known(&self) -> PartialValue {
        PartialValue::Map {
            fields: self.0.clone(),
            complete: false,
        }
    }
}

/// A map in which these fields are known.
pub(super) fn some<const N: usize>(fields: [(&str, PartialValue); N]) -> PartialValue {
    PartialValue::Map {
        fields: fields.map(|(name, value)| (name.into(), value)).into(),
        complete: false,
    }
}

/// The texts of the rules of a schema.
pub(super) fn texts(schema: &Value) -> impl Iterator<Item = &str> {
    let rules = schema.get("x-kubernetes-validations");
    let rules = rules.and_then(Value::as_array).into_iter().flatten();
    rules.filter_map(|rule| rule.get("rule")?.as_str())
}
