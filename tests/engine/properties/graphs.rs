//! The graph of any state agrees with the engine.

use std::collections::{BTreeMap, BTreeSet};

use attache::answer::graph::{Edge, Focus, Graph, Link, Node, details, graph};
use attache::engine::effective::Resolver;
use attache::engine::model::ids::{ObjectKey, Place};
use attache::engine::model::object::is_route;
use attache::engine::routing::Matching;
use attache::engine::state::snapshot::Snapshot;
use proptest::prelude::*;

use super::answers::keys;
use super::events::{fold, shuffled, survivors};
use super::random::any_event;

fn whole_graph(snapshot: &Snapshot) -> Graph {
    graph(&Matching::new(snapshot, []), &Focus::Everything).unwrap()
}

fn by_id(graph: &Graph) -> BTreeMap<&str, &Node> {
    let nodes: BTreeMap<&str, &Node> = graph.nodes.iter().map(|n| (&*n.id, n)).collect();
    assert_eq!(nodes.len(), graph.nodes.len(), "two nodes of one id");
    nodes
}

fn place(node: &Node) -> &Place {
    &node.object.0
}

/// The Gateways and mesh Services above a route, by the edges that count.
fn tops(graph: &Graph, nodes: &BTreeMap<&str, &Node>, route: &ObjectKey) -> BTreeSet<ObjectKey> {
    let is_top = |node: &Node| {
        let gk = &place(node).object.gk;
        place(node).section.is_none() && (gk.is_gateway_api("Gateway") || gk.is_core("Service"))
    };
    let counts = |edge: &&Edge| matches!(edge.link, Link::Contains | Link::Parent);
    let mut todo: Vec<&str> = nodes
        .values()
        .filter(|node| *place(node) == route.whole())
        .map(|node| &*node.id)
        .collect();
    let mut found = BTreeSet::new();
    while let Some(id) = todo.pop() {
        if is_top(nodes[id]) {
            found.insert(place(nodes[id]).object.clone());
        }
        let above = graph
            .edges
            .iter()
            .filter(counts)
            .filter(|edge| &*edge.to == id);
        todo.extend(above.map(|edge| &*edge.from));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn it_says_what_the_engine_says(events in prop::collection::vec(any_event(), 0..50)) {
        let snapshot = fold(&events);
        let graph = whole_graph(&snapshot);
        let nodes = by_id(&graph);
        let mut resolver = Resolver::new(&snapshot);
        for edge in &graph.edges {
            let (from, to) = (nodes[&*edge.from], nodes[&*edge.to]);
            prop_assert_eq!(edge.reason.is_some(), edge.link.is_refused());
            prop_assert!(edge.link.is_of_policy() || edge.link.is_refused() || from.role < to.role);
            if edge.link == Link::Attached {
                let attachments = resolver.attached(&place(to).object);
                let (policy, at) = (&place(from).object, place(to));
                let mut at_section = attachments.iter().filter(|attachment| attachment.section == at.section);
                prop_assert!(at_section.any(|attachment| attachment.policy.key() == policy), "{policy} at {at}");
            }
        }
        for key in keys(&snapshot).iter().filter(|key| is_route(&key.gk)) {
            prop_assert_eq!(tops(&graph, &nodes, key), resolver.gateways_of(key), "{}", key);
        }
        prop_assert_eq!(details(&snapshot, &[], &graph).nodes.len(), graph.nodes.len());
    }

    #[test]
    fn it_is_the_same_however_the_state_came_about(
        events in prop::collection::vec(any_event(), 0..50),
        seed in any::<u64>(),
    ) {
        let other = fold(&shuffled(survivors(&events), seed));
        prop_assert_eq!(whole_graph(&fold(&events)), whole_graph(&other));
    }

    #[test]
    fn a_part_of_it_is_a_part_of_it(events in prop::collection::vec(any_event(), 0..50)) {
        let snapshot = fold(&events);
        let all = whole_graph(&snapshot);
        for node in &all.nodes {
            let focus = Focus::Place { place: place(node).clone(), depth: None };
            let part = graph(&Matching::new(&snapshot, []), &focus).unwrap();
            let ids: BTreeSet<&str> = part.nodes.iter().map(|n| &*n.id).collect();
            prop_assert!(ids.contains(&*node.id));
            prop_assert!(part.nodes.iter().all(|node| all.nodes.contains(node)));
            prop_assert!(part.edges.iter().all(|edge| all.edges.contains(edge)));
        }
    }
}
