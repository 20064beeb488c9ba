//! What there is to know of each node beside its place in the graph: the policies over it, and what is
//! in force there. For a page that people look around in; programs ask for it object by object.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::{Graph, Node, Role, id, is_false};
use crate::engine::conditions::{State, status};
use crate::engine::effective::{Group, Outcome, Survey};
use crate::engine::ids::{GroupKind, ObjectKey, Place};
use crate::engine::merge::Effective;
use crate::engine::policy::Policy;
use crate::engine::profile::{Class, Profile, words};
use crate::engine::snapshot::Snapshot;

mod groups;

use groups::{level, path, relevant, settings};

/// Different outcomes that are told of a node; further ones are counted.
const MOST_OUTCOMES: usize = 8;
/// Of more policies than this no state is told: each may reach everything.
const MOST_STATES: usize = 400;
/// Policies and values that are told in all: more make no page that a browser can show.
const MOST_ENTRIES: usize = 100_000;

/// What there is to know of each node, in the order of the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Details {
    /// One for each node.
    pub nodes: Vec<About>,
}

/// What there is to know of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The policies that stand at it or above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Acting>,
    /// What is in force, by kind of policy; equal paths together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effective: Vec<InForce>,
    /// Whether there is more to know than is told, because too much was told before.
    #[serde(skip_serializing_if = "is_false")]
    pub omitted: bool,
    /// How many more outcomes there are.
    #[serde(skip_serializing_if = "is_none")]
    pub more: usize,
    /// Of a policy: direct or inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Of a policy: what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Of a policy: the ids of those that supersede it somewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Arc<str>>,
    /// Of a policy: its settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Stanza>,
}

/// A policy that stands at a node or above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Acting {
    /// Its id.
    pub policy: Arc<str>,
    /// Where it stands, as people write it.
    pub at: String,
    /// Whether something of it is in force there.
    pub acts: bool,
}

/// What comes of the policies of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InForce {
    /// The kind.
    pub kind: String,
    /// The first of the paths on which it is so.
    pub path: Vec<String>,
    /// How many there are.
    pub paths: usize,
    /// The settings that are in force; none where only the kind's own controller can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Vec<Setting>>,
}

/// A value in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Where.
    pub field: String,
    /// What; none where it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The id of the policy or object that it comes from.
    pub from: Arc<str>,
}

/// Settings of a policy that merge in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stanza {
    /// How they merge.
    pub strategy: String,
    /// What they are, as JSON.
    pub spec: String,
}

/// What there is to know of the nodes of a graph of this state.
pub fn details(snapshot: &Snapshot, graph: &Graph) -> Details {
    let mut survey = Survey::new(snapshot);
    let mut nodes: Vec<About> = vec![About::default(); graph.nodes.len()];
    let mut objects: BTreeMap<&ObjectKey, Vec<usize>> = BTreeMap::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        objects
            .entry(&node.object.0.object)
            .or_default()
            .push(number);
    }
    let is_policy = |node: &&Node| node.role == Role::Policy;
    let states = graph.nodes.iter().filter(is_policy).count() <= MOST_STATES;
    let mut left = MOST_ENTRIES;
    for (object, numbers) in objects {
        if let Some(policy) = snapshot.policy(object) {
            let about = of_policy(&mut survey, policy, states);
            for number in &numbers {
                put(&mut nodes, *number, about.clone());
            }
        }
        // A Namespace is where others live: what is in force is told of each of them.
        if object.gk.is_core("Namespace") || snapshot.get(object).is_none() {
            continue;
        }
        let kinds = survey.kinds_over(object);
        for kind in &kinds {
            let Some(profile) = snapshot.profile(kind).filter(|_| left > 0) else {
                continue;
            };
            let groups = survey.through(object, kind);
            for number in &numbers {
                let node = graph.nodes.get(*number).zip(nodes.get_mut(*number));
                if let Some((node, about)) = node {
                    left = left.saturating_sub(about.add(node, kind, profile, &groups));
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

fn of_policy(survey: &mut Survey<'_>, policy: &Policy, is_told: bool) -> About {
    let stanzas = policy.strategies.iter().flatten();
    let settings = stanzas.map(|stanza| Stanza {
        strategy: words(stanza.strategy),
        spec: format!("{:#}", policy.settings(*stanza)),
    });
    let mut about = About {
        class: Some(policy.profile.class.value),
        settings: settings.collect(),
        ..About::default()
    };
    if is_told {
        let status = status(survey, policy);
        about.state = status.state.as_ref().map(|state| match state {
            State::Enforced => "Enforced".to_owned(),
            State::PartiallyEnforced => "PartiallyEnforced".to_owned(),
            State::Overridden => "Overridden".to_owned(),
            State::NoEffect(why) => format!("NoEffect: {why}"),
        });
        about.by = status
            .by()
            .iter()
            .map(|key| id::of(&key.whole(), false))
            .collect();
    }
    about
}

// === impl About ===

impl About {
    /// Adds what the groups of paths through the object of a node tell of the node; how much that is.
    fn add(&mut self, node: &Node, kind: &GroupKind, profile: &Profile, groups: &[Group]) -> usize {
        let before = self.policies.len();
        let mut count = 0;
        let place = &node.object.0;
        let is_upper = node.role < Role::Route;
        let mut told: HashSet<Outcome> = HashSet::new();
        let mut found: Vec<(Effective, Vec<String>, usize)> = Vec::new();
        for group in relevant(profile, groups, place, is_upper) {
            let is_new = told.insert(group.outcome());
            if is_new {
                self.note(group, place);
            }
            if group.stack.is_empty() {
                continue;
            }
            let effective = if is_upper && profile.class.value == Class::Inherited {
                if !is_new {
                    continue;
                }
                group.down_to(profile, place)
            } else {
                (*group.effective).clone()
            };
            match found.iter_mut().find(|(known, ..)| *known == effective) {
                Some((_, _, paths)) => *paths += group.paths(),
                None => found.push((effective, path(group, place, is_upper), group.paths())),
            }
        }
        for (effective, path, paths) in found {
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

    /// Notes the policies of a group that stand at a place or above it.
    fn note(&mut self, group: &Group, place: &Place) {
        let Some(level) = level(group, place) else {
            return;
        };
        let in_force = group.effective.policies();
        for above in group.stack.iter() {
            let other = &above.step.place;
            let same = other.object == place.object;
            let over = if same {
                other == place || other.section.is_none()
            } else {
                above.step.level < level
            };
            for policy in above.policies.iter().filter(|_| over) {
                let policy = policy.key();
                let acts = in_force.contains(policy);
                let (policy, at) = (id::of(&policy.whole(), false), other.to_string());
                let known = self
                    .policies
                    .iter_mut()
                    .find(|a| a.policy == policy && a.at == at);
                match known {
                    Some(known) => known.acts |= acts,
                    None => self.policies.push(Acting { policy, at, acts }),
                }
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none(count: &usize) -> bool {
    *count == 0
}
