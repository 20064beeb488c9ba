//! Applies the annotations by which objects suppress findings about themselves.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::engine::admission::finding::Finding;
use crate::engine::admission::suppress::{Suppressed, Suppressions};
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

/// The suppressions of a state, each read once.
#[derive(Debug)]
pub struct Suppressing<'a> {
    snapshot: &'a Snapshot,
    today: Date,
    /// Whether any user may suppress refusals. Only the webhook knows the user.
    refusals: bool,
    read: BTreeMap<ObjectKey, Suppressions>,
}

// === impl Suppressing ===

impl<'a> Suppressing<'a> {
    /// Nothing is read yet.
    pub fn new(snapshot: &'a Snapshot, today: Date, refusals: bool) -> Self {
        Self {
            snapshot,
            today,
            refusals,
            read: BTreeMap::new(),
        }
    }

    /// The reason why the finding is suppressed, if it is. If its suppression does not count, the message says so.
    pub fn judge(&mut self, finding: &mut Finding) -> Option<String> {
        let key = &finding.object;
        if !self.read.contains_key(key) {
            self.read
                .insert(key.clone(), suppressions_of(self.snapshot, key));
        }
        match self
            .read
            .get(key)?
            .judge(finding, self.today, self.refusals)
        {
            Suppressed::Yes(reason) => Some(reason),
            Suppressed::Remark(remark) => {
                finding.message.push_str(&remark);
                None
            }
            Suppressed::No => None,
        }
    }

    /// Drops the annotations that were read, to free their memory.
    pub fn forget(&mut self) {
        self.read.clear();
    }
}

/// The findings on the annotation of an object itself.
pub fn annotation_faults(snapshot: &Snapshot, key: &ObjectKey) -> Vec<Finding> {
    suppressions_of(snapshot, key).faults
}

fn suppressions_of(snapshot: &Snapshot, key: &ObjectKey) -> Suppressions {
    let object = snapshot.get(key);
    object.map_or_else(Suppressions::default, |object| {
        Suppressions::parse(key, &object.meta.annotations)
    })
}
