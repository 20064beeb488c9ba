//! Target entries of a policy's spec, with the field path of each.

use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::Value;

use super::{Select, TargetRef, guessed_group};
use crate::engine::ids::GroupKind;
use crate::engine::object::ROUTES;
use crate::engine::profile::{Profile, RefField};
use crate::engine::selector::Selector;

/// One entry of a target field.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Field path: `spec.targetRefs[0]`.
    pub path: String,
    /// The field that it stands in.
    pub field: &'a RefField,
    /// What it names, or what is wrong with it.
    pub target: Result<TargetRef, Fault>,
    /// A field that is not written as the API server knows it, but can only mean one thing.
    pub spelling: Option<Spelling>,
    /// Whether it has a name and a selector: then the name counts.
    pub both: bool,
}

/// A field in another spelling than the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// `kind` or `group`.
    pub field: &'static str,
    /// What stands there; nothing where the field is left out.
    pub written: String,
    /// What it is taken for.
    pub right: String,
}

/// What makes an entry name nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not an object; the type that it has.
    NotAnObject(&'static str),
    /// A part of it is missing or empty: `kind`, or `name` where there is no selector.
    Missing(&'static str),
    /// `group` carries a version.
    Versioned(String),
}

/// Every entry of every target field, in the order of the profile and of the spec.
pub fn entries<'a>(spec: &Value, profile: &'a Profile) -> Vec<Entry<'a>> {
    let mut found = Vec::new();
    for field in &profile.refs.value {
        let Some(value) = at(spec, &field.path).filter(|v| !v.is_null()) else {
            continue;
        };
        let base = format!("spec.{}", field.path);
        match value {
            Value::Array(items) if field.many => {
                for (i, item) in items.iter().enumerate() {
                    found.push(entry(format!("{base}[{i}]"), item, field, profile));
                }
            }
            item => found.push(entry(base, item, field, profile)),
        }
    }
    found
}

/// The value at a dotted path.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn entry<'a>(path: String, item: &Value, field: &'a RefField, profile: &Profile) -> Entry<'a> {
    let mut target = target(item, field);
    let mut spelling = None;
    match (item.get("group").and_then(Value::as_str), &target) {
        (Some("core"), _) => spelling = Some(("group", "core".to_owned(), String::new())),
        (None, Ok(target)) if field.default_group.is_none() => {
            spelling = Some(("group", String::new(), target.gk.group.to_string()));
        }
        _ => {}
    }
    if let Ok(target) = &mut target
        && let Some(right) = right_kind(&target.gk, profile)
    {
        spelling = Some(("kind", target.gk.kind.to_string(), right.kind.to_string()));
        target.gk = right;
    }
    Entry {
        path,
        field,
        both: item.get("name").is_some() && selector(item).is_some(),
        target,
        spelling: spelling.map(|(field, written, right)| Spelling {
            field,
            written,
            right,
        }),
    }
}

/// The kind that was meant where only the case differs: of Gateway API, core, or those that the
/// policy kind allows.
fn right_kind(written: &GroupKind, profile: &Profile) -> Option<GroupKind> {
    let built_in = ["GatewayClass", "Gateway", "ListenerSet"]
        .iter()
        .chain(&ROUTES);
    let known = built_in
        .map(|kind| GroupKind::gateway_api(kind))
        .chain(["Namespace", "Service"].map(GroupKind::core))
        .chain(
            profile
                .allow
                .iter()
                .flat_map(|fact| fact.value.iter().map(|a| a.gk.clone())),
        );
    let mut alike =
        known.filter(|gk| gk.group == written.group && gk.kind.eq_ignore_ascii_case(&written.kind));
    alike.next().filter(|gk| gk != written)
}

fn target(item: &Value, field: &RefField) -> Result<TargetRef, Fault> {
    let Value::Object(map) = item else {
        return Err(Fault::NotAnObject(type_name(item)));
    };
    let text = |key: &str| {
        let text = map.get(key).and_then(Value::as_str);
        text.filter(|t| !t.is_empty()).map(Arc::<str>::from)
    };
    let kind = text("kind").ok_or(Fault::Missing("kind"))?;
    let group = match map.get("group").and_then(Value::as_str) {
        Some("core") => Arc::default(),
        Some(group) if group.contains('/') => return Err(Fault::Versioned(group.to_owned())),
        Some(group) => Arc::from(group),
        None => field
            .default_group
            .clone()
            .unwrap_or_else(|| guessed_group(&kind).into()),
    };
    let select = match (text("name"), selector(item)) {
        (Some(name), _) => Select::Name(name),
        (None, Some(selector)) => Select::Labels(Selector::deserialize(selector).ok()),
        (None, None) => return Err(Fault::Missing("name")),
    };
    Ok(TargetRef {
        gk: GroupKind::new(group, kind),
        namespace: text("namespace"),
        select,
        section: text("sectionName"),
    })
}

/// `selector`, or the entry itself where `matchLabels` or `matchExpressions` stand in it.
fn selector(item: &Value) -> Option<&Value> {
    let inside = ["matchLabels", "matchExpressions"];
    let bare = inside.iter().any(|key| item.get(key).is_some());
    item.get("selector").or(bare.then_some(item))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
