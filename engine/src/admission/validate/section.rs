//! Checks that the section of a target exists, and suggests a correction.

use std::collections::BTreeSet;

use crate::admission::finding::{Code, Finding};
use crate::attachment::section_names;
use crate::model::hint::{nearest, one, quoted};
use crate::model::ids::ObjectKey;
use crate::model::object::{Listener, Node, Object, section_noun};
use crate::model::section::PortsBy;
use crate::model::section::{SectionNames, nameable, on_port, resolve};
use crate::policy::{Policy, TargetEntry, TargetRef};
use crate::state::snapshot::Snapshot;
use crate::topology::sets_of;

/// The finding on a section, or a port, that an object does not have.
pub(super) fn unknown(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
    object: &Object,
) -> Option<Finding> {
    let noun = section_noun(&object.key.gk)?;
    let names = section_names(snapshot, &policy.profile, object);
    let (member, about, message) = match (&target.section, target.port) {
        (Some(name), _) if resolve(object, name, names).is_none() => (
            entry.field.section_member(),
            &**name,
            misnamed_port(object, name, names.ports_by)
                .unwrap_or_else(|| format!("{noun} {name:?}{}", remedy(object, noun, name, names))),
        ),
        (None, Some(port)) if on_port(object, port).is_empty() => (
            entry.field.port_field.as_deref().unwrap_or("port"),
            &*port.to_string(),
            format!("{noun} on port {port}; it has {}", ports(object)),
        ),
        _ => return None,
    };
    if let Some(why) = &object.unread {
        // It may be in the part that could not be read.
        let message = format!(
            "whether {} has {noun} {about:?} is not known: {why}",
            object.key
        );
        return Some(
            Finding::new(Code::Unverified, policy.key(), message)
                .at(format!("{}.{member}", entry.path))
                .about(format!("{}#{about}", object.key))
                .only_if(false),
        );
    }
    let is_meant = |listener: &Listener| match target.port {
        Some(port) if target.section.is_none() => listener.port == port,
        _ => *listener.name == *about,
    };
    let in_set = set_with_listener(snapshot, object, is_meant);
    let message = match in_set {
        Some(set) => {
            let what = match target.section {
                Some(_) => format!("{noun} {about:?}"),
                None => format!("{noun} on port {about}"),
            };
            format!(
                "{} has no {what}; {set} has one, which only some controllers take for it",
                object.key
            )
        }
        None => format!("{} has no {message}", object.key),
    };
    Some(
        Finding::new(Code::SectionUnknown, policy.key(), message)
            .at(format!("{}.{member}", entry.path))
            .about(format!("{}#{about}", object.key))
            .depending_on_absence_of(&object.key)
            .only_if(!policy.is_pending() && in_set.is_none()),
    )
}

/// A `ListenerSet` of a Gateway that has the listener that is meant. Envoy Gateway applies a `ClientTrafficPolicy` to one with the
/// name, agentgateway an `AgentgatewayPolicy` to those on the port.
fn set_with_listener<'a>(
    snapshot: &'a Snapshot,
    gateway: &'a Object,
    is_meant: impl Fn(&Listener) -> bool,
) -> Option<&'a ObjectKey> {
    if !gateway.key.gk.is_gateway_api("Gateway") {
        return None;
    }
    let mut sets = sets_of(snapshot, &gateway.key);
    let set = sets.find(|set| set.listeners().iter().any(&is_meant));
    set.map(|set| &set.key)
}

/// The section of this name that an object does not have, in words: `listener web`.
pub fn missing_section(
    snapshot: &Snapshot,
    policy: &Policy,
    object: &Object,
    name: &str,
) -> String {
    let by = section_names(snapshot, &policy.profile, object).ports_by;
    misnamed_port(object, name, by).unwrap_or_else(|| {
        let noun = section_noun(&object.key.gk).unwrap_or("section");
        format!("{noun} {name}")
    })
}

/// The port whose name is written as a number, where only names count:
/// `port with the name "8080"; port 8080 has the name "http"`.
fn misnamed_port(object: &Object, name: &str, by: PortsBy) -> Option<String> {
    let Node::Service { ports, .. } = &object.node else {
        return None;
    };
    let by_number = |port: &&crate::model::object::Port| name.parse() == Ok(port.number);
    let port = ports
        .iter()
        .find(by_number)
        .filter(|_| by == PortsBy::Name)?;
    let right = port.name.as_deref()?;
    Some(format!(
        "port with the name {name:?}; port {} has the name {right:?}",
        port.number
    ))
}

/// The remedy: the name to write instead.
fn remedy(object: &Object, noun: &str, name: &str, names: SectionNames) -> String {
    if let Some(meant) = port_otherwise(object, name, names.ports_by) {
        return meant;
    }
    let labels = nameable(object, names);
    let mut nameable: Vec<&str> = labels.iter().map(|label| &**label).collect();
    let mut seen = BTreeSet::new();
    nameable.retain(|name| seen.insert(*name));
    // All indexes are equally close to each other: only names can be mistyped.
    let given = object.sections().unwrap_or_default();
    let mut given: Vec<&str> = given.into_iter().map(|name| &**name).collect();
    given.retain(|name| nameable.contains(name));
    match nearest(name, &given) {
        Some(near) => format!("; did you mean {near:?}?"),
        None if nameable.is_empty() && noun == "rule" && name.starts_with("rule-") => format!(
            "; none of its rules has a name, and {} is only what attache calls one: give the rule a name",
            one(name)
        ),
        None if nameable.is_empty() => format!("; none of its {noun}s has a name"),
        None => format!("; it has {}", quoted(&nameable)),
    }
}

/// A hint on a port named by number where only names count, or by name where only numbers count.
fn port_otherwise(object: &Object, name: &str, by: PortsBy) -> Option<String> {
    let Node::Service { ports, .. } = &object.node else {
        return None;
    };
    let written = |port: &&crate::model::object::Port| match by {
        PortsBy::Name => name.parse() == Ok(port.number),
        PortsBy::Number => port.name.as_deref() == Some(name),
        PortsBy::Both => false,
    };
    let port = ports.iter().find(written)?;
    Some(match by {
        PortsBy::Number => format!("; did you mean \"{}\"?", port.number),
        _ => format!(
            "; port {} has no name, and a port is named by its name: leave sectionName out",
            port.number
        ),
    })
}

fn ports(object: &Object) -> String {
    let numbers: BTreeSet<u16> = match &object.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => {
            listeners.iter().map(|listener| listener.port).collect()
        }
        Node::Service { ports, .. } => ports.iter().map(|port| port.number).collect(),
        _ => BTreeSet::new(),
    };
    let numbers: Vec<String> = numbers.iter().map(u16::to_string).collect();
    numbers.join(", ")
}
