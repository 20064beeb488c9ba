//! Namespaces with the counts of their objects, for a picture that does not draw each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::Picture;
use super::states::look;
use crate::answer::graph::{Edge, Link, Node, Role};
use crate::answer::state::PolicyState;

/// With more Gateways than this, those that only serve their own namespace are counted in it.
const MOST_GATEWAYS: usize = 8;

/// A namespace. An empty name stands for objects without a namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    pub name: String,
    pub gateways: usize,
    pub sets: usize,
    pub routes: usize,
    pub backends: usize,
    /// The policies in the namespace, by state.
    pub states: BTreeMap<PolicyState, usize>,
    /// The objects, sections and policies with problems.
    pub problems: usize,
}

/// Namespaces that are reached through the same listeners.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// The nodes that lead to them, each with one of its edges.
    pub parents: Vec<(usize, &'a Edge)>,
    pub spaces: Vec<Space>,
}

/// The `GatewayClasses` and Gateways that are drawn, and the namespaces of the others.
#[derive(Debug)]
pub(crate) struct Spaces<'a> {
    /// For each node, whether it is drawn.
    pub drawn: Vec<bool>,
    pub groups: Vec<Group<'a>>,
}

// === impl Space ===

impl Space {
    /// `3 routes · 3 backends · 1 policy`.
    pub(crate) fn counted(&self) -> String {
        let policies = self.states.values().sum();
        let counts = [
            (self.gateways, "Gateway", "Gateways"),
            (self.sets, "ListenerSet", "ListenerSets"),
            (self.routes, "route", "routes"),
            (self.backends, "backend", "backends"),
            (policies, "policy", "policies"),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        counts.join(" · ")
    }

    fn add(&mut self, node: &Node) {
        if node.object.0.section.is_some() || node.missing {
            return;
        }
        match node.role {
            Role::Gateway => self.gateways += 1,
            Role::ListenerSet => self.sets += 1,
            Role::Route => self.routes += 1,
            Role::Backend => self.backends += 1,
            Role::Policy => *self.states.entry(state(node)).or_default() += 1,
            _ => {}
        }
    }

    fn has_objects(&self) -> bool {
        self.gateways + self.sets + self.routes + self.backends > 0
    }

    /// The namespaces in one.
    pub(crate) fn sum(spaces: &[Self]) -> Self {
        let mut sum = Self::default();
        for space in spaces {
            sum.gateways += space.gateways;
            sum.sets += space.sets;
            sum.routes += space.routes;
            sum.backends += space.backends;
            sum.problems += space.problems;
            for (state, count) in &space.states {
                *sum.states.entry(*state).or_default() += count;
            }
        }
        sum
    }
}

// === impl Spaces ===

impl<'a> Spaces<'a> {
    /// Draws only `GatewayClasses` and Gateways. `None` if this leaves less than two namespaces.
    pub(crate) fn from_picture(picture: &Picture<'a>) -> Option<Self> {
        let owners = owners(picture);
        let drawn: Vec<bool> = {
            let alone = gateways_alone(picture, &owners);
            let is_drawn = |node: &Node, owner: usize| match node.role {
                Role::GatewayClass => true,
                Role::Gateway => !alone.contains(&owner),
                _ => false,
            };
            let of_owner =
                |owner: &usize| picture.node(*owner).is_some_and(|n| is_drawn(n, *owner));
            owners.iter().map(of_owner).collect()
        };
        let mut spaces: BTreeMap<&str, Space> = BTreeMap::new();
        let troubled = troubled(picture);
        let drawn_nodes = picture
            .nodes()
            .filter(|(number, _)| drawn.get(*number) == Some(&true));
        let shown = drawn_nodes.flat_map(|(number, _)| picture.policies(number));
        let shown: BTreeSet<usize> = shown.map(|step| step.node).collect();
        let mut hidden: BTreeSet<&str> = BTreeSet::new();
        for (number, node) in picture.nodes() {
            if drawn.get(number) == Some(&true) {
                continue;
            }
            let space = spaces.entry(home(node)).or_default();
            space.add(node);
            // A policy that is drawn at a Gateway need not be found in its namespace, too.
            let is_shown = node.role == Role::Policy && shown.contains(&number);
            if troubled.contains(&number) && !is_shown {
                hidden.insert(home(node));
            }
            space.problems += usize::from(troubled.contains(&number));
        }
        spaces.retain(|name, space| space.has_objects() || hidden.contains(name));
        if spaces.len() < 2 {
            return None;
        }
        let parents = parents(picture, &drawn);
        let mut groups: BTreeMap<Vec<usize>, Vec<Space>> = BTreeMap::new();
        for (name, mut space) in spaces {
            name.clone_into(&mut space.name);
            let leads = parents
                .iter()
                .filter(|(_, (reached, _))| reached.contains(name));
            let leads = leads.map(|(number, _)| *number).collect();
            groups.entry(leads).or_default().push(space);
        }
        let group = |(leads, spaces): (Vec<usize>, Vec<Space>)| Group {
            parents: leads
                .into_iter()
                .filter_map(|number| Some((number, parents.get(&number)?.1)))
                .collect(),
            spaces,
        };
        // Namespaces that no Gateway reaches come last.
        let (first, last): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(leads, _)| !leads.is_empty());
        Some(Self {
            drawn,
            groups: first.into_iter().chain(last).map(group).collect(),
        })
    }
}

