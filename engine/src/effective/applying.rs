//! The policies that apply to an object, and their settings.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::attachment::conflict::rejected;
use crate::effective::{PathGroup, Resolver, StackAndEffective};
use crate::kinds::profile::Class;
use crate::model::ids::{ObjectKey, Place, PrehashedBuildHasher};
use crate::model::json_text::JsonText;
use crate::model::level::{Position, Step};
use crate::model::maps;
use crate::model::object::{Listener, Node, ParentRef};
use crate::model::setting_path::SettingPath;
use crate::policy::Policy;

/// A policy attached to the paths through an object, at the object or above it.
#[derive(Clone, Debug)]
pub struct ApplyingPolicy {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The places at which it is attached.
    pub attachments: BTreeSet<Place>,
    /// The places at which it is attached on paths on which at least one of its leaves is in force.
    pub from: BTreeSet<Place>,
    /// Its settings that are in force on at least one path; `null` if it removes something.
    pub settings: BTreeMap<SettingPath, JsonText>,
    /// Whether it is part of a merge whose result only its controller knows.
    pub opaque: bool,
    /// Whether requests take a path on which it is attached, through a controller that applies its kind.
    pub on_served_path: bool,
}

// === impl ApplyingPolicy ===

impl ApplyingPolicy {
    /// Whether it applies to the object: at least one of its leaves is in force on some path.
    pub fn applies(&self) -> bool {
        !self.from.is_empty()
    }
}

/// The policies of every kind that are attached to an object or above it, by policy.
///
/// A policy applies to its target and to every object from there down to the effective target, on paths where at least
/// one of its leaves is in force. It never applies to ancestors or siblings. Only policies that name a Namespace apply to
/// it.
pub fn attached_at_or_above(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<ApplyingPolicy> {
    policies_at_or_above(resolver, &key.whole(), |_| true, |_| None)
}

/// The policies that apply to a route for requests through one of its parents.
pub fn applying_through(
    resolver: &mut Resolver<'_>,
    route: &ObjectKey,
    parent: &ParentRef,
) -> Vec<ApplyingPolicy> {
    let listeners = listeners(resolver, parent);
    let is_parent = |place: &Place| {
        place.object == parent.object
            && listeners.as_ref().is_none_or(|names| {
                let section = place.section.as_ref();
                section.is_some_and(|name| names.contains(name))
            })
    };
    let leads_through = |group: &PathGroup| {
        let mut steps = group.paths.steps();
        steps.any(|step| is_parent(&step.place))
    };
    let mut acting = policies_at_or_above(resolver, &route.whole(), leads_through, |_| None);
    acting.retain(ApplyingPolicy::applies);
    acting
}

/// The sections of its object that a reference names; `None` if it names the whole object.
fn listeners(resolver: &Resolver<'_>, parent: &ParentRef) -> Option<BTreeSet<Arc<str>>> {
    let object = resolver.snapshot().get(&parent.object);
    let listeners: &[Listener] = match object.map(|object| &object.node) {
        Some(Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. }) => listeners,
        // The port of a Service is no step of its own here.
        _ => return None,
    };
    let named = listeners.iter().filter(|listener| {
        let is_port = parent.port.is_none_or(|port| port == listener.port);
        is_port
            && parent
                .section
                .as_ref()
                .is_none_or(|name| *name == listener.name)
    });
    let is_whole = parent.section.is_none() && parent.port.is_none();
    (!is_whole).then(|| named.map(|listener| listener.name.clone()).collect())
}

