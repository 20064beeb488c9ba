//! Routes on which no policy stands: what acts on them is decided above them.

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

/// Most ways in of a route that is known by them: a Gateway has 64 listeners at most.
const MOST_WAYS: usize = 64;

/// A route on which no policy stands. On equal ones the same policies act as long as an era lasts, of kinds that look
/// neither into the route nor behind it ([`Survey::stop_at`]).
#[derive(Clone, Debug)]
pub struct BareRoute {
    kind: GroupKind,
    namespace: Arc<str>,
    /// Those of one era are known by their addresses.
    ways: Vec<Rc<Upper>>,
}

impl Survey<'_> {
    /// A route as far as it counts for what acts on it; none where policies stand on it, and where it is attached to a
    /// Service, to what may not be read, or in very many ways. A survey of many objects, which is not bounded, shares
    /// what it finds anyway.
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

    /// Whether policies of these kinds act on a route whatever stands in it and behind it.
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
