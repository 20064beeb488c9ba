//! Objects of controllers' own kinds that attach to Gateways like routes, and that are no routes.

use serde::Deserialize;

use super::gateway_of;
use crate::model::ids::{GATEWAY_API, GroupKind, ObjectKey, Place};
use crate::model::object::Object;
use crate::state::snapshot::Snapshot;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    parent_refs: Vec<ParentRefJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParentRefJson {
    group: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: String,
    section_name: Option<String>,
}

/// The first object of such a kind that names a Gateway, a listener or a `ListenerSet` as its parent, or a `ListenerSet` of
/// the Gateway.
pub fn attached_of_own_kind<'a>(snapshot: &'a Snapshot, target: &Place) -> Option<&'a ObjectKey> {
    let is_attached = |object: &&Object| {
        let spec = object.spec.as_deref().unwrap_or("{}");
        let spec = serde_json::from_str::<Spec>(spec);
        let parents = spec.map(|spec| spec.parent_refs).unwrap_or_default();
        parents
            .iter()
            .any(|parent| is_below(snapshot, object, parent, target))
    };
    let kinds = snapshot
        .rules()
        .attached_kinds()
        .map(|attached| GroupKind::new(&*attached.group, &*attached.kind));
    let kinds: Vec<GroupKind> = kinds.collect();
    let objects = kinds.iter().flat_map(|kind| snapshot.objects(kind));
    let attached = objects.map(|object| &**object).filter(is_attached);
    attached.map(|object| &object.key).min()
}

fn is_below(snapshot: &Snapshot, object: &Object, parent: &ParentRefJson, target: &Place) -> bool {
    let group = parent.group.as_deref().unwrap_or(GATEWAY_API);
    let kind = GroupKind::new(group, parent.kind.as_deref().unwrap_or("Gateway"));
    let namespace = parent.namespace.as_deref().unwrap_or(&object.key.namespace);
    let named = ObjectKey::new(kind, namespace, &*parent.name);
    let is_section = || match (&target.section, &parent.section_name) {
        (Some(own), Some(named)) => **own == **named,
        _ => true,
    };
    if named == target.object {
        return is_section();
    }
    target.section.is_none() && *gateway_of(snapshot, &named) == target.object
}
