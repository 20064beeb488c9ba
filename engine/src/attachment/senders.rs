//! The controllers that send requests to a backend: those of the Gateways of the routes that lead there.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::requests_to_backend::{LeadingRoute, leading_routes};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::maps::HashMap;
use crate::model::object::{Object, is_route};
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::parent_attachment_cost;
use crate::topology::reports::controller;

/// The senders of each backend that was asked for, found once: thousands of routes may name one, and many policies.
#[derive(Debug, Default)]
pub(super) struct SendersOfBackends {
    known: RefCell<HashMap<ObjectKey, Rc<Senders>>>,
    /// Units of fuel used since [`SendersOfBackends::fuel_used`] was last called.
    fuel_used: Cell<usize>,
}

/// The senders of one backend.
#[derive(Debug)]
pub(super) struct Senders {
    backend: ObjectKey,
    /// The routes that name the backend.
    naming: Vec<NamingRoute>,
    /// The controllers of the Gateways that these name.
    named: BTreeSet<Arc<str>>,
    /// Those of these routes that lead there: found where it decides.
    leading: OnceCell<Vec<Leading>>,
}

/// A route that names a backend.
#[derive(Debug)]
pub(super) struct NamingRoute {
    pub(super) route: Arc<Object>,
    /// The controller of each of its parents; `None` for one whose controller is not known.
    pub(super) controllers: Vec<Option<Arc<str>>>,
    /// Whether one of its parents is a route.
    pub(super) is_below_route: bool,
}

/// A route that leads to a backend, with one of the Gateways or mesh Services above it.
#[derive(Debug)]
pub(super) struct Leading {
    pub(super) route: Arc<Object>,
    pub(super) parent: ObjectKey,
    /// The controller of the parent, if it is known.
    pub(super) controller: Option<Arc<str>>,
}

// === impl SendersOfBackends ===

impl SendersOfBackends {
    /// The senders of a backend.
    pub(super) fn of(&self, snapshot: &Snapshot, backend: &ObjectKey) -> Rc<Senders> {
        let known = self.known.borrow().get(backend).cloned();
        let senders = known.unwrap_or_else(|| {
            let senders = Rc::new(Senders::new(snapshot, backend));
            self.charge(senders.naming.len() / fuel::SCANNED);
            let mut known = self.known.borrow_mut();
            known.insert(backend.clone(), senders.clone());
            senders
        });
        self.charge(senders.naming.len() / fuel::ROUTES);
        senders
    }

    /// The routes that lead to a backend, with each Gateway or mesh Service above them.
    pub(super) fn leading<'s>(&self, snapshot: &Snapshot, senders: &'s Senders) -> &'s [Leading] {
        senders.leading.get_or_init(|| {
            let routes = senders.naming.iter().map(|naming| &naming.route);
            let costs = routes.map(|route| parent_attachment_cost(snapshot, route));
            self.charge(costs.sum());
            let leading = leading_routes(snapshot, &senders.backend);
            let leading = leading.map(|LeadingRoute { route, parent }| Leading {
                route: route.clone(),
                controller: controller(snapshot, &parent).cloned(),
                parent,
            });
            leading.collect()
        })
    }

    /// The controllers of the Gateways whose routes send requests to a backend. If no route does, those of the routes that name it,
    /// and otherwise those of all classes: one may lead there later.
    pub(super) fn controllers(
        &self,
        snapshot: &Snapshot,
        backend: &ObjectKey,
    ) -> BTreeSet<Arc<str>> {
        let senders = self.of(snapshot, backend);
        if senders.named.len() > 1 {
            // Whether routes are accepted is resolved only where it decides.
            let leading = self.leading(snapshot, &senders).iter();
            let leading = leading.filter_map(|leading| leading.controller.clone());
            let leading: BTreeSet<Arc<str>> = leading.collect();
            if !leading.is_empty() {
                return leading;
            }
        }
        if !senders.named.is_empty() {
            return senders.named.clone();
        }
        let classes = snapshot.objects(&GroupKind::gateway_api("GatewayClass"));
        let controllers = classes.filter_map(|class| class.node.controller());
        controllers.cloned().collect()
    }

    /// Whether some controller sends requests to a backend, and all that do are among these.
    pub(super) fn all_are(
        &self,
        snapshot: &Snapshot,
        backend: &ObjectKey,
        these: &[Arc<str>],
    ) -> bool {
        if these.is_empty() {
            return false;
        }
        let controllers = self.controllers(snapshot, backend);
        !controllers.is_empty() && controllers.iter().all(|name| these.contains(name))
    }

    /// Units of fuel used since the last call.
    pub(super) fn fuel_used(&self) -> usize {
        self.fuel_used.take()
    }

    fn charge(&self, units: usize) {
        let used = self.fuel_used.get();
        self.fuel_used.set(used.saturating_add(units));
    }
}

