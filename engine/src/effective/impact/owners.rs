//! Gateways and `ListenerSets` around a changed object, and the routes that come in through them.

use std::collections::{BTreeSet, HashSet};

use crate::effective::Resolver;
use crate::model::ids::{ObjectKey, PrehashedBuildHasher};
use crate::model::object::is_route;
use crate::state::snapshot::Snapshot;
use crate::topology::sets_of;

/// Whether all `ListenerSets` in a Namespace change, too.
pub(super) fn changes_with_sets(
    snapshot: &Snapshot,
    namespace: &ObjectKey,
    changed: &HashSet<&ObjectKey, PrehashedBuildHasher>,
) -> bool {
    let mut sets = sets_of(snapshot, namespace);
    sets.all(|set| changed.contains(&set.key))
}

/// The routes that name these Gateways and `ListenerSets`, or come in through them.
pub(super) fn routes_of_owners(
    resolver: &mut Resolver<'_>,
    owners: &BTreeSet<ObjectKey>,
) -> Vec<ObjectKey> {
    let snapshot = resolver.snapshot();
    let named = owners.iter().flat_map(|owner| snapshot.below(owner));
    let named = named.filter(|route| is_route(&route.key.gk));
    let mut routes: Vec<ObjectKey> = named.map(|route| route.key.clone()).collect();
    routes.extend(owners.iter().flat_map(|owner| resolver.routes_of(owner)));
    routes
}
