//! The conditions, besides its places, that the policies on a path depend on: where requests come from, and which
//! policies are rejected there.

use std::rc::Rc;
use std::sync::Arc;

use crate::attachment::Attachment;
use crate::attachment::reported_rejections::{Rejected, rejected};
use crate::kinds::profile::{CrossNamespace, Profile};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::maps::HashMap;
use crate::policy::ListenerFacts;
use crate::state::snapshot::Snapshot;
use crate::topology::{AncestorPath, listeners_of};

/// The conditions of an ancestor path. Most paths have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::effective) struct PathContext {
    /// The only namespace that requests come from, for kinds that depend on it.
    consumer: Option<Arc<str>>,
    /// Policies that the controller of this path rejects and the controller of another accepts; sorted.
    without: Option<Rc<[ObjectKey]>>,
    /// The facts of the listener that policies depend on.
    pub(in crate::effective) listener: ListenerFacts,
}

/// Policies of a kind that are rejected on some paths, and the ancestors for which they are rejected.
type RejectedPolicies = Rc<[(ObjectKey, Vec<Place>)]>;

/// Finds the policies that are rejected on some paths, and the facts of listeners that policies
/// depend on.
#[derive(Debug, Default)]
pub(super) struct RejectionsByAncestor {
    kinds: HashMap<GroupKind, RejectedPolicies>,
    /// By kind, and by Gateway or `ListenerSet`.
    listeners: HashMap<(GroupKind, ObjectKey), ByListener>,
}

/// The facts of an object's listeners that policies of a kind depend on, by name of the listener.
type ByListener = HashMap<Arc<str>, ListenerFacts>;

// === impl PathContext ===

impl PathContext {
    /// Whether a policy applies to the requests of this path.
    pub(super) fn allows(&self, attachment: &Attachment) -> bool {
        let key = attachment.policy.key();
        let is_asked = !attachment.consumer || self.consumer.as_ref() == Some(&key.namespace);
        let without = self.without.as_deref().unwrap_or_default();
        // A rejection that concerns another target of the policy does not count here.
        is_asked && !(attachment.rejected_on_some_paths && without.binary_search(key).is_ok())
    }
}

// === impl RejectionsByAncestor ===

impl RejectionsByAncestor {
    /// The conditions of an ancestor path for policies of a kind.
    pub(super) fn context_of(
        &mut self,
        snapshot: &Snapshot,
        profile: &Profile,
        ancestor_path: &AncestorPath,
    ) -> PathContext {
        // Other kinds do not depend on where requests come from.
        let asks = profile.cross_namespace.value == CrossNamespace::Consumer;
        PathContext {
            consumer: ancestor_path.consumer.clone().filter(|_| asks),
            without: self.without(snapshot, profile, ancestor_path),
            listener: ancestor_path.last().map_or_else(Default::default, |place| {
                self.listener(snapshot, profile, place)
            }),
        }
    }

    /// The facts of a listener that policies of a kind depend on.
    pub(in crate::effective) fn listener(
        &mut self,
        snapshot: &Snapshot,
        profile: &Profile,
        place: &Place,
    ) -> ListenerFacts {
        let name = place.section.as_ref();
        let Some(name) = name.filter(|_| ListenerFacts::matter_to(profile)) else {
            return ListenerFacts::default();
        };
        let id = (profile.gk.clone(), place.object.clone());
        let known = self.listeners.entry(id);
        let of_object = known.or_insert_with(|| listeners(snapshot, profile, &place.object));
        of_object.get(name).copied().unwrap_or_default()
    }

    fn without(
        &mut self,
        snapshot: &Snapshot,
        profile: &Profile,
        ancestor_path: &AncestorPath,
    ) -> Option<Rc<[ObjectKey]>> {
        snapshot.rejected_on_some_paths().next()?;
        let known = self.kinds.entry(profile.gk.clone());
        let of_kind = known.or_insert_with(|| of_kind(snapshot, &profile.gk));
        let is_on = |place: &Place| {
            let mut steps = ancestor_path.steps.iter();
            steps.any(|step| step.place == *place)
        };
        let rejected = of_kind
            .iter()
            .filter(|(_, places)| places.iter().any(is_on));
        let keys: Rc<[ObjectKey]> = rejected.map(|(key, _)| key.clone()).collect();
        (!keys.is_empty()).then_some(keys)
    }
}

fn listeners(snapshot: &Snapshot, profile: &Profile, owner: &ObjectKey) -> ByListener {
    let listeners = snapshot.get(owner).map(|owner| listeners_of(owner));
    let mut by_listener = ByListener::default();
    for listener in listeners.unwrap_or_default() {
        let facts = ListenerFacts::from_listener(profile, listener);
        by_listener.entry(listener.name.clone()).or_insert(facts);
    }
    by_listener
}

fn of_kind(snapshot: &Snapshot, kind: &GroupKind) -> RejectedPolicies {
    let policies = snapshot
        .rejected_on_some_paths()
        .filter(|policy| policy.key().gk == *kind);
    let rejected_places = policies.filter_map(|policy| match rejected(snapshot, policy) {
        Rejected::Through(places) => Some((policy.key().clone(), places)),
        Rejected::Nowhere | Rejected::Everywhere => None,
    });
    rejected_places.collect()
}
