//! The outcome of a policy on a path: which of its settings are in force, and which policies override the others.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::tree::{Leaf, LeafPath, Tree};
use super::{Effective, Merged};
use crate::engine::ids::ObjectKey;
use crate::engine::maps::{HashMap, HashSet};
use crate::engine::policy::Policy;

/// The outcome of a policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Whether at least one of its leaves is in force.
    pub survives: bool,
    /// The overridden leaves, each with the policies that override it: those of the leaf that is there instead, or of
    /// the nearest subtree above if there is none.
    pub lost: BTreeMap<LeafPath, Rc<BTreeSet<ObjectKey>>>,
}

/// The policies of subtrees of a result. Many settings lose to the same subtree, or to the same policy.
#[derive(Default)]
struct Others<'a> {
    of_parts: HashMap<*const Tree, Rc<BTreeSet<ObjectKey>>>,
    /// The policies of the last leaf.
    last: Option<(&'a ObjectKey, Rc<BTreeSet<ObjectKey>>)>,
}

// === impl Fate ===

impl Fate {
    /// All policies that override one of its leaves.
    pub fn by(&self) -> BTreeSet<ObjectKey> {
        // Many settings lose to the same set.
        let mut known: HashSet<*const BTreeSet<ObjectKey>> = HashSet::default();
        let each = self.lost.values();
        let each = each.filter(|policies| known.insert(Rc::as_ptr(policies)));
        each.flat_map(|policies| policies.iter()).cloned().collect()
    }
}

// === impl Others ===

impl<'a> Others<'a> {
    /// The policies of a subtree other than this one.
    fn than(&mut self, policy: &Policy, part: &'a Tree) -> Rc<BTreeSet<ObjectKey>> {
        let others = || {
            let mut policies = super::policies(part);
            policies.remove(policy.key());
            Rc::new(policies)
        };
        let Tree::Leaf(Leaf { policy: of, .. }) = part else {
            let known = self.of_parts.entry(std::ptr::from_ref(part));
            return known.or_insert_with(others).clone();
        };
        match &self.last {
            Some((last, known)) if *last == of => known.clone(),
            _ => self.last.insert((of, others())).1.clone(),
        }
    }
}

/// The outcome of a policy attached to the path. `replaced` returns the policies that replaced it as a whole, if any:
/// a setting that is gone entirely leaves no other trace.
pub fn fate(
    policy: &Policy,
    effective: &Effective,
    replaced: impl FnOnce() -> Option<BTreeSet<ObjectKey>>,
) -> Fate {
    let mut fate = Fate::default();
    let tree = match &effective.result {
        None => return fate,
        Some(Merged::Opaque(policies)) => {
            fate.survives = policies.contains(policy.key());
            if !fate.survives {
                let policies = Rc::new(policies.clone());
                for piece in policy.parts() {
                    piece.tree().visit(&mut Vec::new(), &mut |path, _| {
                        fate.lost.insert(path.clone(), policies.clone());
                    });
                }
            }
            return fate;
        }
        // Each policy is in force as a whole, so none overrides another.
        Some(Merged::Together(_)) => {
            fate.survives = effective.policies().contains(policy.key());
            return fate;
        }
        Some(Merged::Settings(tree)) => tree,
    };
    // A policy of the legacy dialect may set a field twice.
    let twice = policy.parts().len() > 1;
    if !twice && policy.parts().any(|piece| Arc::ptr_eq(piece.tree(), tree)) {
        fate.survives = true;
        return fate;
    }
    let replaced = LazyCell::new(|| replaced().map(Rc::new));
    let mut kept = BTreeSet::new();
    let mut others = Others::default();
    for piece in policy.parts() {
        piece
            .tree()
            .visit_in(tree, &mut Vec::new(), &mut |path, own, there| {
                if matches!(there, Tree::Leaf(leaf) if leaf == own) {
                    fate.survives = true;
                    if twice {
                        kept.insert(path.clone());
                    }
                    return;
                }
                let gone = !matches!(there, Tree::Leaf(_));
                let by = gone.then(|| LazyCell::force(&replaced).clone()).flatten();
                let by = by.unwrap_or_else(|| others.than(policy, there));
                fate.lost.insert(path.clone(), by);
            });
    }
    // A policy does not override itself.
    fate.lost.retain(|path, _| !kept.contains(path));
    fate
}

/// Fields that two policies set to different values under the same stanza, as paths from the root of the object
/// (GEP-713 of 2021, conflict resolution).
pub fn field_conflicts(one: &Policy, other: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    for a in one.parts() {
        let same = other.parts();
        let same = same.filter(|b| b.is_override() == a.is_override());
        let Some(names) = one.profile.strategies.value.stanzas else {
            continue;
        };
        let stanza = if a.is_override() {
            names.overrides
        } else {
            names.defaults
        };
        for b in same {
            a.tree()
                .visit_in(b.tree(), &mut Vec::new(), &mut |path, leaf, there| {
                    if matches!(there, Tree::Leaf(theirs) if theirs.value != leaf.value) {
                        found.push(format!("spec.{stanza}.{}", path.join(".")));
                    }
                });
        }
    }
    found
}
