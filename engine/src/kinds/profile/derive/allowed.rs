//! Facts about targets in the rules of a CRD: the allowed kinds, their sections, and duplicates.
//!
//! A rule is evaluated on entries of which only the relevant part is known. If it rejects such an entry, it always
//! does; if the answer depends on anything else, nothing is concluded.

use std::sync::Arc;

use super::rules::{PartialEntry, Rules, some, texts};
use super::{REF_FIELDS, Schemas};
use crate::kinds::cel::{CelBudget, CelRule, PartialValue};
use crate::kinds::profile::RefField;
use crate::model::ids::GroupKind;

/// The maximum number of strings that are tried as kinds and groups. Real rules contain 30.
const MOST_TEXTS: usize = 200;

/// The kinds that the rules of a field allow, if they allow only some. The group is `*` if they do not restrict it.
pub(super) fn kinds(rules: &Rules<'_>, budget: &mut CelBudget) -> Option<Vec<GroupKind>> {
    let refuses_kind = |group: PartialValue, kind: PartialValue, budget: &mut CelBudget| {
        let entry = PartialEntry::default()
            .with("group", group)
            .with("kind", kind);
        rules.reject(&entry, budget)
    };
    let any_group = |kind: PartialValue, budget: &mut CelBudget| {
        rules.reject(&PartialEntry::default().with("kind", kind), budget)
    };
    if !any_group(PartialValue::OtherString, budget) {
        return None;
    }
    let mut texts = rules.texts();
    texts.insert(Arc::default());
    if texts.len() > MOST_TEXTS {
        return None;
    }
    let mut kinds_found = Vec::new();
    for kind in texts.iter().filter(|text| is_kind(text)) {
        let known = || PartialValue::Text(kind.clone());
        if any_group(known(), budget) {
            continue;
        }
        if !refuses_kind(PartialValue::OtherString, known(), budget) {
            kinds_found.push(GroupKind::new("*", kind.clone()));
            continue;
        }
        let groups = texts.iter().filter(|group| is_group(group));
        let groups = groups
            .filter(|group| !refuses_kind(PartialValue::Text((*group).clone()), known(), budget));
        kinds_found.extend(groups.map(|group| GroupKind::new(group.clone(), kind.clone())));
    }
    // If no kind remains, the rules are not about kinds.
    (!kinds_found.is_empty()).then_some(kinds_found)
}

/// A kind is one word, usually with capitals.
fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// A group is a domain, or a word such as `apps`, or empty; some kinds write `core` for the empty one.
fn is_group(text: &str) -> bool {
    let part_of_one =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    text.chars().all(part_of_one)
}

/// Whether the rules reject every string as this part of an entry.
pub(super) fn forbid(rules: &Rules<'_>, part: &str, budget: &mut CelBudget) -> bool {
    let mut refused =
        |value: PartialValue| rules.reject(&PartialEntry::default().with(part, value), budget);
    if !refused(PartialValue::OtherString) {
        return false;
    }
    let texts = rules.texts();
    let few = texts.len() <= MOST_TEXTS;
    let mut texts = texts.into_iter().filter(|text| !text.is_empty());
    few && texts.all(|text| refused(PartialValue::Text(text)))
}

/// Whether the rules reject entries without this part.
pub(super) fn require(rules: &Rules<'_>, part: &str, budget: &mut CelBudget) -> bool {
    rules.reject(
        &PartialEntry::default().with(part, PartialValue::Absent),
        budget,
    )
}

/// Whether the rules reject two equal entries because they are equal, not because of their content.
pub(super) fn unique(
    rules: &Rules<'_>,
    kinds: Option<&Vec<GroupKind>>,
    budget: &mut CelBudget,
) -> bool {
    let kind = kinds.and_then(|kinds| kinds.first().cloned());
    let kind = kind.unwrap_or_else(|| GroupKind::new("group.example.com", "Kind"));
    let named = |name: &str| {
        let entry = PartialEntry::default()
            .with("group", PartialValue::Text(kind.group.as_str().into()))
            .with("kind", PartialValue::Text(kind.kind.as_str().into()))
            .with("name", PartialValue::Text(name.into()))
            .with("namespace", PartialValue::Absent)
            .with("sectionName", PartialValue::Absent);
        entry.known()
    };
    rules.reject_list(&[named("one"), named("one")], budget)
        && !rules.reject_list(&[named("one"), named("other")], budget)
}

/// Whether the rules reject references in both the singular and the plural field.
pub(super) fn one_form(schemas: &Schemas, refs: &[RefField], budget: &mut CelBudget) -> bool {
    let [single, plural, _] = REF_FIELDS;
    let has = |path: &str| refs.iter().any(|field| field.path == path);
    if !(has(single) && has(plural)) {
        return false;
    }
    let entry = PartialEntry::default().known();
    let list = PartialValue::ListContaining(vec![entry.clone()]);
    let rules: Vec<CelRule> = texts(&schemas.spec)
        .filter_map(|text| CelRule::parse(text, budget))
        .collect();
    let mut refused = |spec: PartialValue| {
        let mut rules = rules.iter();
        rules.any(|rule| rule.holds(&spec, budget) == Some(false))
    };
    refused(some([(single, entry.clone()), (plural, list.clone())]))
        && !refused(some([(single, entry)]))
        && !refused(some([(plural, list)]))
}
