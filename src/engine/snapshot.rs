//! Everything known at one moment. Immutable: a change makes a new snapshot that shares the rest.

use std::sync::Arc;

use imbl::{HashMap, OrdMap, OrdSet};

use super::ids::{GroupKind, ObjectKey};
use super::object::{Crd, Node, Object};
use super::policy::{Policy, Select};
use super::profile::{Profile, ProfileRules};

/// What can happen to the state. Informer events, the what-if of a review and files are all this.
#[derive(Clone, Debug)]
pub enum Change {
    /// An object is there, new or changed.
    Applied(Box<Object>),
    /// An object is gone.
    Deleted(ObjectKey),
    /// The objects of a kind are these and no others (the end of a list).
    Listed(GroupKind, Vec<Object>),
    /// The kind is gone with everything in it.
    Gone(GroupKind),
}

/// Everything known at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    rules: Arc<ProfileRules>,
    kinds: HashMap<GroupKind, Kind>,
    profiles: OrdMap<GroupKind, Arc<Profile>>,
    policies: HashMap<ObjectKey, Arc<Policy>>,
    /// Policies by the object that they name.
    naming: HashMap<ObjectKey, OrdSet<ObjectKey>>,
    /// Policies that select objects of a kind by label.
    selecting: HashMap<GroupKind, OrdSet<ObjectKey>>,
}

/// The objects of one kind.
#[derive(Clone, Debug, Default)]
struct Kind {
    listed: bool,
    objects: HashMap<ObjectKey, Arc<Object>>,
}

// === impl Snapshot ===

impl Snapshot {
    /// An empty snapshot that reads policy kinds by these rules (configuration over built-in).
    pub fn new(rules: Arc<ProfileRules>) -> Self {
        let profile = |gk: &GroupKind| Some((gk.clone(), Arc::new(rules.profile(gk, None)?)));
        let profiles = rules.kinds().filter_map(profile).collect();
        Self {
            rules,
            profiles,
            ..Self::default()
        }
    }

    /// The snapshot after a change. Its cost is that of what the change touches.
    #[must_use]
    pub fn apply(&self, change: Change) -> Self {
        let mut next = self.clone();
        match change {
            Change::Applied(object) => next.insert(*object),
            Change::Deleted(key) => next.remove(&key),
            Change::Listed(gk, objects) => next.list(gk, objects),
            Change::Gone(gk) => {
                next.list(gk.clone(), Vec::new());
                next.kinds.remove(&gk);
            }
        }
        next
    }

    /// An object, if it is known.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.kinds.get(&key.gk)?.objects.get(key)
    }

    /// Whether the objects of a kind are known: it was listed and is not gone.
    pub fn knows(&self, gk: &GroupKind) -> bool {
        self.kinds.get(gk).is_some_and(|kind| kind.listed)
    }

    /// How many objects of a kind are known.
    pub fn count(&self, gk: &GroupKind) -> usize {
        self.kinds.get(gk).map_or(0, |kind| kind.objects.len())
    }

    /// The objects of a kind, in no order.
    pub fn objects(&self, gk: &GroupKind) -> impl Iterator<Item = &Arc<Object>> {
        self.kinds
            .get(gk)
            .into_iter()
            .flat_map(|kind| kind.objects.values())
    }

    /// Policy kinds with their profiles, sorted.
    pub fn policy_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.profiles.keys()
    }

    /// What is known of a policy kind; none when it is none.
    pub fn profile(&self, gk: &GroupKind) -> Option<&Arc<Profile>> {
        self.profiles.get(gk)
    }

    /// A policy, if it is known.
    pub fn policy(&self, key: &ObjectKey) -> Option<&Arc<Policy>> {
        self.policies.get(key)
    }

    /// Policies that name this object, or one of its sections, by name.
    pub fn naming(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Policy>> {
        let keys = self.naming.get(key).into_iter().flatten();
        keys.filter_map(|key| self.policies.get(key))
    }

    /// Policies that select objects of this kind by label.
    pub fn selecting(&self, gk: &GroupKind) -> impl Iterator<Item = &Arc<Policy>> {
        let keys = self.selecting.get(gk).into_iter().flatten();
        keys.filter_map(|key| self.policies.get(key))
    }

    fn insert(&mut self, object: Object) {
        let object = Arc::new(object);
        let key = object.key.clone();
        let kind = self.kinds.entry(key.gk.clone()).or_default();
        kind.objects.insert(key, object.clone());
        if let Node::Crd(crd) = &object.node {
            self.set_profile(&crd.gk, Some(crd));
        } else if let Some(profile) = self.profiles.get(&object.key.gk).cloned() {
            self.set_policy(object, profile);
        }
    }

    fn remove(&mut self, key: &ObjectKey) {
        let removed = self
            .kinds
            .get_mut(&key.gk)
            .and_then(|kind| kind.objects.remove(key));
        if let Some(Node::Crd(crd)) = removed.as_ref().map(|object| &object.node) {
            self.set_profile(&crd.gk, None);
        }
        self.unset_policy(key);
    }

    fn list(&mut self, gk: GroupKind, objects: Vec<Object>) {
        let mut gone: Vec<ObjectKey> = match self.kinds.get(&gk) {
            Some(kind) => {
                let kept: std::collections::HashSet<&ObjectKey> =
                    objects.iter().map(|object| &object.key).collect();
                let keys = kind.objects.keys();
                keys.filter(|key| !kept.contains(key)).cloned().collect()
            }
            None => Vec::new(),
        };
        for key in gone.drain(..) {
            self.remove(&key);
        }
        for object in objects {
            self.insert(object);
        }
        self.kinds.entry(gk).or_default().listed = true;
    }

    /// Facts changed: everything of the kind is read again.
    fn set_profile(&mut self, gk: &GroupKind, crd: Option<&Crd>) {
        let profile = self.rules.profile(gk, crd).map(Arc::new);
        if self.profiles.get(gk) == profile.as_ref() {
            return;
        }
        let objects: Vec<Arc<Object>> = self.objects(gk).cloned().collect();
        if let Some(profile) = profile {
            self.profiles.insert(gk.clone(), profile.clone());
            for object in objects {
                self.set_policy(object, profile.clone());
            }
        } else {
            self.profiles.remove(gk);
            for object in objects {
                self.unset_policy(&object.key);
            }
        }
    }

    fn set_policy(&mut self, object: Arc<Object>, profile: Arc<Profile>) {
        let key = object.key.clone();
        self.unset_policy(&key);
        let policy = Arc::new(Policy::read(object, profile));
        for target in &policy.targets {
            let policies = match target.object(&key.namespace) {
                Some(named) => self.naming.entry(named).or_default(),
                None => self.selecting.entry(target.gk.clone()).or_default(),
            };
            policies.insert(key.clone());
        }
        self.policies.insert(key, policy);
    }

    fn unset_policy(&mut self, key: &ObjectKey) {
        let Some(policy) = self.policies.remove(key) else {
            return;
        };
        for target in &policy.targets {
            match (&target.select, target.object(&key.namespace)) {
                (Select::Name(_), Some(named)) => forget(&mut self.naming, &named, key),
                _ => forget(&mut self.selecting, &target.gk, key),
            }
        }
    }
}

/// Takes a policy out of an index; an entry that is left empty goes with it.
fn forget<K: Clone + Eq + std::hash::Hash>(
    index: &mut HashMap<K, OrdSet<ObjectKey>>,
    at: &K,
    policy: &ObjectKey,
) {
    if let Some(policies) = index.get_mut(at) {
        policies.remove(policy);
        if policies.is_empty() {
            index.remove(at);
        }
    }
}
