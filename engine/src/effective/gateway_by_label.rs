//! The Gateway in front of a Service or another object that clients call, if a label names it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{PathGroup, PathScope, Resolver};
use crate::attachment::is_of_classes;
use crate::kinds::profile::{GatewayByLabel, Profile};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::level::{Level, Step};
use crate::model::object::{Listener, Meta, Node, Object};
use crate::policy::fuel;
use crate::state::snapshot::{Snapshot, class_key, namespace_key};
use crate::topology::{allows_namespace, to_gateway};

/// The steps of a path as policies of a kind see them: requests reach the called object through the Gateway that it
/// names. If no Gateway of that name serves it, policies on the object itself do not apply.
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
    let (above, from_called) = steps.split_at(called);
    let called = from_called.first().map(|step| &step.place.object);
    let gateway = called.and_then(|called| gateway_in_front_of(snapshot, by_label, called));
    let mut relocated = match gateway {
        Some(gateway) => to_gateway(gateway),
        None => Vec::new(),
    };
    let is_elsewhere =
        |gateway: &ObjectKey| called.is_some_and(|c| c.namespace != gateway.namespace);
    if by_label.same_namespace && gateway.is_some_and(|gateway| is_elsewhere(&gateway.key)) {
        relocated.retain(|step| step.level != Level::Gateway);
    }
    let own = called.map(|called| {
        let namespace = namespace_key(&called.namespace).whole();
        Step::new(Level::GatewayNamespace, namespace)
    });
    for step in above
        .iter()
        .chain(own.as_ref().filter(|_| gateway.is_some()))
    {
        if !relocated.contains(step) {
            relocated.push(step.clone());
        }
    }
    relocated.extend(
        from_called
            .iter()
            .skip(usize::from(gateway.is_none()))
            .cloned(),
    );
    Cow::Owned(relocated)
}

/// The Gateway that serves requests to an object.
pub(crate) fn gateway_in_front_of<'a>(
    snapshot: &'a Snapshot,
    by_label: &GatewayByLabel,
    called: &ObjectKey,
) -> Option<&'a Arc<Object>> {
    let gateway_named_by =
        |key: &ObjectKey| named(by_label, &snapshot.get(key)?.meta, &called.namespace);
    let (name, namespace) =
        gateway_named_by(called).or_else(|| gateway_named_by(&namespace_key(&called.namespace)))?;
    if *name == by_label.opt_out_value {
        return None;
    }
    if is_excluded(snapshot, by_label, called) {
        return None;
    }
    let key = ObjectKey::new(GroupKind::gateway_api("Gateway"), &**namespace, &**name);
    let gateway = snapshot.get(&key)?;
    let serves = is_for(snapshot, by_label, gateway)
        && allows_namespace(
            snapshot,
            gateway,
            deciding_listener(by_label, gateway),
            &called.namespace,
        );
    serves.then_some(gateway)
}

/// The listener of a Gateway that decides from which namespaces objects may name it.
fn deciding_listener<'a>(by_label: &GatewayByLabel, gateway: &'a Object) -> Option<&'a Listener> {
    let mut wanted = by_label.listeners.iter();
    wanted.find_map(|wanted| {
        let mut listeners = gateway.listeners().iter();
        listeners.find(|listener| {
            listener.protocol == wanted.protocol
                && wanted.port.is_none_or(|port| port == listener.port)
        })
    })
}

/// Whether such Gateways do not serve an object: a Service without a cluster IP, or one of a Gateway.
pub(crate) fn is_excluded(
    snapshot: &Snapshot,
    by_label: &GatewayByLabel,
    called: &ObjectKey,
) -> bool {
    let called = snapshot.get(called);
    let lacks_cluster_ip = |node: &Node| node.is_external_name() || node.is_headless();
    called.is_some_and(|called| {
        by_label.needs_cluster_ip && lacks_cluster_ip(&called.node)
            || by_label.excluding_label(&called.meta.labels).is_some()
    })
}

/// Whether these steps begin at an object of a mesh that no Gateway is in front of, and only such Gateways apply the kind.
pub(super) fn lacks_gateway(snapshot: &Snapshot, profile: &Profile, steps: &[Step]) -> bool {
    let by_label = profile.gateway_by_label.as_ref();
    let Some(by_label) = by_label.filter(|by_label| by_label.required) else {
        return false;
    };
    let mut called = steps.iter().filter(|step| step.level == Level::Frontend);
    called.any(|step| gateway_in_front_of(snapshot, by_label, &step.place.object).is_none())
}

/// The name and namespace of the Gateway that the labels of an object give; `own` is the namespace of the called object.
fn named<'a>(
    by_label: &GatewayByLabel,
    meta: &'a Meta,
    own: &'a Arc<str>,
) -> Option<(&'a Arc<str>, &'a Arc<str>)> {
    let name = meta.labels.get(&by_label.label)?;
    let namespace = meta.labels.get(&by_label.namespace_label);
    Some((name, namespace.unwrap_or(own)))
}

