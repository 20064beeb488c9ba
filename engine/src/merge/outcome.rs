//! The outcome of a policy on a path: which of its settings are in force, and which policies override the others.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::tree::{Setting, SettingPath, Tree};
use super::{Effective, Merged};
use crate::model::ids::ObjectKey;
use crate::model::maps::{HashMap, HashSet};
use crate::policy::Policy;

/// The outcome of a policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyOutcome {
    /// Whether at least one of its leaves is in force.
    pub survives: bool,
    /// The overridden leaves, each with the policies that override it: those of the leaf that is there instead, or of
    /// the nearest subtree above if there is none.
    pub lost: BTreeMap<SettingPath, Rc<BTreeSet<ObjectKey>>>,
}

/// The policies of subtrees of a result. Many settings lose to the same subtree, or to the same policy.
#[derive(Default)]
struct Others<'a> {
    of_parts: HashMap<*const Tree, Rc<BTreeSet<ObjectKey>>>,
    /// The policies of the last leaf.
    last: Option<(&'a ObjectKey, Rc<BTreeSet<ObjectKey>>)>,
}

// === impl PolicyOutcome ===

impl PolicyOutcome {
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
        let Tree::Leaf(Setting { policy: of, .. }) = part else {
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
pub fn policy_outcome(
    policy: &Policy,
    effective: &Effective,
    replaced: impl FnOnce() -> Option<BTreeSet<ObjectKey>>,
) -> PolicyOutcome {
    let mut outcome = PolicyOutcome::default();
    let tree = match &effective.result {
        None => return outcome,
        Some(Merged::Opaque(policies)) => {
            outcome.survives = policies.contains(policy.key());
            if !outcome.survives {
                let policies = Rc::new(policies.clone());
                for piece in policy.parts() {
                    piece.tree().visit(&mut Vec::new(), &mut |path, _| {
                        outcome.lost.insert(path.clone(), policies.clone());
                    });
                }
            }
            return outcome;
        }
        // Each policy is in force as a whole, so none overrides another.
        Some(Merged::Together(_)) => {
            outcome.survives = effective.policies().contains(policy.key());
            return outcome;
        }
        Some(Merged::Settings(tree)) => tree,
    };
    // A policy of the legacy dialect may set a field twice.
    let twice = policy.parts().len() > 1;
    if !twice && policy.parts().any(|piece| Arc::ptr_eq(piece.tree(), tree)) {
        outcome.survives = true;
        return outcome;
    }
    let replaced = LazyCell::new(|| replaced().map(Rc::new));
    let mut kept = BTreeSet::new();
    let mut others = Others::default();
    for piece in policy.parts() {
        piece
            .tree()
            .visit_in(tree, &mut Vec::new(), &mut |path, own, there| {
                if matches!(there, Tree::Leaf(setting) if setting == own) {
                    outcome.survives = true;
                    if twice {
                        kept.insert(path.clone());
                    }
                    return;
                }
                let gone = !matches!(there, Tree::Leaf(_));
                let by = gone.then(|| LazyCell::force(&replaced).clone()).flatten();
                let by = by.unwrap_or_else(|| others.than(policy, there));
                outcome.lost.insert(path.clone(), by);
            });
    }
    // A policy does not override itself.
    outcome.lost.retain(|path, _| !kept.contains(path));
    outcome
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
                .visit_in(b.tree(), &mut Vec::new(), &mut |path, setting, there| {
                    if matches!(there, Tree::Leaf(theirs) if theirs.value != setting.value) {
                        found.push(format!("spec.{stanza}.{}", path.join(".")));
                    }
                });
        }
    }
    found
}
