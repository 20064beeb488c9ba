//! The difference between two snapshots, told by effective target.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::attach::named;
use super::effective::{Group, Shape, Survey};
use super::grants::routes_into;
use super::ids::{ByKey, GroupKind, ObjectKey, Place};
use super::level::Level;
use super::maps::HashMap;
use super::merge::Effective;
use super::object::{GrantFrom, Node, is_route};
use super::policy::Policy;
use super::section;
use super::snapshot::Snapshot;
use super::topology::{Lower, Upper, places};

/// A path on which the effective policy of a kind changes.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The effective target.
    pub target: Place,
    /// The places of the path, as it is afterwards, or as it was where it is gone.
    pub path: Vec<Place>,
    /// The kind of policy.
    pub kind: GroupKind,
    /// What was in force; nothing where no policy was.
    pub before: Arc<Effective>,
    /// What is in force afterwards.
    pub after: Arc<Effective>,
    /// Whether the path is there before and afterwards: one that comes or goes with its listener, route
    /// or backend is no change of anything.
    pub stays: bool,
}

/// Every path whose effective policy differs after a change of these objects, by target and path.
///
/// Looked at is what lies around the objects, and around the targets of those that are policies,
/// before and after: the cost is that of what the change touches.
pub fn impact(before: &Snapshot, after: &Snapshot, objects: &[ObjectKey]) -> Vec<Changed> {
    between(&mut Survey::new(before), &mut Survey::new(after), objects)
}

/// The same for two surveys, which may have limits.
pub fn between(was: &mut Survey<'_>, is: &mut Survey<'_>, objects: &[ObjectKey]) -> Vec<Changed> {
    let (before, after) = (was.snapshot(), is.snapshot());
    let mut kinds: BTreeMap<GroupKind, Touched> = BTreeMap::new();
    let changed: HashSet<&ObjectKey, ByKey> = objects.iter().collect();
    for key in objects {
        touch(was, key, &changed, &mut kinds);
        touch(is, key, &changed, &mut kinds);
    }
    let mut found = Vec::new();
    for (kind, touched) in &kinds {
        let (mut old, mut new) = (Paths::default(), Paths::default());
        // One shape for both sides: paths that only differ in where they end are one path.
        let shapes = touched.objects.iter();
        let shapes = shapes.map(|key| (key, was.shape(key, kind).or(is.shape(key, kind))));
        let shapes: Vec<(&ObjectKey, Shape)> = shapes.collect();
        let end = shapes.iter().filter_map(|(_, shape)| shape.end()).max();
        let own_end = end_of(before, kind).max(end_of(after, kind));
        // Paths through a route itself have been looked at already, unless a backend made them longer.
        let seen = end == Some(own_end) && touched.routes.is_subset(&touched.objects);
        let over = !touched.routes.is_empty() && !seen;
        for (key, shape) in &shapes {
            let groups = |survey: &mut Survey<'_>| {
                if over && shape.end() == end {
                    survey.beside(&touched.routes, key, kind, shape)
                } else {
                    survey.again(key, kind, shape)
                }
            };
            note(&groups(was), &mut old);
            note(&groups(is), &mut new);
        }
        if over {
            let end = end.unwrap_or(own_end);
            let groups = |survey: &mut Survey<'_>| survey.over(&touched.routes, kind, end);
            note(&groups(was), &mut old);
            note(&groups(is), &mut new);
        }
        // A route that leaves a listener by itself changes nothing; one that is shut out does.
        let shut = |upper: &Upper| {
            let routes = objects.iter().any(|key| is_route(&key.gk));
            !routes && is_there(before, upper) && is_there(after, upper)
        };
        compare(kind, old, new, &shut, &mut found);
    }
    found.sort_by(|a, b| (&a.target, &a.kind, &a.path).cmp(&(&b.target, &b.kind, &b.path)));
    found
}

/// Compares settings, each pair once: there are many paths and few results.
#[derive(Debug, Default)]
pub struct Same {
    known: HashMap<(*const Effective, *const Effective), Compared>,
}

/// Two settings, held so that an address stays that of what was compared, and whether they are the same.
type Compared = (Arc<Effective>, Arc<Effective>, bool);

