//! States that may never come: what a review and `impact` look at.

use std::sync::Arc;

use serde_json::Value;

use super::{Change, Era, Snapshot};
use crate::engine::ids::ObjectKey;
use crate::engine::object::Object;
use crate::engine::policy;

impl Snapshot {
    /// The snapshot after a change that may never come: nothing that is found out about it is remembered.
    #[must_use]
    pub fn what_if(&self, mut change: Change) -> Self {
        let changed = match &mut change {
            Change::Applied(object) => {
                self.keep_reported_of(object);
                let known = self.get(&object.key);
                let is_other = known.is_none_or(|known| !known.has_same_spec(object));
                is_other.then(|| object.key.clone())
            }
            _ => None,
        };
        let mut next = self.apply(change);
        next.changes.extend(changed);
        self.supposing(next)
    }

    /// The same for a policy that is there as well, and its spec, which is read on the way.
    pub(in crate::engine) fn what_if_policy(&self, mut object: Arc<Object>) -> (Self, Value) {
        self.trim(&mut object);
        self.keep_reported_of(&mut object);
        let spec = policy::spec(&object);
        let mut next = self.clone();
        next.insert(object, Some(&spec));
        (self.supposing(next), spec)
    }

    /// The snapshot with what controllers reported for the sake of these objects left out: they are supposed to be others
    /// than the controllers saw.
    #[must_use]
    pub fn supposing_changed(mut self, keys: impl IntoIterator<Item = ObjectKey>) -> Self {
        self.changes.extend(keys);
        self
    }

    /// Whether an object is supposed to be another than the controllers saw.
    pub(in crate::engine) fn is_supposed(&self, key: &ObjectKey) -> bool {
        !self.changes.is_empty() && self.changes.contains(key)
    }

    /// Fills in what controllers reported of an object whose sender says nothing of it. It holds as long as the spec is
    /// the same: what they think of another spec is not known yet.
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

    /// What came of this snapshot, and may never come.
    fn supposing(&self, mut next: Self) -> Self {
        if next.era != self.era {
            next.era = Era::default();
        }
        next
    }

    /// The snapshot with a target that is as good as there. For questions about that object alone:
    /// what refers to what is indexed as before, so this costs nothing.
    #[must_use]
    pub fn suppose(&self, object: Arc<Object>) -> Self {
        let lasts = self.is_below(&object.key.gk);
        Self {
            supposed: Some(object),
            era: if lasts { self.era } else { Era::default() },
            ..self.clone()
        }
    }
}
