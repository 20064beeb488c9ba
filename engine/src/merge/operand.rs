//! What the fold along a path combines: layers of settings, into partial results.

use std::sync::Arc;

use super::MergeLevel;
use super::level::{level_stanzas, with_appended_lists};
use super::stage_settings::SettingsKeptAcrossStages;
use crate::kinds::profile::{Direction, Op, Profile, Strategy};
use crate::policy::StanzaRef;
use crate::policy::tree::Tree;

/// The policy as a whole wins over every more specific one.
pub(super) const OVERRIDES_WHOLE: Strategy = Strategy::Merge(Direction::Overrides, Op::Atomic);

/// An operand of the fold: settings under one strategy.
pub(super) enum Layer<'a> {
    Stanza(StanzaRef<'a>),
    /// The stanzas of one level, combined.
    CombinedStanzas(Strategy, Arc<Tree>),
}

/// The knowledge about the policies that the fold has passed: their settings in force (`Merged`), or which of them
/// replaced which ([`super::participants::Participants`]).
pub(super) trait PartialResult: Clone {
    /// Whether policies count of which nothing remains. Otherwise the fold skips them.
    const NAMES_REPLACED: bool;

    /// The result of one layer alone.
    fn of_layer(layer: &Layer<'_>) -> Self;

    /// Merges two results by the strategy of the policy that dictates. If one of the two wins as a whole, the other is
    /// read only if policies count of which nothing remains.
    fn merged(
        profile: &Profile,
        by: Strategy,
        above: impl FnOnce() -> Self,
        below: impl FnOnce() -> Self,
    ) -> Self;

    /// This result of a merge, with the settings of the less specific one that stay in force.
    fn with_stage_settings(
        self,
        kept: SettingsKeptAcrossStages<'_>,
        above: &Self,
        below: &Self,
    ) -> Self;

    /// Merges two results, and restores the settings of the less specific one that stay in force.
    fn merged_with_stage_settings(
        profile: &Profile,
        by: Strategy,
        above: Self,
        below: Self,
        kept: SettingsKeptAcrossStages<'_>,
    ) -> Self {
        if kept.is_empty() {
            return Self::merged(profile, by, || above, || below);
        }
        let (over, under) = (above.clone(), below.clone());
        let result = Self::merged(profile, by, || above, || below);
        result.with_stage_settings(kept, &over, &under)
    }

    /// Both, each in force as a whole.
    fn concatenated(self, other: Self) -> Self;
}

// === impl Layer ===

impl Layer<'_> {
    pub(super) fn strategy(&self) -> Strategy {
        match self {
            Self::Stanza(part) => part.strategy(),
            Self::CombinedStanzas(strategy, _) => *strategy,
        }
    }
}

/// The layers of these levels, in their order.
pub(super) fn layers<'a>(profile: &Profile, levels: &[MergeLevel<'a>]) -> Vec<Layer<'a>> {
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
pub(super) fn upward<T: PartialResult>(
    profile: &Profile,
    layers: &[Layer<'_>],
    own: Option<T>,
) -> Option<T> {
    // Nothing remains of policies below one that overrides as a whole.
    let decides = |layer: &Layer<'_>| !T::NAMES_REPLACED && layer.strategy() == OVERRIDES_WHOLE;
    let (layers, own) = match layers.iter().position(decides) {
        Some(last) => (layers.get(..=last).unwrap_or_default(), None),
        None => (layers, own),
    };
    layers.iter().rev().fold(own, |below, layer| {
        Some(match below {
            None => T::of_layer(layer),
            Some(below) => {
                let above = || T::of_layer(layer);
                T::merged(profile, layer.strategy(), above, || below)
            }
        })
    })
}
