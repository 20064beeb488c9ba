//! The policies that controllers accept or reject depending on objects that their settings name.

use super::unresolved::services_named_by;
use crate::kinds::profile::SpecPath;
use crate::model::ids::ObjectKey;
use crate::model::maps::HashMap;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// Finds the policies whose settings name one of some objects, or an object that names it in turn.
pub struct Dependents<'a> {
    snapshot: &'a Snapshot,
    objects: &'a [&'a ObjectKey],
    /// Whether an object names one of them in these fields. Many policies share few such objects.
    known: HashMap<(ObjectKey, &'a [SpecPath]), bool>,
}

// === impl Dependents ===

impl<'a> Dependents<'a> {
    /// Those of these objects. A `ReferenceGrant` concerns all references into its namespace.
    pub fn of(snapshot: &'a Snapshot, objects: &'a [&'a ObjectKey]) -> Self {
        Self {
            snapshot,
            objects,
            known: HashMap::default(),
        }
    }

    /// Whether this policy is one.
    pub fn has(&mut self, policy: &'a Policy) -> bool {
        policy.references.iter().any(|named| {
            self.are_concerned(&named.object)
                || (policy.profile.references)
                    .get(named.field)
                    .is_some_and(|reference| self.are_named_by(&named.object, &reference.services))
        })
    }

    fn are_concerned(&self, named: &ObjectKey) -> bool {
        self.objects.iter().any(|object| {
            *object == named
                || (object.gk.is_gateway_api("ReferenceGrant")
                    && object.namespace == named.namespace)
        })
    }

    fn are_named_by(&mut self, object: &ObjectKey, fields: &'a [SpecPath]) -> bool {
        let may_be =
            |key: &ObjectKey| key.gk.is_core("Service") || key.gk.is_gateway_api("ReferenceGrant");
        if fields.is_empty() || !self.objects.iter().any(|key| may_be(key)) {
            return false;
        }
        // Without reading the spec: a change may concern many objects.
        let spec = self
            .snapshot
            .get(object)
            .and_then(|one| one.spec.as_deref());
        let spec = spec.unwrap_or_default();
        let is_mentioned = |key: &&&ObjectKey| {
            let word = if key.gk.is_core("Service") {
                &key.name
            } else {
                &key.namespace
            };
            spec.contains(&**word)
        };
        if !self.objects.iter().any(|key| is_mentioned(&key)) {
            return false;
        }
        let id = (object.clone(), fields);
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let services = services_named_by(self.snapshot, object, fields);
        let are_named = services
            .iter()
            .any(|(_, service)| self.are_concerned(service));
        self.known.insert(id, are_named);
        are_named
    }
}
