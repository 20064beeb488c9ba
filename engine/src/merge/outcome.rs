//! The outcome of a policy on a path: which of its settings are in force, and which policies override the others.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{EffectivePolicy, Merged};
use crate::model::ids::ObjectKey;
use crate::model::maps::HashSet;
use crate::model::setting_path::SettingPath;
use crate::model::shared::{Ids, Shared};
use crate::policy::Policy;
use crate::policy::Setting;
use crate::policy::tree::{Counterpart, Tree};

/// The outcome of a policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyOutcome {
    /// Whether at least one of its leaves is in force.
    pub is_in_force: bool,
    /// The overridden leaves, each with the policies that override it: those of the leaf that is there instead, or of
    /// the nearest subtree above if there is none.
    pub lost: BTreeMap<SettingPath, Shared<BTreeSet<ObjectKey>>>,
}

/// The policies of parts of a result. Many settings lose to the same part, or to the same policy.
#[derive(Default)]
struct Others<'a> {
    ids: Ids,
    /// The policies of the last leaf.
    last: Option<(&'a ObjectKey, Overriding)>,
}

/// Policies that override settings.
type Overriding = Shared<BTreeSet<ObjectKey>>;

// === impl PolicyOutcome ===

impl PolicyOutcome {
    /// All policies that override one of its leaves.
    pub fn by(&self) -> BTreeSet<ObjectKey> {
        // Many settings lose to the same set.
        let each: HashSet<&Overriding> = self.lost.values().collect();
        let each = each.into_iter();
        each.flat_map(|policies| policies.iter()).cloned().collect()
    }
}

// === impl Others ===

impl<'a> Others<'a> {
    /// The policies of a part other than this one.
    fn than(&mut self, policy: &Policy, part: &Counterpart<'a, Overriding>) -> Overriding {
        let ids = &self.ids;
        let others = || {
            let mut policies = super::policies(part.tree);
            policies.remove(policy.key());
            ids.share(policies)
        };
        let Tree::Leaf(Setting { policy: source, .. }) = part.tree else {
            return part.known.get_or_init(others).clone();
        };
        match &self.last {
            Some((last, known)) if *last == source => known.clone(),
            _ => self.last.insert((source, others())).1.clone(),
        }
    }
}

/// The outcome of a policy attached to the path. `replaced` returns the policies that replaced it as a whole, if any:
/// a setting that is gone entirely leaves no other trace.
pub fn policy_outcome(
    policy: &Policy,
    effective: &EffectivePolicy,
    replaced: impl FnOnce() -> Option<BTreeSet<ObjectKey>>,
) -> PolicyOutcome {
    let mut outcome = PolicyOutcome::default();
    let tree = match &effective.result {
        None => return outcome,
        // Policies in force as a whole do not override each other. A policy outside the result is
        // overridden on every leaf.
        Some(whole @ (Merged::Opaque(_) | Merged::SideBySide(_))) => {
            let policies = whole.policies();
            outcome.is_in_force = policies.contains(policy.key());
            if !outcome.is_in_force {
                let policies = Ids::default().share(policies);
                for piece in policy.stanzas() {
                    piece.tree().visit(&mut Vec::new(), &mut |path, _| {
                        outcome.lost.insert(path.clone(), policies.clone());
                    });
                }
            }
            return outcome;
        }
        Some(Merged::Settings(tree)) => tree,
    };
    // A policy of GEP-713 of 2021 may set a field twice.
    let twice = policy.stanzas().len() > 1;
    if !twice
        && policy
            .stanzas()
            .any(|piece| Arc::ptr_eq(piece.tree(), tree))
    {
        outcome.is_in_force = true;
        return outcome;
    }
    let mut kept = BTreeSet::new();
    let mut others = Others::default();
    let ids = others.ids.clone();
    let replaced = LazyCell::new(|| replaced().map(|by| ids.share(by)));
    for piece in policy.stanzas() {
        piece
            .tree()
            .visit_in(tree, &mut Vec::new(), &mut |path, own, there| {
                if matches!(there.tree, Tree::Leaf(setting) if setting == own) {
                    outcome.is_in_force = true;
                    if twice {
                        kept.insert(path.clone());
                    }
                    return;
                }
                // The policy does not set a value that its controller fills in.
                if own.is_controller_default {
                    return;
                }
                let gone = !matches!(there.tree, Tree::Leaf(_));
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
    let mut fields = Vec::new();
    for a in one.stanzas() {
        let same = other.stanzas();
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
            let mut note = |path: &SettingPath, setting: &Setting, there: &Counterpart<'_>| {
                if matches!(there.tree, Tree::Leaf(theirs) if theirs.value != setting.value) {
                    fields.push(format!("spec.{stanza}.{}", path.join(".")));
                }
            };
            a.tree().visit_in(b.tree(), &mut Vec::new(), &mut note);
        }
    }
    fields
}
