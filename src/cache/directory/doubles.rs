//! Objects that are written more than once in one state.

use crate::cache::manifest::Origin;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::Object;

/// An object that is written again. The later text counts, as with `kubectl apply`.
#[derive(Clone, Debug)]
pub struct Double {
    /// The object.
    pub key: ObjectKey,
    /// Where it was written before.
    pub first: Origin,
    /// Where it is written again.
    pub again: Origin,
    /// Whether the two say something different.
    pub differs: bool,
}

/// Whether two texts of an object say something different. The time that an object without one gets does not count.
pub(super) fn differ(one: &Object, other: &Object) -> bool {
    let mut one = one.clone();
    one.meta.created = other.meta.created;
    !one.is_identical(other)
}
