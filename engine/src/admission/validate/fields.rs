//! Findings by the CRD of a kind on an object as a whole: its version, unknown fields, violated
//! rules.

use std::sync::Arc;

use serde_json::Value;

use crate::admission::finding::{Code, Finding};
use crate::kinds::profile::{REQUIRED, Unknown, VersionSchema, Violation};
use crate::model::hint::{nearest, nearest_field, quoted};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Crd, gateway_versions};
use crate::policy::{self, Policy};

/// Findings by the CRD on a policy, for manifests that no API server has checked.
pub fn of_policy(policy: &Policy) -> Vec<Finding> {
    let mut spec = policy::spec(&policy.object);
    let dropped = policy.as_stored(&mut spec);
    let mut findings = broken(policy, &spec);
    findings.extend(unknown(policy, &dropped));
    findings.extend(version(policy));
    findings
}

/// The finding if the version of a Gateway API object does not exist: the CRD does not serve it or,
/// without a CRD, no release has it.
pub fn served(key: &ObjectKey, version: &str, definition: Option<&Crd>) -> Option<Finding> {
    let of_releases = gateway_versions(&key.gk);
    let known: Vec<&str> = match definition {
        Some(crd) => crd.served.iter().map(|version| &**version).collect(),
        None => of_releases.to_vec(),
    };
    let is_served = known.is_empty() || known.contains(&version);
    (!is_served).then(|| no_version(key, version, &known))
}

/// Findings by the CRD on the spec of a Gateway API object in a served version. Removes the fields
/// that the CRD does not have.
pub fn of_spec(key: &ObjectKey, version: &str, definition: &Crd, spec: &mut Value) -> Vec<Finding> {
    let schemas = &definition.facts.versions;
    let Some(schema) = schemas.iter().find(|schema| *schema.name == *version) else {
        return Vec::new();
    };
    let kind_and_version = format!("{} {version}", key.gk.kind);
    let unknown = schema.spec.prune(spec, &[]);
    let mut stored = spec.clone();
    schema.spec.drop_nulls(&mut stored, &[]);
    schema.spec.fill(&mut stored, &[]);
    let mut findings = broken_by(key, &kind_and_version, schema, &stored);
    findings.extend(unknown_to(key, &kind_and_version, &unknown));
    findings
}

/// The finding on a version that the kind does not have: the API server rejects the object.
pub(super) fn version(policy: &Policy) -> Option<Finding> {
    let version = policy.unknown_version()?;
    let known: Vec<&str> = policy.profile.versions.iter().map(|v| &**v).collect();
    Some(no_version(policy.key(), version, &known))
}

fn no_version(key: &ObjectKey, version: &str, known: &[&str]) -> Finding {
    let remedy = match (nearest(version, known), known) {
        (_, [only]) => format!("; did you mean {only:?}?"),
        (Some(near), _) => format!("; did you mean {near:?}?"),
        (None, _) => format!("; it has {}", quoted(known)),
    };
    let kind: &GroupKind = &key.gk;
    let message = format!("{kind} has no version {version:?}{remedy}");
    Finding::new(Code::VersionUnknown, key, message)
        .at("apiVersion")
        .about(version.to_owned())
}

/// Findings on fields that the CRD does not have: the API server drops them.
pub(super) fn unknown(policy: &Policy, fields: &[Unknown]) -> Vec<Finding> {
    unknown_to(policy.key(), &written_in(policy), fields)
}

fn unknown_to(key: &ObjectKey, kind_and_version: &str, fields: &[Unknown]) -> Vec<Finding> {
    let findings = fields.iter().map(|Unknown { path, known }| {
        let name = path.rsplit('.').next().unwrap_or(path);
        let known: Vec<&str> = known.iter().map(|name| &**name).collect();
        let remedy = match nearest_field(name, &known) {
            Some(near) => format!("; did you mean {near:?}?"),
            None if known.is_empty() => String::new(),
            None => format!("; it has {}", quoted(&known)),
        };
        let message = format!("{kind_and_version} has no such field, so it is not read{remedy}");
        Finding::new(Code::FieldUnknown, key, message)
            .at(path)
            .about(without_indexes(path))
    });
    findings.collect()
}

/// Findings on constraints and rules of the CRD that the spec certainly violates.
pub(super) fn broken(policy: &Policy, spec: &Value) -> Vec<Finding> {
    match policy.schema().filter(|_| policy.is_unseen()) {
        Some(schema) => broken_by(policy.key(), &written_in(policy), schema, spec),
        None => Vec::new(),
    }
}

fn broken_by(
    key: &ObjectKey,
    kind_and_version: &str,
    schema: &VersionSchema,
    spec: &Value,
) -> Vec<Finding> {
    let findings = schema.violations(spec).into_iter().map(|violation| {
        let Violation { path, message: why } = violation;
        let subject = match without_indexes(&path) {
            path if path == "spec" => why.clone(),
            path => format!("{path}: {why}"),
        };
        let message = if why == REQUIRED {
            format!("it is missing, and {kind_and_version} requires it")
        } else {
            format!("{kind_and_version} does not allow it: {why}")
        };
        Finding::new(Code::FieldInvalid, key, message)
            .at(path)
            .about(subject)
    });
    findings.collect()
}

/// The finding on a missing field without which the policy is rejected. A CRD may have a rule that
/// says the same.
pub(super) fn unmet(policy: &Policy, spec: &Value) -> Option<Finding> {
    let needs = policy.profile.unmet(spec)?;
    if !broken(policy, spec).is_empty() {
        return None;
    }
    let kind = &policy.profile.gk.kind;
    let finding = Finding::new(Code::FieldInvalid, policy.key(), format!("{kind} {needs}"));
    Some(finding.at("spec").about(needs))
}

/// The version and kind of a policy: `SecurityPolicy v1alpha1`.
fn written_in(policy: &Policy) -> String {
    let version = policy.object.meta.version.as_ref();
    let version: Option<&Arc<str>> = version.or(policy.profile.versions.first());
    let kind = &policy.profile.gk.kind;
    version.map_or_else(|| kind.to_string(), |version| format!("{kind} {version}"))
}

/// A path without list indexes, so that a field keeps its identity when others move.
fn without_indexes(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        text.push_str(
            part.split_once(']')
                .map_or("", |(_, after_index)| after_index),
        );
        text
    })
}
