//! Changes since the page is served: of objects, and of the policies in force because of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;
use serde::Serialize;

use super::super::state::View;
use super::json::{time, written};
use super::page_state::PageState;
use crate::answer::impact::{Change, ChangedObjects, impact};
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Object;
use crate::ui::Refusal;

/// The most entries; older ones are forgotten.
const ENTRIES: usize = 200;
/// The most objects that an entry lists.
const OBJECTS: usize = 100;
/// The most changes of effective policies that an entry lists.
const CHANGES: usize = 200;
/// If more objects changed, effective policies are not compared: it is most likely another
/// directory.
const COMPARED: usize = 500;

/// The changes of a session, newest first.
#[derive(Debug)]
pub(super) struct History {
    since: Timestamp,
    entries: VecDeque<Entry>,
}

#[derive(Serialize)]
struct Answer<'a> {
    since: String,
    entries: &'a VecDeque<Entry>,
}

/// One change of the state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    generation: u64,
    time: String,
    objects: Vec<ChangedObject>,
    /// The number of further objects that changed.
    more_objects: usize,
    in_force: Vec<Change>,
    /// The number of further effective policies that changed.
    more_in_force: usize,
    /// Whether too many objects changed at once to compare the effective policies.
    not_compared: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ChangedObject {
    object: String,
    change: ObjectChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum ObjectChange {
    Created,
    Updated,
    /// Only the reports of controllers changed.
    Status,
    Deleted,
}

// === impl History ===

impl History {
    pub(super) fn new(since: Timestamp) -> Self {
        Self {
            since,
            entries: VecDeque::new(),
        }
    }

    /// Adds the difference of two states, if there is one.
    pub(super) fn add(
        &mut self,
        generation: u64,
        now: Timestamp,
        before: &PageState,
        after: &PageState,
    ) {
        let changed = changed(&before.view, &after.view);
        let not_compared = changed.len() > COMPARED;
        let mut in_force = if not_compared {
            Vec::new()
        } else {
            let objects_that = |gone: bool| -> BTreeSet<ObjectKey> {
                let these = changed
                    .iter()
                    .filter(|(_, what)| (**what == ObjectChange::Deleted) == gone);
                these.map(|(key, _)| key.clone()).collect()
            };
            let effect = ChangedObjects {
                applied: objects_that(false),
                deleted: objects_that(true),
                with_them: BTreeSet::new(),
            };
            impact(&before.view.snapshot, &after.view.snapshot, &effect).changes
        };
        let only_status = changed.values().all(|what| *what == ObjectChange::Status);
        if only_status && in_force.is_empty() && !not_compared {
            return;
        }
        let (object_count, change_count) = (changed.len(), in_force.len());
        in_force.truncate(CHANGES);
        let shown = changed.into_iter().take(OBJECTS);
        let shown = shown.map(|(key, change)| ChangedObject {
            object: name(&key),
            change,
        });
        self.entries.truncate(ENTRIES - 1);
        self.entries.push_front(Entry {
            generation,
            time: time(now),
            objects: shown.collect(),
            more_objects: object_count.saturating_sub(OBJECTS),
            in_force,
            more_in_force: change_count.saturating_sub(CHANGES),
            not_compared,
        });
    }

    /// The entries as JSON.
    ///
    /// # Errors
    /// None: all keys are strings.
    pub(super) fn json(&self) -> Result<String, Refusal> {
        written(&Answer {
            since: time(self.since),
            entries: &self.entries,
        })
    }
}

/// The objects that differ.
fn changed(before: &View, after: &View) -> BTreeMap<ObjectKey, ObjectChange> {
    let (old, new) = (&before.snapshot, &after.snapshot);
    let mut changed = BTreeMap::new();
    for object in new.all().filter(|object| is_known(object, after)) {
        let what = match old.get(&object.key) {
            None => Some(ObjectChange::Created),
            Some(other) => difference(other, object, [before, after]),
        };
        changed.extend(what.map(|what| (object.key.clone(), what)));
    }
    let gone = old.all().filter(|object| is_known(object, before));
    let gone = gone.filter(|object| new.get(&object.key).is_none());
    changed.extend(gone.map(|object| (object.key.clone(), ObjectChange::Deleted)));
    changed
}

/// Whether an object is one of the state, and not a Namespace that files only imply.
fn is_known(object: &Object, view: &View) -> bool {
    let is_namespace = object.key.gk == GroupKind::core("Namespace");
    !is_namespace || view.origins.is_empty() || view.origins.contains_key(&object.key)
}

/// The change of an object. Times of files without one only express their order.
fn difference(old: &Object, new: &Object, [before, after]: [&View; 2]) -> Option<ObjectChange> {
    let is_undated = before.undated.contains(&old.key) && after.undated.contains(&new.key);
    let same_time = is_undated || old.meta.created == new.meta.created;
    let (one, two) = (&old.meta, &new.meta);
    let is_same = old.has_same_spec(new)
        && same_time
        && one.deleting == two.deleting
        && (&one.labels, &one.annotations) == (&two.labels, &two.annotations);
    if !is_same {
        return Some(ObjectChange::Updated);
    }
    (old.reported != new.reported).then_some(ObjectChange::Status)
}

/// `KIND[.group]/[namespace/]name`.
fn name(key: &ObjectKey) -> String {
    let kind = key.gk.qualified();
    match &*key.namespace {
        "" => format!("{kind}/{}", key.name),
        namespace => format!("{kind}/{namespace}/{}", key.name),
    }
}
