//! What became of a policy on a path: which of its settings are in force, and who beat the others.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::tree::{Leaf, LeafPath, Tree};
use super::{Effective, Merged};
use crate::engine::ids::ObjectKey;
use crate::engine::maps::{HashMap, HashSet};
use crate::engine::policy::Policy;

/// What became of a policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Whether at least one leaf of it is in force.
    pub survives: bool,
    /// The leaves that are not in force, and what stands in their place: the policies of the leaf
    /// there, or of what is nearest above where nothing is there.
    pub lost: BTreeMap<LeafPath, Rc<BTreeSet<ObjectKey>>>,
}

/// The policies of parts of a result. Many settings of one are lost to the same part, or to the same policy.
#[derive(Default)]
struct Others<'a> {
    of_parts: HashMap<*const Tree, Rc<BTreeSet<ObjectKey>>>,
    /// Of the last part that is of one policy.
    last: Option<(&'a ObjectKey, Rc<BTreeSet<ObjectKey>>)>,
}

// === impl Fate ===

impl Fate {
    /// Everybody to whom it lost something.
    pub fn by(&self) -> BTreeSet<ObjectKey> {
        // Many settings are lost to the same.
        let mut known: HashSet<*const BTreeSet<ObjectKey>> = HashSet::default();
        let each = self.lost.values();
        let each = each.filter(|policies| known.insert(Rc::as_ptr(policies)));
        each.flat_map(|policies| policies.iter()).cloned().collect()
    }
}

// === impl Others ===

impl<'a> Others<'a> {
    /// The policies of a part without this one.
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

/// What became of a policy that stands on the path. `replaced` says who replaced it as a whole, if somebody did: of what
/// is gone altogether nothing else tells.
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
        // Nobody takes anything from anybody.
        Some(Merged::Together(_)) => {
            fate.survives = effective.policies().contains(policy.key());
            return fate;
        }
        Some(Merged::Settings(tree)) => tree,
    };
    // A policy of the older dialect may set a field twice.
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
    // It does not beat itself.
    fate.lost.retain(|path, _| !kept.contains(path));
    fate
}

/// Fields that two policies set to different values under the same stanza, as paths from the object
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
