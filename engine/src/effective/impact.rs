//! The difference between the effective policies of two snapshots, by effective target.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use crate::attachment::conflict_at_another_target::affected_by_policy;
use crate::effective::renames::{Renames, with_rules};
use crate::effective::{PathScope, PathSet, Resolver, Routes};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, Place, PrehashedBuildHasher};
use crate::model::level::Level;
use crate::model::object::{Node, Object, is_route};
use crate::model::section;
use crate::model::shared::Shared;
use crate::policy::Policy;
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::{
    AncestorPath, RoutePaths, listener_endpoint, listener_owners_around, missing_class, places,
    routes_in_conflict, with_sets,
};

mod grants;
mod matched_listeners;
mod owners;
mod paths;
mod rejections;
mod scope_pair;

use owners::{changes_with_sets, routes_of_owners};
pub use paths::SettingsComparison;
use paths::{ComparedPaths, Comparison};
use rejections::add_affected_by_rejections;
use scope_pair::extents;

/// Paths on which the effective policy of a kind changes in the same way. Each ancestor path is combined with each
/// route path, as they are after the change, or as they were if they are gone.
#[derive(Clone, Debug)]
pub struct EffectiveChange {
    /// The paths.
    pub paths: PathSet,
    /// The kind of policy.
    pub kind: GroupKind,
    /// The effective policy before; empty if no policy was in force.
    pub before: Shared<EffectivePolicy>,
    /// The effective policy after.
    pub after: Shared<EffectivePolicy>,
    /// Whether the paths exist before and after. Of a path that appears or disappears: whether its route path and its listener do,
    /// and the change edits no route.
    pub exists_before_and_after: bool,
    /// Whether requests reached the effective targets before, and reach them on no path after.
    pub detached: bool,
    /// Whether requests take these paths no longer, and no others that the change adds in their place.
    pub no_longer_taken: bool,
    /// For paths by which requests come only after the change, while others came by other paths before: the effective
    /// policies on these other paths. `None` if nothing was in force on one of them, or the same as on the new paths.
    pub on_replaced_paths: Option<FormerEffective>,
}

/// Effective policies, each once. The same for all paths that appear beside paths with these.
pub type FormerEffective = Shared<Vec<Shared<EffectivePolicy>>>;

/// One path with a change.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The effective target.
    pub target: Place,
    /// The places of the path.
    pub path: Vec<Place>,
    /// The change.
    pub change: Rc<EffectiveChange>,
}

// === impl EffectiveChange ===

impl EffectiveChange {
    /// Whether settings come into force, go out of it or have another value. They do not on a path that appears and on
    /// which nothing is in force.
    pub fn alters_settings(&self) -> bool {
        self.on_replaced_paths.is_none() || !self.before.same_settings(&self.after)
    }

    /// Whether it counts as a change of policy. A path that appears or disappears with its listener, route or backend does not,
    /// unless requests came by other paths before.
    pub fn is_policy_change(&self) -> bool {
        self.exists_before_and_after || self.on_replaced_paths.is_some()
    }

    /// The number of paths.
    pub fn count(&self) -> usize {
        self.paths.ancestors.len() * self.paths.routes.len()
    }

    /// The same changes, one path each.
    pub fn each_path(&self) -> impl Iterator<Item = Self> {
        let ancestor_paths = self.paths.ancestors.iter();
        let route_paths = &self.paths.routes;
        let paths = ancestor_paths.flat_map(|ancestor_path| {
            route_paths
                .iter()
                .map(move |route_path| (ancestor_path, route_path))
        });
        paths.map(|(ancestor_path, route_path)| Self {
            paths: PathSet {
                ancestors: vec![ancestor_path.clone()].into(),
                routes: RoutePaths::from(vec![route_path.clone()]),
            },
            ..self.clone()
        })
    }
}

/// Every path whose effective policy differs after a change of these objects, sorted by target and path.
pub fn impact(before: &Snapshot, after: &Snapshot, objects: &[ObjectKey]) -> Vec<Changed> {
    impact_renamed(before, after, Renames::NONE, objects)
}

