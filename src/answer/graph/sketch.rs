//! A graph under construction: one node per place.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::Reader;
use super::on_target::OnTarget;
use super::{Edge, Graph, Link, Node, Role, id};
use crate::answer::Named;
use crate::answer::state::PolicyState;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::level::Level;
use crate::engine::model::object::Node as Kind;
use crate::engine::model::section::{self, SectionNames};
use crate::engine::routing::Matching;
use crate::engine::state::snapshot::Snapshot;

/// The index of a node in the sketch.
pub(super) type Index = usize;

/// A graph under construction.
#[derive(Debug)]
pub(super) struct Sketch<'a> {
    pub(super) snapshot: &'a Snapshot,
    spots: Vec<Spot>,
    by_place: HashMap<(Place, bool), Index>,
    lines: Vec<Line>,
}

/// A node before it is sorted.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) role: Role,
    pub(super) place: Place,
    /// The position among the sections of its object; missing sections come last.
    ordinal: usize,
    missing: bool,
    /// Whether it is a Service in its role as a parent of mesh routes, or a section of one.
    frontend: bool,
    reason: Option<String>,
    state: Option<PolicyState>,
}

/// An edge between two nodes of the sketch.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub(super) from: Index,
    pub(super) to: Index,
    pub(super) link: Link,
    reason: Option<String>,
    state: Option<PolicyState>,
    by: Vec<Arc<str>>,
    why: Option<String>,
}

// === impl Sketch ===

impl<'a> Sketch<'a> {
    /// An empty graph.
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            spots: Vec::new(),
            by_place: HashMap::new(),
            lines: Vec::new(),
        }
    }

    /// All nodes so far.
    pub(super) fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// All edges so far.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The node of a place, if it has one; `frontend` asks for a Service in its role as a parent of mesh routes.
    pub(super) fn find(&self, place: &Place, frontend: bool) -> Option<Index> {
        self.by_place.get(&(place.clone(), frontend)).copied()
    }

    /// The node of an object. A new node is added together with its sections.
    pub(super) fn object(&mut self, key: &ObjectKey, frontend: bool) -> Index {
        let object_place = key.whole();
        if let Some(known) = self.find(&object_place, frontend) {
            return known;
        }
        let object = self.snapshot.get(key);
        let missing = object.is_none() && self.snapshot.knows(&key.gk);
        let role = Role::for_object(self.snapshot, key, frontend);
        let node = self.add(role, object_place, 0, missing, frontend);
        if frontend {
            // The ports belong to the Service in its role as a backend.
            return node;
        }
        let labels = object.map_or_else(Vec::new, |object| section::labels(object));
        for (ordinal, label) in labels.into_iter().enumerate() {
            // Two sections may have the same name.
            let place = key.section(label);
            if self.find(&place, false).is_none() {
                let part = self.add(role.of_sections(), place, ordinal, false, false);
                self.line(node, part, Link::Contains, None);
            }
        }
        node
    }

    /// The node of a place. A section that does not exist is added as missing.
    pub(super) fn place(&mut self, place: &Place, frontend: bool) -> Index {
        let object_index = self.object(&place.object, frontend);
        if let Some(known) = self.find(place, frontend) {
            return known;
        }
        let Some(label) = &place.section else {
            return object_index;
        };
        let role = Role::for_object(self.snapshot, &place.object, frontend);
        let missing = match self.snapshot.get(&place.object) {
            None => self.snapshot.knows(&place.object.gk),
            // attache does not know the sections of such a kind.
            Some(object) if matches!(object.node, Kind::Other) => false,
            Some(object) => section::resolve(object, label, SectionNames::ANY).is_none(),
        };
        let part = self.add(
            role.of_sections(),
            place.clone(),
            usize::MAX,
            missing,
            frontend,
        );
        self.line(object_index, part, Link::Contains, None);
        part
    }

    fn add(
        &mut self,
        role: Role,
        place: Place,
        ordinal: usize,
        missing: bool,
        frontend: bool,
    ) -> Index {
        let index = self.spots.len();
        self.by_place.insert((place.clone(), frontend), index);
        self.spots.push(Spot {
            role,
            place,
            ordinal,
            missing,
            frontend,
            reason: None,
            state: None,
        });
        index
    }

    /// Adds an edge.
    pub(super) fn line(&mut self, from: Index, to: Index, link: Link, reason: Option<String>) {
        self.lines.push(Line {
            from,
            to,
            link,
            reason,
            state: None,
            by: Vec::new(),
            why: None,
        });
    }

    /// Sets the states of policies, over all their targets and on each.
    pub(super) fn set_states(
        &mut self,
        states: &HashMap<Index, PolicyState>,
        mut on: HashMap<(Index, Place), OnTarget>,
    ) {
        for (index, state) in states {
            if let Some(spot) = self.spots.get_mut(*index) {
                spot.state = Some(*state);
            }
        }
        for line in self
            .lines
            .iter_mut()
            .filter(|line| line.link.is_of_policy())
        {
            let target = self.spots.get(line.to).map(|spot| spot.place.clone());
            let on_target = target.and_then(|target| on.remove(&(line.from, target)));
            if let Some(OnTarget { state, by, why }) = on_target {
                (line.state, line.by, line.why) = (state, by, why);
            }
        }
    }

    /// Sets the reason why a policy is not attached.
    pub(super) fn say(&mut self, node: Index, reason: &str) {
        if let Some(spot) = self.spots.get_mut(node) {
            spot.reason = Some(reason.to_owned());
        }
    }

    /// The graph of the kept nodes, sorted.
    pub(super) fn finish(self, matching: &Matching<'_>, kept: &[bool]) -> Graph {
        let is_kept = |index: &Index| kept.get(*index).copied().unwrap_or(false);
        let mut facts = Reader::new(matching);
        let mut order: Vec<(Index, &Spot)> = self.spots.iter().enumerate().collect();
        order.retain(|(index, _)| is_kept(index));
        order.sort_by(|(_, a), (_, b)| a.order().cmp(&b.order()));
        let mut rank: Vec<usize> = vec![0; self.spots.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(order.len());
        for (index, spot) in order {
            if let Some(rank) = rank.get_mut(index) {
                *rank = nodes.len();
            }
            nodes.push(spot.node(&mut facts));
        }
        let rank = |index: Index| rank.get(index).copied().unwrap_or(0);
        let mut lines: Vec<Line> = self.lines;
        lines.retain(|line| is_kept(&line.from) && is_kept(&line.to));
        for line in &mut lines {
            (line.from, line.to) = (rank(line.from), rank(line.to));
        }
        lines.sort();
        lines.dedup();
        let id = |index: Index| nodes.get(index).map(|node| node.id.clone());
        let edge = |line: Line| {
            Some(Edge {
                from: id(line.from)?,
                to: id(line.to)?,
                link: line.link,
                reason: line.reason,
                state: line.state,
                by: line.by,
                why: line.why,
            })
        };
        let edges = lines.into_iter().filter_map(edge).collect();
        Graph { nodes, edges }
    }
}

