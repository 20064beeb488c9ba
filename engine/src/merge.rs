//! Merges the policies along one path into the effective policy (in code: folds them). Each leaf
//! keeps the policy that it came from (design 2.5).
//!
//! The merge runs from the most specific policy upward: the result so far is the challenger of the
//! next higher policy, whose strategy decides. An override at the top therefore wins over
//! everything below it, as GEP-713 demands. If the more specific policy decides, the merge runs
//! downward.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::kinds::profile::{DictatedBy, Direction, Inheritance, MergeWith, Op, Profile, Strategy};
use crate::model::ids::ObjectKey;
use crate::model::level::Level;
use crate::model::projected::token;
use crate::model::setting_path::SettingPath;
use crate::policy::tree::{ByEntry, MergeUnit, Tree};
use crate::policy::{InForce, Policy, Setting, StanzaRef};

mod atomic;
mod cost;
mod each;
mod filled;
mod inherited;
mod lasting;
mod level;
mod outcome;
mod overriding_values;
mod partition;
mod ports;
mod replaced;
mod stages;
mod target_fields;

pub use atomic::{AtomicLevel, winner};
pub(crate) use cost::{fold_cost, policies_read};
pub use each::ComparedBy;
pub(crate) use level::contenders;
use level::{by_age, level_stanzas, with_appended_lists};
pub use outcome::{PolicyOutcome, field_conflicts, policy_outcome};
pub use overriding_values::{OverridingValues, ValuesInForce};
pub(crate) use partition::act_together;
pub use replaced::replaced;
pub use target_fields::{TargetFields, is_unset};

/// The policy as a whole wins over every more specific one.
const OVERRIDES_WHOLE: Strategy = Strategy::Merge(Direction::Overrides, Op::Atomic);
/// The more specific policy wins as a whole.
const REPLACES_WHOLE: [Strategy; 2] = [
    Strategy::None,
    Strategy::Merge(Direction::Defaults, Op::Atomic),
];

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
    pub inheritance: Option<&'a Inheritance>,
}

/// The effective policy on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    result: Option<Merged>,
}

