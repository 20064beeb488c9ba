//! Gateways whose Pods are unknown: no controller makes them, and no workload in the state does.

use serde::Deserialize;

use crate::kinds::profile::GatewayPods;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Object;
use crate::model::selector::Labels;
use crate::policy::has_own_pods;
use crate::state::snapshot::Snapshot;

/// The kinds of group `apps` that make Pods.
const WORKLOADS: [&str; 4] = ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"];

/// Whether a Gateway has Pods that its controller does not make, and no Pod and no workload in its
/// namespace has a label with the name of the Gateway. It is unknown then whether policies on the
/// Gateway apply.
pub(super) fn has_unknown_pods(snapshot: &Snapshot, pods: &GatewayPods, gateway: &Object) -> bool {
    let has_label = |kind: GroupKind| {
        let mut objects = snapshot.objects(&kind);
        objects.any(|object| gateway_of_pods(pods, object).as_ref() == Some(&gateway.key))
    };
    let workloads = WORKLOADS.map(|kind| GroupKind::new("apps", kind));
    has_own_pods(gateway)
        && !workloads
            .into_iter()
            .chain([GroupKind::core("Pod")])
            .any(has_label)
}

/// The Gateway whose Pods a Pod or workload is or makes, by its label.
pub(crate) fn gateway_of_pods(pods: &GatewayPods, object: &Object) -> Option<ObjectKey> {
    let of_label = |labels: &Labels| labels.get(&pods.name_label).cloned();
    let name = if object.key.gk.is_core("Pod") {
        of_label(&object.meta.labels)
    } else if *object.key.gk.group == *"apps" && WORKLOADS.contains(&&*object.key.gk.kind) {
        of_label(&labels_of_template(object)?)
    } else {
        None
    };
    let gateway = GroupKind::gateway_api("Gateway");
    Some(ObjectKey::new(gateway, object.key.namespace.clone(), name?))
}

/// The labels that a workload gives its Pods.
fn labels_of_template(workload: &Object) -> Option<Labels> {
    #[derive(Deserialize)]
    struct Spec {
        template: Template,
    }
    #[derive(Deserialize)]
    struct Template {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        labels: Labels,
    }
    let spec: Spec = serde_json::from_str(workload.spec.as_deref()?).ok()?;
    Some(spec.template.metadata.labels)
}
