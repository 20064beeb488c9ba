//! Selects the part of a graph that a focus asks for: the objects themselves, their ancestors and descendants, and the
//! policies on all of these.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::sketch::{Index, Sketch};
use super::{Focus, Link, Role};
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::object::Node;
use crate::engine::model::section::{self, SectionNames};
use crate::engine::state::snapshot::namespace_key;

/// The neighbours of each node, by direction.
struct Neighbours {
    above: Vec<Vec<(Index, Link)>>,
    below: Vec<Vec<(Index, Link)>>,
}

/// For each node, whether it is shown. `None` if the focus is not in the graph.
pub(super) fn kept(sketch: &mut Sketch<'_>, focus: &Focus) -> Option<Vec<bool>> {
    let (centre, depth) = match focus {
        Focus::Everything => return Some(vec![true; sketch.spots().len()]),
        Focus::Namespace(namespace) => (of_namespace(sketch, namespace), None),
        Focus::Place { place, depth } => (of_place(sketch, place)?, *depth),
    };
    let neighbours = Neighbours::from_sketch(sketch);
    let mut kept = vec![false; sketch.spots().len()];
    let around = around(sketch, &neighbours, centre, &mut kept);
    for next in [&neighbours.above, &neighbours.below] {
        walk(&around, next, depth, &mut kept);
    }
    keep_owners(sketch, &mut kept);
    keep_namespaces(sketch, &mut kept);
    keep_policies(&neighbours, &mut kept);
    Some(kept)
}

/// The nodes to start from. A policy is replaced by the nodes it is attached to, and a Namespace among those by its
/// contents.
fn around(
    sketch: &Sketch<'_>,
    neighbours: &Neighbours,
    centre: Vec<Index>,
    kept: &mut [bool],
) -> Vec<Index> {
    let mut around = Vec::new();
    for index in centre {
        keep(kept, index);
        if !is_policy(sketch, index) {
            around.push(index);
            continue;
        }
        for (target, link) in neighbours.below.get(index).into_iter().flatten() {
            keep(kept, *target);
            let spot = sketch.spots().get(*target);
            match spot.filter(|_| *link == Link::Attached) {
                Some(spot) if spot.role == Role::Namespace => {
                    let inside = of_namespace(sketch, &spot.place.object.name).into_iter();
                    around.extend(inside.filter(|index| !is_policy(sketch, *index)));
                }
                Some(_) => around.push(*target),
                None => {}
            }
        }
    }
    around
}

fn of_namespace(sketch: &Sketch<'_>, namespace: &Arc<str>) -> Vec<Index> {
    let itself = namespace_key(namespace);
    let spots = sketch.spots().iter().enumerate();
    let in_namespace = spots.filter(|(_, spot)| {
        let object = &spot.place.object;
        object.namespace == *namespace || *object == itself
    });
    in_namespace.map(|(index, _)| index).collect()
}

/// The nodes of a place. An object that nothing refers to is added to the sketch first.
fn of_place(sketch: &mut Sketch<'_>, place: &Place) -> Option<Vec<Index>> {
    let snapshot = sketch.snapshot;
    let object = snapshot.get(&place.object);
    let nodes = |sketch: &Sketch<'_>, place: &Place| -> Vec<Index> {
        let roles = [false, true].into_iter();
        roles.filter_map(|f| sketch.find(place, f)).collect()
    };
    let outside = |node: &Node| matches!(node, Node::ReferenceGrant { .. } | Node::Crd(_));
    let is_there = object.is_some_and(|object| !outside(&object.node));
    if is_there && nodes(sketch, &place.object.whole()).is_empty() {
        sketch.object(&place.object, false);
    }
    let mut indexes = nodes(sketch, place);
    // Users may write a port by its number and a rule by its position.
    let other_name = object.zip(place.section.as_ref());
    let other_name =
        other_name.and_then(|(object, name)| section::resolve(object, name, SectionNames::ANY));
    if let (true, Some(label)) = (indexes.is_empty(), other_name) {
        indexes = nodes(sketch, &place.object.section(label));
    }
    if place.object.gk.is_core("Namespace") {
        indexes = of_namespace(sketch, &place.object.name);
    }
    (!indexes.is_empty()).then_some(indexes)
}

/// Keeps everything reachable in one direction. A rejected reference leads to its end and no further.
fn walk(from: &[Index], next: &[Vec<(Index, Link)>], depth: Option<usize>, kept: &mut [bool]) {
    let mut seen = vec![false; kept.len()];
    let mut todo: VecDeque<(Index, usize)> = from.iter().map(|index| (*index, 0)).collect();
    while let Some((index, steps)) = todo.pop_front() {
        if seen.get(index).copied().unwrap_or(true) {
            continue;
        }
        keep(&mut seen, index);
        keep(kept, index);
        if depth.is_some_and(|depth| steps >= depth) {
            continue;
        }
        for (other, link) in next.get(index).into_iter().flatten() {
            match link {
                Link::Rejected => keep(kept, *other),
                Link::Attached | Link::NotAttached => {}
                Link::Contains | Link::Parent | Link::Backend => {
                    todo.push_back((*other, steps + 1));
                }
            }
        }
    }
}

/// Keeps the Namespaces of kept nodes if policies are attached to them.
fn keep_namespaces(sketch: &Sketch<'_>, kept: &mut [bool]) {
    let mut namespaces: HashMap<ObjectKey, Index> = HashMap::new();
    for (index, spot) in sketch.spots().iter().enumerate() {
        if spot.role == Role::Namespace {
            namespaces.insert(spot.place.object.clone(), index);
        }
    }
    if namespaces.is_empty() {
        return;
    }
    for (index, spot) in sketch.spots().iter().enumerate() {
        let is_kept = kept.get(index).copied().unwrap_or(false) && spot.role != Role::Policy;
        let namespace = &spot.place.object.namespace;
        if is_kept
            && !namespace.is_empty()
            && let Some(node) = namespaces.get(&namespace_key(namespace))
        {
            keep(kept, *node);
        }
    }
}

/// Keeps the objects of kept sections.
fn keep_owners(sketch: &Sketch<'_>, kept: &mut [bool]) {
    for line in sketch.lines() {
        if line.link == Link::Contains && kept.get(line.to).copied().unwrap_or(false) {
            keep(kept, line.from);
        }
    }
}

/// Keeps the policies on kept nodes.
fn keep_policies(neighbours: &Neighbours, kept: &mut [bool]) {
    let shown: Vec<Index> = (0..kept.len())
        .filter(|index| kept.get(*index).copied().unwrap_or(false))
        .collect();
    for index in shown {
        for (policy, link) in neighbours.above.get(index).into_iter().flatten() {
            if link.is_of_policy() {
                keep(kept, *policy);
            }
        }
    }
}

fn keep(flags: &mut [bool], index: Index) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

fn is_policy(sketch: &Sketch<'_>, index: Index) -> bool {
    let spot = sketch.spots().get(index);
    spot.is_some_and(|spot| spot.role == Role::Policy)
}

// === impl Neighbours ===

impl Neighbours {
    fn from_sketch(sketch: &Sketch<'_>) -> Self {
        let count = sketch.spots().len();
        let (mut above, mut below) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for line in sketch.lines() {
            if let Some(list) = below.get_mut(line.from) {
                list.push((line.to, line.link));
            }
            if let Some(list) = above.get_mut(line.to) {
                list.push((line.from, line.link));
            }
        }
        Self { above, below }
    }
}
