//! Workloads and the Services that select them, from the specs of both.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::description::{WorkloadDescription, leading, on_its_own};
use super::named::Named;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::Object;
use crate::engine::model::selector::Labels;
use crate::engine::policy::{Policy, Select, spec};
use crate::engine::state::snapshot::Snapshot;

/// Whether objects of a kind run Pods or are Pods.
pub fn is_workload(gk: &GroupKind) -> bool {
    let of_apps = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];
    gk.is_core("Pod") || (&*gk.group == "apps" && of_apps.contains(&&*gk.kind))
}

/// Describes the Services that select a workload. `None` if the workload is not among the objects.
pub fn workload(
    resolver: &mut Resolver<'_>,
    objects: &[Object],
    key: &ObjectKey,
) -> Option<WorkloadDescription> {
    let object = objects.iter().find(|object| object.key == *key)?;
    let labels = labels(object);
    let mut services: Vec<&ObjectKey> = objects
        .iter()
        .filter(|other| other.key.gk.is_core("Service") && other.key.namespace == key.namespace)
        .filter(|service| selects(service, &labels))
        .map(|service| &service.key)
        .collect();
    services.sort();
    services.dedup();
    let snapshot = resolver.snapshot();
    let routes: BTreeMap<&ObjectKey, &Arc<Object>> = services
        .iter()
        .flat_map(|service| snapshot.using(service))
        .map(|route| (&route.key, route))
        .collect();
    let places: Vec<Place> = routes
        .values()
        .flat_map(|route| leading(route, |to| services.contains(&&to.object)))
        .collect();
    let selected_by = policies_selecting(snapshot, key, &labels);
    let mut describe = |place: &Place| on_its_own(resolver, place);
    Some(WorkloadDescription {
        selected_by,
        object: Named::from(key),
        routes: places.iter().map(&mut describe).collect(),
        services: services.iter().map(|key| describe(&key.whole())).collect(),
    })
}

/// The policies whose selectors select Pods with these labels, in the namespace of the workload or from the root namespace.
fn policies_selecting(snapshot: &Snapshot, workload: &ObjectKey, labels: &Labels) -> Vec<Named> {
    let selects = |policy: &&Arc<Policy>| {
        let own = &policy.key().namespace;
        let is_near =
            *own == workload.namespace || policy.profile.root_namespace.as_ref() == Some(own);
        let mut targets = policy.targets.iter();
        is_near
            && targets.any(|target| match &target.select {
                Select::Labels(Some(selector)) => {
                    target.gk.is_core("Pod") && selector.selects(labels)
                }
                _ => false,
            })
    };
    let kinds = snapshot.policy_kinds();
    let policies = kinds
        .flat_map(|kind| snapshot.policies(kind))
        .filter(selects);
    let mut keys: Vec<&ObjectKey> = policies.map(|policy| policy.key()).collect();
    keys.sort();
    keys.into_iter().map(Named::from).collect()
}

/// The labels of the workload's Pods.
fn labels(object: &Object) -> Labels {
    if object.key.gk.is_core("Pod") {
        return object.meta.labels.clone();
    }
    texts(spec(object).pointer("/template/metadata/labels"))
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

/// Whether a Service selects Pods with these labels. A Service without a selector selects none.
fn selects(service: &Object, labels: &Labels) -> bool {
    let spec = spec(service);
    let mut wanted = texts(spec.get("selector")).peekable();
    wanted.peek().is_some()
        && wanted.all(|(key, value)| labels.get(key).is_some_and(|label| **label == *value))
}

/// The members of an object that are texts.
fn texts(value: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    let map = value.and_then(Value::as_object).into_iter().flatten();
    map.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}
