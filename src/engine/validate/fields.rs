//! What the definition of a kind says of a policy as a whole: its version, fields that there are not, rules.

use serde_json::Value;

use crate::engine::finding::{Code, Finding};
use crate::engine::hint::{nearest, quoted};
use crate::engine::policy::Policy;
use crate::engine::profile::Unknown;

/// A version that the kind does not have: the API server takes no such object.
pub(super) fn version(policy: &Policy) -> Option<Finding> {
    let version = policy.unknown_version()?;
    let known: Vec<&str> = policy.profile.versions.iter().map(|v| &**v).collect();
    let remedy = match (nearest(version, &known), known.as_slice()) {
        (_, [only]) => format!("; did you mean {only:?}?"),
        (Some(near), _) => format!("; did you mean {near:?}?"),
        (None, _) => format!("; it has {}", quoted(&known)),
    };
    let kind = &policy.profile.gk;
    let message = format!("{kind} has no version {version:?}{remedy}");
    Some(
        Finding::new(Code::VersionUnknown, policy.key(), message)
            .at("apiVersion")
            .about(version.to_string()),
    )
}

/// Fields that the definition does not have: the API server drops them.
pub(super) fn unknown(policy: &Policy, fields: &[Unknown]) -> Vec<Finding> {
    let of = written_in(policy);
    let findings = fields.iter().map(|Unknown { path, known }| {
        let name = path.rsplit('.').next().unwrap_or(path);
        let known: Vec<&str> = known.iter().map(|name| &**name).collect();
        let remedy = match nearest(name, &known) {
            Some(near) => format!("; did you mean {near:?}?"),
            None if known.is_empty() => String::new(),
            None => format!("; it has {}", quoted(&known)),
        };
        let message = format!("{of} has no such field, so it is not read{remedy}");
        Finding::new(Code::FieldUnknown, policy.key(), message)
            .at(path)
            .about(without_indexes(path))
    });
    findings.collect()
}

/// Rules of the definition that the spec surely breaks.
pub(super) fn broken(policy: &Policy, spec: &Value) -> Vec<Finding> {
    let Some(schema) = policy.schema() else {
        return Vec::new();
    };
    let of = written_in(policy);
    let messages = schema.broken(spec).into_iter();
    let findings = messages.map(|rule| {
        let message = format!("{of} does not allow it: {rule}");
        Finding::new(Code::FieldInvalid, policy.key(), message)
            .at("spec")
            .about(rule)
    });
    findings.collect()
}

/// The version and kind of a policy: `SecurityPolicy v1alpha1`.
fn written_in(policy: &Policy) -> String {
    let version = policy.object.meta.version.as_ref();
    let version = version.or(policy.profile.versions.first());
    let kind = &policy.profile.gk.kind;
    version.map_or_else(|| kind.to_string(), |version| format!("{kind} {version}"))
}

/// A path without the places in lists: a field stays the same where others move.
fn without_indexes(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        text.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
        text
    })
}
