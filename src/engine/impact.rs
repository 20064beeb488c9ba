//! The difference between two snapshots, told by effective target.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::effective::{Group, Survey};
use super::ids::{GroupKind, ObjectKey, Place};
use super::merge::Effective;
use super::object::{Node, Object};
use super::policy::{Policy, Select};
use super::profile::Class;
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
}

/// Every path whose effective policy differs after a change of these objects, by target and path.
///
/// Looked at is what lies around the objects, and around the targets of those that are policies,
/// before and after: the cost is that of what the change touches.
pub fn impact(before: &Snapshot, after: &Snapshot, objects: &[ObjectKey]) -> Vec<Changed> {
    let mut roots: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
    for key in objects {
        for snapshot in [before, after] {
            for (kind, around) in touched(snapshot, key) {
                roots.entry(kind).or_default().extend(around);
            }
        }
    }
    let (mut was, mut is) = (Survey::new(before), Survey::new(after));
    let mut found = Vec::new();
    for (kind, around) in &roots {
        let paths = |survey: &mut Survey<'_>| {
            let profile = survey.snapshot().profile(kind);
            let direct = profile.is_some_and(|p| p.class.value == Class::Direct);
            let mut paths = Paths::new();
            for key in around {
                let groups = survey.through(key, kind).into_iter();
                for group in groups.filter(|g| g.complete && (g.attached || direct)) {
                    spread(&group, &mut paths);
                }
            }
            paths
        };
        compare(kind, paths(&mut was), paths(&mut is), &mut found);
    }
    found.sort_by(|a, b| (&a.target, &a.kind, &a.path).cmp(&(&b.target, &b.kind, &b.path)));
    found
}

/// The kinds whose effective policies an object may change, and the objects around which.
fn touched(snapshot: &Snapshot, key: &ObjectKey) -> Vec<(GroupKind, BTreeSet<ObjectKey>)> {
    if let Some(policy) = snapshot.policy(key) {
        return vec![(key.gk.clone(), targets(snapshot, policy))];
    }
    // A policy that is not there yet, or no longer.
    if snapshot.profile(&key.gk).is_some() {
        return Vec::new();
    }
    let object = snapshot.get(key);
    match object.map(|object| &object.node) {
        Some(Node::Crd(crd)) => {
            let policies = snapshot.policies(&crd.gk);
            let around = policies.flat_map(|policy| targets(snapshot, policy));
            vec![(crd.gk.clone(), around.collect())]
        }
        Some(Node::ReferenceGrant { from, .. }) => granted(snapshot, key, from),
        _ => {
            let kinds = snapshot.policy_kinds();
            let used = kinds.filter(|kind| snapshot.count(kind) > 0);
            used.map(|kind| (kind.clone(), BTreeSet::from([key.clone()])))
                .collect()
        }
    }
}

/// The objects that a policy names or selects.
fn targets(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<ObjectKey> {
    let own = &policy.key().namespace;
    let mut found = BTreeSet::new();
    for target in &policy.targets {
        match &target.select {
            Select::Name(_) => found.extend(target.object(own)),
            Select::Labels(_) => {
                let selected = snapshot
                    .objects(&target.gk)
                    .filter(|object| target.matches(own, &object.key, Some(&object.meta.labels)));
                found.extend(selected.map(|object| object.key.clone()));
            }
        }
    }
    found
}

/// What a grant lets in: targets of policies, and routes that use backends, in its namespace.
fn granted(
    snapshot: &Snapshot,
    grant: &ObjectKey,
    from: &[super::object::GrantFrom],
) -> Vec<(GroupKind, BTreeSet<ObjectKey>)> {
    let mut found = Vec::new();
    for entry in from {
        if snapshot.profile(&entry.gk).is_some() {
            let policies = snapshot.policies(&entry.gk);
            let there = policies.filter(|policy| policy.key().namespace == entry.namespace);
            let around = there.flat_map(|policy| targets(snapshot, policy));
            let into = around.filter(|key| key.namespace == grant.namespace);
            found.push((entry.gk.clone(), into.collect()));
            continue;
        }
        let uses = |route: &&Arc<Object>| match &route.node {
            Node::Route { rules, .. } => rules.iter().any(|rule| {
                let mut backends = rule.backends.iter();
                backends.any(|backend| backend.object.namespace == grant.namespace)
            }),
            _ => false,
        };
        let holder = super::snapshot::namespace_key(&entry.namespace);
        let routes = snapshot
            .below(&holder)
            .filter(|object| object.key.gk == entry.gk);
        let routes: BTreeSet<ObjectKey> = routes.filter(uses).map(|r| r.key.clone()).collect();
        for kind in snapshot
            .policy_kinds()
            .filter(|kind| snapshot.count(kind) > 0)
        {
            found.push((kind.clone(), routes.clone()));
        }
    }
    found
}

/// Paths by way on, then by way in.
type Paths = BTreeMap<Rc<Lower>, BTreeMap<Rc<Upper>, Arc<Effective>>>;

fn spread(group: &Group, paths: &mut Paths) {
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
            by_upper.insert(upper.clone(), group.effective.clone());
        }
    }
}

/// Paths that are on both sides are compared; a way on that has lost one way in and won another is
/// one change, from what it lost to what it won.
fn compare(kind: &GroupKind, mut was: Paths, is: Paths, found: &mut Vec<Changed>) {
    let nothing: Arc<Effective> = Arc::default();
    let mut change =
        |lower: &Lower, upper: &Upper, before: &Arc<Effective>, after: &Arc<Effective>| {
            if before.same_settings(after) {
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
                });
            }
        };
    for (lower, mut after) in is {
        let mut before = was.remove(&lower).unwrap_or_default();
        let both: Vec<Rc<Upper>> = after
            .keys()
            .filter(|u| before.contains_key(*u))
            .cloned()
            .collect();
        for upper in both {
            if let (Some(a), Some(b)) = (before.remove(&upper), after.remove(&upper)) {
                change(&lower, &upper, &a, &b);
            }
        }
        let mut lost = before.into_iter();
        for (upper, b) in after {
            let a = lost
                .next()
                .map_or_else(|| nothing.clone(), |(_, effective)| effective);
            change(&lower, &upper, &a, &b);
        }
        for (upper, a) in lost {
            change(&lower, &upper, &a, &nothing);
        }
    }
    for (lower, before) in was {
        for (upper, a) in before {
            change(&lower, &upper, &a, &nothing);
        }
    }
}
