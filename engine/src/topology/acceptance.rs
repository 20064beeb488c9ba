//! Which listeners of a Gateway, and of the `ListenerSets` that name it, are accepted. This is the only source for
//! whether a listener, a `ListenerSet` or a route is accepted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::accept::allows_listener_set;
use super::conflicts::{Conflict, conflicts};
use super::sets_of;
use crate::model::ids::{ObjectKey, Place, PrehashedBuildHasher};
use crate::model::object::{Listener, Node, Object};
use crate::policy::Precedence;
use crate::state::generation_cache::GenerationCache;
use crate::state::snapshot::Snapshot;
use crate::status::reports::of_listener;

/// The listeners of a Gateway and of the `ListenerSets` that name it.
#[derive(Debug, Default)]
pub struct Acceptance {
    /// The Gateway first, then the `ListenerSets` that it allows, by age and name, then the others.
    order: Vec<ObjectKey>,
    owners: HashMap<ObjectKey, Rc<Listeners>, PrehashedBuildHasher>,
}

/// The listeners of one Gateway or `ListenerSet`, and which of them are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listeners {
    /// Why none of them is part of a Gateway.
    refused: Option<SetRefusal>,
    /// Why each listener is not accepted, in the order of the spec.
    conflicts: Box<[Option<Conflict>]>,
}

/// Why a `ListenerSet` is not part of a Gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetRefusal {
    /// Its parent does not exist.
    Missing,
    /// Nothing is known of its parent.
    Unknown,
    /// Its parent is not a Gateway.
    NoGateway,
    /// The Gateway does not allow it.
    NotAllowed,
}

/// Why no request arrives through a Gateway, a `ListenerSet` or one of its listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unaccepted {
    /// The `ListenerSet` is not part of a Gateway.
    Set(SetRefusal),
    /// The listener conflicts with another.
    Listener(Conflict),
    /// All listeners of the object conflict with others; the conflict of the first.
    AllListeners(Conflict),
}

thread_local! {
    static KNOWN: RefCell<GenerationCache<ObjectKey, Rc<Acceptance>, PrehashedBuildHasher>> = RefCell::default();
}

/// The listeners of a Gateway or `ListenerSet`; `None` for other objects.
pub fn listeners(snapshot: &Snapshot, owner: &Object) -> Option<Rc<Listeners>> {
    match &owner.node {
        Node::Gateway { .. } => Acceptance::of(snapshot, owner)
            .listeners(&owner.key)
            .cloned(),
        Node::ListenerSet { parent, .. } => {
            let refused = |why| Some(Rc::new(Listeners::refused(owner, why)));
            let Some(gateway) = snapshot.get(&parent.object) else {
                let is_missing = snapshot.lacks(&parent.object);
                return refused(if is_missing {
                    SetRefusal::Missing
                } else {
                    SetRefusal::Unknown
                });
            };
            if !matches!(gateway.node, Node::Gateway { .. }) {
                return refused(SetRefusal::NoGateway);
            }
            let all = Acceptance::of(snapshot, gateway);
            let own = all.listeners(&owner.key).cloned();
            own.or_else(|| refused(SetRefusal::NotAllowed))
        }
        _ => None,
    }
}

/// Why no request arrives at a Gateway, a `ListenerSet` or a listener; `None` if one may, and for other objects.
pub fn unaccepted(snapshot: &Snapshot, place: &Place) -> Option<Unaccepted> {
    let owner = snapshot.get(&place.object)?;
    let known = listeners(snapshot, owner)?;
    match known.refused {
        Some(SetRefusal::Unknown) => return None,
        Some(why) => return Some(Unaccepted::Set(why)),
        None => {}
    }
    match &place.section {
        None if known.is_accepted() => None,
        None => {
            let mut each = known.conflicts.iter();
            each.find_map(|c| *c).map(Unaccepted::AllListeners)
        }
        Some(name) => {
            let named = of(owner).iter().zip(&known.conflicts);
            let mut named = named.filter(|(listener, _)| listener.name == *name);
            let first = (*named.next()?.1)?;
            let all = named.all(|(_, conflict)| conflict.is_some());
            all.then_some(Unaccepted::Listener(first))
        }
    }
}

/// The listeners in the spec of a Gateway or `ListenerSet`.
pub fn of(owner: &Object) -> &[Listener] {
    match &owner.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => listeners,
        _ => &[],
    }
}

