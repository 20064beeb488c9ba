//! Objects around which effective policies may change because controllers may reject policies after a change, accept them again, or find
//! the Pods that they apply to.

use std::collections::BTreeMap;

use super::{ObjectsToCompare, targets};
use crate::attachment::{Dependents, affected_objects, gateway_of_pods};
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Object;

/// Adds the objects whose policies controllers may reject after a change of these objects, or accept again.
pub(super) fn add_affected_by_rejections(
    resolver: &Resolver<'_>,
    objects: &[ObjectKey],
    used: &[GroupKind],
    kinds: &mut BTreeMap<GroupKind, ObjectsToCompare>,
) {
    let snapshot = resolver.snapshot();
    let others = objects
        .iter()
        .filter(|key| snapshot.profile(&key.gk).is_none());
    let others = others.filter_map(|key| snapshot.get(key));
    let others: Vec<&Object> = others.map(|object| &**object).collect();
    for kind in used {
        let mut affected = affected_objects(snapshot, kind, &others);
        // Whether policies apply to a Gateway with Pods of its own depends on these.
        let profile = snapshot.profile(kind);
        if let Some(pods) = profile.and_then(|profile| profile.gateway_pods.as_ref()) {
            let gateways = others.iter();
            affected.extend(gateways.filter_map(|object| gateway_of_pods(pods, object)));
        }
        if !affected.is_empty() {
            let touched = kinds.entry(kind.clone()).or_default();
            touched.objects.extend(affected);
        }
    }
    add_targets_of_dependents(resolver, objects, used, kinds);
}

/// Adds the targets of policies whose settings name one of these objects, or an object that names it in turn: controllers may reject
/// them now, or accept them again.
fn add_targets_of_dependents(
    resolver: &Resolver<'_>,
    objects: &[ObjectKey],
    used: &[GroupKind],
    kinds: &mut BTreeMap<GroupKind, ObjectsToCompare>,
) {
    let snapshot = resolver.snapshot();
    let mut dependents = Dependents::of(snapshot, objects);
    for kind in used {
        let profile = snapshot.profile(kind);
        if profile.is_none_or(|profile| profile.references.is_empty()) {
            continue;
        }
        for policy in snapshot.policies(kind) {
            if dependents.has(policy) {
                let touched = kinds.entry(kind.clone()).or_default();
                touched.objects.extend(targets(resolver, policy));
            }
        }
    }
}
