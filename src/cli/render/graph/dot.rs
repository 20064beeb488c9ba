//! The graph for Graphviz: `attache graph -o dot | dot -Tsvg`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::states::look;
use super::{Picture, home, label, name};
use crate::answer::graph::{Link, Node, Role};
use crate::answer::state::PolicyState;
use crate::engine::admission::verdict::escape;

/// The text of a `.gv` file: a cluster for each namespace, policies as notes.
pub(crate) fn dot(picture: &Picture<'_>) -> String {
    let mut text = "digraph attache {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\", margin=\"0.2,0.08\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n".to_owned();
    let mut clusters: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for (_, node) in picture.nodes() {
        let namespace = home(node).unwrap_or_default();
        clusters.entry(namespace).or_default().push(node);
    }
    for (namespace, nodes) in clusters {
        let mut indent = "  ";
        if !namespace.is_empty() {
            let id = quoted(&format!("cluster_{namespace}"));
            let label = quoted(namespace);
            let _ = write!(
                text,
                "  subgraph {id} {{\n    label={label};\n    style=rounded;\n"
            );
            indent = "    ";
        }
        for node in nodes {
            let _ = writeln!(
                text,
                "{indent}{} [{}];",
                quoted(&node.id),
                attributes(picture, node)
            );
        }
        if !namespace.is_empty() {
            text.push_str("  }\n");
        }
    }
    for edge in picture.edges() {
        let style = match edge.link {
            Link::Contains => " [arrowhead=none]",
            Link::Parent | Link::Backend => "",
            Link::Rejected | Link::NotAttached => " [style=dashed, color=\"firebrick\"",
            Link::Attached => " [style=dotted, color=\"darkorange\"]",
        };
        let reason = match &edge.reason {
            Some(reason) if edge.link.is_refused() => format!(", label={}]", quoted(reason)),
            None if edge.link.is_refused() => "]".to_owned(),
            _ => String::new(),
        };
        let (from, to) = (quoted(&edge.from), quoted(&edge.to));
        let _ = writeln!(text, "  {from} -> {to}{style}{reason};");
    }
    text.push_str("}\n");
    text
}

fn attributes(picture: &Picture<'_>, node: &Node) -> String {
    let kind = picture.kind(node);
    let text = if node.object.0.section.is_some() {
        inside(&label(picture, node))
    } else {
        // The name has a line of its own.
        format!("{}\\n{}", inside(&kind), inside(&name(node)))
    };
    let text = match node.state {
        Some(state) => format!("{text}\\n{} {}", look(state).sign, state.as_str()),
        None => text,
    };
    let mut attributes = format!("label=\"{text}\"");
    let style = match node.role {
        Role::Policy => node.state.map_or(BLANK, fill),
        Role::Namespace => ", shape=folder",
        Role::GatewayClass => ", shape=component",
        Role::Listener | Role::Rule | Role::Port => ", style=rounded",
        _ => "",
    };
    attributes.push_str(style);
    if node.missing {
        attributes.push_str(", color=\"firebrick\", fontcolor=\"firebrick\"");
    }
    if let Some(reason) = &node.reason {
        let _ = write!(attributes, ", tooltip={}", quoted(reason));
    }
    attributes
}

/// The look of a policy whose state is not known.
const BLANK: &str = ", shape=note, style=filled, fillcolor=\"moccasin\"";

/// The look of a policy in a state.
fn fill(state: PolicyState) -> &'static str {
    match look(state).class {
        "in-force" => ", shape=note, style=filled, fillcolor=\"#e3f5e7\", color=\"#1f883d\"",
        "partly" => ", shape=note, style=filled, fillcolor=\"#fdf2d4\", color=\"#b7791f\"",
        "rejected" => ", shape=note, style=filled, fillcolor=\"#f5eafb\", color=\"#8b3fb8\"",
        "broken" => ", shape=note, style=filled, fillcolor=\"#fdeaea\", color=\"#c02626\"",
        _ => ", shape=note, style=filled, fillcolor=\"#e9edf1\", color=\"#7b8794\"",
    }
}

/// A quoted string. Every backslash is escaped, because Graphviz interprets `\N` and others in labels.
fn quoted(text: &str) -> String {
    format!("\"{}\"", inside(text))
}

fn inside(text: &str) -> String {
    escape(text).replace('\\', "\\\\").replace('"', "\\\"")
}
