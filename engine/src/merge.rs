//! Merges the policies along one path into the effective policy (in code: folds them). Each leaf
//! keeps the policy that it came from (docs/explanation/merging.md).
//!
//! The merge runs from the most specific policy upward: the result so far is the challenger of the
//! next higher policy, whose strategy decides. An override at the top therefore wins over
//! everything below it, as GEP-713 demands. If the more specific policy decides, the merge runs
//! downward.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::kinds::profile::{DelegationMerge, EmptySpec, Profile};
use crate::model::ids::ObjectKey;
use crate::model::level::Level;
use crate::model::projected::token;
use crate::model::setting_path::SettingPath;
use crate::policy::tree::Tree;
use crate::policy::{InForce, Policy, Setting};

mod atomic;
mod cost;
mod delegated;
mod filled;
mod fold;
mod level;
mod merged;
mod operand;
mod outcome;
mod overriding_values;
mod participants;
mod partition;
mod ports;
mod replaced;
mod side_by_side;
mod stage_settings;
mod stages;
mod target_fields;

pub use atomic::{AtomicLevel, winner};
pub(crate) use cost::{fold_cost, policies_read};
pub use fold::fold_levels;
pub(crate) use level::contenders;
use level::level_stanzas;
use merged::Merged;
use operand::OVERRIDES_WHOLE;
pub use outcome::{PolicyOutcome, field_conflicts, policy_outcome};
pub use overriding_values::{OverridingValues, ValuesInForce};
pub use participants::Participants;
pub(crate) use partition::act_together;
pub use side_by_side::ComparedBy;
pub use target_fields::{TargetFields, is_unset};

/// The policies of one level of a path, the established first.
#[derive(Clone, Copy, Debug)]
pub struct MergeLevel<'a> {
    /// The level.
    pub level: Level,
    /// The policies.
    pub policies: &'a [Arc<Policy>],
    /// The number of delegations of routes below it.
    pub delegations: u8,
    /// The strategy by which they merge with the policies below that number of delegations.
    pub delegation_merge: Option<&'a DelegationMerge>,
}

/// The effective policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectivePolicy {
    result: Option<Merged>,
    /// The settings of filters of the rule that no policy sets: they protect requests, and are not part of the effective policy.
    filters: Option<Arc<Tree>>,
}

// === impl MergeLevel ===

impl<'a> From<(Level, &'a [Arc<Policy>])> for MergeLevel<'a> {
    fn from((level, policies): (Level, &'a [Arc<Policy>])) -> Self {
        Self {
            level,
            policies,
            delegations: 0,
            delegation_merge: None,
        }
    }
}

// === impl EffectivePolicy ===

