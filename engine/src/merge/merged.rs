//! A partial result of a merge as settings, each with the policy that it comes from.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::operand::{Layer, PartialResult};
use super::policies_by;
use super::stage_settings::{SettingsKeptAcrossStages, restore_kept};
use crate::kinds::profile::{Direction, Op, Profile, Strategy};
use crate::model::ids::ObjectKey;
use crate::policy::Setting;
use crate::policy::tree::{ByEntry, MergeUnit, Tree};

/// The settings of some policies, merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// Settings, leaf by leaf.
    Settings(Arc<Tree>),
    /// Merged by rules of the kind that the engine does not know: the policies are named, the settings are not
    /// computed.
    Opaque(BTreeSet<ObjectKey>),
    /// Several policies, each in force as a whole; the least specific first.
    SideBySide(Vec<Arc<Tree>>),
}

// === impl Merged ===

impl Merged {
    pub(super) fn policies(&self) -> BTreeSet<ObjectKey> {
        self.policies_by(&|_| true)
    }

    /// The policies of the leaves that `counts` accepts.
    pub(super) fn policies_by(&self, counts: &dyn Fn(&Setting) -> bool) -> BTreeSet<ObjectKey> {
        match self {
            Self::Opaque(policies) => policies.clone(),
            known => {
                let trees = known.trees().iter();
                trees.flat_map(|tree| policies_by(tree, counts)).collect()
            }
        }
    }

    /// The known settings; one tree per policy if each is in force as a whole.
    pub(super) fn trees(&self) -> &[Arc<Tree>] {
        match self {
            Self::Opaque(_) => &[],
            Self::Settings(tree) => std::slice::from_ref(tree),
            Self::SideBySide(trees) => trees,
        }
    }

    /// Whether it has none of the settings without which a policy counts as empty: an atomic default above it stays.
    pub(super) fn lacks_required(&self, profile: &Profile) -> bool {
        let fields = &*profile.merging.non_empty_if;
        let lacks = |tree: &Arc<Tree>| {
            let mut fields = fields.iter();
            fields.all(|field| tree.at(std::slice::from_ref(field)).is_none())
        };
        let is_known = !matches!(self, Self::Opaque(_));
        is_known && !fields.is_empty() && self.trees().iter().all(lacks)
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
}

impl PartialResult for Merged {
    const NAMES_REPLACED: bool = false;

    fn of_layer(layer: &Layer<'_>) -> Self {
        Self::Settings(match layer {
            Layer::Stanza(part) => part.tree().clone(),
            Layer::CombinedStanzas(_, tree) => tree.clone(),
        })
    }

    fn merged(
        profile: &Profile,
        by: Strategy,
        above: impl FnOnce() -> Self,
        below: impl FnOnce() -> Self,
    ) -> Self {
        let (direction, op) = match by {
            // The more specific policy wins as a whole.
            Strategy::None | Strategy::Merge(Direction::Defaults, Op::Atomic) => {
                let below = below();
                return if below.lacks_required(profile) {
                    above()
                } else {
                    below
                };
            }
            Strategy::Merge(Direction::Overrides, Op::Atomic) => return above(),
            Strategy::Merge(_, Op::Additive) => return above().concatenated(below()),
            Strategy::Merge(direction, op) => (direction, op),
        };
        let (strategies, paths) = (&profile.strategies, &profile.merging.atomic_fields);
        let (above, below) = match (above(), below()) {
            (Merged::Settings(above), Merged::Settings(below)) if op != Op::Custom => {
                (above, below)
            }
            (above, below) => return above.unknown_with(below),
        };
        let units = &profile.merging.units_by_key;
        let units = match op {
            Op::ByField => MergeUnit::TopFields,
            Op::ByKey if !units.is_empty() => MergeUnit::Paths(units),
            _ if strategies.follows_2021 && op != Op::ByKey => MergeUnit::Paths(&strategies.maps),
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

    fn with_stage_settings(
        mut self,
        kept: SettingsKeptAcrossStages<'_>,
        above: &Self,
        below: &Self,
    ) -> Self {
        if let (Self::Settings(result), Self::Settings(above), Self::Settings(below)) =
            (&mut self, above, below)
        {
            restore_kept(kept, Arc::make_mut(result), above, below);
        }
        self
    }

    fn concatenated(self, other: Self) -> Self {
        if matches!(self, Self::Opaque(_)) || matches!(other, Self::Opaque(_)) {
            return self.unknown_with(other);
        }
        // A policy attached twice to a path is in force once.
        let mut trees = self.trees().to_vec();
        let is_new = |tree: &&Arc<Tree>| !self.trees().contains(tree);
        trees.extend(other.trees().iter().filter(is_new).cloned());
        Self::SideBySide(trees)
    }
}
