//! `<Kind>Affected`: the conditions by which objects report the policies that apply to them (GEP-713, target object
//! status).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroI64;
use std::sync::Arc;

use crate::effective::Resolver;
use crate::effective::applying::{ApplyingPolicy, applying_through, applying_to};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Node, ParentRef};
use crate::topology::reports::controller;

/// One condition of an object, or of one of its listeners.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Affected {
    /// The listener whose status contains it; `None` for the object's own conditions.
    pub section: Option<Arc<str>>,
    /// `<domain>/<Kind>Affected`. Objects without conditions have an annotation of this name with the value `"true"`.
    pub condition: String,
    /// The policies named in the message: the reason of a condition has no room for them.
    pub policies: BTreeSet<ObjectKey>,
    /// The generation of the object that this was computed for.
    pub observed_generation: Option<i64>,
}

// === impl Affected ===

impl Affected {
    /// The message of the condition.
    pub fn message(&self) -> String {
        let names: Vec<String> = self.policies.iter().map(ObjectKey::path).collect();
        format!("Affected by {}", names.join(", "))
    }
}

/// The conditions that an object should have, by policy kind; those of listeners come after its own.
pub fn affected(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<Affected> {
    let acting = applying_to(resolver, key);
    conditions(resolver, key, &acting)
}

/// The conditions that the status of a route should have for one of its parents.
pub fn affected_through(
    resolver: &mut Resolver<'_>,
    route: &ObjectKey,
    parent: &ParentRef,
) -> Vec<Affected> {
    let acting = applying_through(resolver, route, parent);
    conditions(resolver, route, &acting)
}

fn conditions(
    resolver: &mut Resolver<'_>,
    key: &ObjectKey,
    acting: &[ApplyingPolicy],
) -> Vec<Affected> {
    let object = resolver.snapshot().get(key).cloned();
    let observed_generation = object
        .as_ref()
        .and_then(|o| o.meta.generation)
        .map(NonZeroI64::get);
    let has_listeners =
        object.is_some_and(|o| matches!(o.node, Node::Gateway { .. } | Node::ListenerSet { .. }));
    let mut policies_by_section: BTreeMap<(Option<Arc<str>>, GroupKind), BTreeSet<ObjectKey>> =
        BTreeMap::new();
    for acting in acting {
        for place in &acting.from {
            let own_section = place
                .section
                .clone()
                .filter(|_| has_listeners && place.object == *key);
            let kind = acting.policy.key().gk.clone();
            let policies = policies_by_section.entry((own_section, kind)).or_default();
            policies.insert(acting.policy.key().clone());
        }
    }
    let conditions = policies_by_section
        .into_iter()
        .map(|((section, kind), policies)| Affected {
            condition: format!("{}/{}Affected", domain(resolver, key, &kind), kind.kind),
            section,
            policies,
            observed_generation,
        });
    conditions.collect()
}

/// The domain in the type of a condition: that of the profile, otherwise that of the controller of the Gateway above,
/// otherwise the group of the kind.
fn domain(resolver: &mut Resolver<'_>, key: &ObjectKey, kind: &GroupKind) -> Arc<str> {
    let snapshot = resolver.snapshot();
    if let Some(domain) = snapshot.profile(kind).and_then(|p| p.domain.value.clone()) {
        return domain;
    }
    let gateways = resolver.gateways_of(key);
    let controller = gateways
        .iter()
        .find_map(|gateway| controller(snapshot, gateway));
    match controller.and_then(|name| name.split('/').next()) {
        Some(domain) if !domain.is_empty() => domain.into(),
        _ => kind.group.as_str().into(),
    }
}