impl EffectivePolicy {
    /// An opaque result for policies that combine in an unknown way: named, not computed.
    pub(crate) fn not_computed<'a>(
        profile: &Profile,
        levels: impl Iterator<Item = &'a [Arc<Policy>]>,
    ) -> Self {
        let parts = levels.flat_map(|level| level_stanzas(profile, level));
        let keys = parts.map(|part| part.policy().key().clone()).collect();
        Self {
            result: Some(Merged::Opaque(keys)),
            filters: None,
        }
    }

    /// The settings that are in force as a whole: one result, or one for each policy. None if the result is opaque.
    pub fn in_force(&self) -> impl Iterator<Item = InForce<'_>> {
        let trees = self.result.iter().flat_map(Merged::trees);
        trees.map(InForce::from_tree)
    }

    /// The leaves, in the order of their paths; a leaf that removes something has the value `null`.
    pub fn leaves(&self) -> Vec<(SettingPath, &Setting)> {
        let mut leaves = Vec::new();
        self.visit(&mut |path, setting| leaves.push((path.clone(), setting)));
        leaves
    }

    /// Visits the leaves in the order of their paths.
    pub(crate) fn visit<'a>(&'a self, visit_leaf: &mut impl FnMut(&SettingPath, &'a Setting)) {
        for tree in self.result.iter().flat_map(Merged::trees) {
            tree.visit(&mut Vec::new(), visit_leaf);
        }
    }

    /// The policies that take part in it, that is, those with at least one leaf.
    pub fn policies(&self) -> BTreeSet<ObjectKey> {
        self.result
            .as_ref()
            .map(Merged::policies)
            .unwrap_or_default()
    }

    /// Its policies, without those that take the place of others without settings, as a rejected one does, and whose kind does nothing
    /// without settings.
    pub fn policies_with_settings(&self, profile: &Profile) -> BTreeSet<ObjectKey> {
        let Some(result) = &self.result else {
            return BTreeSet::new();
        };
        let whole = result.trees().iter().filter(|tree| tree.is_leaf());
        let without: BTreeSet<ObjectKey> = whole.flat_map(|tree| policies(tree)).collect();
        let mut all = result.policies();
        let acts_empty = matches!(
            *profile.merging.empty_spec,
            Some(EmptySpec::Counts | EmptySpec::Acts)
        );
        all.retain(|policy| acts_empty || !without.contains(policy));
        all
    }

    /// The policy, or the target itself, if all leaves come from it.
    pub fn sole(&self) -> Option<&ObjectKey> {
        match &self.result {
            Some(Merged::Settings(tree)) => tree.sole(),
            _ => None,
        }
    }

    /// Whether it has none of the settings without which a policy of its kind does nothing.
    pub(crate) fn lacks_required(&self, profile: &Profile) -> bool {
        let result = self.result.as_ref();
        result.is_none_or(|result| result.lacks_required(profile))
    }

    /// Whether several policies are in force, each as a whole.
    pub fn is_side_by_side(&self) -> bool {
        matches!(self.result, Some(Merged::SideBySide(_)))
    }

    /// Whether it was merged by rules that only the kind's own controller knows.
    pub fn is_opaque(&self) -> bool {
        matches!(self.result, Some(Merged::Opaque(_)))
    }

    /// The settings as JSON, and the source of each by JSON pointer. A removed setting has a source and no value.
    /// Policies that are each in force as a whole appear under their names. `None` if the result is opaque.
    pub fn spec(&self) -> Option<(Value, Vec<(String, Setting)>)> {
        let mut sources = Vec::new();
        let value = match &self.result {
            Some(Merged::Opaque(_)) => return None,
            Some(Merged::Settings(tree)) => {
                let mut keep = |pointer: &str, setting: &Setting| {
                    sources.push((pointer.to_owned(), setting.clone()));
                };
                tree.json("", &mut keep)
            }
            Some(Merged::SideBySide(trees)) => Some(side_by_side(trees, &mut sources)),
            None => None,
        };
        Some((
            value.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            sources,
        ))
    }

    /// The same as [`EffectivePolicy::spec`], with each policy under its name also if one alone is in force.
    pub fn spec_by_policy(&self) -> Option<(Value, Vec<(String, Setting)>)> {
        let Some(Merged::Settings(tree)) = &self.result else {
            return self.spec();
        };
        let mut sources = Vec::new();
        let value = side_by_side(std::slice::from_ref(tree), &mut sources);
        Some((value, sources))
    }

    /// Whether the settings are the same, regardless of their sources.
    pub fn same_settings(&self, other: &Self) -> bool {
        if let (Some(Merged::Settings(one)), Some(Merged::Settings(other))) =
            (&self.result, &other.result)
        {
            if Arc::ptr_eq(one, other) {
                return true;
            }
            if !(one.is_leaf() || other.is_leaf()) {
                return one.is_same(other);
            }
        }
        match (self.spec(), other.spec()) {
            (Some((a, from)), Some((b, other))) => {
                // A policy that counts without settings differs from no policy.
                let counts_without_settings =
                    |sources: &[(String, Setting)]| sources.iter().any(|(p, _)| p.is_empty());
                a == b && counts_without_settings(&from) == counts_without_settings(&other)
            }
            (None, None) => self.policies() == other.policies(),
            _ => false,
        }
    }
}

/// Settings of policies that are each in force as a whole, under the names of the policies.
fn side_by_side(trees: &[Arc<Tree>], sources: &mut Vec<(String, Setting)>) -> Value {
    let mut by_policies = serde_json::Map::new();
    for tree in trees {
        let keys = policies(tree);
        let names: Vec<String> = keys.iter().map(ObjectKey::path).collect();
        let name = names.join(", ");
        let base = format!("/{}", token(&name));
        let mut keep = |pointer: &str, setting: &Setting| {
            sources.push((format!("{base}{pointer}"), setting.clone()));
        };
        if let Some(settings) = tree.json("", &mut keep) {
            by_policies.insert(name, settings);
        }
    }
    Value::Object(by_policies)
}

/// The policies in force in a result, without the target itself.
pub fn policies_in_force(effective: &EffectivePolicy) -> impl Iterator<Item = ObjectKey> {
    let is_of_policy = |setting: &Setting| setting.strategy.is_some();
    let results = effective.result.iter();
    results.flat_map(move |merged| merged.policies_by(&is_of_policy))
}

fn policies(tree: &Tree) -> BTreeSet<ObjectKey> {
    policies_by(tree, &|_| true)
}

fn policies_by(tree: &Tree, counts: &dyn Fn(&Setting) -> bool) -> BTreeSet<ObjectKey> {
    let mut keys = BTreeSet::new();
    tree.each(&mut |setting| {
        if counts(setting) && !keys.contains(&setting.policy) {
            keys.insert(setting.policy.clone());
        }
    });
    keys
}
