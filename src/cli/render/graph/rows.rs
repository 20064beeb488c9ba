//! The rows of boxes: their text and their size.

use std::collections::{BTreeMap, HashMap};

use super::spaces::Space;
use super::states::badges;
use super::svg::text::{LARGE, MIDDLE, SMALL, lines, measured, wrapped};
use super::{Picture, Step, label, name};
use crate::answer::graph::{Link, Node, Role};
use crate::answer::state::PolicyState;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::GroupKind;
use crate::engine::model::wording::shortened;

/// The space between the side of a box and its text.
pub(crate) const INSET: f64 = 14.0;
/// Heights of rows.
const HEAD: f64 = 24.0;
const LINE: f64 = 16.0;
const SECTION: f64 = 22.0;
const CHIP: f64 = 23.0;
const SPACE: f64 = 26.0;
/// The limits of characters per line, for a name and for a reason.
const NAME: usize = 56;
const REASON: usize = 52;
/// The limit of lines per reason, and of hostnames per route.
const MOST_LINES: usize = 4;
/// The limit of characters per match; a longer one is cut.
const MATCH: usize = 52;

/// A row of a box.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub content: Content<'a>,
    /// Its top, from the top of the box.
    pub top: f64,
    pub height: f64,
    /// The width of its text.
    pub width: f64,
}

/// The content of a row.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// The object, with its name in lines.
    Object(usize, &'a Node, Vec<String>),
    /// A section: the text on the left (its name or match) and on the right.
    Section(usize, &'a Node, String, String),
    Policy(Chip<'a>),
    /// A problem, in lines.
    Problem(Vec<String>),
    /// A namespace with the counts of its objects.
    Space(SpaceRow),
    Fact(String),
    /// A heading for the rows below, or a note on omitted ones.
    Heading(String),
}

/// A policy in a box.
#[derive(Debug)]
pub(crate) struct Chip<'a> {
    pub node: &'a Node,
    /// The edge to its target. `None` if it is not attached.
    pub step: Option<Step<'a>>,
    /// The short name of its kind.
    pub badge: String,
    /// Its name in lines.
    pub names: Vec<String>,
    /// The number of policies that it overrides, or the one that overrides it.
    pub note: String,
}

/// A namespace in a box of namespaces, in columns: its name, its policies by state, its problems, and its counts.
#[derive(Debug)]
pub(crate) struct SpaceRow {
    pub space: Space,
    /// The left edges of the columns for states and problems.
    pub states_at: f64,
    pub problems_at: f64,
}

/// Writes the rows of a picture.
#[derive(Debug)]
pub(crate) struct Writer<'a, 'p> {
    picture: &'p Picture<'a>,
    badges: BTreeMap<GroupKind, String>,
    /// The number of policies that each policy overrides.
    overrides: HashMap<&'a str, usize>,
    names: HashMap<&'a str, &'a Node>,
    /// Why references from or to a node are rejected.
    refused: HashMap<usize, Vec<String>>,
}

// === impl Row ===

impl Row<'_> {
    /// The node at which wires to this row end.
    pub(crate) fn anchor(&self) -> Option<usize> {
        match self.content {
            Content::Object(number, ..) | Content::Section(number, ..) => Some(number),
            _ => None,
        }
    }
}

// === impl Writer ===

impl<'a, 'p> Writer<'a, 'p> {
    pub(crate) fn new(picture: &'p Picture<'a>) -> Self {
        let mut refused: HashMap<usize, Vec<String>> = HashMap::new();
        for (number, node) in picture.nodes() {
            for step in picture.below(number) {
                let other = picture.node(step.node);
                let (Link::Rejected, Some(reason), Some(other)) =
                    (step.edge.link, &step.edge.reason, other)
                else {
                    continue;
                };
                // A rejected backend is shown at the rule, a rejected parent at the route or ListenerSet.
                let (at, section) = if node.role == Role::Rule {
                    (number, label(picture, other))
                } else {
                    (
                        step.node,
                        format!("not attached to {}", full_name(picture, node)),
                    )
                };
                let reasons = refused.entry(at).or_default();
                reasons.push(format!("{section}: {reason}"));
            }
        }
        let mut overrides: HashMap<&str, std::collections::BTreeSet<&str>> = HashMap::new();
        for edge in picture.edges() {
            for by in &edge.by {
                overrides.entry(&**by).or_default().insert(&*edge.from);
            }
        }
        Self {
            picture,
            badges: badges(picture.graph),
            overrides: overrides
                .into_iter()
                .map(|(id, set)| (id, set.len()))
                .collect(),
            names: picture.nodes().map(|(_, node)| (&*node.id, node)).collect(),
            refused,
        }
    }

