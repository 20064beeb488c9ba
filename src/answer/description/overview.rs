//! `GatewayClasses`, Gateways, `ListenerSets` and Namespaces: their listeners, the routes below them, and the problems
//! of those routes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::policies_below::{PoliciesBelow, policies_below};
use crate::answer::named::Named;
use crate::answer::problems::{Problem, of_object};
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::{ClientCertificates, Node, Object, is_route};
use crate::engine::state::snapshot::Snapshot;
use crate::engine::topology::delegation::delegated_to;
use crate::engine::topology::{
    ParentAttachment, RouteKindConflicts, delegated, gateway_client_certificates, listeners_of,
    parent_attachment,
};

/// Listeners and routes of a `GatewayClass`, Gateway, `ListenerSet` or Namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The class of a Gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The controller of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// The Gateways of a class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<Named>,
    /// The listeners, in the order of the spec.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerAbout>,
    /// The routes that are attached.
    pub routes: Vec<Named>,
    /// Routes below it that get no requests or do not reach a backend.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broken_routes: Vec<BrokenRoute>,
    /// The policies in the Namespace, or on the objects below.
    pub policies_below: PoliciesBelow,
}

/// A listener and the number of its routes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerAbout {
    /// Its name.
    pub name: String,
    /// Its protocol.
    pub protocol: String,
    /// Its port.
    pub port: u16,
    /// Its hostname; absent for any hostname.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The client certificates that its Gateway itself asks for (`spec.tls.frontend`): `required`, or `asked for` if clients without a
    /// valid one may connect, too. Absent if it does not ask for any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_certificates: Option<&'static str>,
    /// The number of attached routes.
    pub routes: usize,
}

/// A route and its problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BrokenRoute {
    /// The route.
    pub route: Named,
    /// Its problems.
    pub problems: Vec<Problem>,
}

/// The overview of an object above the routes. `None` for other kinds and for sections.
pub(super) fn overview(resolver: &mut Resolver<'_>, place: &Place) -> Option<Overview> {
    let snapshot = resolver.snapshot();
    let object = snapshot.get(&place.object)?;
    let is_upper = match &object.node {
        Node::GatewayClass { .. } | Node::Gateway { .. } | Node::ListenerSet { .. } => true,
        _ => object.key.gk.is_core("Namespace"),
    };
    if !is_upper || place.section.is_some() {
        return None;
    }
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    let mut overview = Overview::default();
    let mut by_listener: BTreeMap<Place, usize> = BTreeMap::new();
    let owners = owners(snapshot, object);
    for route in routes(snapshot, object, &owners) {
        let Node::Route { parents, .. } = &route.node else {
            continue;
        };
        let mut listeners: BTreeSet<Place> = BTreeSet::new();
        for parent in parents {
            if let ParentAttachment::Attached(places) =
                parent_attachment(&mut route_kind_conflicts, &route, parent)
            {
                listeners.extend(places);
            }
        }
        let delegated = delegated(&mut route_kind_conflicts, &route).into_iter();
        listeners.extend(delegated.map(|entry| entry.listener));
        if !owners.is_empty() {
            listeners.retain(|listener| owners.contains(&listener.object));
        }
        if !listeners.is_empty() {
            overview.routes.push(Named::from(&route.key));
        }
        for listener in listeners {
            *by_listener.entry(listener).or_default() += 1;
        }
        let problems = of_object(resolver, &mut route_kind_conflicts, &route.key.whole());
        if !problems.is_empty() {
            let route = Named::from(&route.key);
            overview.broken_routes.push(BrokenRoute { route, problems });
        }
    }
    about(snapshot, object, &by_listener, &mut overview);
    overview.policies_below = policies_below(resolver, object, &owners);
    Some(overview)
}

/// The object and the Gateways and `ListenerSets` below it; empty for a Namespace.
fn owners(snapshot: &Snapshot, object: &Arc<Object>) -> BTreeSet<ObjectKey> {
    let mut owners = BTreeSet::new();
    let mut open = vec![object.key.clone()];
    if object.key.gk.is_core("Namespace") {
        return owners;
    }
    while let Some(key) = open.pop() {
        let below = snapshot
            .below(&key)
            .filter(|below| !is_route(&below.key.gk));
        open.extend(
            below
                .map(|below| below.key.clone())
                .filter(|below| !owners.contains(below)),
        );
        owners.insert(key);
    }
    owners
}

/// The routes with one of the owners as parent; without owners, the routes in the Namespace. Sorted.
fn routes(snapshot: &Snapshot, object: &Object, owners: &BTreeSet<ObjectKey>) -> Vec<Arc<Object>> {
    let above: Vec<&ObjectKey> = if owners.is_empty() {
        vec![&object.key]
    } else {
        owners.iter().collect()
    };
    let own = above.into_iter().flat_map(|key| snapshot.below(key));
    let own: Vec<&Arc<Object>> = own.filter(|below| is_route(&below.key.gk)).collect();
    let delegated = if owners.is_empty() {
        Vec::new()
    } else {
        delegated_to(snapshot, own.iter().copied(), usize::MAX)
    };
    let all = own.into_iter().cloned().chain(delegated);
    let all: BTreeMap<ObjectKey, Arc<Object>> =
        all.map(|route| (route.key.clone(), route)).collect();
    all.into_values().collect()
}

fn client_certificates(snapshot: &Snapshot, listener: &Place) -> Option<&'static str> {
    Some(
        match gateway_client_certificates(snapshot, listener)?.mode {
            ClientCertificates::Required => "required",
            ClientCertificates::Asked => "asked for",
        },
    )
}

/// Fills in what the object's own spec says: class, controller, listeners.
fn about(
    snapshot: &Snapshot,
    object: &Arc<Object>,
    by_listener: &BTreeMap<Place, usize>,
    overview: &mut Overview,
) {
    match &object.node {
        Node::Gateway { class, .. } => {
            overview.class = Some(class.to_string());
            let key = ObjectKey::new(GroupKind::gateway_api("GatewayClass"), "", &**class);
            let controller = snapshot.controller_of(&key);
            overview.controller = controller.map(ToString::to_string);
        }
        Node::GatewayClass { controller } => {
            overview.controller = Some(controller.to_string());
            overview.gateways = snapshot
                .below(&object.key)
                .map(|gateway| Named::from(&gateway.key))
                .collect();
        }
        _ => {}
    }
    let listeners = listeners_of(object).iter().map(|listener| ListenerAbout {
        name: listener.name.to_string(),
        protocol: listener.protocol.to_string(),
        port: listener.port,
        hostname: listener.hostname.as_ref().map(ToString::to_string),
        client_certificates: client_certificates(
            snapshot,
            &object.key.section(listener.name.clone()),
        ),
        routes: by_listener
            .get(&object.key.section(listener.name.clone()))
            .copied()
            .unwrap_or(0),
    });
    overview.listeners = listeners.collect();
}
