//! What the rules of a CRD say of targets: which kinds, with which sections, how often.
//!
//! A rule is tried on entries of which only the part in question is known. What it refuses then, it
//! refuses always; where it depends on anything else nothing is concluded.

use std::sync::Arc;

use serde_json::Value;

use super::rules::{Entry, Rules, some, texts};
use super::{REF_FIELDS, Schemas, property};
use crate::engine::cel::{Known, Rule};
use crate::engine::ids::GroupKind;
use crate::engine::profile::{Allowed, RefField};

/// What rules say of `sectionName`.
#[derive(Default)]
pub(super) struct Sections {
    pub(super) forbidden: bool,
    pub(super) required: bool,
}

/// The kinds that can be targets, where the rules of every field of references say all of them.
/// Fields of selectors count where there is no other.
pub(super) fn allow(schemas: &Schemas, refs: &[RefField]) -> Option<Vec<Allowed>> {
    let named = |field: &&RefField| field.path != "targetSelectors";
    let any_named = refs.iter().any(|field| named(&field));
    let fields = refs.iter().filter(|field| named(field) || !any_named);
    let mut found: Vec<Allowed> = Vec::new();
    for field in fields {
        let spec = version_of(schemas, &field.path)?;
        for gk in kinds(&Rules::of(schemas, spec, &field.path)?)? {
            if !found.iter().any(|known| known.gk == gk) {
                found.push(Allowed {
                    gk,
                    sections: field.sections.unwrap_or(true),
                    only: None,
                });
            }
        }
    }
    found.sort_by(|a, b| a.gk.cmp(&b.gk));
    (!found.is_empty()).then_some(found)
}

/// The version of the schema that has a field.
fn version_of<'a>(schemas: &'a Schemas, field: &str) -> Option<&'a Value> {
    let mut versions = std::iter::once(&schemas.spec).chain(&schemas.others);
    versions.find(|spec| property(spec, field).is_some())
}

/// The kinds that the rules of a field leave, if they leave only some. The group is `*` where they
/// say nothing of it.
fn kinds(rules: &Rules<'_>) -> Option<Vec<GroupKind>> {
    let of = |group: Known, kind: Known| {
        rules.refuse(&Entry::default().with("group", group).with("kind", kind))
    };
    let any_group = |kind: Known| rules.refuse(&Entry::default().with("kind", kind));
    if !any_group(Known::Stranger) {
        return None;
    }
    let mut texts = rules.texts();
    texts.insert(Arc::default());
    let mut found = Vec::new();
    for kind in texts.iter().filter(|text| is_kind(text)) {
        let known = || Known::Text(kind.clone());
        if any_group(known()) {
            continue;
        }
        if !of(Known::Stranger, known()) {
            found.push(GroupKind::new("*", kind.clone()));
            continue;
        }
        let groups = texts
            .iter()
            .filter(|group| is_group(group) && !of(Known::Text((*group).clone()), known()));
        found.extend(groups.map(|group| GroupKind::new(group.clone(), kind.clone())));
    }
    Some(found)
}

/// Kinds are written in one word that begins with a capital.
fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Groups are domains, or empty; `core` is how some kinds call the empty one.
fn is_group(text: &str) -> bool {
    text.is_empty() || text.contains('.') && !text.contains('/')
}

/// Whether the rules refuse a `sectionName`, or its absence.
pub(super) fn sections(schemas: &Schemas, spec: &Value, field: &str) -> Sections {
    let Some(rules) = Rules::of(schemas, spec, field) else {
        return Sections::default();
    };
    let with = Entry::default().with("sectionName", Known::Stranger);
    let without = Entry::default()
        .with("group", Known::Unknown)
        .with("kind", Known::Unknown)
        .with("name", Known::Unknown)
        .whole();
    Sections {
        forbidden: rules.refuse(&with),
        required: rules.refuse(&without),
    }
}

/// Whether the rules refuse a `namespace`.
pub(super) fn forbids_namespace(schemas: &Schemas, spec: &Value, field: &str) -> bool {
    // Rules ask for its length: a text serves where a stranger would leave that open.
    let entry = Entry::default().with("namespace", Known::Text("elsewhere".into()));
    Rules::of(schemas, spec, field).is_some_and(|rules| rules.refuse(&entry))
}

/// Whether the rules refuse two equal entries, and not for what they are.
pub(super) fn unique(schemas: &Schemas, spec: &Value, field: &str) -> bool {
    let Some(rules) = Rules::of(schemas, spec, field) else {
        return false;
    };
    let kind = kinds(&rules).and_then(|kinds| kinds.into_iter().next());
    let kind = kind.unwrap_or_else(|| GroupKind::new("group.example.com", "Kind"));
    let named = |name: &str| {
        let entry = Entry::default()
            .with("group", Known::Text(kind.group.clone()))
            .with("kind", Known::Text(kind.kind.clone()))
            .with("name", Known::Text(name.into()))
            .whole();
        entry.known()
    };
    rules.refuse_list(&[named("one"), named("one")])
        && !rules.refuse_list(&[named("one"), named("other")])
}

/// Whether the rules refuse references in the singular and the plural field at once.
pub(super) fn one_form(schemas: &Schemas, refs: &[RefField]) -> bool {
    let [single, plural, _] = REF_FIELDS;
    let has = |path: &str| refs.iter().any(|field| field.path == path);
    if !(has(single) && has(plural)) {
        return false;
    }
    let entry = Entry::default().known();
    let list = Known::List(vec![entry.clone()]);
    let refused = |spec: Known| {
        texts(&schemas.spec)
            .filter_map(Rule::parse)
            .any(|rule| rule.holds(&spec) == Some(false))
    };
    refused(some([(single, entry.clone()), (plural, list.clone())]))
        && !refused(some([(single, entry)]))
        && !refused(some([(plural, list)]))
}