// === impl Spot ===

impl Spot {
    fn order(&self) -> (Role, bool, &ObjectKey, usize, Option<&Arc<str>>) {
        let Place { object, section } = &self.place;
        (
            self.role,
            self.frontend,
            object,
            self.ordinal,
            section.as_ref(),
        )
    }

    fn node(&self, facts: &mut Reader<'_>) -> Node {
        Node {
            id: id::node_id(&self.place, self.frontend),
            object: Named(self.place.clone()),
            role: self.role,
            missing: self.missing,
            reason: self.reason.clone(),
            state: self.state,
            facts: facts.facts(&self.place, self.ordinal),
        }
    }
}

// === impl Role ===

impl Role {
    /// The role of an object.
    fn for_object(snapshot: &Snapshot, key: &ObjectKey, frontend: bool) -> Self {
        if frontend {
            return Self::Frontend;
        }
        match Level::of_kind(&key.gk) {
            None => Self::Namespace,
            Some(Level::GatewayClass) => Self::GatewayClass,
            Some(Level::Gateway) => Self::Gateway,
            Some(Level::ListenerSet) => Self::ListenerSet,
            Some(Level::Route) => Self::Route,
            Some(_) if snapshot.profile(&key.gk).is_some() => Self::Policy,
            Some(_) => Self::Backend,
        }
    }

    /// The role of an object's sections.
    fn of_sections(self) -> Self {
        match self {
            Self::Gateway | Self::ListenerSet => Self::Listener,
            Self::Route => Self::Rule,
            _ => Self::Port,
        }
    }
}