    /// The first rows of a box: the object and the facts that users look for.
    pub(crate) fn object(&self, number: usize, node: &'a Node) -> Vec<Row<'a>> {
        let names = lines(&node.object.0.object.name, NAME);
        let mut width = names
            .iter()
            .map(|line| measured(line, LARGE))
            .fold(0.0, f64::max);
        let place = measured(&escape(&node.object.0.object.namespace), SMALL) + 16.0;
        width = width.max(measured(&escape(&self.kind(node)), SMALL) + place);
        let height = HEAD + LINE * count(names.len());
        let mut rows = vec![row(Content::Object(number, node, names), height, width)];
        let facts = &node.facts;
        let class = facts.class.iter().map(|class| format!("class {class}"));
        let hosts = facts.hostnames.iter().filter(|_| node.role == Role::Route);
        let mut facts: Vec<String> = class.chain(hosts.cloned()).collect();
        let more = facts.len().saturating_sub(MOST_LINES);
        facts.truncate(MOST_LINES);
        if more > 0 {
            facts.push(format!("and {more} more hostnames"));
        }
        for fact in facts {
            rows.extend(lines(&fact, NAME).into_iter().map(|line| {
                let width = measured(&line, SMALL);
                row(Content::Fact(line), LINE, width)
            }));
        }
        rows.extend(self.problems(number));
        rows
    }

    /// The kind of a node, as shown above its name.
    pub(crate) fn kind(&self, node: &Node) -> String {
        kind(self.picture, node)
    }

    /// A section and its problems.
    pub(crate) fn section(&self, number: usize) -> Vec<Row<'a>> {
        let Some(node) = self.picture.node(number) else {
            return Vec::new();
        };
        let facts = &node.facts;
        let own = escape(&name(node));
        let (left, right) = match (node.role, facts.matches.first()) {
            (Role::Listener, _) if facts.port.is_some() => {
                let host = facts.hostnames.first();
                let host = host.map_or("any hostname", String::as_str);
                let port = facts.port.unwrap_or_default();
                let protocol = facts.protocol.as_deref().unwrap_or_default();
                (own, format!("{protocol} {port} {host}"))
            }
            (Role::Rule, Some(first)) => {
                let more = match facts.matches.len() {
                    1 => String::new(),
                    n => format!(" +{}", n - 1),
                };
                let is_named = !own.starts_with("rule-") && !own.starts_with("unnamed rule-");
                let right = if is_named { own } else { String::new() };
                (format!("{}{more}", cut(first, MATCH)), right)
            }
            (Role::Port, _) if facts.port.is_some_and(|port| port.to_string() != own) => {
                (own, facts.port.unwrap_or_default().to_string())
            }
            _ => (own, self.picture.kind(node)),
        };
        let (left, right) = (escape(&left), escape(&right));
        let width = measured(&left, MIDDLE) + measured(&right, SMALL) + 16.0;
        let mut rows = vec![row(
            Content::Section(number, node, left, right),
            SECTION,
            width,
        )];
        if node.missing {
            rows.push(problem("does not exist"));
        }
        rows.extend(facts.unaccepted.iter().map(|why| problem(why)));
        rows.extend(self.problems(number));
        rows
    }