// === impl Senders ===

impl Senders {
    fn new(snapshot: &Snapshot, backend: &ObjectKey) -> Self {
        // The routes name few Gateways.
        let mut of_parents: HashMap<&ObjectKey, Option<Arc<str>>> = HashMap::default();
        let mut naming = Vec::new();
        for route in snapshot.using(backend) {
            let mut controllers = Vec::new();
            let mut is_below_route = false;
            for parent in route.parents() {
                let parent = &parent.object;
                let of_parent = of_parents.entry(parent);
                let of_parent = of_parent.or_insert_with(|| controller(snapshot, parent).cloned());
                controllers.push(of_parent.clone());
                is_below_route |= is_route(&parent.gk);
            }
            naming.push(NamingRoute {
                route: route.clone(),
                controllers,
                is_below_route,
            });
        }
        Self {
            backend: backend.clone(),
            named: of_parents.into_values().flatten().collect(),
            naming,
            leading: OnceCell::new(),
        }
    }

    /// The routes that name the backend.
    pub(super) fn naming(&self) -> &[NamingRoute] {
        &self.naming
    }

    /// The controllers of the Gateways that these routes name.
    pub(super) fn named(&self) -> &BTreeSet<Arc<str>> {
        &self.named
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::SendersOfBackends;
    use crate::kinds::profile::ProfileRules;
    use crate::model::ids::{GroupKind, ObjectKey};
    use crate::model::object::Object;
    use crate::state::snapshot::{Change, Snapshot};

    fn with(snapshot: &Snapshot, kind: &str, name: &str, spec: &Value) -> Snapshot {
        let meta = json!({"namespace": "shop", "name": name});
        let text = to_raw_value(&json!({"metadata": meta, "spec": spec})).unwrap();
        let object = Object::from_json(&GroupKind::gateway_api(kind), &text).unwrap();
        snapshot.apply(Change::Applied(Arc::new(object)))
    }

    #[test]
    fn the_routes_to_a_backend_are_asked_once() {
        let mut state = Snapshot::new(Arc::new(ProfileRules::default()));
        let class = json!({"controllerName": "example.com/one"});
        let text = to_raw_value(&json!({"metadata": {"name": "one"}, "spec": class})).unwrap();
        let class = Object::from_json(&GroupKind::gateway_api("GatewayClass"), &text).unwrap();
        state = state.apply(Change::Applied(Arc::new(class)));
        state = with(
            &state,
            "Gateway",
            "edge",
            &json!({"gatewayClassName": "one"}),
        );
        for i in 0..400 {
            let rule = json!({"backendRefs": [{"name": "web", "port": 80}]});
            let spec = json!({"parentRefs": [{"name": "edge"}], "rules": [rule]});
            state = with(&state, "HTTPRoute", &format!("r{i}"), &spec);
        }
        let web = ObjectKey::new(GroupKind::core("Service"), "shop", "web");
        let senders = SendersOfBackends::default();
        let controllers = senders.controllers(&state, &web);
        assert_eq!(controllers, ["example.com/one".into()].into());
        let first = senders.fuel_used();
        assert!(first >= 100, "{first}");
        assert!(senders.all_are(&state, &web, &["example.com/one".into()]));
        assert!(!senders.all_are(&state, &web, &["example.com/other".into()]));
        let further = senders.fuel_used();
        assert!((1..10).contains(&further), "{further}");
        assert!(Rc::ptr_eq(
            &senders.of(&state, &web),
            &senders.of(&state, &web)
        ));
        assert_eq!(senders.of(&state, &web).naming().len(), 400);
    }
}
