//! Objects that `--record` leaves out while no target is named: those other than routes on which
//! policies are in force.

use std::collections::BTreeSet;

use super::subject;
use crate::answer::description::paths_at;
use crate::engine::admission::verdict::escape;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::is_route;
use crate::engine::model::wording;

/// The objects, other than routes, on which a policy is in force. Policies in force on routes are
/// recorded on the routes.
pub(super) fn objects(resolver: &mut Resolver<'_>, within: Option<&str>) -> BTreeSet<ObjectKey> {
    let kinds: Vec<GroupKind> = resolver.snapshot().used_kinds().cloned().collect();
    let mut found = BTreeSet::new();
    for kind in kinds {
        for key in candidates(resolver, &kind) {
            let is_asked = within.is_none_or(|namespace| *key.namespace == *namespace);
            if !is_asked || found.contains(&key) {
                continue;
            }
            let groups = paths_at(resolver, &key.whole(), &kind);
            if groups
                .iter()
                .any(|group| !group.effective.policies().is_empty())
            {
                found.insert(key);
            }
        }
    }
    found
}

/// The objects on which policies of a kind may be in force, if these are not routes.
fn candidates(resolver: &Resolver<'_>, kind: &GroupKind) -> BTreeSet<ObjectKey> {
    let snapshot = resolver.snapshot();
    let Some(profile) = snapshot.profile(kind) else {
        return BTreeSet::new();
    };
    if !profile.is_inherited() {
        let targets = snapshot.policies(kind).flat_map(|policy| {
            let own = &policy.key().namespace;
            let targets = policy.targets.iter();
            targets.flat_map(move |target| resolver.targets_of(own, target))
        });
        return targets.filter(|key| !is_route(&key.gk)).collect();
    }
    if !profile.end().is_above_routes() {
        return BTreeSet::new();
    }
    let owners = ["Gateway", "ListenerSet"].map(GroupKind::gateway_api);
    let owners = owners.iter().flat_map(|gk| snapshot.objects(gk));
    owners.map(|object| object.key.clone()).collect()
}

/// A note about them, with the arguments that would record them.
pub(super) fn line(objects: &BTreeSet<ObjectKey>) -> Option<String> {
    let first = objects.first()?;
    let example = subject::text(&first.whole());
    Some(escape(&format!(
        "only routes are recorded unless targets are named; policies are in force on {}, too: --record {example}",
        wording::named(objects)
    )))
}
