//! Objects to which a guardrail no longer applies after a change of labels. It refuses nothing
//! there from then on.

use std::collections::BTreeSet;

use attache_engine::admission::finding::{Code, Finding};
use attache_engine::model::ids::ObjectKey;
use attache_engine::model::wording;
use attache_engine::state::snapshot::{Snapshot, namespace_key};

use crate::file::Action;
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::removed_kind::removed_kind;

// === impl Guardrails ===

impl Guardrails {
    /// The findings on a Namespace or Gateway whose objects or requests guardrails no longer apply to, and on a CRD without which
    /// their kind is no policy kind. A deleted Namespace or Gateway has none.
    pub fn no_longer_applied(
        &self,
        [before, after]: [&Snapshot; 2],
        key: &ObjectKey,
    ) -> Vec<Finding> {
        let removed = removed_kind([before, after], key);
        let is_there = [before, after].iter().all(|side| side.get(key).is_some());
        let guardrails = self.iter().filter(|one| one.action != Action::Audit);
        let findings = guardrails.filter_map(|guardrail| {
            let name = &guardrail.name;
            let why = match removed {
                Some(kind) if guardrail.policy_kind.as_ref() == Some(kind) => {
                    format!("{name:?} judges nothing any more: without this CRD, {kind} is no policy kind")
                }
                _ if is_there => {
                    let what = left(guardrail, [before, after], key)?;
                    format!("{name:?} no longer applies to {what}")
                }
                _ => return None,
            };
            let about = format!("{} no longer", guardrail.name);
            let mut finding = Finding::new(Code::Guardrail, key, why).about(about);
            finding.warn();
            Some(finding)
        });
        findings.collect()
    }
}

/// A description of the requests or targets that a guardrail applies to before a change of an
/// object, but not after it.
fn left(guardrail: &Guardrail, sides: [&Snapshot; 2], key: &ObjectKey) -> Option<String> {
    let matcher = &guardrail.matcher;
    let [before, after] = sides;
    if key.gk.is_gateway_api("Gateway") {
        let applies = sides.map(|side| matcher.has_gateway(side, Some(key)));
        return (applies == [true, false]).then(|| format!("requests through {key}"));
    }
    if !key.gk.is_core("Namespace") {
        return None;
    }
    let objects = matcher.kinds.iter().flat_map(|kind| after.objects(kind));
    let objects = objects.map(|object| &object.key);
    let inside = objects.filter(|target| namespace_key(&target.namespace) == *key);
    let left: BTreeSet<ObjectKey> = inside
        .filter(|target| matcher.has(before, target) && !matcher.has(after, target))
        .cloned()
        .collect();
    (!left.is_empty()).then(|| wording::named(&left))
}