fn state(node: &Node) -> PolicyState {
    node.state.unwrap_or(PolicyState::NoEffect)
}

/// The namespace that a node is counted in.
fn home(node: &Node) -> &str {
    super::home(node).unwrap_or_default()
}

/// The object of each node: itself, unless it is a section.
fn owners(picture: &Picture<'_>) -> Vec<usize> {
    let mut owners: Vec<usize> = picture.nodes().map(|(number, _)| number).collect();
    for (number, _) in picture.nodes() {
        for step in picture.below(number) {
            if let (Link::Contains, Some(owner)) = (step.edge.link, owners.get_mut(step.node)) {
                *owner = number;
            }
        }
    }
    owners
}

/// The Gateways that only serve their own namespace, if there are many.
fn gateways_alone(picture: &Picture<'_>, owners: &[usize]) -> BTreeSet<usize> {
    let gateways = picture
        .nodes()
        .filter(|(_, node)| node.role == Role::Gateway && !node.missing);
    let mut alone: BTreeSet<usize> = gateways.map(|(number, _)| number).collect();
    if alone.len() <= MOST_GATEWAYS {
        return BTreeSet::new();
    }
    for (number, node) in picture.nodes() {
        for step in picture.below(number) {
            let other = picture.node(step.node).map(home);
            if step.edge.link == Link::Parent
                && node.role != Role::GatewayClass
                && other != Some(home(node))
            {
                alone.remove(owners.get(number).unwrap_or(&number));
            }
        }
    }
    alone
}

/// For each drawn node with undrawn ones below it: the namespaces that it leads to, and one of its edges.
fn parents<'a>(
    picture: &Picture<'a>,
    drawn: &[bool],
) -> BTreeMap<usize, (BTreeSet<&'a str>, &'a Edge)> {
    let is_drawn = |number: usize| drawn.get(number) == Some(&true);
    let mut parents = BTreeMap::new();
    for (number, _) in picture.nodes().filter(|(number, _)| is_drawn(*number)) {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut todo = vec![number];
        let mut first = None;
        while let Some(next) = todo.pop() {
            for step in picture.below(next) {
                let follows = matches!(step.edge.link, Link::Parent)
                    || (step.edge.link == Link::Contains && next != number);
                if !follows || is_drawn(step.node) || !seen.insert(step.node) {
                    continue;
                }
                first.get_or_insert(step.edge);
                reached.extend(picture.node(step.node).map(home));
                todo.push(step.node);
            }
        }
        if let Some(edge) = first {
            parents.insert(number, (reached, edge));
        }
    }
    parents
}

/// The nodes with problems: objects that do not exist or are not accepted, references that are
/// rejected, and policies that are rejected or not attached.
fn troubled(picture: &Picture<'_>) -> BTreeSet<usize> {
    let mut troubled = BTreeSet::new();
    for (number, node) in picture.nodes() {
        let is_bad = match node.role {
            Role::Policy => {
                let class = look(state(node)).class;
                matches!(class, "rejected" | "broken")
                    || (node.reason.is_some()
                        && !matches!(state(node), PolicyState::NoEffect | PolicyState::Unknown))
            }
            _ => node.missing || node.facts.unaccepted.is_some(),
        };
        if is_bad {
            troubled.insert(number);
        }
        for step in picture.below(number) {
            if step.edge.link == Link::Rejected {
                // A rejected backend is a problem of the rule, a rejected parent one of the route or ListenerSet.
                let at = if node.role == Role::Rule {
                    number
                } else {
                    step.node
                };
                troubled.insert(at);
            }
        }
    }
    troubled
}
