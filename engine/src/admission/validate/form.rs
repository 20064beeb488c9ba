//! The form of target references: the checks that the API server makes by schema. For manifests that no API server
//! has checked.

use serde_json::{Map, Value};

use super::fields;
use crate::admission::finding::{Code, Finding};
use crate::kinds::profile::RefField;
use crate::model::hint::{nearest, quoted};
use crate::model::wording::type_name;
use crate::policy::{self, Policy, value_at};

/// The string members of a reference with their maximum lengths in characters: those of Gateway API's own types.
const TEXTS: [(&str, usize); 5] = [
    ("group", 253),
    ("kind", 63),
    ("name", 253),
    ("namespace", 63),
    ("sectionName", 253),
];
/// Further members of references in some kinds: labels instead of a name.
const SELECTING: [&str; 4] = ["selector", "matchLabels", "matchExpressions", "namespaces"];

/// Findings on parts of the target references that the API server would reject or drop.
pub fn form(policy: &Policy) -> Vec<Finding> {
    let spec = policy::spec(&policy.object);
    let mut findings = fields::broken(policy, &policy.spec());
    for field in &policy.profile.refs.value {
        let path = format!("spec.{}", field.path);
        match value_at(&spec, &field.path) {
            Some(Value::Array(items)) if field.many => {
                for (i, item) in items.iter().enumerate() {
                    let path = format!("{path}[{i}]");
                    reference(policy, field, &path, item, &mut findings);
                }
            }
            Some(Value::Object(_)) if field.many => {
                let message = "it is a list; begin the target with \"- \"";
                findings.push(finding(policy, path, message.to_owned(), &field.path));
            }
            Some(item) => reference(policy, field, &path, item, &mut findings),
            None => {}
        }
    }
    findings
}

fn reference(
    policy: &Policy,
    field: &RefField,
    path: &str,
    item: &Value,
    findings: &mut Vec<Finding>,
) {
    let Value::Object(members) = item else {
        // The rules on targets report an entry that is not an object.
        return;
    };
    for (name, value) in members {
        let path = format!("{path}.{name}");
        let is_read = name != "name" || field.takes_name();
        let finding = match TEXTS.iter().find(|(text, _)| text == name && is_read) {
            Some((_, limit)) => text(policy, path, name, value, *limit),
            None => unknown(policy, field, path, name, members),
        };
        findings.extend(finding);
    }
}

fn text(policy: &Policy, path: String, name: &str, value: &Value, limit: usize) -> Option<Finding> {
    let (message, sure) = match value {
        Value::Null => return None,
        Value::String(text) if text.is_empty() && ["namespace", "sectionName"].contains(&name) => {
            ("it is empty; remove it".to_owned(), false)
        }
        Value::String(text) => {
            let length = text.chars().count();
            let message = format!("it has {length} characters; it may have {limit}");
            return (length > limit).then(|| finding(policy, path, message, name));
        }
        Value::Number(number) => (format!("it must be a string; write \"{number}\""), true),
        Value::Bool(value) => (format!("it must be a string; write \"{value}\""), true),
        other => (
            format!("it must be a string, not {}", type_name(other)),
            true,
        ),
    };
    Some(finding(policy, path, message, name).only_if(sure))
}

/// The finding on a member that references do not have. Without the CRD at hand, the members that a
/// kind allows are not known with certainty.
fn unknown(
    policy: &Policy,
    field: &RefField,
    path: String,
    name: &str,
    members: &Map<String, Value>,
) -> Option<Finding> {
    let texts = TEXTS.iter().map(|(text, _)| *text);
    let known: Vec<&str> = match &field.members {
        Some(members) => members.iter().map(String::as_str).collect(),
        None => texts
            .filter(|text| field.takes_name() || *text != "name")
            .chain(SELECTING)
            .chain(field.labels.as_deref())
            .chain(field.section_field.as_deref())
            .chain(field.port_field.as_deref())
            .collect(),
    };
    if known.contains(&name) {
        return None;
    }
    if name == "name" && !field.takes_name() {
        let message = "a selector has no name, and selects whatever has its labels: name one object in targetRefs";
        return Some(
            finding(policy, path, message.to_owned(), name).only_if(field.members.is_some()),
        );
    }
    let free: Vec<&str> = known
        .iter()
        .filter(|known| !members.contains_key(**known))
        .copied()
        .collect();
    let remedy = match nearest(name, &free) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("it has {}", quoted(&known)),
    };
    let message = format!("a target has no {name:?}; {remedy}");
    Some(finding(policy, path, message, name).only_if(field.members.is_some()))
}

fn finding(policy: &Policy, path: String, message: String, about: &str) -> Finding {
    let finding = Finding::new(Code::TargetSchema, policy.key(), message);
    finding.at(path).about(about)
}
