//! The policies that take part in a merge, and those that others replaced as a whole, so that the result contains no
//! trace of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fold::folded;
use super::operand::{Layer, PartialResult};
use super::stage_settings::SettingsKeptAcrossStages;
use super::{MergeLevel, policies};
use crate::kinds::profile::{Direction, Op, Profile, Strategy};
use crate::model::ids::ObjectKey;

/// The policies along a path, by what the fold makes of each.
#[derive(Clone, Debug, Default)]
pub struct Participants {
    /// Those that the strategies merge, even if no setting of them remains.
    merged: BTreeSet<ObjectKey>,
    /// Those that lost as a whole, each with the policies to which it lost.
    replaced: BTreeMap<ObjectKey, Arc<BTreeSet<ObjectKey>>>,
    /// Whether those that merge have none of the settings without which a policy counts as empty.
    lacks_required: bool,
}

// === impl Participants ===

impl Participants {
    /// The participants of the fold of these levels, which run from the least to the most specific.
    pub fn of_levels(profile: &Profile, levels: &[MergeLevel<'_>]) -> Self {
        folded(profile, levels, None).unwrap_or_default()
    }

    /// The policies that the strategies merge, even if no setting of them remains.
    pub fn into_merged(self) -> BTreeSet<ObjectKey> {
        self.merged
    }

    /// The policies that replaced one as a whole; `None` if none did, or if a part of it still takes part.
    pub fn replaced_by(&self, policy: &ObjectKey) -> Option<&BTreeSet<ObjectKey>> {
        let takes_part = self.merged.contains(policy);
        let by = self.replaced.get(policy).filter(|_| !takes_part);
        by.map(Arc::as_ref)
    }

    /// This result, after it replaced another one as a whole.
    fn in_place_of(mut self, other: Self) -> Self {
        let by = Arc::new(self.merged.clone());
        let others = other.merged.into_iter();
        let replaced = others.map(|policy| (policy, by.clone()));
        // The first replacement of a policy is kept.
        self.replaced.extend(other.replaced);
        for (policy, by) in replaced.filter(|(policy, _)| !by.contains(policy)) {
            self.replaced.entry(policy).or_insert(by);
        }
        self
    }
}

impl PartialResult for Participants {
    const NAMES_REPLACED: bool = true;

    fn of_layer(layer: &Layer<'_>) -> Self {
        let (merged, lacks_required) = match layer {
            Layer::Stanza(part) => {
                let policy = part.policy().key().clone();
                (BTreeSet::from([policy]), part.lacks_required())
            }
            Layer::CombinedStanzas(_, tree) => (policies(tree), false),
        };
        Self {
            merged,
            replaced: BTreeMap::new(),
            lacks_required,
        }
    }

    fn merged(
        _: &Profile,
        by: Strategy,
        above: impl FnOnce() -> Self,
        below: impl FnOnce() -> Self,
    ) -> Self {
        match by {
            Strategy::None | Strategy::Merge(Direction::Defaults, Op::Atomic) => {
                let (above, below) = (above(), below());
                if below.lacks_required {
                    above.in_place_of(below)
                } else {
                    below.in_place_of(above)
                }
            }
            Strategy::Merge(Direction::Overrides, Op::Atomic) => above().in_place_of(below()),
            Strategy::Merge(..) => above().concatenated(below()),
        }
    }

    fn with_stage_settings(self, _: SettingsKeptAcrossStages<'_>, _: &Self, _: &Self) -> Self {
        self
    }

    fn concatenated(mut self, mut other: Self) -> Self {
        if self.merged.len() < other.merged.len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.merged.extend(other.merged);
        self.replaced.extend(other.replaced);
        self.lacks_required &= other.lacks_required;
        self
    }
}
