//! The graph in all formats: one file per format, and the picture that they share.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::answer::graph::{Edge, Graph, Link, Node, Role};

mod cells;
pub(crate) mod dot;
pub(crate) mod html;
mod layout;
pub(crate) mod mermaid;
mod rows;
mod spaces;
pub(crate) mod states;
pub(crate) mod svg;
pub(crate) mod tree;

/// A graph with its nodes by number, and the neighbours of each.
#[derive(Debug)]
pub(crate) struct Picture<'a> {
    graph: &'a Graph,
    below: Vec<Vec<Step<'a>>>,
    policies: Vec<Vec<Step<'a>>>,
    has_above: Vec<bool>,
    is_refused: Vec<bool>,
    /// Kinds that exist in several groups.
    ambiguous: BTreeSet<&'a str>,
}

/// An edge, seen from one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    /// The node at the other end.
    pub node: usize,
    pub edge: &'a Edge,
}

// === impl Picture ===

impl<'a> Picture<'a> {
    /// A picture of a graph.
    pub(crate) fn new(graph: &'a Graph) -> Self {
        let count = graph.nodes.len();
        let numbers: HashMap<&str, usize> = graph
            .nodes
            .iter()
            .enumerate()
            .map(|(i, node)| (&*node.id, i))
            .collect();
        let mut picture = Self {
            graph,
            below: vec![Vec::new(); count],
            policies: vec![Vec::new(); count],
            has_above: vec![false; count],
            is_refused: vec![false; count],
            ambiguous: ambiguous(graph),
        };
        for edge in &graph.edges {
            let (Some(from), Some(to)) = (numbers.get(&*edge.from), numbers.get(&*edge.to)) else {
                continue;
            };
            let (list, at, node) = if edge.link.is_of_policy() {
                (&mut picture.policies, *to, *from)
            } else {
                let flags = if edge.link == Link::Rejected {
                    &mut picture.is_refused
                } else {
                    &mut picture.has_above
                };
                if let Some(flag) = flags.get_mut(*to) {
                    *flag = true;
                }
                (&mut picture.below, *from, *to)
            };
            if let Some(list) = list.get_mut(at) {
                list.push(Step { node, edge });
            }
        }
        picture
    }

    /// The nodes with their numbers.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, &'a Node)> {
        self.graph.nodes.iter().enumerate()
    }

    pub(crate) fn edges(&self) -> &'a [Edge] {
        &self.graph.edges
    }

    /// A node by its number.
    pub(crate) fn node(&self, number: usize) -> Option<&'a Node> {
        self.graph.nodes.get(number)
    }

    /// The edges down from a node, including rejected ones.
    pub(crate) fn below(&self, number: usize) -> &[Step<'a>] {
        self.below.get(number).map_or(&[], Vec::as_slice)
    }

    /// The policies that name a node.
    pub(crate) fn policies(&self, number: usize) -> &[Step<'a>] {
        self.policies.get(number).map_or(&[], Vec::as_slice)
    }

    /// Whether a node has a parent that counts.
    pub(crate) fn has_above(&self, number: usize) -> bool {
        self.has_above.get(number).copied().unwrap_or(false)
    }

    /// Whether a reference to a node is rejected.
    pub(crate) fn is_refused(&self, number: usize) -> bool {
        self.is_refused.get(number).copied().unwrap_or(false)
    }

    /// The type of a node: its kind, with the group if another group has the same kind; for a section, its noun.
    pub(crate) fn kind(&self, node: &Node) -> String {
        if node.object.0.section.is_some() {
            return noun(node.role).to_owned();
        }
        let gk = &node.object.0.object.gk;
        match (self.ambiguous.contains(&*gk.kind), &*gk.group) {
            (false, _) => gk.kind.to_string(),
            (true, "") => format!("{}.core", gk.kind),
            (true, _) => gk.qualified(),
        }
    }
}

/// The name of a node without its kind: `namespace/name`, or the name of the section.
pub(crate) fn name(node: &Node) -> String {
    let place = &node.object.0;
    match &place.section {
        Some(section) => section.to_string(),
        None => place.object.path(),
    }
}

/// A node in one line: `Gateway infra/edge`, `listener http`, `rule-1`.
fn label(picture: &Picture<'_>, node: &Node) -> String {
    if is_said_by_name(node) {
        name(node)
    } else {
        format!("{} {}", picture.kind(node), name(node))
    }
}

/// Whether the name shows the type of the section: true for rules without a name of their own.
fn is_said_by_name(node: &Node) -> bool {
    let section = node.object.0.section.as_deref();
    node.role == Role::Rule && section.is_some_and(|section| section.starts_with("rule-"))
}

/// The namespace of a node; for a Namespace, itself.
fn home(node: &Node) -> Option<&str> {
    let object = &node.object.0.object;
    match node.role {
        Role::Namespace => Some(&*object.name),
        _ => Some(&*object.namespace).filter(|namespace| !namespace.is_empty()),
    }
}

/// The noun for a section.
fn noun(role: Role) -> &'static str {
    match role {
        Role::Listener => "listener",
        Role::Rule => "rule",
        Role::Port => "port",
        _ => "section",
    }
}

fn ambiguous(graph: &Graph) -> BTreeSet<&str> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for node in &graph.nodes {
        let gk = &node.object.0.object.gk;
        groups.entry(&*gk.kind).or_default().insert(&*gk.group);
    }
    let several = groups.into_iter().filter(|(_, groups)| groups.len() > 1);
    several.map(|(kind, _)| kind).collect()
}
