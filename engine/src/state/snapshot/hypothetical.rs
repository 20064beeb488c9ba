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
                self.is_changed_by(object).then(|| object.key.clone())
            }
            Change::Deleted(key) => self.get(key).map(|_| key.clone()),
            _ => None,
        };
        let mut next = self.apply(change);
        next.changes.extend(changed);
        next.seen = self.as_seen();
        next
    }

    /// Like [`Snapshot::with_change`], for a stored or a new policy. Also returns the spec of the policy, which is parsed
    /// along the way.
    pub(crate) fn with_policy(&self, mut object: Arc<Object>) -> (Self, Value) {
        self.trim(&mut object);
        self.keep_reported_of(&mut object);
        let spec = policy::spec(&object);
        let mut next = self.clone();
        next.changes.insert(object.key.clone());
        next.insert(object, Some(&spec));
        next.seen = self.as_seen();
        (next, spec)
    }

    /// The snapshot as what comes of `base`, whose controllers have not seen these changed objects. Reports of controllers
    /// that depend on them are ignored.
    #[must_use]
    pub fn changed_from(
        mut self,
        base: &Self,
        changed: impl IntoIterator<Item = ObjectKey>,
    ) -> Self {
        self.changes.extend(changed);
        self.seen = base.as_seen();
        self
    }

    /// Whether an object is new, or differs from the known one in what other objects depend on: its spec, and for a Namespace
    /// its labels.
    pub fn is_changed_by(&self, object: &Object) -> bool {
        self.get(&object.key).is_none_or(|known| {
            let selects_by_labels = object.key.gk.is_core("Namespace");
            !known.has_same_spec(object)
                || selects_by_labels && known.meta.labels != object.meta.labels
        })
    }

    /// The state that controllers reported about, if this one is assumed.
    pub(crate) fn observed_by_controllers(&self) -> Option<&Self> {
        self.seen.as_deref()
    }

    /// The state that controllers reported about, for a snapshot that is made of this one.
    fn as_seen(&self) -> Option<Arc<Self>> {
        let seen = self.seen.clone();
        seen.or_else(|| Some(Arc::new(self.clone())))
    }

    /// The changed objects of a kind.
    pub(crate) fn changed_of_kind(&self, gk: &GroupKind) -> impl Iterator<Item = &ObjectKey> {
        self.changes.iter().filter(move |key| key.gk == *gk)
    }

    /// Whether an object is assumed to differ from what controllers saw.
    pub(crate) fn is_hypothetical(&self, key: &ObjectKey) -> bool {
        !self.changes.is_empty() && self.changes.contains(key)
    }

    /// Whether there is an object of a kind, the assumed one included.
    pub(crate) fn has_any(&self, gk: &GroupKind) -> bool {
        let mut hypothetical = self.hypothetical.iter();
        self.count(gk) > 0 || hypothetical.any(|object| object.key.gk == *gk)
    }

    /// Gives an object of a manifest the reported status of the stored one: the API server ignores the status of manifests. A new
    /// object, or one with another spec, has none, because the controllers have not judged that yet.
    pub fn replace_reported(&self, object: &mut Object) {
        let stored = self.get(&object.key);
        let stored = stored.filter(|stored| stored.has_same_spec(object));
        object.reported = stored.and_then(|stored| stored.reported.clone());
    }

    /// Fills in the reported status of an object that comes without one, if the spec is unchanged.
    fn keep_reported_of(&self, object: &mut Arc<Object>) {
        let known = self.get(&object.key);
        if let Some(known) = known.filter(|known| known.reported.is_some())
            && object.reported.is_none()
            && known.has_same_spec(object)
        {
            Arc::make_mut(object).reported.clone_from(&known.reported);
        }
    }

    /// The snapshot with an object that is assumed to exist, for questions about that object alone. Unlike
    /// [`Snapshot::with_change`], it does not index the references of the object, so it costs nothing.
    #[must_use]
    pub fn with_object(&self, object: Arc<Object>) -> Self {
        let names_policies = |object: &Object| edges::filter_refs(object).next().is_some();
        let stored = self.get(&object.key);
        if names_policies(&object) || stored.is_some_and(|stored| names_policies(stored)) {
            // Policies that its filters name, before or after the change, are attached to it.
            return self.with_change(Change::Applied(object));
        }
        let mut next = self.clone();
        next.acceptances.change(&object.key.gk);
        if self.is_changed_by(&object) {
            next.changes.insert(object.key.clone());
        }
        next.hypothetical = Some(object);
        next.seen = self.as_seen();
        next
    }
}