/// Like [`impact`], with objects that the change renames. All names are those after the change.
pub fn impact_renamed(
    before: &Snapshot,
    after: &Snapshot,
    renames: &Renames,
    objects: &[ObjectKey],
) -> Vec<Changed> {
    let mut earlier = Resolver::new(before);
    let mut later = earlier.for_snapshot(after);
    let all = diff_renamed(&mut earlier, &mut later, renames, objects);
    let all = all.into_iter().map(Rc::new);
    let mut changed: Vec<Changed> = all.flat_map(|change| paths_of(&change)).collect();
    changed.sort_by(|a, b| {
        let (one, other) = (&a.change.kind, &b.change.kind);
        (&a.target, one, &a.path).cmp(&(&b.target, other, &b.path))
    });
    changed
}

fn paths_of(change: &Rc<EffectiveChange>) -> Vec<Changed> {
    let (ancestor_paths, route_paths) = (change.paths.ancestors.iter(), &change.paths.routes);
    let paths = ancestor_paths.flat_map(|ancestor_path| {
        route_paths
            .iter()
            .map(move |route_path| places(ancestor_path, Some(route_path)))
    });
    let changed = paths.filter_map(|path| {
        let path: Vec<Place> = path.into_iter().cloned().collect();
        Some(Changed {
            target: path.last()?.clone(),
            path,
            change: change.clone(),
        })
    });
    changed.collect()
}

/// The difference between two resolvers after a change of `objects`, in no particular order.
///
/// Covers the paths around the objects, and around the targets of policies among them, before and after: the cost
/// depends on what the change touches. Empty if one of the resolvers runs out of fuel.
pub fn diff(
    earlier: &mut Resolver<'_>,
    later: &mut Resolver<'_>,
    objects: &[ObjectKey],
) -> Vec<EffectiveChange> {
    diff_renamed(earlier, later, Renames::NONE, objects)
}

/// Like [`diff`], with objects that the change renames. All names are those after the change. The names of rules are those
/// of the rules with the same match after it.
pub fn diff_renamed(
    earlier: &mut Resolver<'_>,
    later: &mut Resolver<'_>,
    renames: &Renames,
    objects: &[ObjectKey],
) -> Vec<EffectiveChange> {
    let (before, after) = (earlier.snapshot(), later.snapshot());
    let renames = &*with_rules(renames, [before, after], objects);
    let kinds = compared_by_kind(earlier, later, renames, objects);
    // If the change edits a route, its new or lost listeners are intended and are not reported as changes of policies.
    let by_itself = objects.iter().any(|key| is_route(&key.gk));
    let former = |ancestor_path: &AncestorPath| renames.former_place(ancestor_path.last()?);
    let shut = |ancestor_path: &AncestorPath| {
        !by_itself
            && former(ancestor_path).is_some_and(|place| is_there(before, &place))
            && ancestor_path
                .last()
                .is_some_and(|place| is_there(after, place))
    };
    let former_endpoint = |ancestor_path: &AncestorPath| {
        let endpoint = listener_endpoint(before, &former(ancestor_path)?)?;
        Some(renames.later_endpoint(endpoint))
    };
    let endpoint = |ancestor_path: &AncestorPath| {
        ancestor_path
            .last()
            .and_then(|place| listener_endpoint(after, place))
    };
    let mut changes = Vec::new();
    for (kind, touched) in &kinds {
        let mut comparison =
            Comparison::new(kind, &shut, [&former_endpoint, &endpoint], later.ids());
        let (mut old, mut new) = (ComparedPaths::default(), ComparedPaths::default());
        let extents = extents(earlier, later, renames, kind, &touched.objects);
        let end = extents.iter().filter_map(|extent| extent.scope.end()).max();
        let own_end = end_of(before, kind).max(end_of(after, kind));
        // Paths through a changed route are already covered, unless a backend made them longer.
        let mut routes = touched.routes.iter();
        let seen = end == Some(own_end) && routes.all(|route| touched.objects.contains(route));
        let over = !touched.routes.is_empty() && !seen;
        let routes_before = renames.former_routes(&touched.routes);
        for around in &extents {
            let groups = |resolver: &mut Resolver<'_>, routes: &Routes, key, extent: &PathScope| {
                if over && extent.end() == end {
                    resolver.paths_without_routes(routes, key, kind, extent)
                } else {
                    resolver.paths_with_scope(key, kind, extent)
                }
            };
            if let Some((key, extent)) = &around.former {
                let groups = groups(earlier, &routes_before, key, extent);
                old.note(&renames.later_paths(&groups), &mut comparison);
                earlier.forget();
            }
            let groups = groups(later, &touched.routes, around.key, &around.scope);
            new.note(&groups, &mut comparison);
            later.forget();
            if earlier.is_spent() || later.is_spent() {
                return Vec::new();
            }
        }
        if over {
            let end = end.unwrap_or(own_end);
            let groups = earlier.paths_over_routes(&routes_before, kind, end);
            old.note(&renames.later_paths(&groups), &mut comparison);
            let groups = later.paths_over_routes(&touched.routes, kind, end);
            new.note(&groups, &mut comparison);
        }
        if later.is_limited() {
            later.charge(Comparison::compared_one_by_one(&old, &new) / fuel::PATHS);
        }
        if earlier.is_spent() || later.is_spent() {
            return Vec::new();
        }
        changes.extend(comparison.finish(&old, &new));
    }
    changes
}

