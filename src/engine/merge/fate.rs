//! What became of a policy on a path: which of its settings are in force, and who beat the others.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{LeafPath, Tree};
use super::{Effective, Merged};
use crate::engine::ids::ObjectKey;
use crate::engine::policy::Policy;

/// What became of a policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Whether at least one leaf of it is in force.
    pub survives: bool,
    /// The leaves that are not in force, and what stands in their place: the policies of the leaf
    /// there, or of what is nearest above where nothing is there.
    pub lost: BTreeMap<LeafPath, BTreeSet<ObjectKey>>,
}

// === impl Fate ===

impl Fate {
    /// Everybody to whom it lost something.
    pub fn by(&self) -> BTreeSet<ObjectKey> {
        self.lost.values().flatten().cloned().collect()
    }
}

/// What became of a policy that stands on the path.
pub fn fate(policy: &Policy, effective: &Effective) -> Fate {
    let mut fate = Fate::default();
    let tree = match &effective.result {
        None => return fate,
        Some(Merged::Opaque(policies)) => {
            fate.survives = policies.contains(policy.key());
            if !fate.survives {
                for piece in policy.pieces() {
                    piece.tree.visit(&mut Vec::new(), &mut |path, _| {
                        fate.lost.insert(path.clone(), policies.clone());
                    });
                }
            }
            return fate;
        }
        // Nobody takes anything from anybody.
        Some(Merged::Together(_)) => {
            fate.survives = effective.policies().contains(policy.key());
            return fate;
        }
        Some(Merged::Settings(tree)) => tree,
    };
    // A policy of the older dialect may set a field twice.
    let twice = policy.pieces().len() > 1;
    let mut kept = BTreeSet::new();
    // Settings that stand beside each other are often lost to one and the same.
    let mut last: Option<(*const Tree, BTreeSet<ObjectKey>)> = None;
    for piece in policy.pieces() {
        piece.tree.visit(&mut Vec::new(), &mut |path, own| {
            let there = tree.nearest(path);
            if matches!(there, Tree::Leaf(leaf) if leaf == own) {
                fate.survives = true;
                if twice {
                    kept.insert(path.clone());
                }
                return;
            }
            let known = last.as_ref().filter(|(of, _)| std::ptr::eq(*of, there));
            let instead = known.map(|(_, policies)| policies.clone());
            let instead = instead.unwrap_or_else(|| {
                let mut policies = super::policies(there);
                policies.remove(policy.key());
                last = Some((there, policies.clone()));
                policies
            });
            fate.lost.insert(path.clone(), instead);
        });
    }
    // It does not beat itself.
    fate.lost.retain(|path, _| !kept.contains(path));
    fate
}

/// Fields that two policies set to different values under the same stanza, as paths from the object
/// (GEP-713 of 2021, conflict resolution).
pub fn field_conflicts(one: &Policy, other: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    for a in one.pieces() {
        let same = other
            .pieces()
            .iter()
            .filter(|b| b.is_override() == a.is_override());
        let Some(names) = one.profile.strategies.value.stanzas else {
            continue;
        };
        let stanza = if a.is_override() {
            names.overrides
        } else {
            names.defaults
        };
        for b in same {
            a.tree.visit(&mut Vec::new(), &mut |path, leaf| {
                let theirs = match b.tree.nearest(path) {
                    Tree::Leaf(theirs) => Some(&theirs.value),
                    _ => None,
                };
                if theirs.is_some_and(|value| *value != leaf.value) {
                    found.push(format!("spec.{stanza}.{}", path.join(".")));
                }
            });
        }
    }
    found
}
