//! A cache of everything above the routes, valid for one topology generation.

use std::cell::RefCell;
use std::rc::Rc;

use super::attached::ObjectAttachments;
use super::subgraph::Parent;
use crate::model::ids::{ObjectKey, PrehashedBuildHasher};
use crate::state::generation_cache::GenerationCache;
use crate::state::snapshot::TopologyGeneration;

/// By object. A Gateway with 64 listeners takes about 10 kB.
type Known<T> = GenerationCache<ObjectKey, T, PrehashedBuildHasher>;

thread_local! {
    static STANDS: RefCell<Known<Rc<ObjectAttachments>>> = RefCell::default();
    static PARENTS: RefCell<Known<Option<Rc<Parent>>>> = RefCell::default();
}

/// The policies attached to an object.
pub(super) fn at(
    generation: TopologyGeneration,
    key: &ObjectKey,
    find: impl FnOnce() -> Rc<ObjectAttachments>,
) -> Rc<ObjectAttachments> {
    STANDS.with(|memo| GenerationCache::get_or_compute(memo, generation, key, find))
}

/// The ancestor paths through a parent of routes, if the parent exists.
pub(super) fn parent(
    generation: TopologyGeneration,
    key: &ObjectKey,
    find: impl FnOnce() -> Option<Rc<Parent>>,
) -> Option<Rc<Parent>> {
    PARENTS.with(|memo| GenerationCache::get_or_compute(memo, generation, key, find))
}
