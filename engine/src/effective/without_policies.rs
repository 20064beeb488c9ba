//! Routes to which no policy is attached: only policies above them act on them.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::Resolver;
use crate::kinds::profile::{Class, Profile};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::level::Level;
use crate::model::object::is_route;
use crate::topology::AncestorPath;

/// Routes with more ancestor paths than this are not cached. A Gateway has at most 64 listeners.
const MOST_WAYS: usize = 64;

/// A route to which no policy is attached. Within one topology generation the same policies act on equal ones, for
/// kinds that depend neither on the content of the route nor on its backends ([`Resolver::stop_at`]).
#[derive(Clone, Debug)]
pub struct RouteWithoutPolicies {
    kind: GroupKind,
    namespace: Arc<str>,
    /// Identified by their addresses within one generation.
    ancestor_paths: Vec<Rc<AncestorPath>>,
}

impl Resolver<'_> {
    /// The part of a route that decides which policies act on it. `None` if policies are attached to the route, or if
    /// it is attached to a Service, to a parent that may not be read, or by more than `MOST_WAYS` paths. An
    /// unbounded resolver, which covers many objects, also returns `None`: it shares its results anyway.
    pub fn without_policies(&mut self, key: &ObjectKey) -> Option<RouteWithoutPolicies> {
        let is_remembered = self.is_limited() && self.snapshot.generation().is_cacheable();
        if !is_remembered || !is_route(&key.gk) || !self.attached(key).is_empty() {
            return None;
        }
        let ways = self
            .subgraphs
            .cacheable_ancestors(self.snapshot.get(key)?)?;
        (ways.len() <= MOST_WAYS).then(|| RouteWithoutPolicies {
            kind: key.gk.clone(),
            namespace: key.namespace.clone(),
            ancestor_paths: ways,
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

// === impl RouteWithoutPolicies ===

impl PartialEq for RouteWithoutPolicies {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (self.ancestor_paths.iter(), other.ancestor_paths.iter());
        one.map(Rc::as_ptr).eq(two.map(Rc::as_ptr))
            && self.namespace == other.namespace
            && self.kind == other.kind
    }
}

impl Eq for RouteWithoutPolicies {}

impl Hash for RouteWithoutPolicies {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.namespace.hash(state);
        self.ancestor_paths
            .iter()
            .for_each(|way| Rc::as_ptr(way).hash(state));
    }
}
