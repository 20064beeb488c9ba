//! JSON patches for the mutating endpoint (design 3.5).

use json_patch::Patch;

use super::review::Request;
use super::snapshot::Snapshot;

/// The patch for a request. No mutation exists yet, so it is empty and the object stays as it came.
pub fn mutate(_snapshot: &Snapshot, _request: &Request<'_>) -> Patch {
    Patch::default()
}
