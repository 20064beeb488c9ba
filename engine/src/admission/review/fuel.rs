//! Findings that say that the work exceeds the fuel of a request.

use crate::admission::finding::Finding;
use crate::model::ids::ObjectKey;

/// The finding that something was not computed because policies with many settings are attached to many paths.
pub(super) fn too_much(key: &ObjectKey, what: &str) -> Finding {
    Finding::too_much(key, what, "attache describe")
}