impl Resolver<'_> {
    /// The objects that clients call through a Gateway, through the Gateways of a class or through those of a Namespace,
    /// because a label of theirs or of their Namespace names it; sorted. Only for kinds whose policies heed the label.
    pub fn called_through(&self, kind: &GroupKind, above: &ObjectKey) -> Vec<ObjectKey> {
        let Some(profile) = self.snapshot.profile(kind) else {
            return Vec::new();
        };
        let Some(by_label) = profile.gateway_by_label.as_ref() else {
            return Vec::new();
        };
        let gateways = self.gateways_under(above);
        let serves = |gateway: &&Arc<Object>| is_for(self.snapshot, by_label, gateway);
        let gateways: BTreeSet<&ObjectKey> = gateways
            .into_iter()
            .filter(serves)
            .map(|gateway| &gateway.key)
            .collect();
        if gateways.is_empty() || self.is_spent() {
            return Vec::new();
        }
        let kinds = profile.allow.iter().flat_map(|allow| &allow.value);
        // Where nothing else applies the policies of routes, the routes of its Services count.
        let service = by_label.required.then(|| GroupKind::core("Service"));
        let kinds = kinds.map(|allowed| &allowed.gk).chain(&service);
        let mut called_objects = BTreeSet::new();
        for kind in kinds.filter(|kind| Level::is_of_backend(kind)) {
            self.charge(self.snapshot.count(kind) / fuel::SCANNED);
            let called = self.snapshot.objects(kind).map(|object| &object.key);
            called_objects.extend(called.filter(|called| {
                let before = gateway_in_front_of(self.snapshot, by_label, called);
                before.is_some_and(|gateway| gateways.contains(&gateway.key))
            }));
        }
        called_objects.into_iter().cloned().collect()
    }

    /// The groups of paths of a kind to the objects that clients call through `above` because of their labels. Those that
    /// [`Resolver::paths_through`] returns for a Namespace are left out.
    pub fn behind_labels(
        &mut self,
        above: &ObjectKey,
        kind: &GroupKind,
        scope: &PathScope,
    ) -> Vec<PathGroup> {
        let called = self.called_through(kind, above);
        if called.is_empty() {
            return Vec::new();
        }
        let subgraph = self.subgraph(above);
        let others = called.iter().filter(|key| !subgraph.backends.contains(key));
        let groups = others.flat_map(|key| self.paths_of_scope(key, kind, scope));
        groups.collect()
    }

    /// The Gateway itself, the Gateways of a class, or those of a Namespace.
    fn gateways_under(&self, above: &ObjectKey) -> Vec<&Arc<Object>> {
        let is_gateway = |object: &&Arc<Object>| matches!(object.node, Node::Gateway { .. });
        if above.gk.is_gateway_api("Gateway") {
            self.snapshot.get(above).into_iter().collect()
        } else if Level::is_kind_above_routes(&above.gk) {
            self.snapshot.below(above).filter(is_gateway).collect()
        } else {
            Vec::new()
        }
    }
}

/// Whether two versions of an object have the same labels, as far as these decide which Gateway is in front of a called
/// object for the existing policies.
pub(crate) fn names_same_gateway(snapshot: &Snapshot, one: &Meta, other: &Meta) -> bool {
    let profiles = snapshot
        .used_kinds()
        .filter_map(|kind| snapshot.profile(kind));
    let mut by_label = profiles.filter_map(|profile| profile.gateway_by_label.as_ref());
    by_label.all(|by_label| {
        let mut labels = by_label.labels();
        labels.all(|label| one.labels.get(label) == other.labels.get(label))
    })
}

/// The Namespace of an object that clients call directly, if nothing in front of the object reads policies without a target, all or
/// some, because of a label of the Namespace.
pub(super) fn called_without_proxy<'a>(
    snapshot: &'a Snapshot,
    profile: &Profile,
    written: &[Step],
    steps: &[Step],
) -> Option<&'a Arc<Object>> {
    let labels = [
        &*profile.namespaces_without_proxy,
        &*profile.namespaces_without_mesh,
    ];
    let is_free = labels.iter().all(|labels| labels.is_empty());
    if is_free || steps.iter().any(|step| step.level == Level::Gateway) {
        return None;
    }
    let called = written.iter().filter(|step| step.level == Level::Frontend);
    let mut namespaces =
        called.filter_map(|step| snapshot.get(&namespace_key(&step.place.object.namespace)));
    namespaces.find(|namespace| {
        let own = &namespace.meta.labels;
        !profile.has_own_proxies(own) && labels.iter().any(|labels| own.first_of(labels).is_some())
    })
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
    is_of_classes(snapshot, &by_label.classes, &class)
        && purpose.is_none_or(|purpose| by_label.purposes.contains(&purpose))
        && !reports(gateway, &by_label.unless_reported)
}

/// Whether a Gateway has a condition that does not hold, for one of these reasons.
fn reports(gateway: &Object, reasons: &[Arc<str>]) -> bool {
    let entries = gateway.reported.iter().flat_map(|all| &all.entries);
    let mut conditions = entries.flat_map(|entry| &entry.conditions);
    conditions.any(|one| one.is_current && !one.holds && reasons.contains(&one.reason))
}