/// The objects and routes around which effective policies may change with `objects`, by policy kind, under the names
/// after the change.
fn compared_by_kind(
    earlier: &mut Resolver<'_>,
    later: &mut Resolver<'_>,
    renames: &Renames,
    objects: &[ObjectKey],
) -> BTreeMap<GroupKind, ObjectsToCompare> {
    let mut kinds: BTreeMap<GroupKind, ObjectsToCompare> = BTreeMap::new();
    let changed: HashSet<&ObjectKey, PrehashedBuildHasher> = objects.iter().collect();
    let used = |snapshot: &Snapshot| snapshot.used_kinds().cloned().collect::<Vec<_>>();
    let (used_before, used_after) = (used(earlier.snapshot()), used(later.snapshot()));
    if renames.is_empty() {
        for key in objects {
            add_objects_to_compare(earlier, key, &changed, &used_before, &mut kinds);
            add_objects_to_compare(later, key, &changed, &used_after, &mut kinds);
        }
        add_affected_by_rejections(earlier, objects, &used_before, &mut kinds);
        add_affected_by_rejections(later, objects, &used_after, &mut kinds);
        return kinds;
    }
    let former: Vec<ObjectKey> = objects
        .iter()
        .filter_map(|key| renames.former(key))
        .collect();
    let changed_before: HashSet<&ObjectKey, PrehashedBuildHasher> = former.iter().collect();
    let mut kinds_before: BTreeMap<GroupKind, ObjectsToCompare> = BTreeMap::new();
    for key in &former {
        add_objects_to_compare(
            earlier,
            key,
            &changed_before,
            &used_before,
            &mut kinds_before,
        );
    }
    for key in objects {
        add_objects_to_compare(later, key, &changed, &used_after, &mut kinds);
    }
    add_affected_by_rejections(earlier, &former, &used_before, &mut kinds_before);
    add_affected_by_rejections(later, objects, &used_after, &mut kinds);
    for (kind, affected) in kinds_before {
        let known = kinds.entry(kind).or_default();
        let objects = affected.objects.iter().map(|key| renames.later(key));
        known.objects.extend(objects);
        let routes: Vec<ObjectKey> = affected
            .routes
            .iter()
            .map(|key| renames.later(key))
            .collect();
        known.routes.extend(&routes);
    }
    kinds
}

/// The levels of objects above routes that may be targets themselves.
const ABOVE_ROUTES: [Level; 3] = [Level::Gateway, Level::ListenerSet, Level::Frontend];

