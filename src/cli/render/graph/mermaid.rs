//! The graph as a Mermaid flowchart, for Markdown.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::states::look;
use super::{Picture, home, label};
use crate::answer::graph::{Link, Node, Role};
use crate::engine::admission::verdict::escape;

/// Mermaid's default limit of edges.
pub(crate) const MOST_EDGES: usize = 500;

/// The styles of policies by state, and of objects that do not exist.
const CLASSES: [(&str, &str); 7] = [
    ("in-force", "fill:#e3f5e7,stroke:#1f883d,color:#0d4a1f"),
    ("partly", "fill:#fdf2d4,stroke:#b7791f,color:#5f3c03"),
    ("overridden", "fill:#e9edf1,stroke:#7b8794,color:#4a5563"),
    ("no-effect", "fill:#e9edf1,stroke:#7b8794,color:#4a5563"),
    ("rejected", "fill:#f5eafb,stroke:#8b3fb8,color:#5a2379"),
    ("broken", "fill:#fdeaea,stroke:#c02626,color:#86181b"),
    ("missing", "stroke:#c02626,stroke-dasharray:4 3"),
];

/// The text of a flowchart: a subgraph for each namespace, policies with a cut corner.
pub(crate) fn mermaid(picture: &Picture<'_>) -> String {
    let mut text = "flowchart LR\n".to_owned();
    let mut groups: BTreeMap<&str, Vec<(usize, &Node)>> = BTreeMap::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (number, node) in picture.nodes() {
        numbers.insert(&node.id, number);
        let namespace = home(node).unwrap_or_default();
        groups.entry(namespace).or_default().push((number, node));
    }
    for (i, (namespace, nodes)) in groups.iter().enumerate() {
        let mut indent = "  ";
        if !namespace.is_empty() {
            let _ = writeln!(text, "  subgraph s{i}[\"{}\"]", inside(namespace));
            indent = "    ";
        }
        for (number, node) in nodes {
            let _ = writeln!(text, "{indent}n{number}{}", shape(picture, node));
        }
        if !namespace.is_empty() {
            text.push_str("  end\n");
        }
    }
    for edge in picture.edges() {
        let (Some(from), Some(to)) = (numbers.get(&*edge.from), numbers.get(&*edge.to)) else {
            continue;
        };
        let arrow = match (edge.link, &edge.reason) {
            (Link::Contains, _) => "---".to_owned(),
            (Link::Parent | Link::Backend, _) => "-->".to_owned(),
            (Link::Attached, _) => "-.->".to_owned(),
            (Link::Rejected | Link::NotAttached, Some(reason)) => {
                format!("-. \"{}\" .-x", inside(reason))
            }
            (Link::Rejected | Link::NotAttached, None) => "-.-x".to_owned(),
        };
        let _ = writeln!(text, "  n{from} {arrow} n{to}");
    }
    for (name, style) in CLASSES {
        let _ = writeln!(text, "  classDef {name} {style}");
    }
    for (name, _) in CLASSES {
        class(
            picture,
            name,
            |node| match node.state {
                Some(state) => look(state).class == name,
                None => name == "missing" && (node.missing || node.reason.is_some()),
            },
            &mut text,
        );
    }
    text
}

fn shape(picture: &Picture<'_>, node: &Node) -> String {
    let mut text = inside(&label(picture, node));
    if node.missing {
        text.push_str("<br/>(does not exist)");
    }
    if let Some(state) = node.state {
        let _ = write!(text, "<br/>{} {}", inside(look(state).sign), state.as_str());
    }
    if let Some(reason) = &node.reason {
        let _ = write!(text, "<br/>({})", inside(reason));
    }
    match node.role {
        Role::Policy => format!(">\"{text}\"]"),
        Role::Listener | Role::Rule | Role::Port => format!("(\"{text}\")"),
        _ => format!("[\"{text}\"]"),
    }
}

fn class(picture: &Picture<'_>, class: &str, is: impl Fn(&Node) -> bool, text: &mut String) {
    let nodes = picture.nodes().filter(|(_, node)| is(node));
    let names: Vec<String> = nodes.map(|(number, _)| format!("n{number}")).collect();
    if !names.is_empty() {
        let _ = writeln!(text, "  class {} {class}", names.join(","));
    }
}

/// Text between quotes. Characters with a meaning in Mermaid, Markdown or HTML become character codes.
fn inside(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape(text).chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | '/' | '-' | ':' | ',' | '(' | ')') {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
