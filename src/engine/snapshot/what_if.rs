//! States that may never come: what a review and `impact` look at.

use std::sync::Arc;

use serde_json::Value;

use super::{Change, Era, Snapshot};
use crate::engine::object::Object;
use crate::engine::policy;

impl Snapshot {
    /// The snapshot after a change that may never come: nothing that is found out about it is remembered.
    #[must_use]
    pub fn what_if(&self, mut change: Change) -> Self {
        if let Change::Applied(object) = &mut change {
            self.keep_reported_of(object);
        }
        self.supposing(self.apply(change))
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
