//! Everything known at one moment. Immutable: a change makes a new snapshot that shares the unchanged parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::quality::RandomState;
use imbl::{OrdMap, OrdSet};
use serde_json::Value;

use crate::kinds::profile::{Profile, ProfileRules, is_policy_kind};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::listener_acceptance::GatewayListeners;
use crate::model::maps::HashSet;
use crate::model::object::{Annotations, Crd, Node, Object};
use crate::policy::Policy;

mod acceptances;
mod attachment_index;
mod controllers;
mod edges;
mod filters;
mod hypothetical;
mod object_map;
mod small_set;

pub use edges::{class_key, namespace_key};
use object_map::ObjectMap;

type HashMap<K, V> = imbl::GenericHashMap<K, V, RandomState, imbl::shared_ptr::DefaultSharedPtr>;

/// A change of the state, whether from an informer event, from the hypothetical change of a review, or from files.
#[derive(Clone, Debug)]
pub enum Change {
    /// An object exists, new or changed.
    Applied(Arc<Object>),
    /// An object is gone, or never existed.
    Deleted(ObjectKey),
    /// These are all objects of a kind (the end of a list).
    Listed(GroupKind, Vec<Arc<Object>>),
    /// These are all objects of a kind in one namespace.
    ListedIn(GroupKind, Arc<str>, Vec<Arc<Object>>),
    /// Not all objects of a served kind may be read: an unknown object may exist.
    Hidden(GroupKind),
    /// The kind is gone with all of its objects.
    Gone(GroupKind),
    /// The facts about policy kinds that do not come from their CRDs are replaced.
    Rules(Arc<ProfileRules>),
}

/// Everything known at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    rules: Arc<ProfileRules>,
    kinds: HashMap<GroupKind, Kind>,
    profiles: OrdMap<GroupKind, Arc<Profile>>,
    policies: ObjectMap<Arc<Policy>>,
    /// Policies that a controller rejects, if other objects are needed to know on which paths.
    rejected_on_some_paths: OrdSet<ObjectKey>,
    attachments: attachment_index::AttachmentIndex,
    edges: edges::Edges,
    /// `ReferenceGrants` by namespace.
    grants: HashMap<Arc<str>, OrdSet<ObjectKey>>,
    /// An object that is assumed to exist.
    hypothetical: Option<Arc<Object>>,
    /// Objects that are assumed to change, or to be created. Reports of controllers about other objects that depend
    /// on them may no longer hold.
    changes: OrdSet<ObjectKey>,
    /// The state without these changes, which controllers reported about; `None` if nothing is assumed.
    seen: Option<Arc<Snapshot>>,
    acceptances: acceptances::Acceptances,
}

/// The objects of one kind.
#[derive(Clone, Debug, Default)]
struct Kind {
    /// Whether these are all objects of the kind.
    listed: bool,
    /// Namespaces whose objects are all known, if the kind is known in some namespaces only.
    listed_in: OrdSet<Arc<str>>,
    /// Whether more objects may exist.
    hidden: bool,
    /// Objects that are known not to exist, if the kind is not known as a whole.
    absent: OrdSet<ObjectKey>,
    objects: ObjectMap<Arc<Object>>,
}

// === impl Snapshot ===

impl Snapshot {
    /// An empty snapshot that reads policy kinds by these rules (configuration over built-in).
    pub fn new(rules: Arc<ProfileRules>) -> Self {
        let profile = |gk: &GroupKind| Some((gk.clone(), rules.profile(gk, None)?));
        let profiles = rules.kinds().filter_map(profile).collect();
        Self {
            rules,
            profiles,
            ..Self::default()
        }
    }

    /// The snapshot after a change. The cost depends on what the change touches.
    #[must_use]
    pub fn apply(&self, change: Change) -> Self {
        let mut next = self.clone();
        match change {
            Change::Applied(object) => next.insert(object, None),
            Change::Deleted(key) => next.remove(&key),
            Change::Listed(gk, objects) => next.list(gk, objects),
            Change::ListedIn(gk, namespace, objects) => next.list_in(gk, namespace, objects),
            Change::Hidden(gk) => {
                next.acceptances.change(&gk);
                next.kinds.entry(gk).or_default().hidden = true;
            }
            Change::Gone(gk) => {
                next.list(gk.clone(), Vec::new());
                next.kinds.remove(&gk);
            }
            Change::Rules(rules) => next.set_rules(rules),
        }
        next
    }

    /// The acceptance of the listeners of a Gateway and of its `ListenerSets`, found once while nothing changes that it
    /// depends on.
    pub(crate) fn acceptance(
        &self,
        gateway: &Object,
        find: impl FnOnce() -> GatewayListeners,
    ) -> Arc<GatewayListeners> {
        self.acceptances.get_or_find(&gateway.key, find)
    }

