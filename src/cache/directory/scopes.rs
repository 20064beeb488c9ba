//! The kinds that are cluster-scoped.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::{Crd, is_gateway_kind};
use crate::engine::state::snapshot::Snapshot;

/// Returns a function that says whether a kind is cluster-scoped: by the CRDs in files and in `base`, else by what is
/// known of Kubernetes' own kinds.
pub(super) fn cluster_scoped(
    base: Option<&Snapshot>,
    definitions: &[Arc<Crd>],
) -> impl Fn(&GroupKind) -> bool + use<> {
    let mut scopes: BTreeMap<GroupKind, bool> = BTreeMap::new();
    for crd in base
        .into_iter()
        .flat_map(Snapshot::definitions)
        .chain(definitions)
    {
        scopes.insert(crd.gk.clone(), !crd.namespaced);
    }
    move |gk| match scopes.get(gk) {
        Some(is_global) => *is_global,
        None => is_known_cluster_scoped(gk),
    }
}

/// Whether a kind is cluster-scoped by what is known without its CRD.
pub fn is_known_cluster_scoped(gk: &GroupKind) -> bool {
    if is_gateway_kind(gk) {
        return gk.is_gateway_api("GatewayClass");
    }
    matches!(
        (&*gk.group, &*gk.kind),
        ("", "Namespace" | "Node" | "PersistentVolume")
            | ("apiextensions.k8s.io" | "admissionregistration.k8s.io", _)
            | (
                "rbac.authorization.k8s.io",
                "ClusterRole" | "ClusterRoleBinding"
            )
            | ("attache.dev", "Guardrail")
            | ("storage.k8s.io", "StorageClass")
            | ("networking.k8s.io", "IngressClass")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("apiregistration.k8s.io", "APIService")
    )
}
