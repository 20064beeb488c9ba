//! Objects that are written more than once in one state.

use std::collections::BTreeSet;

use crate::cache::manifest::Origin;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::Object;

/// An object that is written again. The later text counts, as with `kubectl apply`.
#[derive(Clone, Debug)]
pub struct Duplicate {
    /// The object.
    pub key: ObjectKey,
    /// The place at which it was written before.
    pub first: Origin,
    /// The place at which it is written again.
    pub again: Origin,
    /// Whether the two say something different.
    pub differs: bool,
}

/// The line about objects that are written more than once: only the last text of each is in the answer. It names one of
/// them; if there is one, with different content.
pub fn written_twice(duplicates: &[Duplicate]) -> Option<String> {
    let first = duplicates.iter().find(|double| double.differs);
    let Duplicate {
        key, first, again, ..
    } = first.or(duplicates.first())?;
    let all: BTreeSet<&ObjectKey> = duplicates.iter().map(|double| &double.key).collect();
    let differing = duplicates.iter().filter(|double| double.differs);
    let differing: BTreeSet<&ObjectKey> = differing.map(|double| &double.key).collect();
    let how = match (all.len(), differing.len()) {
        (_, 0) => "with the same content".to_owned(),
        (all, some) if all == some => "with different content".to_owned(),
        (_, some) => format!("{some} of them with different content"),
    };
    let which = match all.len() {
        1 => format!("{key} is defined more than once, {how}"),
        all => format!("{all} objects are defined more than once, {how}, such as {key}"),
    };
    Some(escape(&format!(
        "{which}: {}:{} and {}:{}; the last definition counts. Name a directory that defines each object once",
        first.file, first.line, again.file, again.line
    )))
}

/// Whether two texts of an object say something different. The time that an object without one gets does not count.
pub(super) fn differ(one: &Object, other: &Object) -> bool {
    let mut one = one.clone();
    one.meta.created = other.meta.created;
    !one.is_identical(other)
}