impl Same {
    /// Whether the settings are the same, wherever they came from.
    pub fn settings(&mut self, one: &Arc<Effective>, other: &Arc<Effective>) -> bool {
        if Arc::ptr_eq(one, other) {
            return true;
        }
        let id = (Arc::as_ptr(one), Arc::as_ptr(other));
        let compared = || (one.clone(), other.clone(), one.same_settings(other));
        self.known.entry(id).or_insert_with(compared).2
    }
}

/// Where to look for changes of one kind.
#[derive(Debug, Default)]
struct Touched {
    /// Objects whose paths may change.
    objects: BTreeSet<ObjectKey>,
    /// Routes all of whose paths may change, those through other objects too.
    routes: BTreeSet<ObjectKey>,
}

fn end_of(snapshot: &Snapshot, kind: &GroupKind) -> Level {
    snapshot
        .profile(kind)
        .map_or(Level::Rule, |profile| profile.end())
}

/// The kinds whose effective policies an object may change, and where.
fn touch(
    survey: &mut Survey<'_>,
    key: &ObjectKey,
    changed: &HashSet<&ObjectKey, ByKey>,
    kinds: &mut BTreeMap<GroupKind, Touched>,
) {
    let snapshot = survey.snapshot();
    if let Some(policy) = snapshot.policy(key) {
        let touched = kinds.entry(key.gk.clone()).or_default();
        touched.objects.extend(targets(snapshot, policy));
        return;
    }
    if snapshot.profile(&key.gk).is_some() {
        // A policy that is not here: the other side has its targets.
        return;
    }
    let object = snapshot.get(key);
    match object.map(|object| &object.node) {
        Some(Node::Crd(crd)) => {
            let policies = snapshot.policies(&crd.gk);
            let touched = kinds.entry(crd.gk.clone()).or_default();
            touched
                .objects
                .extend(policies.flat_map(|policy| targets(snapshot, policy)));
        }
        Some(Node::ReferenceGrant { from, .. }) => {
            for entry in from {
                granted(snapshot, key, entry, kinds);
            }
        }
        _ => {
            let routes = survey.routes_of(key);
            // A backend that loses its last route, or gets its first one, begins paths of its own.
            let backends = object.into_iter().flat_map(|object| object.backends());
            let backends: BTreeSet<ObjectKey> = backends
                .map(|backend| &backend.object)
                .filter(|backend| !is_used_by_others(snapshot, backend, changed))
                .cloned()
                .collect();
            for kind in snapshot.used_kinds() {
                let touched = kinds.entry(kind.clone()).or_default();
                touched.objects.insert(key.clone());
                touched.objects.extend(backends.iter().cloned());
                touched.routes.extend(routes.iter().cloned());
            }
        }
    }
}

/// Whether a route that does not change sends requests to a backend, on which no policy stands: whatever happens to
/// other routes, no path begins there.
fn is_used_by_others(
    snapshot: &Snapshot,
    backend: &ObjectKey,
    changed: &HashSet<&ObjectKey, ByKey>,
) -> bool {
    // One of another namespace may be kept away by a grant.
    let mut routes = snapshot.using(backend).map(|route| &route.key);
    snapshot.standing(backend).next().is_none()
        && routes.any(|route| route.namespace == backend.namespace && !changed.contains(route))
}

