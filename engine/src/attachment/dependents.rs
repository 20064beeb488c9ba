//! The policies that controllers accept or reject depending on objects that their settings name.

use std::collections::BTreeSet;

use super::unresolved::services_named_by;
use crate::kinds::profile::SpecPath;
use crate::model::ids::ObjectKey;
use crate::model::maps::HashMap;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// Finds the policies whose settings name one of some objects, or an object that names it in turn.
pub struct Dependents<'a> {
    snapshot: &'a Snapshot,
    objects: BTreeSet<&'a ObjectKey>,
    /// The grants among the objects: each concerns all references into its namespace.
    grants: Vec<&'a ObjectKey>,
    /// The objects that another one names in these fields. Many policies share few such objects.
    known: HashMap<(ObjectKey, &'a [SpecPath]), Vec<&'a ObjectKey>>,
}

// === impl Dependents ===

impl<'a> Dependents<'a> {
    /// Those of these objects.
    pub fn of(snapshot: &'a Snapshot, objects: impl IntoIterator<Item = &'a ObjectKey>) -> Self {
        let objects: BTreeSet<&ObjectKey> = objects.into_iter().collect();
        let grants = objects.iter().copied();
        Self {
            snapshot,
            grants: grants.filter(|key| is_grant(key)).collect(),
            objects,
            known: HashMap::default(),
        }
    }

    /// Whether a policy depends on one of the objects.
    pub fn has(&mut self, policy: &'a Policy) -> bool {
        !self.causes(policy).is_empty()
    }

    /// One of the objects that decides whether controllers accept a policy: the policy itself, or one that it depends on.
    pub fn deciding(&mut self, policy: &'a Policy) -> Option<&'a ObjectKey> {
        let own = self.objects.get(policy.key()).copied();
        own.or_else(|| self.causes(policy).first().copied())
    }

    /// The objects that a policy depends on.
    pub fn causes(&mut self, policy: &'a Policy) -> Vec<&'a ObjectKey> {
        let mut causes = Vec::new();
        for named in &policy.references {
            causes.extend(self.concerning(&named.object));
            if let Some(reference) = policy.profile.references.get(named.field) {
                self.add_named_by(&named.object, &reference.services, &mut causes);
            }
        }
        causes
    }

    /// An object itself if it is among these, and the grants into its namespace.
    fn concerning(&self, named: &ObjectKey) -> impl Iterator<Item = &'a ObjectKey> {
        let grants = self.grants.iter().copied();
        let grants = grants.filter(|grant| grant.namespace == named.namespace);
        grants.chain(self.objects.get(named).copied())
    }

    fn add_named_by(
        &mut self,
        object: &ObjectKey,
        fields: &'a [SpecPath],
        causes: &mut Vec<&'a ObjectKey>,
    ) {
        if fields.is_empty() || !self.may_be_mentioned_by(object) {
            return;
        }
        let id = (object.clone(), fields);
        if !self.known.contains_key(&id) {
            let services = services_named_by(self.snapshot, object, fields);
            let services = services.iter();
            let concerning = services.flat_map(|(_, service)| self.concerning(service));
            let concerning = concerning.collect();
            self.known.insert(id.clone(), concerning);
        }
        causes.extend(self.known.get(&id).into_iter().flatten().copied());
    }

    /// Whether the text of an object's spec has the name of a Service, or the namespace of a grant: without that, it need not be read.
    /// A change may concern many objects.
    fn may_be_mentioned_by(&self, object: &ObjectKey) -> bool {
        let spec = self
            .snapshot
            .get(object)
            .and_then(|one| one.spec.as_deref());
        let spec = spec.unwrap_or_default();
        self.objects.iter().any(|key| {
            key.gk.is_core("Service") && spec.contains(&*key.name)
                || is_grant(key) && spec.contains(&*key.namespace)
        })
    }
}

fn is_grant(key: &ObjectKey) -> bool {
    key.gk.is_gateway_api("ReferenceGrant")
}
