//! Objects around which a `ReferenceGrant` may change effective policies.

use std::collections::{BTreeMap, BTreeSet};

use super::owners::routes_of_owners;
use super::{ObjectsToCompare, targets};
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::GrantFrom;
use crate::state::grants::routes_into;
use crate::topology::listener_owners_around;

/// Adds what a grant allows in its namespace: targets of policies, backends of routes, and certificates of listeners.
pub(super) fn granted(
    resolver: &mut Resolver<'_>,
    grant: &ObjectKey,
    entry: &GrantFrom,
    used: &[GroupKind],
    kinds: &mut BTreeMap<GroupKind, ObjectsToCompare>,
) {
    let snapshot = resolver.snapshot();
    if snapshot.profile(&entry.gk).is_some() {
        let policies = snapshot.policies(&entry.gk);
        let there = policies.filter(|policy| policy.key().namespace == entry.namespace);
        let touched = kinds.entry(entry.gk.clone()).or_default();
        for policy in there {
            let around = targets(resolver, policy).into_iter();
            let around = around.filter(|key| key.namespace == grant.namespace);
            touched.objects.extend(around);
        }
        return;
    }
    if entry.gk.has_listeners() {
        let owners = listener_owners_around(snapshot, grant);
        let routes: BTreeSet<ObjectKey> = routes_of_owners(resolver, &owners).into_iter().collect();
        for kind in used {
            let touched = kinds.entry(kind.clone()).or_default();
            touched.objects.extend(owners.iter().cloned());
            touched.routes.extend(&routes);
        }
        return;
    }
    let routes = routes_into(snapshot, entry, &grant.namespace);
    let routes: BTreeSet<ObjectKey> = routes.into_iter().map(|(route, _)| route).collect();
    // Policies that end above the backends stay the same there, but guardrails may ask for them at the backends.
    for kind in used {
        let touched = kinds.entry(kind.clone()).or_default();
        touched.routes.extend(&routes);
    }
}
