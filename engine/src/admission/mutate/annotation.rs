//! `affected-annotation`: sets `<domain>/<Kind>Affected: "true"` on objects whose status cannot contain the condition
//! (GEP-713, target object status).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::annotate;
use crate::effective::Resolver;
use crate::model::ids::GroupKind;
use crate::model::object::Object;
use crate::state::snapshot::Snapshot;
use crate::status::conditions::affected;

/// Kinds of the core group without conditions in their status.
const CORE: [&str; 3] = ["ConfigMap", "Secret", "ServiceAccount"];

const AFFECTED: &str = "Affected";

/// Whether objects of a kind are known to have no conditions. Routes have conditions for each parent.
pub(super) fn is_for(snapshot: &Snapshot, gk: &GroupKind) -> bool {
    if gk.group.is_empty() {
        return CORE.contains(&&*gk.kind);
    }
    let crd = snapshot.definition(gk);
    crd.is_some_and(|crd| !crd.facts.permitted_mutations.has_conditions)
}

/// Sets the annotations for the policies that apply to an object, and removes those for other kinds.
///
/// Removes only names that attache could have written, and only for kinds whose policies it knows: older forms and
/// those of other domains belong to others.
pub(super) fn mark(snapshot: &Snapshot, object: &Object, value: &mut Value) {
    let after = snapshot.with_object(Arc::new(object.clone()));
    let mut resolver = Resolver::bounded(&after);
    let affected = affected(&mut resolver, &object.key);
    if resolver.is_spent() {
        return;
    }
    let wanted: BTreeSet<String> = affected.into_iter().map(|a| a.condition).collect();
    let annotations = value
        .get("metadata")
        .and_then(|meta| meta.get("annotations"));
    let set = annotations.and_then(Value::as_object).into_iter().flatten();
    let set = set.filter(|(key, value)| *value == "true" && !wanted.contains(*key));
    let stale: Vec<String> = set
        .map(|(key, _)| key)
        .filter(|key| is_ours(snapshot, key))
        .cloned()
        .collect();
    for key in stale {
        annotate(value, &key, None);
    }
    for key in wanted {
        annotate(value, &key, Some("true".to_owned()));
    }
}

/// Whether attache could have written an annotation, for a policy kind whose policies are all known.
fn is_ours(snapshot: &Snapshot, key: &str) -> bool {
    let Some((domain, kind)) = key.split_once('/') else {
        return false;
    };
    let Some(kind) = kind.strip_suffix(AFFECTED) else {
        return false;
    };
    let mut kinds = snapshot.policy_kinds().filter(|gk| *gk.kind == *kind);
    kinds.any(|gk| snapshot.knows(gk) && domains(snapshot, gk).iter().any(|d| **d == *domain))
}

/// The domains of conditions of a kind: its profile's, otherwise those of the controllers in the cluster and the
/// kind's group.
fn domains(snapshot: &Snapshot, gk: &GroupKind) -> Vec<Arc<str>> {
    let profile = snapshot.profile(gk);
    if let Some(domain) = profile.and_then(|profile| profile.domain.value.clone()) {
        return vec![domain];
    }
    let classes = GroupKind::gateway_api("GatewayClass");
    let controllers = snapshot
        .objects(&classes)
        .filter_map(|class| class.node.controller()?.split('/').next().map(Into::into));
    controllers.chain([gk.group.as_str().into()]).collect()
}
