//! Finds the line and column of a field in a manifest. This parses the document a second time, so it is only for fields
//! that a finding is about.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::manifest::{Document, Origin, documents, options};

/// The most values in a document whose positions are looked up, which take some 50 MiB. In larger documents only the
/// first line is known.
const MAX_VALUES: usize = 500_000;

/// The objects of a file.
#[derive(Debug)]
pub struct Outline<'a> {
    documents: Vec<Document<'a>>,
    /// The document of the last lookup.
    last: Option<(usize, Option<Tree>)>,
}

/// A line and a column, from 1.
pub type Position = (u64, u64);

/// A value and its position.
#[derive(Debug)]
struct Tree {
    at: Position,
    node: Node,
}

#[derive(Debug)]
enum Node {
    Map(Vec<(String, Position, Tree)>),
    List(Vec<Tree>),
    Leaf(String),
}

/// A step of a field path.
#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
    /// The list entry that has this value for this key.
    Entry(&'a str, &'a str),
}

// === impl Outline ===

impl<'a> Outline<'a> {
    /// Splits a file's text into its documents.
    pub fn new(text: &'a str) -> Self {
        Self {
            documents: documents(text),
            last: None,
        }
    }

    /// The position of a field of an object, or of the deepest part of its path that exists. Paths are written
    /// `spec.a[0].b`, with dotted keys in brackets.
    pub fn find(&mut self, origin: &Origin, field: Option<&str>) -> Option<Position> {
        let after = |document: &Document<'_>| document.line <= origin.line;
        let index = self.documents.partition_point(after).checked_sub(1)?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != index) {
            let Document { line, text, .. } = self.documents.get(index)?;
            self.last = Some((index, tree(*line, text)));
        }
        let (_, tree) = self.last.as_ref()?;
        let lists = origin.items.iter();
        let lists = lists.flat_map(|i| [Step::Key("items"), Step::Index(*i)]);
        let steps: Vec<Step<'_>> = lists.chain(steps(field.unwrap_or_default())).collect();
        Some(tree.as_ref()?.find(&steps))
    }
}

/// Parses a document that begins at line `first` of its file.
fn tree(first: u64, text: &str) -> Option<Tree> {
    let mut options = options();
    if let Some(budget) = &mut options.budget {
        (budget.max_nodes, budget.max_events) = (MAX_VALUES, 2 * MAX_VALUES);
    }
    let mut tree: Tree = serde_saphyr::from_str_with_options(text, options).ok()?;
    tree.shift(first.saturating_sub(1));
    Some(tree)
}

fn steps(field: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut remaining = field;
    while !remaining.is_empty() {
        let (word, more) = match remaining.strip_prefix('[') {
            Some(inside) => {
                let (word, more) = inside.split_once(']').unwrap_or((inside, ""));
                steps.push(match (word.parse(), word.split_once('=')) {
                    (Ok(index), _) => Step::Index(index),
                    (_, Some((key, value))) => Step::Entry(key, value),
                    _ => Step::Key(word),
                });
                remaining = more;
                continue;
            }
            None => remaining.split_at(remaining.find(['.', '[']).unwrap_or(remaining.len())),
        };
        if !word.is_empty() {
            steps.push(Step::Key(word));
        }
        remaining = more.strip_prefix('.').unwrap_or(more);
    }
    steps
}

// === impl Tree ===

impl Tree {
    fn shift(&mut self, lines: u64) {
        self.at.0 += lines;
        match &mut self.node {
            Node::Map(fields) => {
                for (_, at, tree) in fields {
                    at.0 += lines;
                    tree.shift(lines);
                }
            }
            Node::List(items) => items.iter_mut().for_each(|item| item.shift(lines)),
            Node::Leaf(_) => {}
        }
    }

