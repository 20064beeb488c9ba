//! Hypothetical snapshots, for reviews and for `impact`.

use std::sync::Arc;

use serde_json::Value;

use super::{Change, Snapshot, edges};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Object;
use crate::policy;

impl Snapshot {
    /// The snapshot after a hypothetical change.
    #[must_use]
    pub fn with_change(&self, mut change: Change) -> Self {
        let changed = match &mut change {
            Change::Applied(object) => {
                self.keep_reported_of(object);
                let known = self.get(&object.key);
                let is_other = known.is_none_or(|known| !known.has_same_spec(object));
                is_other.then(|| object.key.clone())
            }
            Change::Deleted(key) => self.get(key).map(|_| key.clone()),
            _ => None,
        };
        let mut next = self.apply(change);
        next.changes.extend(changed);
        next
    }

    /// Like [`Snapshot::with_change`], for a stored or a new policy. Also returns the spec of the policy, which is parsed
    /// along the way.
    pub(crate) fn with_policy(&self, mut object: Arc<Object>) -> (Self, Value) {
        self.trim(&mut object);
        self.keep_reported_of(&mut object);
        let spec = policy::spec(&object);
        let mut next = self.clone();
        next.insert(object, Some(&spec));
        (next, spec)
    }

    /// The snapshot in which these objects are assumed to differ from what controllers saw. Reports of controllers
    /// that depend on them are ignored.
    #[must_use]
    pub fn without_reports_on(mut self, keys: impl IntoIterator<Item = ObjectKey>) -> Self {
        self.changes.extend(keys);
        self
    }

    /// Whether an object is assumed to differ from what controllers saw.
    pub(crate) fn is_supposed(&self, key: &ObjectKey) -> bool {
        !self.changes.is_empty() && self.changes.contains(key)
    }

    /// Whether there is an object of a kind, the assumed one included.
    pub(crate) fn has_any(&self, gk: &GroupKind) -> bool {
        let mut supposed = self.supposed.iter();
        self.count(gk) > 0 || supposed.any(|object| object.key.gk == *gk)
    }

    /// Fills in the reported status of an object that comes without one. It holds only if the spec is unchanged: the
    /// controllers have not judged a new spec yet.
    pub fn keep_reported(&self, object: &mut Object) {
        let known = self.get(&object.key);
        if let Some(known) = known.filter(|known| known.reported.is_some())
            && object.reported.is_none()
            && known.has_same_spec(object)
        {
            object.reported.clone_from(&known.reported);
        }
    }

    fn keep_reported_of(&self, object: &mut Arc<Object>) {
        let known = self.get(&object.key);
        if known.is_some_and(|known| known.reported.is_some()) {
            self.keep_reported(Arc::make_mut(object));
        }
    }

    /// The snapshot with an object that is assumed to exist, for questions about that object alone. Unlike
    /// [`Snapshot::with_change`], it does not index the references of the object, so it costs nothing.
    #[must_use]
    pub fn with_object(&self, object: Arc<Object>) -> Self {
        if edges::filter_refs(&object).next().is_some() {
            // Policies that its filters name are attached to it.
            return self.with_change(Change::Applied(object));
        }
        let mut next = self.clone();
        next.acceptances.change(&object.key.gk);
        next.supposed = Some(object);
        next
    }
}
