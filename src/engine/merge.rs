//! Effective policy along one path, with the policy that each leaf came from (design 2.5).
//!
//! The fold goes from the most specific policy upward: the accumulated result is the challenger of
//! the next higher policy, whose strategy decides. So an override at the top wins over everything
//! below it, as GEP-713's order of precedence demands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ids::ObjectKey;
use super::policy::{Policy, Stanza};
use super::profile::{Direction, Op, Strategy};

/// A leaf of a spec: its path, as keys.
pub type LeafPath = Vec<String>;

/// Leaves by path.
type Leaves = BTreeMap<LeafPath, Leaf>;

/// What is in force on one path, leaf by leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    leaves: Arc<Leaves>,
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
#[derive(Clone, Debug)]
pub struct Piece {
    strategy: Strategy,
    leaves: Arc<Leaves>,
}

// === impl Effective ===

impl Effective {
    /// The leaves, in the order of their paths.
    pub fn leaves(&self) -> impl Iterator<Item = (&LeafPath, &Leaf)> {
        self.leaves.iter()
    }

    /// The policies that have a leaf in it.
    pub fn policies(&self) -> BTreeSet<&ObjectKey> {
        self.leaves.values().map(|leaf| &leaf.policy).collect()
    }
}

/// Folds the policies of one kind along a path; `levels` from the least to the most specific, each
/// with the established policy first.
///
/// A policy without a usable strategy takes no part.
pub fn effective(levels: &[Vec<Arc<Policy>>]) -> Effective {
    let mut pieces: Vec<&Piece> = Vec::new();
    for level in levels {
        pieces.extend(level_pieces(level));
    }
    let mut acc: Option<Arc<Leaves>> = None;
    for piece in pieces.into_iter().rev() {
        acc = Some(match acc {
            None => piece.leaves.clone(),
            Some(challenger) => fold(piece, challenger),
        });
    }
    let leaves = acc.unwrap_or_default();
    Effective { leaves }
}

/// The pieces of one level, the established first. Under None the oldest stands for the level; in the
/// legacy dialect the oldest wins either way, so defaults come in reverse.
fn level_pieces(level: &[Arc<Policy>]) -> Vec<&Piece> {
    let mut pieces = Vec::new();
    let mut legacy_defaults = Vec::new();
    for policy in level {
        let legacy = policy.profile.strategies.value.legacy;
        for piece in policy.pieces() {
            if piece.strategy == Strategy::None && !pieces.is_empty() {
                continue;
            }
            if legacy && !matches!(piece.strategy, Strategy::Merge(Direction::Overrides, _)) {
                legacy_defaults.push(piece);
            } else {
                pieces.push(piece);
            }
        }
    }
    pieces.extend(legacy_defaults.into_iter().rev());
    pieces
}

/// The settings of a policy, stanza by stanza.
pub(super) fn pieces(policy: &Policy) -> Vec<Piece> {
    let stanzas = policy.strategies.iter().flatten();
    stanzas.map(|stanza| piece(policy, *stanza)).collect()
}

fn piece(policy: &Policy, stanza: Stanza) -> Piece {
    let mut leaves = BTreeMap::new();
    let settings = policy.settings(stanza);
    collect(&settings, &mut Vec::new(), &mut |path, value| {
        let (value, policy) = (value.clone(), policy.key().clone());
        leaves.insert(path.to_vec(), Leaf { value, policy });
    });
    Piece {
        strategy: stanza.strategy,
        leaves: Arc::new(leaves),
    }
}

/// `f(established, challenger)` by the established policy's strategy.
fn fold(established: &Piece, challenger: Arc<Leaves>) -> Arc<Leaves> {
    let own = &established.leaves;
    match established.strategy {
        // The more specific one wins whole.
        Strategy::None | Strategy::Merge(Direction::Defaults, Op::Atomic) => {
            if challenger.is_empty() {
                own.clone()
            } else {
                challenger
            }
        }
        Strategy::Merge(Direction::Overrides, Op::Atomic) => {
            if own.is_empty() {
                challenger
            } else {
                own.clone()
            }
        }
        Strategy::Merge(Direction::Defaults, _) => patch(own, &challenger),
        Strategy::Merge(Direction::Overrides, _) => patch(&challenger, own),
    }
}

/// RFC 7386 on leaves: `over` replaces what it meets, and whatever stood below or above it. The cost
/// is that of both, not of their product.
fn patch(under: &Leaves, over: &Leaves) -> Arc<Leaves> {
    let mut under = under.clone();
    for (path, leaf) in over {
        let below: Vec<LeafPath> = under
            .range(path.clone()..)
            .map(|(found, _)| found)
            .take_while(|found| found.starts_with(path))
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
        under.insert(path.clone(), leaf.clone());
    }
    Arc::new(under)
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
