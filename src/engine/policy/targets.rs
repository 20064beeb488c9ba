//! Target entries of a policy's spec, with the field path of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Select, TargetRef, guessed_group};
use crate::engine::ids::GroupKind;
use crate::engine::profile::{Profile, RefField};

/// One entry of a target field.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Field path: `spec.targetRefs[0]`.
    pub path: String,
    /// The field that it stands in.
    pub field: &'a RefField,
    /// What it names, or what is wrong with it.
    pub target: Result<TargetRef, Fault>,
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
                    found.push(entry(format!("{base}[{i}]"), item, field));
                }
            }
            item => found.push(entry(base, item, field)),
        }
    }
    found
}

/// The value at a dotted path.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn entry<'a>(path: String, item: &Value, field: &'a RefField) -> Entry<'a> {
    Entry {
        path,
        field,
        target: target(item, field),
    }
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
    let select = match (text("name"), labels(item)) {
        (Some(name), _) => Select::Name(name),
        (None, Some(labels)) => Select::Labels(labels),
        (None, None) => return Err(Fault::Missing("name")),
    };
    Ok(TargetRef {
        gk: GroupKind::new(group, kind),
        namespace: text("namespace"),
        select,
        section: text("sectionName"),
    })
}

/// `selector.matchLabels`, or `matchLabels` in the entry itself.
fn labels(item: &Value) -> Option<BTreeMap<Arc<str>, Arc<str>>> {
    let selector = item.get("selector").unwrap_or(item);
    let labels = selector.get("matchLabels")?.as_object()?;
    let pairs = labels
        .iter()
        .filter_map(|(k, v)| Some((k.as_str().into(), v.as_str()?.into())));
    Some(pairs.collect())
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
