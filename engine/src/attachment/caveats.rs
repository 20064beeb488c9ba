//! Caveats of a policy that its settings do not show: behaviour of controllers that differs from
//! the model of attache, and settings that protect less than they seem to.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::attachment::{opened_by_target, targets_of};
use crate::kinds::profile::{Caveat, PolicyCondition};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::level::Level;
use crate::model::maps::HashMap;
use crate::model::object::{Listener, Node, Object, gateway_kinds};
use crate::policy::Policy;
use crate::state::snapshot::{Snapshot, namespace_key};
use crate::topology::gateway_of;

/// The caveat on policies whose references have members that neither the profile nor attache knows.
const UNKNOWN_MEMBERS: &str =
    "its targets have members that attache does not know: it may apply to only a part of them";

/// The Gateways before the backends that a policy names, if they are known.
type GatewaysInFront<'a> = Option<Vec<&'a Arc<Object>>>;

// === impl Policy ===

impl Policy {
    /// The settings that protect less than they seem to, and behaviour of its controllers that is not modelled.
    pub fn caveats<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a str> {
        let weaknesses = self.profile.weakened_by.iter();
        let weaknesses = weaknesses.filter(|weakness| self.has_weakness(weakness));
        let caveats = self.profile.caveats.iter();
        let before = LazyCell::new(move || self.gateways_in_front(snapshot));
        let caveats = caveats.filter(move |caveat| self.has_caveat(caveat, snapshot, &before));
        let weaknesses = weaknesses.filter_map(|weakness| weakness.text.as_deref());
        let by_objects = self.weakened_by_objects(snapshot, |_| true).into_iter();
        let weaknesses = weaknesses.chain(by_objects.map(|weakness| &*weakness.text));
        let own = &self.key().namespace;
        let may_be_open = self.profile.has_open_targets();
        let targets = self.targets.iter().filter(|_| may_be_open);
        let targets = targets.flat_map(move |target| targets_of(snapshot, own, target));
        let open = targets.filter_map(|target| opened_by_target(snapshot, &self.profile, &target));
        let open: BTreeSet<&str> = open.map(|text| &**text).collect();
        let unknown = self.targets.iter().any(|target| target.unknown.is_some());
        let unknown = unknown.then_some(UNKNOWN_MEMBERS);
        let caveats = caveats.map(|caveat| &*caveat.text);
        weaknesses.chain(open).chain(caveats).chain(unknown)
    }

    /// Why it may have an effect on a target of this kind, although none is known.
    pub fn may_apply_elsewhere(&self, snapshot: &Snapshot, target: &GroupKind) -> Option<&str> {
        let before = LazyCell::new(|| self.gateways_in_front(snapshot));
        let mut caveats = self.profile.caveats.iter();
        let caveat = caveats.find(|caveat| {
            caveat.may_apply_elsewhere
                && caveat.targets.iter().any(|kind| **kind == *target.kind)
                && self.has_caveat(caveat, snapshot, &before)
        });
        caveat.map(|caveat| &*caveat.text)
    }

    /// Why it may have an effect although it names no target.
    pub fn may_act_without_target(&self, snapshot: &Snapshot) -> Option<&str> {
        let before = LazyCell::new(|| self.gateways_in_front(snapshot));
        let mut caveats = self.profile.caveats.iter();
        let caveat = caveats.find(|caveat| {
            let is_of_targets = !caveat.targets.is_empty();
            caveat.may_apply_elsewhere
                && !is_of_targets
                && self.has_caveat(caveat, snapshot, &before)
        });
        caveat
            .filter(|_| self.targets.is_empty())
            .map(|caveat| &*caveat.text)
    }