    /// An object, if it is known.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        match &self.hypothetical {
            Some(object) if object.key == *key => Some(object),
            _ => self.kinds.get(&key.gk)?.objects.get(key),
        }
    }

    /// Whether all objects of a kind are known: the kind was listed and is not gone.
    pub fn knows(&self, gk: &GroupKind) -> bool {
        self.kinds.get(gk).is_some_and(|kind| kind.listed)
    }

    /// Whether an object is known not to exist. An unknown object may exist if its kind is not served, was not
    /// listed, was listed only in other namespaces, or if its name stands for several.
    pub fn lacks(&self, key: &ObjectKey) -> bool {
        let known = |kind: &Kind| {
            kind.listed || kind.listed_in.contains(&key.namespace) || kind.absent.contains(key)
        };
        let is_known = self.kinds.get(&key.gk).is_some_and(known);
        is_known && self.get(key).is_none() && !self.rules.is_for_all(key)
    }

    /// Every kind that was listed or has objects, in no order.
    pub fn known_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.kinds.keys()
    }

    /// The number of known objects of a kind.
    pub fn count(&self, gk: &GroupKind) -> usize {
        self.kinds.get(gk).map_or(0, |kind| kind.objects.len())
    }

    /// The objects of a kind, in no particular order.
    pub fn objects(&self, gk: &GroupKind) -> impl Iterator<Item = &Arc<Object>> + use<'_> {
        self.kinds
            .get(gk)
            .into_iter()
            .flat_map(|kind| kind.objects.values())
    }

    /// Every object, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.kinds.values().flat_map(|kind| kind.objects.values())
    }

    /// Policy kinds with their profiles, sorted.
    pub fn policy_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.profiles.keys()
    }

    /// Policy kinds that have policies, sorted.
    pub fn used_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.policy_kinds().filter(|kind| self.count(kind) > 0)
    }

    /// The policy kinds that control fields of a kind, sorted.
    pub fn controls<'a>(&'a self, gk: &'a GroupKind) -> impl Iterator<Item = &'a Arc<Profile>> {
        let profiles = self.profiles.values();
        profiles.filter(|profile| profile.controls.iter().any(|c| c.target == *gk))
    }

    /// The profile of a policy kind; `None` if the kind is not a policy kind.
    pub fn profile(&self, gk: &GroupKind) -> Option<&Arc<Profile>> {
        self.profiles.get(gk)
    }

    /// The CRDs of kinds.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Crd>> {
        let objects = self.kinds.get(&GroupKind::CRD).into_iter();
        let objects = objects.flat_map(|kind| kind.objects.values());
        objects.filter_map(|object| match &object.node {
            Node::Crd(crd) => Some(crd),
            _ => None,
        })
    }

    /// The CRD of a kind, if there is one.
    pub fn definition(&self, gk: &GroupKind) -> Option<&Crd> {
        let mut definitions = self.definitions();
        let definition = definitions.find(|crd| crd.gk == *gk);
        definition.map(|crd| &**crd)
    }

    /// Policy kinds that have policies but no CRD: only their profiles describe their fields.
    /// Sorted.
    pub fn undefined_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        let defined: HashSet<&GroupKind> = self.definitions().map(|crd| &crd.gk).collect();
        self.used_kinds()
            .filter(move |kind| !defined.contains(kind))
    }

    /// Whether a CRD defines a policy kind without a built-in profile.
    pub fn is_new_policy_kind(&self, crd: &Crd) -> bool {
        is_policy_kind(&self.rules, crd) && !self.rules.is_builtin(&crd.gk)
    }

    /// Whether two sets of annotations agree in the annotations that profiles name.
    pub fn same_annotations(&self, one: &Annotations, other: &Annotations) -> bool {
        let rules = &self.rules;
        let read = |key: &Arc<str>| rules.retained_fields().annotation(key);
        let mut keys = one.keys().chain(other.keys()).filter(|key| read(key));
        keys.all(|key| one.get(key) == other.get(key))
    }

    /// Whether the profile of some policy kind names a controller, as one that applies the kind or as one that does not.
    pub fn knows_controller(&self, controller: &Arc<str>) -> bool {
        let mut profiles = self.profiles.values();
        profiles.any(|profile| profile.names_controller(controller))
    }

    /// A policy, if it is known.
    pub fn policy(&self, key: &ObjectKey) -> Option<&Arc<Policy>> {
        self.policies.get(key)
    }

    /// Every policy of a kind, in no particular order.
    pub fn policies(&self, gk: &GroupKind) -> impl Iterator<Item = &Arc<Policy>> {
        let keys = self.objects(gk).map(|object| &object.key);
        keys.filter_map(|key| self.policies.get(key))
    }

    /// Policies that a controller rejects, if other objects are needed to know on which paths; sorted.
    pub(crate) fn rejected_on_some_paths(&self) -> impl Iterator<Item = &Arc<Policy>> {
        let keys = self.rejected_on_some_paths.iter();
        keys.filter_map(|key| self.policies.get(key))
    }

    /// Policies that may name an object or a section of it. The caller checks whether they do.
    pub fn policies_naming(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Policy>> {
        self.attachments.of_object(key)
    }

    /// Whether no policy may name an object or a section of it.
    pub(crate) fn has_no_policies(&self, key: &ObjectKey) -> bool {
        self.attachments.has_no_policies(key)
    }

    /// The objects that name `key` as their class, parent or Namespace; sorted.
    pub fn below(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Object>> + use<'_> {
        self.edges.below(key).filter_map(|key| self.get(key))
    }

    /// Like [`Snapshot::below`], including an object that is assumed to exist, which comes last. Such an object counts by the
    /// references that it has, not by those of the stored object.
    pub fn naming(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Object>> {
        let hypothetical = self.hypothetical.as_ref();
        let others = self
            .below(key)
            .filter(move |object| hypothetical.is_none_or(|one| one.key != object.key));
        others.chain(hypothetical.filter(|one| edges::above(one).contains(key)))
    }

    /// Those of [`Snapshot::naming`] that are of a kind.
    pub fn naming_of<'a>(
        &'a self,
        key: &'a ObjectKey,
        kind: &'a GroupKind,
    ) -> impl Iterator<Item = &'a Arc<Object>> {
        let hypothetical = self.hypothetical.as_ref().filter(|o| o.key.gk == *kind);
        let others = self
            .edges
            .below_of(key, kind)
            .filter_map(|key| self.get(key));
        let others = others.filter(move |o| hypothetical.is_none_or(|one| one.key != o.key));
        others.chain(hypothetical.filter(|one| edges::above(one).contains(key)))
    }

    /// The routes that send requests to an object, sorted; a route that is assumed to exist comes last.
    pub fn using(&self, key: &ObjectKey) -> impl Iterator<Item = &Arc<Object>> {
        let hypothetical = self.hypothetical.as_ref();
        let others = self.edges.using(key).filter_map(|key| self.get(key));
        let others = others.filter(move |o| hypothetical.is_none_or(|one| one.key != o.key));
        let names = |route: &&Arc<Object>| route.backends().any(|b| b.object == *key);
        others.chain(hypothetical.filter(names))
    }

    /// The `ReferenceGrants` of a namespace; sorted.
    pub fn grants(&self, namespace: &Arc<str>) -> impl Iterator<Item = &Arc<Object>> {
        let keys = self.grants.get(namespace).into_iter().flatten();
        keys.filter_map(|key| self.get(key))
    }

    /// Removes the parts of an object that the engine never reads.
    fn trim(&self, object: &mut Arc<Object>) {
        let keeps = self.rules.retained_fields();
        if !object.is_trimmed(keeps) {
            Arc::make_mut(object).trim(keeps);
        }
    }

    /// Inserts or replaces an object. `spec` is that of a policy, if it has been parsed already.
    fn insert(&mut self, mut object: Arc<Object>, spec: Option<&Value>) {
        self.trim(&mut object);
        let key = object.key.clone();
        let kind = self.kinds.entry(key.gk.clone()).or_default();
        kind.absent.remove(&key);
        let known = kind.objects.get(&key);
        if known.is_some_and(|known| Arc::ptr_eq(known, &object) || known.is_identical(&object)) {
            return; // A list repeated the object, or only parts changed that are not kept, such as status.
        }
        self.acceptances.change(&key.gk);
        let mut filters = filters::of_rules(&object);
        if let Some(old) = kind.objects.insert(key.clone(), object.clone()) {
            filters.extend(filters::of_rules(&old));
            self.edges.unlink(&old);
        }
        match &object.node {
            Node::Crd(crd) => return self.set_profile(&crd.gk, Some(crd)),
            Node::ReferenceGrant { .. } => {
                let grants = self.grants.entry(key.namespace.clone()).or_default();
                grants.insert(key.clone());
            }
            _ => {}
        }
        match self.profiles.get(&key.gk).cloned() {
            Some(profile) => self.set_policy(object, profile, spec),
            None => self.edges.link(&object),
        }
        self.set_named_by_filters(filters);
    }

    fn remove(&mut self, key: &ObjectKey) {
        self.acceptances.change(&key.gk);
        let kind = self.kinds.entry(key.gk.clone()).or_default();
        if !kind.listed && !kind.listed_in.contains(&key.namespace) {
            kind.absent.insert(key.clone());
        }
        let Some(removed) = kind.objects.remove(key) else {
            return;
        };
        self.edges.unlink(&removed);
        self.unset_policy(key);
        self.set_named_by_filters(filters::of_rules(&removed));
        match &removed.node {
            Node::Crd(crd) => self.set_profile(&crd.gk, None),
            Node::ReferenceGrant { .. } => {
                if let Some(grants) = self.grants.get_mut(&key.namespace) {
                    grants.remove(key);
                    if grants.is_empty() {
                        self.grants.remove(&key.namespace);
                    }
                }
            }
            _ => {}
        }
    }

    fn list(&mut self, gk: GroupKind, objects: Vec<Arc<Object>>) {
        self.acceptances.change(&gk);
        self.replace(&gk, None, objects);
        let kind = self.kinds.entry(gk).or_default();
        kind.listed = true;
        kind.hidden = false;
        kind.listed_in = OrdSet::new();
        kind.absent = OrdSet::new();
    }

    fn list_in(&mut self, gk: GroupKind, namespace: Arc<str>, objects: Vec<Arc<Object>>) {
        self.acceptances.change(&gk);
        self.replace(&gk, Some(&namespace), objects);
        let kind = self.kinds.entry(gk).or_default();
        kind.listed_in.insert(namespace);
    }

    /// Replaces all objects of a kind, in a namespace or everywhere.
    fn replace(&mut self, gk: &GroupKind, namespace: Option<&Arc<str>>, objects: Vec<Arc<Object>>) {
        let kept: std::collections::HashSet<&ObjectKey> =
            objects.iter().map(|object| &object.key).collect();
        let kind = self.kinds.get(gk);
        let gone = kind.into_iter().flat_map(|kind| kind.objects.keys());
        let gone = gone.filter(|key| namespace.is_none_or(|namespace| key.namespace == *namespace));
        let gone: Vec<ObjectKey> = gone.filter(|key| !kept.contains(key)).cloned().collect();
        for key in gone {
            self.remove(&key);
        }
        for object in objects {
            self.insert(object, None);
        }
    }

    fn set_rules(&mut self, rules: Arc<ProfileRules>) {
        self.rules = rules;
        // Which listeners are accepted depends on the facts about controllers.
        self.acceptances = acceptances::Acceptances::default();
        let mut kinds: BTreeMap<GroupKind, Option<Arc<Crd>>> = BTreeMap::new();
        let known = self.profiles.keys().chain(self.rules.kinds());
        kinds.extend(known.map(|gk| (gk.clone(), None)));
        let defined = self.definitions();
        kinds.extend(defined.map(|crd| (crd.gk.clone(), Some(crd.clone()))));
        for (gk, crd) in kinds {
            self.set_profile(&gk, crd.as_deref());
        }
    }

    /// Sets the facts about a kind, and reads all of its objects again.
    fn set_profile(&mut self, gk: &GroupKind, crd: Option<&Crd>) {
        let profile = self.rules.profile(gk, crd);
        if self.profiles.get(gk) == profile.as_ref() {
            return;
        }
        let objects: Vec<Arc<Object>> = self.objects(gk).cloned().collect();
        if let Some(profile) = profile {
            self.profiles.insert(gk.clone(), profile.clone());
            for object in objects {
                self.set_policy(object, profile.clone(), None);
            }
        } else {
            self.profiles.remove(gk);
            for object in objects {
                self.unset_policy(&object.key);
                self.edges.link(&object);
            }
        }
    }

    fn set_policy(&mut self, object: Arc<Object>, profile: Arc<Profile>, spec: Option<&Value>) {
        let key = object.key.clone();
        self.unset_policy(&key);
        if object.unread.is_some() {
            // The targets and settings of the policy are unknown.
            return;
        }
        self.edges.unlink(&object); // In the topology, policies are not descendants of their Namespace.
        let mut policy = match spec {
            Some(spec) => Policy::new(object, spec, profile),
            None => Policy::read(object, profile),
        };
        self.add_filters(&mut policy);
        for target in &mut policy.targets {
            if let Some((known, _)) = self.kinds.get_key_value(&target.gk) {
                target.gk.clone_from(known);
            }
        }
        let policy = Arc::new(policy);
        if policy.may_be_rejected_on_some_paths() {
            self.rejected_on_some_paths.insert(key.clone());
        }
        self.attachments.set(&policy);
        self.policies.insert(key, policy);
    }

    fn unset_policy(&mut self, key: &ObjectKey) {
        if let Some(policy) = self.policies.remove(key) {
            self.attachments.unset(&policy);
            self.rejected_on_some_paths.remove(key);
        }
    }
}
