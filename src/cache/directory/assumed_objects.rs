//! Objects of a cluster that manifests usually leave to others.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Node;
use crate::engine::state::snapshot::{Change, Snapshot};

/// The CRDs, classes and Namespaces of a cluster.
pub(super) fn surroundings(cluster: &Snapshot, rules: &Arc<ProfileRules>) -> Snapshot {
    let kinds = [
        GroupKind::CRD,
        GroupKind::gateway_api("GatewayClass"),
        GroupKind::core("Namespace"),
    ];
    let objects = kinds.iter().flat_map(|kind| cluster.objects(kind));
    objects.fold(Snapshot::new(rules.clone()), |snapshot, object| {
        snapshot.apply(Change::Applied(object.clone()))
    })
}

/// A state of manifests in which objects that they name do not exist if a cluster does not have them either: parents and
/// backends of routes, and targets of policies.
pub(super) fn without_absent(manifests: &Snapshot, cluster: &Snapshot) -> Snapshot {
    let mut named: BTreeSet<ObjectKey> = BTreeSet::new();
    for object in manifests.all() {
        if let Node::Route { parents, rules, .. } = &object.node {
            named.extend(parents.iter().map(|parent| parent.object.clone()));
            let backends = rules.iter().flat_map(|rule| &rule.backends);
            named.extend(backends.map(|backend| backend.object.clone()));
        }
    }
    let policies = manifests
        .policy_kinds()
        .flat_map(|kind| manifests.policies(kind));
    for policy in policies {
        let namespace = &policy.key().namespace;
        let targets = policy.targets.iter();
        named.extend(targets.filter_map(|target| target.object(namespace)));
    }
    named.retain(|key| manifests.get(key).is_none() && cluster.lacks(key));
    named.into_iter().fold(manifests.clone(), |snapshot, key| {
        snapshot.apply(Change::Deleted(key))
    })
}
