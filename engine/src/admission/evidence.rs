//! The reliability of the snapshot in a review.

use std::collections::BTreeMap;

use crate::model::ids::{GroupKind, ObjectKey};

/// The reliability of the snapshot for objects that it does not contain.
#[derive(Clone, Debug, Default)]
pub enum Evidence {
    /// It is a cache and may lag: a finding that depends on absence must be confirmed.
    #[default]
    Cached,
    /// It is complete (a directory of files).
    Authoritative,
    /// Objects and kinds were just read from the API server, and the snapshot contains the result.
    Live(Readings),
}

/// The outcomes of live reads.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// Objects that were read.
    pub objects: BTreeMap<ObjectKey, Reading>,
    /// Kinds of which all objects were listed.
    pub kinds: BTreeMap<GroupKind, Reading>,
}

/// The outcome of a live read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The server answered; the snapshot contains its answer.
    Answered,
    /// The server did not answer, for this reason (`timed out after 300 ms`, `forbidden`).
    Failed(String),
}
