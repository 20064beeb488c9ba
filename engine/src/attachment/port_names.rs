//! How sections name the ports of a Service, which depends on the controllers that send requests to it.

use crate::kinds::profile::Profile;
use crate::model::ids::GroupKind;
use crate::model::object::{Node, Object};
use crate::model::section::{PortsBy, SectionNames};
use crate::state::snapshot::Snapshot;
use crate::topology::reports::controller;

/// How references of a kind name the sections of an object.
pub(crate) fn section_names(
    snapshot: &Snapshot,
    profile: &Profile,
    object: &Object,
) -> SectionNames {
    let names = profile.section_names();
    let with = &profile.port_numbers_with;
    if with.is_empty() || !matches!(object.node, Node::Service { .. }) {
        return names;
    }
    let routes = snapshot.using(&object.key);
    let parents = routes.flat_map(|route| route.parents());
    let mut controllers = parents
        .filter_map(|parent| controller(snapshot, &parent.object))
        .peekable();
    let by_number = if controllers.peek().is_some() {
        controllers.any(|name| with.contains(name))
    } else {
        // Its routes may come later.
        let class = GroupKind::gateway_api("GatewayClass");
        let mut controllers = snapshot
            .objects(&class)
            .filter_map(|class| class.node.controller());
        controllers.any(|name| with.contains(name))
    };
    SectionNames {
        ports_by: if by_number {
            PortsBy::Both
        } else {
            names.ports_by
        },
        ..names
    }
}
