//! The graph as a tree for the terminal: objects below their parents, policies at their targets.

use std::collections::HashMap;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr as _;

use super::states::look;
use super::{Picture, Step, is_said_by_name, name};
use crate::answer::graph::{Link, Node, Role};
use crate::answer::state::PolicyState;
use crate::cli::render::phrases::{list, tone};
use crate::cli::render::style::{Style, Tone};
use crate::engine::admission::verdict::escape;

/// The text before a child, and before its descendants.
const BRANCH: (&str, &str) = ("├─ ", "│  ");
const LAST: (&str, &str) = ("└─ ", "   ");
/// The minimum width of a line's text.
const NARROWEST: usize = 24;

/// A piece of a line.
type Piece = (Option<Tone>, String);

/// The tree under construction.
struct Tree<'a> {
    picture: &'a Picture<'a>,
    style: Style,
    shown: Vec<bool>,
    /// The nodes by id.
    ids: HashMap<&'a str, &'a Node>,
    text: String,
}

/// A line below a node.
enum Child<'a> {
    Policy(Step<'a>),
    Object(Step<'a>),
}

/// The tree as text.
pub(crate) fn tree(picture: &Picture<'_>, style: Style) -> String {
    let mut tree = Tree {
        picture,
        style,
        shown: vec![false; picture.nodes().count()],
        ids: picture.nodes().map(|(_, node)| (&*node.id, node)).collect(),
        text: String::new(),
    };
    let roots = |is_namespace: bool| {
        let nodes = picture.nodes();
        nodes.filter(move |(number, node)| {
            (node.role == Role::Namespace) == is_namespace && is_root(picture, *number, node)
        })
    };
    for (number, node) in roots(false).chain(roots(true)) {
        tree.root(number, node);
    }
    tree.unattached();
    tree.text
}

/// Whether a node is a root: it has no parent. A backend with rejected references only is shown at these references,
/// unless there are policies on it or below it.
fn is_root(picture: &Picture<'_>, number: usize, node: &Node) -> bool {
    let is_policy = node.role == Role::Policy && picture.policies(number).is_empty();
    if is_policy || picture.has_above(number) {
        return false;
    }
    let has_policies = |number: usize| !picture.policies(number).is_empty();
    let is_reported = picture.is_refused(number)
        && matches!(node.role, Role::Backend)
        && !has_policies(number)
        && !picture
            .below(number)
            .iter()
            .any(|step| has_policies(step.node));
    !is_reported
}

// === impl Tree ===

impl Tree<'_> {
    fn root(&mut self, number: usize, node: &Node) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let mut pieces = self.title(node);
        if node.role == Role::Route {
            pieces.push((Some(Tone::Warning), "not attached".to_owned()));
        }
        self.object(number, pieces, ("", ""));
    }

    /// An object and its descendants. `before` are the indents of its first line and of the following ones.
    fn object(&mut self, number: usize, mut pieces: Vec<Piece>, before: (&str, &str)) {
        if let Some(shown) = self.shown.get_mut(number) {
            *shown = true;
        }
        let folded = self.folded(number);
        if let Some(ports) = &folded {
            pieces.push((Some(Tone::Faint), ports.clone()));
        }
        self.line(before, &pieces);
        let picture = self.picture;
        let policies = picture
            .policies(number)
            .iter()
            .map(|step| Child::Policy(*step));
        let objects = picture.below(number).iter();
        let objects = objects.filter(|step| folded.is_none() || step.edge.link != Link::Contains);
        let children: Vec<Child<'_>> = policies
            .chain(objects.map(|step| Child::Object(*step)))
            .collect();
        let last = children.len().saturating_sub(1);
        for (i, child) in children.iter().enumerate() {
            let (own, below) = if i == last { LAST } else { BRANCH };
            let before = (format!("{}{own}", before.1), format!("{}{below}", before.1));
            let before = (before.0.as_str(), before.1.as_str());
            match child {
                Child::Policy(step) => self.policy(*step, before),
                Child::Object(step) => self.child(*step, before),
            }
        }
    }

    fn child(&mut self, step: Step<'_>, before: (&str, &str)) {
        let Some(node) = self.picture.node(step.node) else {
            return;
        };
        if step.edge.link == Link::Rejected {
            let mut pieces = vec![
                (Some(Tone::Bad), "✗".to_owned()),
                (None, self.picture.kind(node)),
                (Some(Tone::Heading), format!("{}:", name(node))),
            ];
            pieces.extend(reason(step, Tone::Bad));
            return self.line(before, &pieces);
        }
        let mut pieces = self.title(node);
        if self.shown.get(step.node).copied().unwrap_or(true) {
            pieces.push((Some(Tone::Faint), "(above)".to_owned()));
            return self.line(before, &pieces);
        }
        self.object(step.node, pieces, before);
    }

    fn policy(&mut self, step: Step<'_>, before: (&str, &str)) {
        let Some(node) = self.picture.node(step.node) else {
            return;
        };
        let state = step.edge.state.or(node.state);
        let is_attached = step.edge.link != Link::NotAttached;
        let (mark, tone) = mark(state, is_attached);
        let state_shown = state.filter(|_| is_attached);
        let colon = if state_shown.is_some() { ":" } else { "" };
        let mut pieces = vec![
            (Some(tone), mark.to_owned()),
            (None, self.picture.kind(node)),
            (Some(tone), format!("{}{colon}", name(node))),
        ];
        pieces.extend(state_shown.map(|state| (Some(tone), self.text(state, step))));
        if !is_attached {
            pieces.push((Some(tone), "not attached:".to_owned()));
            pieces.extend(reason(step, tone));
        }
        self.line(before, &pieces);
    }

    /// The state of a policy, and the policies that override it or the reason why it has no effect.
    fn text(&self, state: PolicyState, step: Step<'_>) -> String {
        // A policy outside of the picture has the same kind, so the rest of its id is enough.
        let named = |id: &Arc<str>| match (self.ids.get(&**id), id.split_once('/')) {
            (Some(node), _) => name(node),
            (None, Some((_, path))) => path.to_owned(),
            (None, None) => id.to_string(),
        };
        let by = list(step.edge.by.iter().map(named));
        let word = state.as_str();
        match (state, &step.edge.why) {
            (_, Some(why)) => format!("{word}: {why}"),
            _ if by.is_empty() => word.to_owned(),
            (PolicyState::Overridden, _) => format!("{word} by {by}"),
            (PolicyState::Conflicted, _) => format!("{word} with {by}"),
            _ => format!("{word}, overridden in part by {by}"),
        }
    }

    /// The policies without any edge.
    fn unattached(&mut self) {
        let picture = self.picture;
        let idle: Vec<&Node> = picture
            .nodes()
            .map(|(_, node)| node)
            .filter(|node| node.reason.is_some())
            .collect();
        if idle.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(
            ("", ""),
            &[(Some(Tone::Heading), "Not attached".to_owned())],
        );
        for (i, node) in idle.iter().enumerate() {
            let (own, below) = if i + 1 == idle.len() { LAST } else { BRANCH };
            let why = node.reason.clone().unwrap_or_default();
            let (mark, tone) = mark(node.state, false);
            let pieces = [
                (Some(tone), mark.to_owned()),
                (None, picture.kind(node)),
                (Some(tone), format!("{}:", name(node))),
                (Some(tone), why),
            ];
            self.line((own, below), &pieces);
        }
    }

    fn title(&self, node: &Node) -> Vec<Piece> {
        let mut pieces = vec![(Some(Tone::Heading), name(node))];
        if !is_said_by_name(node) {
            pieces.insert(0, (None, self.picture.kind(node)));
        }
        if node.role == Role::Frontend {
            pieces.push((Some(Tone::Faint), "(as called in the mesh)".to_owned()));
        }
        if node.missing {
            pieces.push((Some(Tone::Bad), "(does not exist)".to_owned()));
        }
        if let Some(why) = &node.facts.unaccepted {
            pieces.push((Some(Tone::Bad), format!("(not accepted: {why})")));
        }
        pieces
    }

    /// The ports of a Service in one text, if none has anything to show.
    fn folded(&self, number: usize) -> Option<String> {
        let node = self.picture.node(number)?;
        let steps = self.picture.below(number);
        let parts = steps.iter().filter(|step| step.edge.link == Link::Contains);
        let parts: Vec<(usize, &Node)> = parts
            .filter_map(|step| Some((step.node, self.picture.node(step.node)?)))
            .collect();
        let plain = |(number, node): &(usize, &Node)| {
            !node.missing && self.picture.policies(*number).is_empty()
        };
        let is_service = node.role == Role::Backend && !parts.is_empty();
        if !is_service || !parts.iter().all(plain) {
            return None;
        }
        let names: Vec<String> = parts.iter().map(|(_, node)| name(node)).collect();
        let noun = if names.len() == 1 { "port" } else { "ports" };
        Some(format!("{noun} {}", names.join(", ")))
    }

    /// One line, wrapped at spaces to the width of the terminal; names are not cut.
    fn line(&mut self, before: (&str, &str), pieces: &[Piece]) {
        let room = self.style.width.map_or(usize::MAX, |width| {
            width.saturating_sub(before.1.width()).max(NARROWEST)
        });
        let mut at = 0;
        self.text.push_str(&self.style.paint(Tone::Faint, before.0));
        for (i, (tone, piece)) in pieces.iter().enumerate() {
            let piece = escape(piece);
            let space = usize::from(i > 0);
            let mut fresh = true;
            for word in piece.split_inclusive(' ') {
                let gap = if fresh { space } else { 0 };
                fresh = false;
                if at > 0 && at + gap + word.trim_end().width() > room {
                    let kept = self.text.trim_end().len();
                    self.text.truncate(kept);
                    self.text.push('\n');
                    self.text.push_str(&self.style.paint(Tone::Faint, before.1));
                    at = 0;
                } else if gap > 0 {
                    self.text.push(' ');
                    at += gap;
                }
                match tone {
                    Some(tone) => self.text.push_str(&self.style.paint(*tone, word)),
                    None => self.text.push_str(word),
                }
                at += word.width();
            }
        }
        self.text.push('\n');
    }
}

