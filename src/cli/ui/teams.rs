//! Guardrails with the teams whose targets break them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::json::value;
use crate::answer::guardrails::GuardrailReport;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::state::snapshot::Snapshot;
use crate::ui::Refusal;

/// The labels of a Namespace that name its team; the first one that it has counts.
const LABELS: [&str; 3] = ["owner", "team", "app.kubernetes.io/part-of"];

/// The answer to `guardrails`: the report, and `teams`, the team of each namespace with a target that breaks one.
pub(super) fn with_teams(snapshot: &Snapshot, report: &GuardrailReport) -> Result<Value, Refusal> {
    let mut answer = value(report)?;
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("teams".to_owned(), json!(teams(snapshot, report)));
    }
    Ok(answer)
}

fn teams<'a>(snapshot: &'a Snapshot, report: &'a GuardrailReport) -> BTreeMap<&'a str, &'a str> {
    let faults = report.guardrails.iter().flat_map(|one| &one.faults);
    let namespaces = faults.map(|fault| &*fault.target.0.object.namespace);
    let team_of = |namespace: &'a str| {
        let key = ObjectKey::new(GroupKind::core("Namespace"), "", namespace);
        let labels = &snapshot.get(&key)?.meta.labels;
        let team = LABELS.into_iter().find_map(|label| labels.get(label))?;
        Some((namespace, &**team))
    };
    namespaces.filter_map(team_of).collect()
}