    /// `before` are the Gateways before its backends, which several caveats ask for.
    fn has_caveat<'a>(
        &self,
        caveat: &Caveat,
        snapshot: &'a Snapshot,
        before: &LazyCell<GatewaysInFront<'a>, impl FnOnce() -> GatewaysInFront<'a>>,
    ) -> bool {
        let is_backend = |kind: &Arc<str>| {
            let kind = GroupKind::gateway_api(kind);
            let mut objects = snapshot.objects(&kind);
            objects.any(|object| snapshot.using(&object.key).next().is_some())
        };
        let is_annotated = |key: &Arc<str>| {
            let mut kinds = gateway_kinds().filter(|kind| !kind.is_gateway_api("GatewayClass"));
            kinds.any(|kind| {
                let mut objects = snapshot.objects(&kind);
                objects.any(|object| object.meta.annotations.get(key).is_some())
            })
        };
        let labels = &caveat.namespace_labels;
        let has_label = |namespace: &Arc<Object>| namespace.meta.labels.first_of(labels).is_some();
        let is_labelled = || {
            let own = &self.key().namespace;
            if self.profile.root_namespace.as_ref() == Some(own) {
                snapshot
                    .objects(&GroupKind::core("Namespace"))
                    .any(has_label)
            } else {
                snapshot.get(&namespace_key(own)).is_some_and(has_label)
            }
        };
        let runs = |controller: &Arc<str>| {
            let gateways = GroupKind::gateway_api("Gateway");
            let mut gateways = snapshot.objects(&gateways);
            match &**before {
                Some(before) => before
                    .iter()
                    .any(|gateway| snapshot.runs(controller, gateway)),
                None => gateways.any(|gateway| snapshot.runs(controller, gateway)),
            }
        };
        let is_label_used = |label: &Arc<str>| {
            let kinds = ["Service", "Namespace"].map(GroupKind::core);
            let mut objects = kinds.iter().flat_map(|kind| snapshot.objects(kind));
            objects.any(|object| object.meta.labels.contains_key(label))
        };
        let has_own_label = |label: &Arc<str>| self.object.meta.labels.contains_key(label);
        let exists = |kind: &Arc<str>| snapshot.count(&GroupKind::gateway_api(kind)) > 0;
        let named = |kinds: &Vec<Arc<str>>| {
            let mut targets = self.targets.iter().map(|target| &target.gk.kind);
            targets.any(|kind| kinds.iter().any(|named| **named == **kind))
        };
        (caveat.targets.is_empty() || named(&caveat.targets))
            && (caveat.settings.is_empty() || self.sets_one(&caveat.settings))
            && (caveat.backends.is_empty() || caveat.backends.iter().any(is_backend))
            && (caveat.annotations.is_empty() || caveat.annotations.iter().any(is_annotated))
            && (caveat.annotated_targets.is_empty()
                || self.names_annotated(&caveat.annotated_targets, snapshot))
            && (caveat.labelled.is_empty() || caveat.labelled.iter().any(has_own_label))
            && (!caveat.many_ancestors || self.has_many_ancestors(snapshot))
            && (labels.is_empty() || is_labelled())
            && (caveat.labels.is_empty() || caveat.labels.iter().any(is_label_used))
            && (caveat.objects.is_empty() || caveat.objects.iter().any(exists))
            && (!caveat.shared_ports || has_shared_ports(snapshot))
            && (!caveat.shared_names || self.names_one_of_several(snapshot))
            && (caveat.policies_on_sections.is_empty()
                || self.shares_with_sections(&caveat.policies_on_sections, snapshot))
            && (!caveat.filters_of_backends || snapshot.has_filters_of_backends(&self.key().gk))
            && (caveat.controllers.is_empty() || caveat.controllers.iter().any(runs))
            && caveat.condition().holds_for(Some(&self.object.meta))
            && self.fulfils(caveat.condition())
            && (!caveat.named_by_policies || self.has_target_named_by_policies(snapshot))
    }

    /// Whether the settings of a policy name one of its targets.
    fn has_target_named_by_policies(&self, snapshot: &Snapshot) -> bool {
        let own = &self.key().namespace;
        let targets = self.targets.iter();
        let targets: BTreeSet<ObjectKey> = targets
            .flat_map(|target| targets_of(snapshot, own, target))
            .collect();
        let names_others = |kind: &&GroupKind| {
            let profile = snapshot.profile(kind);
            profile.is_some_and(|profile| !profile.references.is_empty())
        };
        let kinds = snapshot.used_kinds().filter(names_others);
        let policies = kinds.flat_map(|kind| snapshot.policies(kind));
        let mut named = policies.flat_map(|policy| &policy.references);
        named.any(|named| targets.contains(&named.object))
    }

    /// Whether a condition holds for its settings, in the spec or in a stanza.
    fn fulfils(&self, condition: PolicyCondition<'_>) -> bool {
        let holds = || {
            let spec = self.spec();
            let mut bodies = self.profile.bodies(&spec);
            bodies.any(|body| condition.holds_in(body))
        };
        !condition.reads_fields() || holds()
    }

    /// Whether it names an object with one of these annotations.
    fn names_annotated(&self, keys: &[Arc<str>], snapshot: &Snapshot) -> bool {
        let own = &self.key().namespace;
        let mut targets = self.targets.iter().filter_map(|target| target.object(own));
        targets.any(|target| {
            let object = snapshot.get(&target);
            object.is_some_and(|object| {
                let mut keys = keys.iter();
                keys.any(|key| object.meta.annotations.get(key).is_some())
            })
        })
    }

    /// Whether its status has as many ancestors as it may have, or may come to that because there are more Gateways.
    fn has_many_ancestors(&self, snapshot: &Snapshot) -> bool {
        let most = *self.profile.max_ancestors;
        let reported = self.object.reported.as_ref();
        reported.is_some_and(|reported| reported.entries.len() >= most)
            || snapshot.count(&GroupKind::gateway_api("Gateway")) > most
    }

    /// The Gateways through which requests reach the backends that it names. `None` if it names other objects, or if no route of a
    /// Gateway leads to one of them, which may come later.
    fn gateways_in_front<'a>(&self, snapshot: &'a Snapshot) -> GatewaysInFront<'a> {
        let own = &self.key().namespace;
        let named = self.targets.iter().map(|target| target.object(own));
        let named: Option<Vec<ObjectKey>> = named.collect();
        let backends = named.filter(|all| all.iter().all(|key| Level::is_of_backend(&key.gk)))?;
        let mut all = Vec::new();
        for backend in &backends {
            let parents = snapshot.using(backend).flat_map(|route| route.parents());
            let parents = parents.map(|parent| gateway_of(snapshot, &parent.object));
            let gateways = parents.filter_map(|key| snapshot.get(key));
            let is_gateway = |object: &&Arc<Object>| matches!(object.node, Node::Gateway { .. });
            let gateways: Vec<_> = gateways.filter(is_gateway).collect();
            if gateways.is_empty() {
                return None;
            }
            all.extend(gateways);
        }
        Some(all)
    }

    /// Whether a policy of one of these kinds of Gateway API names a section of an object that it names as a whole.
    fn shares_with_sections(&self, kinds: &[Arc<str>], snapshot: &Snapshot) -> bool {
        let own = &self.key().namespace;
        let mut whole = self.targets.iter().filter(|target| target.is_whole());
        let names_section = |object: &ObjectKey, other: &Policy| {
            let theirs = &other.key().namespace;
            let mut parts = other.targets.iter().filter(|target| !target.is_whole());
            parts.any(|target| target.object(theirs).as_ref() == Some(object))
        };
        whole.any(|target| {
            let Some(object) = target.object(own) else {
                return false;
            };
            let is_of_kinds = |gk: &GroupKind| kinds.iter().any(|kind| gk.is_gateway_api(kind));
            let mut others = snapshot.policies_naming(&object);
            others.any(|other| is_of_kinds(&other.key().gk) && names_section(&object, other))
        })
    }

    /// Whether it names a Gateway that shares its name and its class with another Gateway.
    fn names_one_of_several(&self, snapshot: &Snapshot) -> bool {
        let own = &self.key().namespace;
        let named = self.targets.iter().filter_map(|target| target.object(own));
        let mut named = named.filter_map(|key| snapshot.get(&key).cloned());
        named.any(|gateway| {
            let Some(class) = class_of(&gateway) else {
                return false;
            };
            let is_namesake = |other: &Arc<Object>| {
                let (key, other) = (&gateway.key, &**other);
                other.key != *key && other.key.name == key.name && class_of(other) == Some(class)
            };
            snapshot.objects(&gateway.key.gk).any(is_namesake)
        })
    }
}

/// The class of a Gateway; `None` for other objects.
fn class_of(object: &Object) -> Option<&Arc<str>> {
    match &object.node {
        Node::Gateway { class, .. } => Some(class),
        _ => None,
    }
}

/// The plain HTTP listeners of a Gateway or `ListenerSet`.
fn plain_listeners(owner: &Object) -> impl Iterator<Item = &Listener> {
    let listeners = owner.listeners().iter();
    listeners.filter(|listener| &*listener.protocol == "HTTP")
}

/// Whether two Gateways of one class have plain HTTP listeners on one port.
fn has_shared_ports(snapshot: &Snapshot) -> bool {
    let mut known: HashMap<(&Arc<str>, u16), &ObjectKey> = HashMap::default();
    let kind = GroupKind::gateway_api("Gateway");
    let gateways = snapshot.objects(&kind);
    let mut plain = gateways.flat_map(|gateway| {
        let class = class_of(gateway);
        plain_listeners(gateway).filter_map(move |one| Some((class?, one.port, &gateway.key)))
    });
    plain.any(|(class, port, gateway)| *known.entry((class, port)).or_insert(gateway) != gateway)
}
