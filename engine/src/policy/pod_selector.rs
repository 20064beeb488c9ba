//! Selectors of Pods that select Gateways, because the Pods of a Gateway have labels that are known from it.

use std::sync::Arc;

use super::{Select, TargetRef};
use crate::kinds::profile::{GatewayPods, Profile};
use crate::model::ids::{GATEWAY_API, GroupKind};
use crate::model::object::{From, Node, Object};
use crate::model::selector::{Labels, Selector};

/// A selector of Pods, and the labels that controllers give the Pods of Gateways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSelector {
    selector: Selector,
    pods: Arc<GatewayPods>,
}

// === impl PodSelector ===

impl PodSelector {
    /// Whether it certainly selects the Pods of a Gateway. Pods may have further labels, which the
    /// Gateway does not show.
    pub(super) fn selects(&self, gateway: &Object) -> bool {
        let labels = labels(&self.pods, gateway);
        labels.is_some_and(|labels| self.selector.selects(&labels))
    }
}

/// Whether the Pods of a Gateway are not made by its controller: its address is that of a Service which exists already.
pub(crate) fn has_own_pods(gateway: &Object) -> bool {
    match &gateway.node {
        Node::Gateway { infrastructure, .. } => infrastructure
            .as_deref()
            .is_some_and(|infrastructure| infrastructure.has_own_service),
        _ => false,
    }
}

/// The labels of the Pods of a Gateway. `None` if a controller does not make its Pods.
fn labels(pods: &GatewayPods, gateway: &Object) -> Option<Labels> {
    let Node::Gateway {
        class,
        infrastructure,
        ..
    } = &gateway.node
    else {
        return None;
    };
    if has_own_pods(gateway) {
        return None;
    }
    let mut labels = Labels::new();
    for (label, value) in &pods.labels {
        labels.insert(label.clone(), value.clone());
    }
    if let Some(label) = &pods.deployment_label {
        let name = format!("{}-{class}", gateway.key.name);
        labels.insert(label.clone(), name.into());
    }
    let copied = infrastructure
        .as_deref()
        .and_then(|own| own.labels.as_ref());
    for (label, value) in copied.unwrap_or(&gateway.meta.labels).iter() {
        labels.insert(label.clone(), value.clone());
    }
    labels.insert(pods.name_label.clone(), gateway.key.name.clone());
    labels.insert(pods.class_label.clone(), class.clone());
    Some(labels)
}

/// The Gateways whose Pods a policy in namespace `own` selects, as a target beside the Pods.
pub(super) fn gateways(
    targets: &[TargetRef],
    own: &Arc<str>,
    profile: &Profile,
) -> Option<TargetRef> {
    let pods = profile.gateway_pods.as_ref()?;
    let mut selectors = targets.iter().filter_map(|target| match &target.select {
        Select::Labels(Some(selector)) if target.gk.is_core("Pod") => Some(selector),
        _ => None,
    });
    let select = Select::Pods(Box::new(PodSelector {
        selector: (**selectors.next()?).clone(),
        pods: pods.clone(),
    }));
    let is_root = profile.root_namespace.as_ref() == Some(own) && !pods.same_namespace;
    Some(TargetRef {
        from: if is_root { From::All } else { From::Same },
        ..select.reference_to(GroupKind::new(GATEWAY_API, "Gateway"))
    })
}