    fn find(&self, steps: &[Step<'_>]) -> Position {
        let (mut tree, mut at) = (self, self.at);
        for step in steps {
            let next = match (&tree.node, step) {
                (Node::Map(fields), Step::Key(key)) => fields
                    .iter()
                    .find(|(name, ..)| name == key)
                    .map(|(_, at, tree)| (tree, *at)),
                (Node::List(items), Step::Index(index)) => {
                    items.get(*index).map(|item| (item, item.at))
                }
                (Node::List(items), Step::Entry(key, value)) => items
                    .iter()
                    .find(|item| item.has(key, value))
                    .map(|item| (item, item.at)),
                _ => None,
            };
            match next {
                Some(child) => (tree, at) = child,
                None => break,
            }
        }
        at
    }

    fn has(&self, key: &str, value: &str) -> bool {
        let Node::Map(fields) = &self.node else {
            return false;
        };
        let is = |tree: &Self| matches!(&tree.node, Node::Leaf(text) if text == value);
        fields.iter().any(|(name, _, tree)| name == key && is(tree))
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value, referenced, ..
        } = Spanned::<Node>::deserialize(deserializer)?;
        Ok(Self {
            at: (referenced.line(), referenced.column()),
            node: value,
        })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, tree)) = map.next_entry::<Spanned<String>, Tree>()? {
            let at = (name.referenced.line(), name.referenced.column());
            fields.push((name.value, at, tree));
        }
        Ok(Node::Map(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Leaf(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Leaf(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Leaf(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Leaf(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(String::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Origin, Outline, Step, steps};

    const TEXT: &str = "\
# a comment
apiVersion: v1
kind: One
---
apiVersion: x/v1
kind: List
items:
- metadata: {name: a}
  spec:
    targetRefs:
    - group: x
      kind: Gateway
    - {group: y, sectionName: http}
- metadata:
    annotations:
      attache.dev/pending: \"true\"
  spec:
    list:
    - name: one
      port: 1
    - name: two
      port: 2
";

    fn at(file: &str, text: &str, line: u64, items: &[usize], field: &str) -> Option<(u64, u64)> {
        let origin = Origin {
            file: file.to_owned(),
            line,
            items: items.to_owned(),
        };
        Outline::new(text).find(&origin, Some(field))
    }

    #[test]
    fn fields_are_found_in_their_document() {
        let position = |items: &[usize], field: &str| at("a.yaml", TEXT, 5, items, field);
        assert_eq!(position(&[], "kind"), Some((6, 1)));
        assert_eq!(position(&[0], ""), Some((8, 3)));
        assert_eq!(position(&[0], "spec.targetRefs"), Some((10, 5)));
        assert_eq!(position(&[0], "spec.targetRefs[0].kind"), Some((12, 7)));
        assert_eq!(
            position(&[0], "spec.targetRefs[1].sectionName"),
            Some((13, 18))
        );
        let pending = "metadata.annotations[attache.dev/pending]";
        assert_eq!(position(&[1], pending), Some((16, 7)));
        assert_eq!(position(&[1], "spec.list[name=two].port"), Some((22, 7)));
        assert_eq!(at("a.yaml", TEXT, 2, &[], "kind"), Some((3, 1)));
    }

    #[test]
    fn a_missing_field_gets_the_nearest_position() {
        let position = |field: &str| at("a.yaml", TEXT, 5, &[0], field);
        assert_eq!(position("spec.targetRefs[0].name"), Some((11, 7)));
        assert_eq!(position("spec.targetRefs[7].name"), Some((10, 5)));
        assert_eq!(position("spec.strategy"), Some((9, 3)));
        assert_eq!(position("status"), Some((8, 3)));
    }

    #[test]
    fn json_has_lines_too() {
        let text = "{\"kind\": \"A\"}\n\n{\n\t\"kind\": \"B\",\n  \"spec\": {\n    \"a\": [1, 2]}}";
        assert_eq!(at("a.json", text, 3, &[], "spec.a[1]"), Some((6, 14)));
        assert_eq!(at("a.json", text, 1, &[], "kind"), Some((1, 2)));
    }

    #[test]
    fn paths_are_keys_indices_and_entries() {
        assert_eq!(
            steps("spec.a[0].b[x/y.z][name=q].c"),
            [
                Step::Key("spec"),
                Step::Key("a"),
                Step::Index(0),
                Step::Key("b"),
                Step::Key("x/y.z"),
                Step::Entry("name", "q"),
                Step::Key("c"),
            ]
        );
    }
}
