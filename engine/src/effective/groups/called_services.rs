//! Services that clients of a mesh call, and whose requests no route takes.

use std::rc::Rc;

use super::ancestor_group::AncestorGroup;
use crate::effective::subgraph::Subgraph;
use crate::effective::{PathGroup, Resolver};
use crate::kinds::profile::Profile;
use crate::model::ids::ObjectKey;
use crate::model::level::{Level, Step};
use crate::model::maps::HashSet;
use crate::model::object::{Node, ParentRef};
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::{AncestorPath, through_service};

impl Resolver<'_> {
    /// The paths of Services that clients of a mesh may call, for requests that no route takes.
    pub(super) fn without_clients(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        subgraph: &Subgraph,
        groups: &mut Vec<PathGroup>,
    ) {
        let steps = groups.iter().flat_map(|group| group.paths.ancestors.iter());
        let steps = steps.flat_map(|ancestor_path| &ancestor_path.steps);
        let reached: HashSet<ObjectKey> = steps.map(|step| step.place.object.clone()).collect();
        let is_past_routes = |called: &ObjectKey| {
            focus == Some(called) && !routes_take_all(self.snapshot, called, subgraph)
        };
        for called in &subgraph.backends {
            if self.is_spent() {
                return;
            }
            // Objects of other kinds that are called by name represent only themselves: no Namespace has workloads
            // behind them.
            let ancestor_paths = if called.gk.is_core("Service") {
                through_service(called, called, &[])
            } else if focus == Some(called) {
                let steps = vec![Step::new(Level::Frontend, called.whole())];
                vec![Rc::new(AncestorPath {
                    steps,
                    consumer: None,
                })]
            } else {
                continue;
            };
            if reached.contains(called) && !is_past_routes(called) {
                continue;
            }
            self.charge(fuel::CALLED);
            let needs_route = *profile.needs_route;
            for group in self.ancestor_groups(focus, profile, &ancestor_paths) {
                let group = AncestorGroup {
                    attached: !needs_route,
                    ..group
                };
                groups.push(self.group_above_routes(profile, group, None, !needs_route));
            }
        }
    }
}

/// Whether routes take the requests of all clients to all ports of a Service. A route of another namespace than that of the Service takes only
/// those of clients in its own.
fn routes_take_all(snapshot: &Snapshot, service: &ObjectKey, subgraph: &Subgraph) -> bool {
    let for_all_clients = subgraph.routes.iter().filter(|(_, ancestor_paths)| {
        let mut paths = ancestor_paths.iter();
        paths.any(|path| path.has(service) && path.consumer.is_none())
    });
    let parents: Vec<&ParentRef> = for_all_clients
        .flat_map(|(route, _)| route.parents())
        .filter(|parent| parent.object == *service)
        .collect();
    if parents
        .iter()
        .any(|parent| parent.port.is_none() && parent.section.is_none())
    {
        return true;
    }
    let Some(Node::Service { ports, .. }) = snapshot.get(service).map(|object| &object.node) else {
        return !parents.is_empty();
    };
    let is_taken = |number: u16, name: Option<&str>| {
        parents.iter().any(|parent| {
            parent.port.is_none_or(|port| port == number)
                && parent
                    .section
                    .as_deref()
                    .is_none_or(|section| Some(section) == name)
        })
    };
    !ports.is_empty()
        && ports
            .iter()
            .all(|port| is_taken(port.number, port.name.as_deref()))
}
