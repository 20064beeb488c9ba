//! Effective policy along one path, with the policy that each leaf came from (design 2.5).
//!
//! The fold goes from the most specific policy upward: the accumulated result is the challenger of
//! the next higher policy, whose strategy decides. So an override at the top wins over everything
//! below it, as GEP-713's order of precedence demands.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ids::ObjectKey;
use super::policy::{Policy, Stanza};
use super::profile::{Direction, Op, Strategy};

/// A leaf of a spec: its path, as keys.
pub type LeafPath = Vec<String>;

/// What is in force on one path, leaf by leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    leaves: BTreeMap<LeafPath, Leaf>,
}

/// A value and the policy that it came from. A `null` that removes something stays as a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The value: a scalar, a list, or an empty object.
    pub value: Value,
    /// The policy.
    pub policy: ObjectKey,
}

/// One policy's settings under one strategy, ready to be folded.
struct Piece {
    strategy: Strategy,
    leaves: BTreeMap<LeafPath, Leaf>,
}

// === impl Effective ===

impl Effective {
    /// The leaves that one policy has in it, in the order of their paths.
    pub fn leaves_of(&self, policy: &ObjectKey) -> impl Iterator<Item = (&LeafPath, &Value)> {
        let own = self
            .leaves
            .iter()
            .filter(move |(_, leaf)| leaf.policy == *policy);
        own.map(|(path, leaf)| (path, &leaf.value))
    }
}

/// Folds the policies of one kind along a path; `levels` from the least to the most specific, each
/// with the established policy first.
///
/// A policy without a usable strategy takes no part.
pub fn effective(levels: &[Vec<Arc<Policy>>]) -> Effective {
    let mut pieces: Vec<Piece> = Vec::new();
    for level in levels {
        pieces.extend(level_pieces(level));
    }
    let mut acc: Option<BTreeMap<LeafPath, Leaf>> = None;
    for piece in pieces.into_iter().rev() {
        acc = Some(match acc {
            None => piece.leaves,
            Some(challenger) => fold(piece, challenger),
        });
    }
    let leaves = acc.unwrap_or_default();
    Effective { leaves }
}

/// The pieces of one level, the established first. Under None the oldest stands for the level; in the
/// legacy dialect the oldest wins either way, so defaults come in reverse.
fn level_pieces(level: &[Arc<Policy>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut legacy_defaults = Vec::new();
    for policy in level {
        let legacy = policy.profile.strategies.value.legacy;
        for stanza in policy.strategies.iter().flatten() {
            if stanza.strategy == Strategy::None && !pieces.is_empty() {
                continue;
            }
            if legacy && !matches!(stanza.strategy, Strategy::Merge(Direction::Overrides, _)) {
                legacy_defaults.push(piece(policy, *stanza));
            } else {
                pieces.push(piece(policy, *stanza));
            }
        }
    }
    pieces.extend(legacy_defaults.into_iter().rev());
    pieces
}

fn piece(policy: &Policy, stanza: Stanza) -> Piece {
    let mut leaves = BTreeMap::new();
    let settings = policy.settings(stanza);
    collect(&settings, &mut Vec::new(), &mut |path, value| {
        let policy = policy.key().clone();
        leaves.insert(
            path.to_vec(),
            Leaf {
                value: value.clone(),
                policy,
            },
        );
    });
    Piece {
        strategy: stanza.strategy,
        leaves,
    }
}

/// `f(established, challenger)` by the established policy's strategy.
fn fold(established: Piece, challenger: BTreeMap<LeafPath, Leaf>) -> BTreeMap<LeafPath, Leaf> {
    match established.strategy {
        // The more specific one wins whole.
        Strategy::None | Strategy::Merge(Direction::Defaults, Op::Atomic) => {
            if challenger.is_empty() {
                established.leaves
            } else {
                challenger
            }
        }
        Strategy::Merge(Direction::Overrides, Op::Atomic) => {
            if established.leaves.is_empty() {
                challenger
            } else {
                established.leaves
            }
        }
        Strategy::Merge(Direction::Defaults, _) => patch(established.leaves, challenger),
        Strategy::Merge(Direction::Overrides, _) => patch(challenger, established.leaves),
    }
}

/// RFC 7386 on leaves: `over` replaces what it meets, and whatever stood below or above it. The cost
/// is that of `over`, however large both are.
fn patch(
    mut under: BTreeMap<LeafPath, Leaf>,
    over: BTreeMap<LeafPath, Leaf>,
) -> BTreeMap<LeafPath, Leaf> {
    for (path, leaf) in over {
        let below: Vec<LeafPath> = under
            .range(path.clone()..)
            .map(|(found, _)| found)
            .take_while(|found| found.starts_with(&path))
            .cloned()
            .collect();
        // An empty object changes nothing where there is an object already.
        let is_object = below.iter().any(|found| found.len() > path.len());
        if is_object && leaf.value == Value::Object(Map::new()) {
            continue;
        }
        for found in below {
            under.remove(&found);
        }
        for length in 0..path.len() {
            under.remove(path.get(..length).unwrap_or_default());
        }
        under.insert(path, leaf);
    }
    under
}

/// Visits the leaves of a value; an empty object is a leaf.
fn collect(value: &Value, path: &mut LeafPath, found: &mut impl FnMut(&[String], &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                path.push(key.clone());
                collect(value, path, found);
                path.pop();
            }
        }
        Value::Object(map) if path.is_empty() && map == &Map::new() => {}
        value => found(path, value),
    }
}