/// The objects that a policy names or selects.
fn targets(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<ObjectKey> {
    let own = &policy.key().namespace;
    let targets = policy.targets.iter();
    targets
        .flat_map(|target| named(snapshot, own, target))
        .collect()
}

/// What a grant lets in: targets of policies, and routes that use backends, in its namespace.
fn granted(
    snapshot: &Snapshot,
    grant: &ObjectKey,
    entry: &GrantFrom,
    kinds: &mut BTreeMap<GroupKind, Touched>,
) {
    if snapshot.profile(&entry.gk).is_some() {
        let policies = snapshot.policies(&entry.gk);
        let there = policies.filter(|policy| policy.key().namespace == entry.namespace);
        let around = there.flat_map(|policy| targets(snapshot, policy));
        let touched = kinds.entry(entry.gk.clone()).or_default();
        touched
            .objects
            .extend(around.filter(|key| key.namespace == grant.namespace));
        return;
    }
    let routes = routes_into(snapshot, entry, &grant.namespace);
    let routes: BTreeSet<ObjectKey> = routes.into_iter().map(|(route, _)| route).collect();
    for kind in snapshot.used_kinds() {
        let touched = kinds.entry(kind.clone()).or_default();
        touched.routes.extend(routes.iter().cloned());
    }
}

/// Whether a way in is there, whoever may take it.
fn is_there(snapshot: &Snapshot, upper: &Upper) -> bool {
    upper.last().is_some_and(|place| {
        let object = snapshot.get(&place.object);
        object.is_some_and(|object| match &place.section {
            Some(name) => section::labels(object).contains(name),
            None => true,
        })
    })
}

/// Paths by way on, then by way in.
type Paths = HashMap<Rc<Lower>, ByUpper>;
type ByUpper = BTreeMap<Rc<Upper>, Arc<Effective>>;

/// Requests from a namespace that has no way of its own take the way for all.
fn for_all<'a>(upper: &Upper, side: &'a ByUpper) -> Option<&'a Arc<Effective>> {
    upper.consumer.as_ref()?;
    let all = Upper {
        steps: upper.steps.clone(),
        consumer: None,
    };
    side.get(&all)
}

fn note(groups: &[Group], paths: &mut Paths) {
    for group in groups {
        let nothing = [Rc::new(Lower {
            steps: Vec::new(),
            complete: group.complete,
        })];
        let lowers = if group.lowers.is_empty() {
            &nothing
        } else {
            group.lowers.as_slice()
        };
        for lower in lowers {
            let by_upper = paths.entry(lower.clone()).or_default();
            for upper in group.uppers.iter() {
                // Nothing comes by a path that begins nowhere.
                let effective = if group.attached {
                    group.effective.clone()
                } else {
                    Arc::default()
                };
                by_upper.insert(upper.clone(), effective);
            }
        }
    }
}

/// Paths that are on both sides are compared; a way on that has lost one way in and won another is
/// one change, from what it lost to what it won. Ways in that only come or only go are a change where
/// the route is let in or `shut` out by others.
fn compare(
    kind: &GroupKind,
    mut was: Paths,
    is: Paths,
    shut: &dyn Fn(&Upper) -> bool,
    found: &mut Vec<Changed>,
) {
    let nothing: Arc<Effective> = Arc::default();
    let mut same = Same::default();
    let mut change = |lower: &Lower,
                      upper: &Upper,
                      before: &Arc<Effective>,
                      after: &Arc<Effective>,
                      stays: bool| {
        if !lower.complete || same.settings(before, after) {
            return;
        }
        let path: Vec<Place> = places(upper, Some(lower)).into_iter().cloned().collect();
        if let Some(target) = path.last().cloned() {
            found.push(Changed {
                target,
                path,
                kind: kind.clone(),
                before: before.clone(),
                after: after.clone(),
                stays,
            });
        }
    };
    for (lower, after) in is {
        let before = was.remove(&lower);
        let stays = before.is_some();
        let before = before.unwrap_or_default();
        let (mut lost, mut won) = (Vec::new(), Vec::new());
        for (upper, a) in &before {
            match after.get(upper).or_else(|| for_all(upper, &after)) {
                Some(b) => change(&lower, upper, a, b, stays),
                None => lost.push((upper, a)),
            }
        }
        for (upper, b) in after
            .iter()
            .filter(|(upper, _)| !before.contains_key(*upper))
        {
            match for_all(upper, &before) {
                Some(a) => change(&lower, upper, a, b, stays),
                None => won.push((upper, b)),
            }
        }
        let (mut lost, mut won) = (lost.into_iter(), won.into_iter());
        loop {
            match (lost.next(), won.next()) {
                // The way that it had says more than that it has none now.
                (Some((had, a)), Some((has, b))) => {
                    let upper = if has.steps.is_empty() { had } else { has };
                    change(&lower, upper, a, b, stays);
                }
                (Some((upper, a)), None) => {
                    change(&lower, upper, a, &nothing, stays && shut(upper));
                }
                (None, Some((upper, b))) => {
                    change(&lower, upper, &nothing, b, stays && shut(upper));
                }
                (None, None) => break,
            }
        }
    }
    for (lower, before) in was {
        for (upper, a) in before {
            change(&lower, &upper, &a, &nothing, false);
        }
    }
}
