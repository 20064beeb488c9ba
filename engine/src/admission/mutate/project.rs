//! `project-fields`: writes settings into the fields of targets that they control. Overrides come first, then the
//! object's own value, then defaults; scalar by scalar (GEP-713 of 2021, merging into existing fields).

use std::sync::Arc;

use serde_json::Value;

use super::annotate;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::kinds::profile::Profile;
use crate::model::object::Object;
use crate::model::projected::{ANNOTATION, MAX_TEXT_BYTES, Projected};
use crate::state::snapshot::Snapshot;

mod field;
mod write;

use field::ProjectedField;

/// Writes the settings of the policies that apply to an object into its fields. Values written before that are
/// unchanged are removed first.
pub(super) fn project(snapshot: &Snapshot, object: &Object, value: &mut Value) -> Vec<Finding> {
    let kinds: Vec<&Arc<Profile>> = snapshot.controls(&object.key.gk).collect();
    // Without all policies of a kind, its settings are unknown.
    if kinds.is_empty() || !kinds.iter().all(|profile| snapshot.knows(&profile.gk)) {
        return Vec::new();
    }
    let after = snapshot.with_object(Arc::new(object.clone()));
    let mut resolver = Resolver::bounded(&after);
    let projected_fields = kinds
        .into_iter()
        .flat_map(|profile| field::fields_of(&mut resolver, profile, &object.key));
    let projected_fields: Vec<ProjectedField> = projected_fields.collect();
    if resolver.is_spent() {
        return Vec::new();
    }
    let old = Projected::read(value);
    if projected_fields.is_empty() && old.is_none() {
        return Vec::new();
    }
    let Some(mut spec @ Value::Object(_)) = value.get("spec").cloned() else {
        return Vec::new();
    };
    if let Some(old) = &old {
        old.take_out(&mut spec);
    }
    let (projected_fields, conflicts) = field::settled(projected_fields);
    let mut written = Projected::default();
    for projected in &projected_fields {
        write::write(&mut spec, projected, &mut written);
    }
    let text = written.text();
    if text
        .as_ref()
        .is_some_and(|text| text.len() > MAX_TEXT_BYTES)
    {
        return Vec::new();
    }
    if let Some(place) = value.get_mut("spec") {
        *place = spec;
    }
    // An annotation that cannot be read is not ours to remove.
    if text.is_some() || old.is_some() {
        annotate(value, ANNOTATION, text);
    }
    let findings = conflicts.into_iter().map(|(winner, loser)| {
        let message = format!(
            "{} takes precedence over {}, which sets another value",
            winner.policies(),
            loser.policies()
        );
        let field = format!("spec.{}", winner.field.join("."));
        let mut finding = Finding::new(Code::FieldConflict, &object.key, message)
            .about(format!("{field} {}", loser.policies()))
            .at(field);
        let policies = winner.policies.iter().chain(&loser.policies);
        finding.mentions = policies.cloned().collect();
        finding
    });
    findings.collect()
}