/// The sign of a state, as in pictures, and its tone.
fn mark(state: Option<PolicyState>, is_attached: bool) -> (&'static str, Tone) {
    let Some(state) = state else {
        return if is_attached {
            ("◆", Tone::Plain)
        } else {
            ("◇", Tone::Warning)
        };
    };
    let tone = match state {
        PolicyState::Overridden => Tone::Faint,
        other => tone(other),
    };
    (look(state).sign, tone)
}

fn reason(step: Step<'_>, tone: Tone) -> Option<Piece> {
    let reason = step.edge.reason.clone()?;
    Some((Some(tone), reason))
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::{Picture, Style, tree};
    use crate::answer::Named;
    use crate::answer::graph::{Edge, Facts, Graph, Link, Node, Role};
    use crate::engine::model::ids::{GroupKind, ObjectKey};

    const NAME: &str = "a-gateway-with-a-rather-long-name";

    fn graph() -> Graph {
        let node = |id: &str, gk, role| Node {
            id: id.into(),
            object: Named(ObjectKey::new(gk, "infra", NAME).whole()),
            role,
            missing: false,
            reason: None,
            state: None,
            facts: Facts::default(),
        };
        let edge = Edge {
            from: "policy".into(),
            to: "gateway".into(),
            link: Link::NotAttached,
            reason: Some("there is a reason that takes a line".to_owned()),
            state: None,
            by: Vec::new(),
            why: None,
        };
        Graph {
            nodes: vec![
                node("gateway", GroupKind::gateway_api("Gateway"), Role::Gateway),
                node("policy", GroupKind::new("x", "RetryPolicy"), Role::Policy),
            ],
            edges: vec![edge],
        }
    }

    #[test]
    fn a_narrow_terminal_is_respected_and_no_name_is_cut() {
        let graph = graph();
        let style = Style {
            width: Some(40),
            ..Style::default()
        };
        let text = tree(&Picture::new(&graph), style);
        assert_eq!(
            text,
            "Gateway\n\
             infra/a-gateway-with-a-rather-long-name\n\
             └─ ◇ RetryPolicy\n   \
                infra/a-gateway-with-a-rather-long-name\n   \
                not attached: there is a reason that\n   \
                takes a line\n"
        );
        assert!(text.lines().all(|line| line.width() <= 42));
    }

    #[test]
    fn colours_say_what_is_wrong() {
        let graph = graph();
        let style = Style {
            colour: true,
            ..Style::default()
        };
        let text = tree(&Picture::new(&graph), style);
        assert!(text.contains("\u{1b}[1minfra/a-gateway"), "{text:?}");
        assert!(text.contains("\u{1b}[33m◇"), "{text:?}");
    }
}
