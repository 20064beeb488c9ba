//! Routes to which no policy is attached: only policies above them act on them.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::Survey;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::level::Level;
use crate::engine::object::is_route;
use crate::engine::profile::{Class, Profile};
use crate::engine::topology::Upper;

/// Routes with more ancestor paths than this are not cached. A Gateway has at most 64 listeners.
const MOST_WAYS: usize = 64;

/// A route to which no policy is attached. Within one topology generation the same policies act on equal ones, for
/// kinds that depend neither on the content of the route nor on its backends ([`Survey::stop_at`]).
#[derive(Clone, Debug)]
pub struct BareRoute {
    kind: GroupKind,
    namespace: Arc<str>,
    /// Identified by their addresses within one generation.
    ways: Vec<Rc<Upper>>,
}

impl Survey<'_> {
    /// The part of a route that decides which policies act on it. `None` if policies are attached to the route, or if
    /// it is attached to a Service, to a parent that may not be read, or by more than `MOST_WAYS` paths. An
    /// unbounded resolver, which covers many objects, also returns `None`: it shares its results anyway.
    pub fn bare(&mut self, key: &ObjectKey) -> Option<BareRoute> {
        let is_remembered = self.is_limited() && self.snapshot.era().lasts();
        if !is_remembered || !is_route(&key.gk) || !self.stands(key).is_empty() {
            return None;
        }
        let ways = self.regions.lasting(self.snapshot.get(key)?)?;
        (ways.len() <= MOST_WAYS).then(|| BareRoute {
            kind: key.gk.clone(),
            namespace: key.namespace.clone(),
            ways,
        })
    }

    /// Whether policies of these kinds act on a route regardless of its content and its backends.
    pub fn stop_at(&self, route: &GroupKind, kinds: &BTreeSet<GroupKind>) -> bool {
        let looks_on = |profile: &Arc<Profile>| {
            let goes_on = profile.class.value == Class::Inherited && profile.end() > Level::Rule;
            goes_on || profile.controls.iter().any(|c| c.target == *route)
        };
        let mut profiles = kinds.iter().filter_map(|kind| self.snapshot.profile(kind));
        !profiles.any(looks_on)
    }
}

// === impl BareRoute ===

impl PartialEq for BareRoute {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (self.ways.iter(), other.ways.iter());
        one.map(Rc::as_ptr).eq(two.map(Rc::as_ptr))
            && self.namespace == other.namespace
            && self.kind == other.kind
    }
}

impl Eq for BareRoute {}

impl Hash for BareRoute {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.namespace.hash(state);
        self.ways.iter().for_each(|way| Rc::as_ptr(way).hash(state));
    }
}