    fn problems(&self, number: usize) -> impl Iterator<Item = Row<'a>> {
        let reasons = self.refused.get(&number).into_iter().flatten();
        reasons.take(MOST_LINES).map(|why| problem(why))
    }

    /// A policy at its target.
    pub(crate) fn policy(&self, step: Step<'a>) -> Row<'a> {
        let by = step.edge.by.first().and_then(|id| self.names.get(&**id));
        let note = match (by, self.overrides.get(&*step.edge.from)) {
            (Some(by), _) => {
                let more = match step.edge.by.len() {
                    1 => String::new(),
                    n => format!(" +{}", n - 1),
                };
                format!("by {}{more}", by.object.0.object.name)
            }
            (None, Some(count)) => format!("overrides {count}"),
            (None, None) => String::new(),
        };
        self.chip(step.node, Some(step), &note)
    }

    /// A policy that is not attached, and the reason.
    pub(crate) fn idle(&self, number: usize) -> Vec<Row<'a>> {
        let why = self
            .picture
            .node(number)
            .and_then(|node| node.reason.as_deref());
        let chip = self.chip(number, None, "");
        std::iter::once(chip).chain(why.map(problem)).collect()
    }

    fn chip(&self, number: usize, step: Option<Step<'a>>, reason: &str) -> Row<'a> {
        let Some(node) = self.picture.node(number) else {
            return self.heading("");
        };
        let gk = &node.object.0.object.gk;
        let badge = self
            .badges
            .get(gk)
            .map_or_else(|| gk.kind.to_string(), Clone::clone);
        let badge = escape(&badge);
        let names = lines(&node.object.0.object.name, NAME);
        let widest = names
            .iter()
            .map(|line| measured(line, MIDDLE))
            .fold(0.0, f64::max);
        let width = 50.0 + measured(&badge, SMALL) + widest + measured(&escape(reason), SMALL);
        let height = CHIP + LINE * count(names.len().saturating_sub(1));
        let chip = Chip {
            node,
            step,
            badge,
            names,
            note: escape(reason),
        };
        row(Content::Policy(chip), height, width)
    }

    /// Namespaces, below a heading with their sums.
    pub(crate) fn spaces(&self, spaces: &[Space], is_reached: bool) -> Vec<Row<'a>> {
        let sum = Space::sum(spaces);
        let named = spaces.iter().filter(|space| !space.name.is_empty());
        let many = match named.count() {
            1 => "1 namespace".to_owned(),
            n => format!("{n} namespaces"),
        };
        let alone = if is_reached {
            ""
        } else {
            ", not reached from a Gateway shown here"
        };
        let heading = format!("{many}: {}{alone}", sum.counted());
        let mut rows = Vec::new();
        if spaces.len() > 1 || !is_reached {
            rows.push(self.heading(&heading));
        }
        let widest =
            |measure: &dyn Fn(&Space) -> f64| spaces.iter().map(measure).fold(0.0, f64::max);
        let states_at = INSET + widest(&|space| measured(title_of(space), MIDDLE)) + 16.0;
        let problems_at = states_at + widest(&|space| tallies(&space.states));
        let counts_at = problems_at + widest(&|space| problems_width(space.problems));
        for space in spaces {
            let width = counts_at + measured(&space.counted(), SMALL);
            let space = SpaceRow {
                space: space.clone(),
                states_at,
                problems_at,
            };
            rows.push(row(Content::Space(space), SPACE, width));
        }
        rows
    }

    /// A heading or note.
    #[expect(clippy::unused_self, reason = "all rows come from the writer")]
    pub(crate) fn heading(&self, words: &str) -> Row<'a> {
        let width = measured(words, SMALL);
        row(Content::Heading(words.to_owned()), SECTION, width)
    }
}

/// The name of a namespace; for objects without one, a description of them.
pub(crate) fn title_of(space: &Space) -> &str {
    if space.name.is_empty() {
        "cluster-scoped"
    } else {
        &space.name
    }
}

/// The width of one state with its count.
pub(crate) fn tally(count: usize) -> f64 {
    30.0 + measured(&count.to_string(), SMALL)
}

fn tallies(states: &BTreeMap<PolicyState, usize>) -> f64 {
    states.values().map(|count| tally(*count)).sum::<f64>() + 10.0
}

/// `3 problems`.
pub(crate) fn problems_of(count: usize) -> String {
    match count {
        1 => "1 problem".to_owned(),
        n => format!("{n} problems"),
    }
}

fn problems_width(count: usize) -> f64 {
    match count {
        0 => 0.0,
        n => measured(&problems_of(n), SMALL) + 30.0,
    }
}

/// A node, with its object if it is a section.
fn full_name(picture: &Picture<'_>, node: &Node) -> String {
    match node.object.0.section {
        Some(_) => format!("{} of {}", label(picture, node), node.object.0.object),
        None => label(picture, node),
    }
}

fn problem<'a>(why: &str) -> Row<'a> {
    let lines = wrapped(why, REASON, MOST_LINES);
    let width = lines
        .iter()
        .map(|line| measured(line, SMALL))
        .fold(0.0, f64::max)
        + 14.0;
    let height = 19.0 + 13.0 * count(lines.len().saturating_sub(1));
    row(Content::Problem(lines), height, width)
}

fn row(content: Content<'_>, height: f64, width: f64) -> Row<'_> {
    Row {
        content,
        top: 0.0,
        height,
        width,
    }
}

/// The kind of a node, as shown above its name.
pub(crate) fn kind(picture: &Picture<'_>, node: &Node) -> String {
    let mut kind = picture.kind(node);
    if node.role == Role::Frontend {
        kind.push_str(" in the mesh");
    }
    if node.missing {
        kind.push_str(", does not exist");
    }
    kind
}

fn cut(text: &str, limit: usize) -> String {
    shortened(text, limit).into_owned()
}

/// A count as a length.
fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}
