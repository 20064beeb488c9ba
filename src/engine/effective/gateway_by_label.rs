//! The Gateway in front of a Service or another object that clients call, if a label names it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::level::{Level, Step};
use crate::engine::object::{Meta, Node, Object};
use crate::engine::profile::{Classes, GatewayByLabel, Profile};
use crate::engine::snapshot::{Snapshot, class_key, namespace_key};
use crate::engine::topology::{lets_name, to_gateway};

/// The steps of a path as policies of a kind see them: requests reach the called object through the Gateway that it
/// names. If no Gateway of that name serves it, policies on the object itself do not act.
pub(super) fn steps_of<'s>(
    snapshot: &Snapshot,
    profile: &Profile,
    steps: &'s [Step],
) -> Cow<'s, [Step]> {
    let Some(by_label) = profile.gateway_by_label.as_ref() else {
        return Cow::Borrowed(steps);
    };
    let called = steps.iter().position(|step| step.level == Level::Frontend);
    let Some(called) = called else {
        return Cow::Borrowed(steps);
    };
    let (above, rest) = steps.split_at(called);
    let called = rest.first().map(|step| &step.place.object);
    let gateway = called.and_then(|called| gateway_before(snapshot, by_label, called));
    let mut found = match gateway {
        Some(gateway) => to_gateway(gateway),
        None => Vec::new(),
    };
    let own = called.map(|called| {
        let namespace = namespace_key(&called.namespace).whole();
        Step::new(Level::GatewayNamespace, namespace)
    });
    for step in above
        .iter()
        .chain(own.as_ref().filter(|_| gateway.is_some()))
    {
        if !found.contains(step) {
            found.push(step.clone());
        }
    }
    found.extend(rest.iter().skip(usize::from(gateway.is_none())).cloned());
    Cow::Owned(found)
}

/// The Gateway that serves requests to an object.
pub(crate) fn gateway_before<'a>(
    snapshot: &'a Snapshot,
    by_label: &GatewayByLabel,
    called: &ObjectKey,
) -> Option<&'a Arc<Object>> {
    let named = |meta: &Meta| {
        let name = meta.labels.get(&by_label.label)?;
        let namespace = meta.labels.get(&by_label.namespace_label);
        Some((name.clone(), namespace.unwrap_or(&called.namespace).clone()))
    };
    let of = |key: &ObjectKey| named(&snapshot.get(key)?.meta);
    let (name, namespace) = of(called).or_else(|| of(&namespace_key(&called.namespace)))?;
    if name == by_label.nobody {
        return None;
    }
    let key = ObjectKey::new(GroupKind::gateway_api("Gateway"), &*namespace, &*name);
    let gateway = snapshot.get(&key)?;
    let serves = is_for(snapshot, by_label, gateway)
        && lets_name(snapshot, gateway, &by_label.protocol, &called.namespace);
    serves.then_some(gateway)
}

/// Whether these classes include a `GatewayClass`, by its name or its controller.
pub(super) fn is_of(snapshot: &Snapshot, classes: &Classes, class: &ObjectKey) -> bool {
    let controller = snapshot
        .get(class)
        .and_then(|class| class.node.controller());
    classes.names.contains(&class.name)
        || controller.is_some_and(|name| classes.controllers.contains(name))
}

/// Whether the class and the purpose of a Gateway make it serve such objects.
fn is_for(snapshot: &Snapshot, by_label: &GatewayByLabel, gateway: &Object) -> bool {
    let Node::Gateway { class, .. } = &gateway.node else {
        return false;
    };
    let class = class_key(class);
    let purpose = |meta: &Meta| meta.labels.get(&by_label.purpose_label).cloned();
    let of_class = || purpose(&snapshot.get(&class)?.meta);
    let purpose = purpose(&gateway.meta).or_else(of_class);
    is_of(snapshot, &by_label.classes, &class)
        && purpose.is_none_or(|purpose| by_label.purposes.contains(&purpose))
}
