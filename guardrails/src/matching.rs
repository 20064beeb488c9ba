//! The targets that a guardrail applies to, and the paths on which it does.

use attache_engine::model::hint::nearest;
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::object::{Node, ROUTES};
use attache_engine::model::selector::Selector;
use attache_engine::state::snapshot::{Snapshot, namespace_key};

use crate::file::{GatewayMatch, TargetMatch};

const API_GROUP: &str = "gateway.networking.k8s.io";

/// The targets of a guardrail.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    pub(crate) kinds: Vec<GroupKind>,
    gateways: Option<Vec<GatewayMatch>>,
    namespaces: Option<Selector>,
}

// === impl Matcher ===

impl Matcher {
    /// Reads the targets; an error names the field.
    pub(crate) fn from_file(file: &TargetMatch) -> Result<Self, (String, String)> {
        let mut kinds = Vec::new();
        match &file.kinds {
            None => kinds.extend(ROUTES.map(GroupKind::gateway_api)),
            Some(names) => {
                for (i, name) in names.iter().enumerate() {
                    let kind = kind_named(name);
                    kinds.push(kind.map_err(|why| (format!("kinds[{i}]"), why))?);
                }
            }
        }
        if kinds.is_empty() {
            let why = "it is empty, so nothing matches; leave it out for all routes".to_owned();
            return Err(("kinds".to_owned(), why));
        }
        if file.gateways.as_ref().is_some_and(Vec::is_empty) {
            let why = "it is empty, so nothing matches; leave it out for all Gateways".to_owned();
            return Err(("gateways".to_owned(), why));
        }
        for (i, gateway) in file.gateways.iter().flatten().enumerate() {
            if gateway.is_empty() {
                let why = "it is empty; write namespace, name, selector or class".to_owned();
                return Err((format!("gateways[{i}]"), why));
            }
        }
        Ok(Self {
            kinds,
            gateways: file.gateways.clone(),
            namespaces: file.namespace_selector.clone(),
        })
    }

    /// Whether an object is a target, on some path at least.
    pub(crate) fn has(&self, snapshot: &Snapshot, key: &ObjectKey) -> bool {
        self.kinds.contains(&key.gk)
            && self.namespaces.as_ref().is_none_or(|selector| {
                let namespace = snapshot.get(&namespace_key(&key.namespace));
                namespace.is_some_and(|namespace| selector.selects(&namespace.meta.labels))
            })
    }

    /// The labels that the Namespaces of targets must have; `None` if they do not matter.
    pub(crate) fn namespaces(&self) -> Option<&Selector> {
        self.namespaces.as_ref()
    }

    /// The Gateways that count; none if all do.
    pub(crate) fn gateways(&self) -> &[GatewayMatch] {
        self.gateways.as_deref().unwrap_or_default()
    }

    /// Whether the Gateways of a path do not matter.
    pub(crate) fn takes_any_gateway(&self) -> bool {
        self.gateways.is_none()
    }

    /// Whether paths through a Gateway count.
    pub(crate) fn has_gateway(&self, snapshot: &Snapshot, gateway: Option<&ObjectKey>) -> bool {
        let Some(wanted) = &self.gateways else {
            return true;
        };
        gateway.is_some_and(|gateway| wanted.iter().any(|one| one.fits(snapshot, gateway)))
    }
}

// === impl GatewayMatch ===

impl GatewayMatch {
    fn is_empty(&self) -> bool {
        self.namespace.is_none()
            && self.name.is_none()
            && self.selector.is_none()
            && self.class.is_none()
    }

    /// Whether a Gateway has all that is asked for.
    pub(crate) fn fits(&self, snapshot: &Snapshot, key: &ObjectKey) -> bool {
        let object = snapshot.get(key);
        let class = object.and_then(|object| match &object.node {
            Node::Gateway { class, .. } => Some(class),
            _ => None,
        });
        let is = |wanted: &Option<String>, name: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == name)
        };
        key.gk.is_gateway_api("Gateway")
            && is(&self.namespace, &key.namespace)
            && is(&self.name, &key.name)
            && self
                .class
                .as_ref()
                .is_none_or(|wanted| class.is_some_and(|class| **class == **wanted))
            && self.selector.as_ref().is_none_or(|selector| {
                object.is_some_and(|object| selector.selects(&object.meta.labels))
            })
    }
}

/// The kind that a name means: `Service`, `HTTPRoute`, or `Kind.group`.
pub(crate) fn kind_named(name: &str) -> Result<GroupKind, String> {
    if let Some(near) = meant(name) {
        return Err(format!("there is no kind {name:?}; did you mean {near:?}?"));
    }
    match name.split_once('.') {
        Some((kind, group)) if !kind.is_empty() && !group.is_empty() => {
            Ok(GroupKind::new(group, kind))
        }
        None if name == "Service" => Ok(GroupKind::core(name)),
        None if ROUTES.contains(&name) || ["Gateway", "ListenerSet"].contains(&name) => {
            Ok(GroupKind::gateway_api(name))
        }
        _ => Err(format!(
            "{name:?} is not a kind; write {}, Gateway, ListenerSet, Service, or Kind.group",
            ROUTES.join(", ")
        )),
    }
}

/// The kind that is probably meant by one with a misspelt group.
fn meant(name: &str) -> Option<&str> {
    let (kind, group) = name.split_once('.')?;
    let is_ours = ROUTES.contains(&kind) || ["Gateway", "ListenerSet"].contains(&kind);
    let is_misspelt = match kind {
        "Service" => ["core", "v1"].contains(&group),
        _ => is_ours && group != API_GROUP && nearest(group, &[API_GROUP]).is_some(),
    };
    is_misspelt.then_some(kind)
}