/// The objects around which effective policies of these kinds may change with `objects`, in the state of a resolver:
/// also where no policy of the kind exists. Empty if the resolver runs out of fuel.
pub fn objects_to_compare(
    resolver: &mut Resolver<'_>,
    objects: &[ObjectKey],
    kinds: &[GroupKind],
) -> BTreeMap<GroupKind, BTreeSet<ObjectKey>> {
    let changed: HashSet<&ObjectKey, PrehashedBuildHasher> = objects.iter().collect();
    let mut affected: BTreeMap<GroupKind, ObjectsToCompare> = BTreeMap::new();
    for key in objects {
        add_objects_to_compare(resolver, key, &changed, kinds, &mut affected);
    }
    add_affected_by_rejections(resolver, objects, kinds, &mut affected);
    affected.retain(|kind, _| kinds.contains(kind));
    let mut touched = BTreeMap::new();
    for (kind, affected) in affected {
        let mut all = affected.objects;
        // A policy on a class or a namespace applies to Gateways and ListenerSets, which may be targets themselves.
        let above = |key: &&ObjectKey| !is_route(&key.gk) && !Level::is_of_backend(&key.gk);
        let above_routes: Vec<ObjectKey> = all
            .iter()
            .filter(above)
            .flat_map(|key| resolver.objects_at(key, &ABOVE_ROUTES))
            .collect();
        // Requests of a route come through its Gateways, which may be targets themselves.
        let below = all.iter().filter(|key| !above(key));
        let below: Vec<ObjectKey> = below.chain(affected.routes.iter()).cloned().collect();
        let over_them: BTreeSet<ObjectKey> = below
            .iter()
            .flat_map(|key| resolver.objects_at(key, &ABOVE_ROUTES))
            .collect();
        all.extend(above_routes);
        let around: Vec<ObjectKey> = all.iter().flat_map(|key| resolver.routes_of(key)).collect();
        all.extend(around);
        all.extend(affected.routes.iter().cloned());
        // A policy on a Gateway may reach the backends of its routes.
        let snapshot = resolver.snapshot();
        let routes = all.iter().filter_map(|key| snapshot.get(key));
        let backends = routes.flat_map(|route| route.backends());
        let backends: Vec<ObjectKey> = backends.map(|backend| backend.object.clone()).collect();
        all.extend(backends);
        all.extend(over_them);
        if resolver.is_spent() {
            return BTreeMap::new();
        }
        touched.insert(kind, all);
    }
    touched
}

/// The objects and routes around which effective policies of one kind may change.
#[derive(Debug, Default)]
struct ObjectsToCompare {
    /// Objects whose paths may change.
    objects: BTreeSet<ObjectKey>,
    /// Routes of which every path may change, including paths through other objects.
    routes: Routes,
}

fn end_of(snapshot: &Snapshot, kind: &GroupKind) -> Level {
    snapshot
        .profile(kind)
        .map_or(Level::Rule, |profile| profile.end())
}

