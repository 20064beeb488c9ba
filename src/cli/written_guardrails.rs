//! Guardrails as they are written in manifests or stored in a cluster.

use std::sync::Arc;

use attache_guardrails::{Guardrail, Guardrails, guardrail_kind, is_guardrail};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::cache::manifest::Manifests;
use crate::cache::raw::RawObject;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::model::ids::ObjectKey;

/// The guardrails among manifests.
pub(super) struct FromManifests {
    /// All that can be used, with those that were known before.
    pub(super) usable: Guardrails,
    /// Findings on those that cannot be used.
    pub(super) wrong: Vec<Finding>,
    /// Findings on those that take the place of others.
    pub(super) replacing: Vec<Finding>,
}

/// The guardrails among manifests, as they are written.
pub(super) fn among(manifests: &Manifests) -> impl Iterator<Item = &RawValue> {
    let objects = manifests.objects.iter();
    let guardrails = objects.filter(|one| is_guardrail(&one.gk));
    guardrails.map(|one| &*one.json)
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
    for text in written {
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
    }
}

/// A guardrail, or its name and why it cannot be used.
pub(super) fn compiled(text: &str) -> Result<Guardrail, (String, String)> {
    Guardrail::written(text).map_err(|error| (error.name.clone(), error.to_string()))
}
