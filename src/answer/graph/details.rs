//! Details of each node for the HTML page: the policies at it and above it, the settings in force there, and its spec.
//! Not part of the JSON answer: programs ask `attache describe` for one object.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::{Graph, Node, Role, id, is_false};
use crate::answer::description::for_requests;
use crate::answer::policies::reason::reason;
use crate::answer::state::PolicyState;
use crate::engine::attachment::conflict::conflict_winner;
use crate::engine::effective::{PathGroup, Resolver, StackAndEffective};
use crate::engine::kinds::profile::{Class, Profile, strategy_text};
use crate::engine::merge::EffectivePolicy;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::{Node as Kind, Object};
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{PolicyStatus, status_on_paths, statuses};

mod groups;
mod yaml;

use groups::{level, path, relevant, settings};
pub(crate) use yaml::yaml;

/// The limit of different outcomes shown per node; further ones are only counted.
const MOST_OUTCOMES: usize = 8;
/// The limit of all specs together, in bytes; later specs are left out.
const MOST_SPECS: usize = 8 << 20;
/// The limit of policies and values in all: a larger page is more than a browser can show.
const MOST_ENTRIES: usize = 100_000;

/// Details of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Details {
    /// One entry per node, in the order of the graph's nodes.
    pub nodes: Vec<About>,
}

/// Details of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The policies that are attached at it or above it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<NodePolicy>,
    /// The settings in force, by policy kind. Equal paths share one entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effective: Vec<InForce>,
    /// Whether entries are missing because the page is at its limit.
    #[serde(skip_serializing_if = "is_false")]
    pub omitted: bool,
    /// The number of further outcomes.
    #[serde(skip_serializing_if = "is_none")]
    pub more: usize,
    /// For a policy: direct or inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// For a policy: why it is not attached or has no effect, and where its controllers disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// For a policy: the conditions in its status that report a problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<String>,
    /// The spec as YAML, for policies and for the Gateway API's own objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// For a policy: its settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<NodeStanza>,
}

/// A policy that is attached at a node or above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePolicy {
    /// Its id.
    pub policy: Arc<str>,
    /// The place that it is attached to, as users write it.
    pub at: String,
    /// Its state on the paths through the node.
    pub state: PolicyState,
}

/// The effective policy of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InForce {
    /// The kind.
    pub kind: String,
    /// The first of the paths that share this effective policy.
    pub path: Vec<String>,
    /// The number of paths that share it.
    pub paths: usize,
    /// The settings in force. `None` if only the kind's own controller knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Vec<Setting>>,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Its field.
    pub field: String,
    /// Its value as YAML. `None` if a policy removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The id of the policy or object that it comes from.
    pub from: Arc<str>,
}

/// Settings of a policy that share a merge strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeStanza {
    /// The strategy.
    pub strategy: String,
    /// The settings as YAML.
    pub spec: String,
}

/// The details of all nodes of a graph of this state. `specs` are the objects whose specs may be shown.
pub fn details(snapshot: &Snapshot, specs: &[Object], graph: &Graph) -> Details {
    let mut resolver = Resolver::new(snapshot);
    let mut nodes: Vec<About> = vec![About::default(); graph.nodes.len()];
    let mut objects: BTreeMap<&ObjectKey, Vec<usize>> = BTreeMap::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        objects
            .entry(&node.object.0.object)
            .or_default()
            .push(number);
    }
    let specs: HashMap<&ObjectKey, &Object> = specs.iter().map(|o| (&o.key, o)).collect();
    let mut room = MOST_SPECS;
    let mut left = MOST_ENTRIES;
    let policies = objects.keys().filter_map(|object| snapshot.policy(object));
    let policies: Vec<&Arc<Policy>> = policies.collect();
    let policies = statuses(&mut resolver, &policies, |policy, status| {
        (policy.key().clone(), of_policy(snapshot, policy, &status))
    });
    let mut policies: HashMap<ObjectKey, About> = policies.into_iter().collect();
    for (object, numbers) in objects {
        if let Some(about) = policies.remove(object) {
            for number in &numbers {
                put(&mut nodes, *number, about.clone());
            }
        }
        if let Some(spec) = specs
            .get(object)
            .and_then(|object| spec_of(object, &mut room))
        {
            for number in &numbers {
                let node = graph.nodes.get(*number).zip(nodes.get_mut(*number));
                let whole_object = node.filter(|(node, _)| node.object.0.section.is_none());
                if let Some((_, about)) = whole_object {
                    about.spec = Some(spec.clone());
                }
            }
        }
        // A Namespace has no settings of its own: they are shown on each object in it.
        if object.gk.is_core("Namespace") || snapshot.get(object).is_none() {
            continue;
        }
        let kinds = resolver.kinds_through(object);
        for kind in &kinds {
            let Some(profile) = snapshot.profile(kind).filter(|_| left > 0) else {
                continue;
            };
            let groups = resolver.paths_through(object, kind);
            let groups = for_requests(Some(profile), groups);
            for number in &numbers {
                let node = graph.nodes.get(*number).zip(nodes.get_mut(*number));
                if let Some((node, about)) = node {
                    left = left.saturating_sub(about.add(snapshot, node, (kind, profile), &groups));
                }
            }
        }
        let omitted = left == 0 && !kinds.is_empty();
        for number in numbers.iter().filter(|_| omitted) {
            if let Some(about) = nodes.get_mut(*number) {
                about.omitted = true;
            }
        }
    }
    Details { nodes }
}