/// An operand of the fold: settings under one strategy.
enum Layer<'a> {
    Stanza(StanzaRef<'a>),
    /// The stanzas of one level, combined.
    CombinedStanzas(Strategy, Arc<Tree>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Merged {
    /// Settings, leaf by leaf.
    Settings(Arc<Tree>),
    /// Merged by rules of the kind that the engine does not know: the policies are named, the settings are not
    /// computed.
    Opaque(BTreeSet<ObjectKey>),
    /// Several policies, each in force as a whole; the least specific first.
    Together(Vec<Arc<Tree>>),
}

// === impl Merged ===

impl Merged {
    fn policies(&self) -> BTreeSet<ObjectKey> {
        self.policies_by(&|_| true)
    }

    /// The policies of the leaves that `counts` accepts.
    fn policies_by(&self, counts: &dyn Fn(&Setting) -> bool) -> BTreeSet<ObjectKey> {
        match self {
            Self::Opaque(policies) => policies.clone(),
            known => {
                let trees = known.trees().iter();
                trees.flat_map(|tree| policies_by(tree, counts)).collect()
            }
        }
    }

    /// The known settings; one tree per policy if each is in force as a whole.
    fn trees(&self) -> &[Arc<Tree>] {
        match self {
            Self::Opaque(_) => &[],
            Self::Settings(tree) => std::slice::from_ref(tree),
            Self::Together(trees) => trees,
        }
    }

    /// Both as an opaque result: named, not computed.
    fn unknown_with(self, other: Self) -> Self {
        let (mut one, mut other) = (self.into_policies(), other.into_policies());
        if one.len() < other.len() {
            std::mem::swap(&mut one, &mut other);
        }
        one.extend(other);
        Self::Opaque(one)
    }

    fn into_policies(self) -> BTreeSet<ObjectKey> {
        match self {
            Self::Opaque(policies) => policies,
            known => known.policies(),
        }
    }

    /// Both, each in force as a whole.
    fn concatenated(self, other: Self) -> Self {
        if matches!(self, Self::Opaque(_)) || matches!(other, Self::Opaque(_)) {
            return self.unknown_with(other);
        }
        // A policy attached twice to a path is in force once.
        let mut trees = self.trees().to_vec();
        let is_new = |tree: &&Arc<Tree>| !self.trees().contains(tree);
        trees.extend(other.trees().iter().filter(is_new).cloned());
        Self::Together(trees)
    }
}

// === impl Effective ===

impl Effective {
    /// An opaque result for policies that combine in an unknown way: named, not computed.
    pub(crate) fn not_computed<'a>(
        profile: &Profile,
        levels: impl Iterator<Item = &'a [Arc<Policy>]>,
    ) -> Self {
        let parts = levels.flat_map(|level| level_stanzas(profile, level));
        let keys = parts.map(|part| part.policy().key().clone()).collect();
        Self {
            result: Some(Merged::Opaque(keys)),
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

    /// The policy, or the target itself, if all leaves come from it.
    pub fn sole(&self) -> Option<&ObjectKey> {
        match &self.result {
            Some(Merged::Settings(tree)) => tree.sole(),
            _ => None,
        }
    }

    /// Whether several policies are in force, each as a whole.
    pub fn is_side_by_side(&self) -> bool {
        matches!(self.result, Some(Merged::Together(_)))
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
            Some(Merged::Together(trees)) => Some(side_by_side(trees, &mut sources)),
            None => None,
        };
        Some((
            value.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            sources,
        ))
    }

    /// The same as [`Effective::spec`], with each policy under its name also if one alone is in force.
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
pub fn policies_in_force(effective: &Effective) -> impl Iterator<Item = ObjectKey> {
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

/// Folds the policies of one kind along a path. `levels` run from the least to the most specific, each with the
/// established policy first. `own` are the fields that the target sets itself, of those that the kind controls: they
/// rank between overrides and defaults.
pub fn fold_levels<'a>(
    profile: &Profile,
    levels: &[impl Into<MergeLevel<'a>> + Copy],
    own: Option<&TargetFields>,
) -> Effective {
    let merging = &profile.merging;
    let own = own.map(|own| Merged::Settings(own.tree.clone()));
    let levels: Vec<MergeLevel<'a>> = levels.iter().map(|level| (*level).into()).collect();
    let joined = by_age(profile, &levels);
    let joined = joined.iter();
    let joined = joined.map(|(level, policies)| MergeLevel { policies, ..*level });
    let joined: Vec<MergeLevel<'_>> = joined.collect();
    let levels = if joined.is_empty() {
        &*levels
    } else {
        &*joined
    };
    if let Some(parts) = partition::folded(profile, levels) {
        return parts;
    }
    if *merging.stage_per_policy || !merging.stages.is_empty() {
        return stages::merged(profile, levels, own);
    }
    if merging.parent_first {
        let result = filled::filled(profile, levels);
        return Effective { result };
    }
    let layers = layers(profile, levels);
    // Without a policy nothing is in force, whatever the target sets itself.
    if layers.is_empty() {
        return Effective::default();
    }
    let result = if *merging.dictated_by == DictatedBy::Challenger {
        downward(profile, &layers)
    } else {
        inherited::merged(profile, levels, &layers, own)
    };
    Effective { result }
}

fn layers<'a>(profile: &Profile, levels: &[MergeLevel<'a>]) -> Vec<Layer<'a>> {
    let mut layers: Vec<Layer<'a>> = Vec::new();
    for level in levels {
        let stanzas = level_stanzas(profile, level.policies);
        if profile.merging.append_lists.is_empty() {
            layers.extend(stanzas.into_iter().map(Layer::Stanza));
        } else {
            layers.extend(
                with_appended_lists(&stanzas)
                    .map(|(strategy, tree)| Layer::CombinedStanzas(strategy, tree)),
            );
        }
    }
    layers
}

/// Folds upward: each policy decides how it merges with the result of those below it.
fn upward(profile: &Profile, layers: &[Layer<'_>], own: Option<Merged>) -> Option<Merged> {
    // Nothing remains of policies below one that overrides as a whole.
    let decides = |layer: &Layer<'_>| layer.strategy() == OVERRIDES_WHOLE;
    let (layers, own) = match layers.iter().position(decides) {
        Some(last) => (layers.get(..=last).unwrap_or_default(), None),
        None => (layers, own),
    };
    layers.iter().rev().fold(own, |below, layer| {
        Some(match below {
            None => layer.settings(),
            Some(below) => fold(profile, layer.strategy(), || layer.settings(), || below),
        })
    })
}

/// Folds downward: each policy decides how it merges with the policies above it: with the result of all of them, or
/// with its nearest parent alone, which overrides everything above that parent.
fn downward(profile: &Profile, layers: &[Layer<'_>]) -> Option<Merged> {
    counted(profile, layers, Layer::strategy)
        .iter()
        .fold(None, |above, layer| {
            Some(match above {
                None => layer.settings(),
                Some(above) => fold(profile, layer.strategy(), || above, || layer.settings()),
            })
        })
}

/// The layers of which something may remain when each policy decides how it merges with those above it.
fn counted<'a, T>(profile: &Profile, layers: &'a [T], by: impl Fn(&T) -> Strategy) -> &'a [T] {
    let near = match *profile.merging.merge_with {
        MergeWith::AllAncestors => layers,
        MergeWith::NearestParent | MergeWith::NearestAboveRoutes => layers
            .get(layers.len().saturating_sub(2)..)
            .unwrap_or_default(),
    };
    // Nothing remains of policies above one that replaces them as a whole.
    let decides = |layer: &T| REPLACES_WHOLE.contains(&by(layer));
    let first = near.iter().rposition(decides).unwrap_or(0);
    near.get(first..).unwrap_or_default()
}

/// The policies that a strategy merges when the more specific policy decides, even those of which nothing remains.
pub(crate) fn merged_policies<'a>(
    profile: &Profile,
    levels: &[&'a [Arc<Policy>]],
) -> Vec<&'a Policy> {
    let decides = *profile.merging.dictated_by == DictatedBy::Challenger;
    let merging = &profile.merging;
    if !decides || merging.parent_first || !merging.units_by_key.is_empty() {
        return Vec::new();
    }
    let parts = levels
        .iter()
        .flat_map(|level| level_stanzas(profile, level));
    let parts: Vec<StanzaRef<'a>> = parts.collect();
    match counted(profile, &parts, |part| part.strategy()) {
        merged @ [_, _, ..] => merged.iter().map(|part| part.policy()).collect(),
        _ => Vec::new(),
    }
}

