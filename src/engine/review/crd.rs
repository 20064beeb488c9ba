//! What is said of the definition of a policy kind: where it departs from the pattern (GEP-713).

use crate::engine::finding::{Code, Finding};
use crate::engine::ids::ObjectKey;
use crate::engine::object::Crd;
use crate::engine::profile::Class;
use crate::engine::snapshot::Snapshot;

/// Findings on a definition; none where it defines no policy kind.
pub(super) fn findings(snapshot: &Snapshot, key: &ObjectKey, crd: &Crd) -> Vec<Finding> {
    if !snapshot.defines_policies(crd) {
        return Vec::new();
    }
    label_mismatch(key, crd).into_iter().collect()
}

/// A label that says direct, and a schema with strategies: direct policies do not merge.
fn label_mismatch(key: &ObjectKey, crd: &Crd) -> Option<Finding> {
    let strategies = &crd.facts.strategies;
    let field = match (strategies.stanzas, &strategies.path) {
        (Some(stanzas), _) => stanzas.overrides.to_owned(),
        (None, Some(path)) => path.clone(),
        (None, None) => return None,
    };
    let label = crd.policy_label.as_deref()?;
    (crd.class() == Some(Class::Direct)).then(|| {
        let message = format!(
            "the label says {label:?}, but direct policies do not merge and spec.{field} is a merge strategy; write \"Inherited\""
        );
        Finding::new(Code::CrdLabelMismatch, key, message)
            .at("metadata.labels[gateway.networking.k8s.io/policy]")
            .about("label")
    })
}
