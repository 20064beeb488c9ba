//! Sections of objects (listeners, rules, ports), and how references name them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::GroupKind;
use crate::model::object::{Node, Object, Port, Rule};

/// The form in which references name sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionNames {
    /// Whether unnamed rules may be referred to as `rule-<i+1>`.
    pub indexed: bool,
    /// The property by which references name ports of Services.
    pub ports_by: PortsBy,
}

/// The property by which a reference names a port of a Service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PortsBy {
    /// By its exact name: a port without a name cannot be a target.
    #[default]
    Name,
    /// By its number, whether or not it has a name.
    Number,
    /// By either.
    Both,
}

// === impl SectionNames ===

impl SectionNames {
    /// Accepts every form, for names on the command line.
    pub const ANY: Self = Self {
        indexed: true,
        ports_by: PortsBy::Both,
    };
}

/// The sections of an object in the order of the spec, by the label that paths show: the name, `rule-<i+1>` for an
/// unnamed rule, the number for an unnamed port.
pub fn labels(object: &Object) -> Vec<Arc<str>> {
    match &object.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
            listeners.iter().map(|l| l.name.clone()).collect()
        }
        Node::Route { rules, .. } => (0..rules.len()).map(|i| rule_label(object, i)).collect(),
        Node::Service { ports, .. } => ports
            .iter()
            .map(|p| {
                p.name
                    .clone()
                    .unwrap_or_else(|| p.number.to_string().into())
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether the kind is known to have no sections.
pub fn has_none(gk: &GroupKind) -> bool {
    let none = ["Namespace", "Pod", "Secret", "ConfigMap"];
    gk.is_gateway_api("GatewayClass") || (gk.group.is_empty() && none.contains(&&*gk.kind))
}

/// The names that a reference to a section may use.
pub fn nameable(object: &Object, by: SectionNames) -> Vec<Arc<str>> {
    match &object.node {
        Node::Route { rules, .. } => {
            let named = |rule: &Rule, label: &str| match &rule.name {
                Some(_) => true,
                None => by.indexed && label.starts_with("rule-"),
            };
            let rules = labels(object).into_iter().zip(rules);
            let nameable = rules.filter(|(label, rule)| named(rule, label));
            nameable.map(|(label, _)| label).collect()
        }
        Node::Service { ports, .. } => {
            let number = |port: &Port| Some(port.number.to_string().into());
            let name = |port: &Port| match by.ports_by {
                PortsBy::Name => port.name.clone(),
                PortsBy::Number => number(port),
                PortsBy::Both => port.name.clone().or_else(|| number(port)),
            };
            ports.iter().filter_map(name).collect()
        }
        _ => labels(object),
    }
}

/// The labels of the sections on a port: the listeners on it, or the port of a Service.
pub fn on_port(object: &Object, number: u16) -> Vec<Arc<str>> {
    match &object.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
            let on_it = listeners.iter().filter(|l| l.port == number);
            on_it.map(|l| l.name.clone()).collect()
        }
        Node::Service { .. } => port_label(object, number).into_iter().collect(),
        _ => vec![number.to_string().into()],
    }
}

/// The label of one rule of a route.
pub fn rule_label(route: &Object, index: usize) -> Arc<str> {
    let Node::Route { rules, .. } = &route.node else {
        return Arc::default();
    };
    if let Some(name) = rules.get(index).and_then(|rule| rule.name.clone()) {
        return name;
    }
    let label = unnamed(index);
    // Another rule may have that name.
    if rules
        .iter()
        .any(|rule| rule.name.as_deref() == Some(&*label))
    {
        format!("unnamed {label}").into()
    } else {
        label
    }
}

/// `rule-<i+1>`.
fn unnamed(index: usize) -> Arc<str> {
    format!("rule-{}", index + 1).into()
}

/// The label of the Service port that a backend reference names.
pub fn port_label(service: &Object, number: u16) -> Option<Arc<str>> {
    let Node::Service { ports, .. } = &service.node else {
        return None;
    };
    let port = ports.iter().find(|port| port.number == number)?;
    Some(
        port.name
            .clone()
            .unwrap_or_else(|| number.to_string().into()),
    )
}

/// The label of the port of a backend that a reference of a route names: the number, if nothing is known of its ports.
pub fn backend_label(backend: &Object, number: u16) -> Option<Arc<str>> {
    match backend.node {
        Node::Other => Some(number.to_string().into()),
        _ => port_label(backend, number),
    }
}

/// The label of the section that a reference names; `None` if the object has no such section.
pub fn resolve(object: &Object, name: &str, by: SectionNames) -> Option<Arc<str>> {
    match &object.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
            let mut names = listeners.iter().map(|l| &l.name);
            names.find(|n| ***n == *name).cloned()
        }
        Node::Route { rules, .. } => {
            let mut named = rules.iter().filter_map(|rule| rule.name.as_ref());
            named.find(|n| ***n == *name).cloned().or_else(|| {
                let index = name.strip_prefix("rule-")?.parse::<usize>().ok()?;
                let rule = rules.get(index.checked_sub(1)?)?;
                (by.indexed && rule.name.is_none()).then(|| name.into())
            })
        }
        Node::Service { ports, .. } => {
            let by_name = || {
                let mut named = ports.iter().filter_map(|port| port.name.as_ref());
                named.find(|n| ***n == *name).cloned()
            };
            let by_number = || port_label(object, name.parse::<u16>().ok()?);
            match by.ports_by {
                PortsBy::Name => by_name(),
                PortsBy::Number => by_number(),
                PortsBy::Both => by_name().or_else(by_number),
            }
        }
        _ => None,
    }
}

/// Whether two sections of an object have this name.
pub fn is_ambiguous(object: &Object, name: &str) -> bool {
    let names = object.sections().unwrap_or_default();
    names.iter().filter(|n| &****n == name).count() > 1
}