// === impl MergeLevel ===

impl<'a> From<(Level, &'a [Arc<Policy>])> for MergeLevel<'a> {
    fn from((level, policies): (Level, &'a [Arc<Policy>])) -> Self {
        Self {
            level,
            policies,
            delegations: 0,
            inheritance: None,
        }
    }
}

// === impl Layer ===

impl Layer<'_> {
    fn strategy(&self) -> Strategy {
        match self {
            Self::Stanza(part) => part.strategy(),
            Self::CombinedStanzas(strategy, _) => *strategy,
        }
    }

    fn settings(&self) -> Merged {
        Merged::Settings(match self {
            Self::Stanza(part) => part.tree().clone(),
            Self::CombinedStanzas(_, tree) => tree.clone(),
        })
    }
}

/// Applies `f(established, challenger)` by the strategy of the policy that dictates. If one of the two wins as a
/// whole, the other is not read.
fn fold(
    profile: &Profile,
    by: Strategy,
    established: impl FnOnce() -> Merged,
    challenger: impl FnOnce() -> Merged,
) -> Merged {
    let (direction, op) = match by {
        // The more specific policy wins as a whole.
        Strategy::None | Strategy::Merge(Direction::Defaults, Op::Atomic) => return challenger(),
        Strategy::Merge(Direction::Overrides, Op::Atomic) => return established(),
        Strategy::Merge(_, Op::Additive) => return established().concatenated(challenger()),
        Strategy::Merge(direction, op) => (direction, op),
    };
    let (strategies, paths) = (&profile.strategies, &profile.merging.atomic_fields);
    let (above, below) = match (established(), challenger()) {
        (Merged::Settings(above), Merged::Settings(below)) if op != Op::Custom => (above, below),
        (above, below) => return above.unknown_with(below),
    };
    let units = &profile.merging.units_by_key;
    let units = match op {
        Op::ByField => MergeUnit::TopFields,
        Op::ByKey if !units.is_empty() => MergeUnit::Paths(units),
        _ if strategies.legacy && op != Op::ByKey => MergeUnit::Paths(&strategies.maps),
        _ if !paths.is_empty() => MergeUnit::Paths(paths),
        Op::ByKey => MergeUnit::Entries,
        _ => MergeUnit::Fields,
    };
    let by_entry = match op {
        Op::Strategic | Op::ByKey => ByEntry::All,
        _ => ByEntry::Combined(&profile.merging.combined_lists),
    };
    let (under, over) = match direction {
        Direction::Defaults => (above, below),
        Direction::Overrides => (below, above),
    };
    let mut merged = (*under).clone();
    merged.patch(&over, units, by_entry);
    Merged::Settings(Arc::new(merged))
}
