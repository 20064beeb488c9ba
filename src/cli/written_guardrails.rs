//! Guardrails as they are written in manifests or stored in a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attache_guardrails::{Guardrail, Guardrails, guardrail_kind, is_guardrail};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::cache::manifest::Manifests;
use crate::cache::raw::RawObject;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::request::{Operation, Request};
use crate::engine::admission::settings::Guard;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::literal::Literal;
use crate::engine::state::snapshot::Snapshot;
use crate::today::today;

/// The guardrails among manifests.
pub(super) struct FromManifests {
    /// The guardrails that can be used, and those that were known before.
    pub(super) usable: Guardrails,
    /// Findings on those that cannot be used.
    pub(super) wrong: Vec<Finding>,
    /// Findings on those that take the place of others.
    pub(super) replacing: Vec<Finding>,
    /// The names of those that are written.
    pub(super) names: BTreeSet<String>,
}

/// The guardrails among manifests, as they are written.
pub(super) fn among(manifests: &Manifests) -> impl Iterator<Item = &RawValue> {
    let objects = manifests.objects.iter();
    let guardrails = objects.filter(|one| is_guardrail(&one.gk));
    guardrails.map(|one| &*one.json)
}

/// The names of the guardrails among manifests.
pub(super) fn names(manifests: &Manifests) -> impl Iterator<Item = String> {
    among(manifests).filter_map(name_of)
}

/// Those that are not deleted.
pub(super) fn not_deleted<'a>(
    stored: &'a [Box<RawValue>],
    deleted: &BTreeSet<String>,
) -> impl Iterator<Item = &'a RawValue> {
    let stored = stored.iter().map(AsRef::as_ref);
    stored.filter(|text| name_of(text).is_none_or(|name| !deleted.contains(&name)))
}

fn name_of(text: &RawValue) -> Option<String> {
    Some(Written::read(text)?.0)
}

/// A guardrail of a cluster as if it were written in a file.
pub(super) fn stored(object: &RawObject) -> Option<Box<RawValue>> {
    let name = &object.header().name;
    let file = json!({
        "metadata": {"name": name},
        "spec": object.spec.as_deref(),
    });
    to_raw_value(&file).ok()
}

/// Written guardrails, and those that are known before. One that is written replaces one of the same name.
pub(super) fn usable<'a>(
    known: &Guardrails,
    written: impl IntoIterator<Item = &'a RawValue>,
) -> FromManifests {
    let kind = guardrail_kind();
    let mut usable = Vec::new();
    let (mut wrong, mut replacing) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    for text in written {
        names.extend(name_of(text));
        match compiled(text.get()) {
            Ok(guardrail) => {
                replacing.extend(known.replaced_by(&guardrail.name));
                usable.push(guardrail);
            }
            Err((name, why)) => {
                let key = ObjectKey::new(kind.clone(), "", name);
                let mut finding = Finding::new(Code::Guardrail, &key, why);
                finding.severity = Severity::Deny;
                wrong.push(finding);
            }
        }
    }
    FromManifests {
        usable: known.with(usable.into_iter().map(Arc::new)),
        wrong,
        replacing,
        names,
    }
}

/// The fields of a guardrail that tell whether it has changed.
#[derive(Deserialize)]
struct Written {
    metadata: Named,
    spec: Option<Literal>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Guardrails that a change applies.
pub(super) struct Applied {
    /// The guardrails that are in use before the change.
    known: Guardrails,
    written: Vec<Box<RawValue>>,
}

impl Written {
    fn read(text: &RawValue) -> Option<(String, Option<Value>)> {
        let Self { metadata, spec } = serde_json::from_str(text.get()).ok()?;
        Some((metadata.name, spec.map(|Literal(spec)| spec)))
    }
}

// === impl Applied ===

impl Applied {
    /// Those among manifests.
    pub(super) fn from_manifests(known: &Guardrails, manifests: &Manifests) -> Self {
        Self {
            known: known.clone(),
            written: among(manifests).map(ToOwned::to_owned).collect(),
        }
    }

    /// The findings of the webhook if they are applied: how many targets break them now. Guardrails
    /// that were there before, with the same spec, are no change.
    pub(super) fn findings(&self, before: &[Box<RawValue>], after: &Snapshot) -> Vec<Finding> {
        let before = before.iter().filter_map(|text| Written::read(text));
        let before: BTreeMap<String, Option<Value>> = before.collect();
        let mut findings = Vec::new();
        for text in &self.written {
            let Some((name, spec)) = Written::read(text) else {
                continue;
            };
            if before.get(&name) == Some(&spec) {
                continue;
            }
            let request = Request {
                operation: Operation::Create,
                gk: guardrail_kind(),
                namespace: "",
                name: &name,
                subresource: "",
                object: Some(text),
                old: None,
            };
            findings.extend(self.known.on_rule(after, &request, today()));
        }
        findings
    }
}

/// A guardrail, or its name and why it cannot be used.
pub(super) fn compiled(text: &str) -> Result<Guardrail, (String, String)> {
    Guardrail::written(text).map_err(|error| (error.name.clone(), error.to_string()))
}