/// The policies that apply to an object or are attached to it, which are those reported to its user. A Gateway may have
/// many others.
pub fn applying_or_attached(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<ApplyingPolicy> {
    policies_at_or_above(
        resolver,
        &key.whole(),
        |_| true,
        |all| {
            let acting = all
                .iter()
                .flat_map(|path_policies| &path_policies.in_force)
                .cloned();
            let levels = all
                .iter()
                .flat_map(|path_policies| path_policies.group.stack.iter());
            let levels_at_object = levels.filter(|level| level.step.place.object == *key);
            let attached = levels_at_object.flat_map(|level| level.policies.iter());
            let attached = attached.map(|policy| policy.key().clone());
            Some(acting.chain(attached).collect::<Keys>())
        },
    )
}

/// Keys for look-up.
type Keys = HashSet<ObjectKey, PrehashedBuildHasher>;

/// Paths with the same policies.
struct PathPolicies {
    group: PathGroup,
    /// The position of the place that was asked for.
    position: Position,
    in_force: Keys,
}

/// The policies chosen by `pick`, kind by kind; all if it returns `None`. Only paths that `counts` accepts are looked at.
fn policies_at_or_above(
    resolver: &mut Resolver<'_>,
    place: &Place,
    counts: impl Fn(&PathGroup) -> bool,
    pick: impl Fn(&[PathPolicies]) -> Option<Keys>,
) -> Vec<ApplyingPolicy> {
    let key = &place.object;
    let mut acting_by_policy = ApplyingByPolicy::default();
    for kind in resolver.kinds_through(key) {
        // Paths with the same policies are reported once.
        let mut all: Vec<PathPolicies> = Vec::new();
        let mut known: maps::HashSet<(StackAndEffective, Position, bool)> =
            maps::HashSet::default();
        let groups = resolver.paths_through(key, &kind);
        let profile = resolver.snapshot().profile(&kind);
        let is_direct = profile.is_some_and(|profile| profile.class.value == Class::Direct);
        // A direct policy on the whole object keeps the sections that have no policy of their own.
        let is_apart = groups.iter().any(|group| position(group, place).is_some());
        let of_whole = is_direct && !is_apart;
        let whole_object = key.whole();
        for group in groups.into_iter().filter(|group| counts(group)) {
            let at = if of_whole { &whole_object } else { place };
            let ends_there =
                !of_whole || group.paths.targets().any(|target| *target == whole_object);
            let Some(position) = position(&group, at).filter(|_| ends_there) else {
                continue;
            };
            if known.insert((group.outcome(), position, group.attached)) {
                let in_force = if group.attached {
                    group.effective.policies().into_iter().collect()
                } else {
                    Keys::default()
                };
                all.push(PathPolicies {
                    group,
                    position,
                    in_force,
                });
            }
        }
        let picked = pick(&all);
        for path_policies in &all {
            note(key, path_policies, picked.as_ref(), &mut acting_by_policy);
        }
    }
    let mut acting: Vec<ApplyingPolicy> = acting_by_policy.into_values().collect();
    acting.sort_by(|a, b| a.policy.key().cmp(b.policy.key()));
    acting
}

/// The policies found so far, by key.
type ApplyingByPolicy = HashMap<ObjectKey, ApplyingPolicy, PrehashedBuildHasher>;

/// The position of a place on the paths of a group; `None` if it is not on them.
fn position(group: &PathGroup, place: &Place) -> Option<Position> {
    if place.section.is_none() {
        return group.position(&place.object);
    }
    let steps_at_place = group.paths.steps().filter(|step| step.place == *place);
    steps_at_place.map(Step::position).max()
}

/// The policies that apply to an object, by policy. Warnings, conditions and counts use this.
pub fn applying_to(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<ApplyingPolicy> {
    let mut acting = attached_at_or_above(resolver, key);
    acting.retain(ApplyingPolicy::applies);
    acting
}

/// Like [`applying_to`], for one section of an object or for the whole of it.
pub fn applying_at(resolver: &mut Resolver<'_>, place: &Place) -> Vec<ApplyingPolicy> {
    let mut acting = policies_at_or_above(resolver, place, |_| true, |_| None);
    acting.retain(ApplyingPolicy::applies);
    acting
}

/// Whether a policy takes part in the effective policy on a path through an object; a rejected one that keeps its place does.
pub fn takes_part(resolver: &mut Resolver<'_>, policy: &ObjectKey, object: &ObjectKey) -> bool {
    let groups = resolver.paths_through(object, &policy.gk);
    let mut groups = groups.iter();
    groups.any(|group| group.effective.policies().contains(policy))
}

fn note(
    key: &ObjectKey,
    path_policies: &PathPolicies,
    picked: Option<&Keys>,
    acting_by_policy: &mut ApplyingByPolicy,
) {
    let group = &path_policies.group;
    let is_namespace = key.gk.is_core("Namespace");
    let over = group.stack.iter().filter(|above| {
        let names_it = above.step.place.object == *key;
        names_it || (!is_namespace && above.step.position() <= path_policies.position)
    });
    let is_picked =
        |policy: &Arc<Policy>| picked.is_none_or(|picked| picked.contains(policy.key()));
    for above in over {
        if !above.policies.iter().any(is_picked) {
            continue;
        }
        let each = above.policies.iter().zip(rejected(&above.policies));
        for (policy, _) in each.filter(|(policy, by)| by.is_none() && is_picked(policy)) {
            let acting = acting_by_policy.entry(policy.key().clone());
            let acting = acting.or_insert_with(|| ApplyingPolicy::new(policy));
            acting.attachments.insert(above.step.place.clone());
            acting.on_served_path |= group.attached;
            if path_policies.in_force.contains(policy.key()) {
                acting.from.insert(above.step.place.clone());
                acting.opaque |= group.effective.is_opaque();
            }
        }
    }
    if !group.attached {
        return;
    }
    for (path, setting) in group.effective.leaves() {
        if let Some(acting) = acting_by_policy.get_mut(&setting.policy) {
            acting
                .settings
                .entry(path)
                .or_insert_with(|| setting.value.clone());
        }
    }
}

impl ApplyingPolicy {
    fn new(policy: &Arc<Policy>) -> Self {
        Self {
            policy: policy.clone(),
            attachments: BTreeSet::new(),
            from: BTreeSet::new(),
            settings: BTreeMap::new(),
            opaque: false,
            on_served_path: false,
        }
    }
}