/// The endpoint at which requests arrive: the owner of the listener, the port and the hostname. It stays the same if
/// the listener is renamed.
pub type ListenerEndpoint = (ObjectKey, u16, Option<Arc<str>>);

/// The first listener with the name of a section.
pub fn listener_at<'a>(snapshot: &'a Snapshot, place: &Place) -> Option<&'a Listener> {
    let mut listeners = of(snapshot.get(&place.object)?).iter();
    listeners.find(|listener| Some(&listener.name) == place.section.as_ref())
}

/// The endpoint of the listener at a place; `None` if the place is not a listener.
pub fn listener_endpoint(snapshot: &Snapshot, place: &Place) -> Option<ListenerEndpoint> {
    let listener = listener_at(snapshot, place)?;
    Some((
        place.object.clone(),
        listener.port,
        listener.hostname.clone(),
    ))
}

// === impl Acceptance ===

impl Acceptance {
    /// Decides acceptance for a Gateway and its `ListenerSets`.
    pub fn of(snapshot: &Snapshot, gateway: &Object) -> Rc<Self> {
        let find = || Rc::new(Self::find(snapshot, gateway));
        KNOWN.with(|memo| {
            GenerationCache::get_or_compute(memo, snapshot.generation(), &gateway.key, find)
        })
    }

    fn find(snapshot: &Snapshot, gateway: &Object) -> Self {
        let mut sets: Vec<&Arc<Object>> = sets_of(snapshot, &gateway.key).collect();
        sets.sort_by_cached_key(|set| Precedence::of(set));
        let (joined, outside): (Vec<_>, Vec<_>) = sets
            .into_iter()
            .map(AsRef::as_ref)
            .partition(|set| allows_listener_set(snapshot, gateway, set));
        let joined: Vec<&Object> = std::iter::once(gateway).chain(joined).collect();
        let conflicts = conflicts(joined.iter().map(|owner| of(owner)));
        let mut found = Self::default();
        for (owner, mut conflicts) in joined.into_iter().zip(conflicts) {
            let refused = None;
            for (listener, conflict) in of(owner).iter().zip(&mut conflicts) {
                if conflict.is_none() && of_listener(owner, &listener.name).is_some() {
                    *conflict = Some(Conflict::Reported);
                }
            }
            found.add(owner, Listeners { refused, conflicts });
        }
        for set in outside {
            found.add(set, Listeners::refused(set, SetRefusal::NotAllowed));
        }
        found
    }

    fn add(&mut self, owner: &Object, listeners: Listeners) {
        self.order.push(owner.key.clone());
        self.owners.insert(owner.key.clone(), Rc::new(listeners));
    }

    /// The listeners of the Gateway itself, or of a `ListenerSet` that names it.
    pub fn listeners(&self, owner: &ObjectKey) -> Option<&Rc<Listeners>> {
        self.owners.get(owner)
    }

    /// The Gateway first, then the `ListenerSets` that it allows, by age and name, then the others.
    pub fn owners(&self) -> impl Iterator<Item = (&ObjectKey, &Rc<Listeners>)> {
        let owners = self.order.iter();
        owners.filter_map(|key| Some((key, self.owners.get(key)?)))
    }
}

// === impl Listeners ===

impl Listeners {
    fn free(owner: &Object) -> Self {
        Self {
            refused: None,
            conflicts: of(owner).iter().map(|_| None).collect(),
        }
    }

    fn refused(owner: &Object, why: SetRefusal) -> Self {
        Self {
            refused: Some(why),
            ..Self::free(owner)
        }
    }

    /// Why none of them is part of a Gateway.
    pub fn refusal(&self) -> Option<SetRefusal> {
        self.refused
    }

    /// Why the listener at an index of the spec is not accepted, if its owner is part of a Gateway.
    pub fn conflict(&self, index: usize) -> Option<Conflict> {
        self.conflicts.get(index).copied().flatten()
    }

    /// Whether the owner is accepted: it is part of a Gateway, and at least one listener is accepted if it has any.
    pub fn is_accepted(&self) -> bool {
        let mut each = self.conflicts.iter();
        self.refused.is_none() && (self.conflicts.is_empty() || each.any(Option::is_none))
    }
}