/// Finds the policy kinds whose effective policies an object may change, and where. `used` are the kinds that an object
/// other than a policy may concern.
fn add_objects_to_compare(
    resolver: &mut Resolver<'_>,
    key: &ObjectKey,
    changed: &HashSet<&ObjectKey, PrehashedBuildHasher>,
    used: &[GroupKind],
    kinds: &mut BTreeMap<GroupKind, ObjectsToCompare>,
) {
    let snapshot = resolver.snapshot();
    if let Some(policy) = snapshot.policy(key) {
        let touched = kinds.entry(key.gk.clone()).or_default();
        touched.objects.extend(targets(resolver, policy));
        let others = affected_by_policy(snapshot, policy);
        touched.objects.extend(others);
        return;
    }
    if snapshot.profile(&key.gk).is_some() {
        // The policy does not exist on this side; the other side has its targets.
        return;
    }
    let object = snapshot.get(key);
    match object.map(|object| &object.node) {
        Some(Node::Crd(crd)) => {
            let policies = snapshot.policies(&crd.gk);
            let touched = kinds.entry(crd.gk.clone()).or_default();
            touched
                .objects
                .extend(policies.flat_map(|policy| targets(resolver, policy)));
        }
        Some(Node::ReferenceGrant { from, .. }) => {
            for entry in from {
                grants::granted(resolver, key, entry, used, kinds);
            }
        }
        _ => {
            let mut routes = resolver.routes_of(key);
            let mut other_owners: Vec<ObjectKey> = Vec::new();
            let mut around = BTreeSet::new();
            match object.map(|object| (object, &object.node)) {
                // A port or hostname that a set takes or releases may be lost or gained by other owners of its
                // Gateway, including those whose routes attach to nothing while the set exists.
                Some((_, Node::ListenerSet { .. })) => {
                    around = listener_owners_around(snapshot, key);
                }
                Some((route, Node::Route { .. })) => {
                    routes.extend(routes_in_conflict(snapshot, route));
                }
                Some((class, _)) if is_only_class(snapshot, class) => {
                    let others = of_missing_classes(resolver);
                    routes.extend(others.iter().flat_map(|owner| resolver.routes_of(owner)));
                    other_owners.extend(others);
                }
                // Those that change themselves are looked at on their own.
                _ if key.gk.is_core("Namespace") && !changes_with_sets(snapshot, key, changed) => {
                    around = listener_owners_around(snapshot, key);
                }
                _ => {}
            }
            routes.extend(routes_of_owners(resolver, &around));
            other_owners.extend(around);
            // A backend that loses its last route, or gets its first, forms paths of its own.
            let backends = object.into_iter().flat_map(|object| object.backends());
            let backends: BTreeSet<ObjectKey> = backends
                .map(|backend| &backend.object)
                .filter(|backend| !is_used_by_others(snapshot, backend, changed))
                .cloned()
                .collect();
            for kind in used {
                let touched = kinds.entry(kind.clone()).or_default();
                touched.objects.insert(key.clone());
                touched.objects.extend(resolver.called_through(kind, key));
                touched.objects.extend(other_owners.iter().cloned());
                touched.objects.extend(backends.iter().cloned());
                touched.routes.extend(&routes);
            }
        }
    }
}

/// The Gateways whose class does not exist, and their `ListenerSets`. While there is no class at all, each one is assumed
/// to be there.
fn of_missing_classes(resolver: &Resolver<'_>) -> Vec<ObjectKey> {
    let snapshot = resolver.snapshot();
    let gateways = snapshot.objects(&GroupKind::gateway_api("Gateway"));
    let gateways = gateways.filter(|gateway| missing_class(snapshot, gateway).is_some());
    let owners = gateways.flat_map(|gateway| with_sets(snapshot, gateway));
    owners.map(|owner| owner.key.clone()).collect()
}

fn is_only_class(snapshot: &Snapshot, object: &Object) -> bool {
    let gk = &object.key.gk;
    gk.is_gateway_api("GatewayClass") && snapshot.count(gk) == 1
}

/// Whether an unchanged route sends requests to a backend without policies. Then no path begins at the backend,
/// whatever happens to other routes.
fn is_used_by_others(
    snapshot: &Snapshot,
    backend: &ObjectKey,
    changed: &HashSet<&ObjectKey, PrehashedBuildHasher>,
) -> bool {
    // A grant may block a route from another namespace.
    let mut routes = snapshot.using(backend).map(|route| &route.key);
    snapshot.policies_naming(backend).next().is_none()
        && routes.any(|route| route.namespace == backend.namespace && !changed.contains(route))
}

/// The objects that a policy names or selects, and those that clients call through them because of a label.
fn targets(resolver: &Resolver<'_>, policy: &Policy) -> BTreeSet<ObjectKey> {
    let (own, kind) = (&policy.key().namespace, &policy.key().gk);
    let targets = policy.targets.iter();
    let named = targets.flat_map(|target| resolver.targets_of(own, target));
    let named: BTreeSet<ObjectKey> = named.collect();
    let called = named
        .iter()
        .flat_map(|key| resolver.called_through(kind, key));
    let called: BTreeSet<ObjectKey> = called.collect();
    named.into_iter().chain(called).collect()
}

/// Whether a place exists, regardless of the routes that requests take from it.
pub fn is_there(snapshot: &Snapshot, place: &Place) -> bool {
    let object = snapshot.get(&place.object);
    object.is_some_and(|object| match &place.section {
        Some(name) => section::labels(object).contains(name),
        None => true,
    })
}
