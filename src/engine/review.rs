//! `review(&Snapshot, &Request, &Evidence) -> Verdict`: the one door into the engine.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::ids::{GroupKind, ObjectKey};
use super::snapshot::Snapshot;
use super::verdict::Verdict;

/// What is being done to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// CREATE.
    Create,
    /// UPDATE, patches included.
    Update,
    /// DELETE.
    Delete,
    /// CONNECT.
    Connect,
}

/// One admission request, as the engine sees it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What is being done.
    pub operation: Operation,
    /// The kind of the object.
    pub gk: GroupKind,
    /// Empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Empty on a CREATE with `generateName`.
    pub name: &'a str,
    /// `status`, `scale`, …; empty for the object itself.
    pub subresource: &'a str,
    /// The new object.
    pub object: Option<&'a RawValue>,
    /// The stored object.
    pub old: Option<&'a RawValue>,
}

/// How much the snapshot may be trusted about what it does not hold (design 3.2).
#[derive(Clone, Debug, Default)]
pub enum Evidence {
    /// It is a cache and may lag: what rests on absence asks to be confirmed.
    #[default]
    Cached,
    /// It is the truth (a directory of files).
    Authoritative,
    /// These objects were read live a moment ago, and the snapshot holds what was read.
    Live(BTreeMap<ObjectKey, Reading>),
}

/// The outcome of a live read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The server answered; the snapshot holds its answer.
    Answered,
    /// No answer, and why (`timed out after 300 ms`, `forbidden`).
    Failed(String),
}

/// Judges a request against what is known. Never fails: what cannot be understood is a finding.
pub fn review(_snapshot: &Snapshot, _request: &Request<'_>, _evidence: &Evidence) -> Verdict {
    todo!()
}