fn put(nodes: &mut [About], number: usize, about: About) {
    if let Some(place) = nodes.get_mut(number) {
        *place = about;
    }
}

/// The spec of an object as YAML, if the budget has room for it. Other kinds may hold secrets and are left out.
fn spec_of(object: &Object, room: &mut usize) -> Option<String> {
    let is_shown = match object.node {
        Kind::Gateway { .. }
        | Kind::GatewayClass { .. }
        | Kind::ListenerSet { .. }
        | Kind::Route { .. }
        | Kind::Service { .. } => true,
        Kind::ReferenceGrant { .. } | Kind::Crd(_) | Kind::Other => false,
    };
    let spec = object.spec.as_deref().filter(|_| is_shown)?;
    let spec = yaml(&serde_json::from_str(spec).ok()?);
    *room = room.checked_sub(spec.len())?;
    Some(spec)
}

fn of_policy(snapshot: &Snapshot, policy: &Policy, status: &PolicyStatus) -> About {
    let stanzas = policy.strategies.iter().flatten();
    let settings = stanzas.map(|stanza| NodeStanza {
        strategy: strategy_text(stanza.strategy),
        spec: yaml(&policy.settings(*stanza)),
    });
    let settings = settings.collect();
    About {
        class: Some(policy.profile.class.value),
        settings,
        spec: Some(yaml(&policy.spec())),
        why: reason(snapshot, policy, status),
        reported: status
            .controllers
            .reports
            .iter()
            .map(ToString::to_string)
            .collect(),
        ..About::default()
    }
}

// === impl About ===

impl About {
    /// Adds the policies and settings of these path groups to a node. Returns the number of entries
    /// added.
    fn add(
        &mut self,
        snapshot: &Snapshot,
        node: &Node,
        (kind, profile): (&GroupKind, &Profile),
        groups: &[PathGroup],
    ) -> usize {
        let before = self.policies.len();
        let mut count = 0;
        let place = &node.object.0;
        let is_upper = node.role < Role::Route;
        let mut outcomes: HashSet<StackAndEffective> = HashSet::new();
        let mut results: Vec<(EffectivePolicy, Vec<String>, usize)> = Vec::new();
        let relevant = relevant(profile, groups, place, is_upper);
        let through: Vec<PathGroup> = relevant.iter().map(|group| (*group).clone()).collect();
        for group in relevant {
            let is_new = outcomes.insert(group.outcome());
            if is_new {
                self.note(snapshot, group, place, &through);
            }
            if group.stack.is_empty() {
                continue;
            }
            let effective = if is_upper && profile.class.value == Class::Inherited {
                if !is_new {
                    continue;
                }
                group.effective_above(profile, place)
            } else {
                (*group.effective).clone()
            };
            match results.iter_mut().find(|(known, ..)| *known == effective) {
                Some((_, _, paths)) => *paths += group.path_count(),
                None => results.push((effective, path(group, place, is_upper), group.path_count())),
            }
        }
        for (effective, path, paths) in results {
            let settings = settings(&effective);
            if settings.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            if self.effective.len() == MOST_OUTCOMES {
                self.more += 1;
                continue;
            }
            count += settings.as_ref().map_or(0, Vec::len);
            self.effective.push(InForce {
                kind: kind.to_string(),
                path,
                paths: if is_upper { 1 } else { paths },
                settings,
            });
        }
        count + self.policies.len() - before
    }

    /// Adds the policies of a path group that are attached at a place or above it, with their state on the paths
    /// through it.
    fn note(
        &mut self,
        snapshot: &Snapshot,
        group: &PathGroup,
        place: &Place,
        through: &[PathGroup],
    ) {
        let Some(level) = level(group, place) else {
            return;
        };
        for above in group.stack.iter() {
            let other = &above.step.place;
            let same = other.object == place.object;
            let over = if same {
                other == place || other.section.is_none()
            } else {
                above.step.level < level
            };
            for policy in above.policies.iter().filter(|_| over) {
                let (id, at) = (id::node_id(&policy.key().whole(), false), other.to_string());
                if self.policies.iter().any(|a| a.policy == id && a.at == at) {
                    continue;
                }
                let winner = conflict_winner(&above.policies, policy).is_some();
                let status = status_on_paths(snapshot, policy, other, through);
                let state = PolicyState::from_acceptance(&status.accepted, status.state.as_ref());
                let state = state.unwrap_or(PolicyState::NoEffect);
                self.policies.push(NodePolicy {
                    policy: id,
                    at,
                    state: if winner {
                        PolicyState::Conflicted
                    } else {
                        state
                    },
                });
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none(count: &usize) -> bool {
    *count == 0
}
