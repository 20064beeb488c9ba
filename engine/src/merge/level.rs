//! The stanzas of the policies attached to one place.

use std::sync::Arc;

use super::MergeLevel;
use crate::attachment::conflict::rejected;
use crate::kinds::profile::{Profile, SameTarget, Strategy};
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::policy::tree::{ByEntry, MergeUnit, Tree};

/// The levels with those as one whose policies merge by age; empty if the kind has none of these.
pub(super) fn by_age<'a>(
    profile: &Profile,
    levels: &[MergeLevel<'a>],
) -> Vec<(MergeLevel<'a>, Vec<Arc<Policy>>)> {
    let merged = &profile.merging.levels_by_age;
    if merged.is_empty() {
        return Vec::new();
    }
    let is_one = |one: &MergeLevel<'_>, next: &MergeLevel<'_>| {
        merged.contains(&one.level) && merged.contains(&next.level)
    };
    let joined = levels.chunk_by(is_one).filter_map(|chunk| {
        let policies = chunk.iter().flat_map(|level| level.policies);
        let mut policies: Vec<Arc<Policy>> = policies.cloned().collect();
        if chunk.len() > 1 {
            policies.sort_by(|one, other| one.precedence().cmp(other.precedence()));
            policies.dedup_by(|one, other| one.key() == other.key());
        }
        Some((*chunk.first()?, policies))
    });
    joined.collect()
}

/// The stanzas of one level, the established first. If the oldest or the newest policy wins, it represents the level.
/// In GEP-713 of 2021 the oldest wins field by field, so its defaults come last.
pub(super) fn level_stanzas<'a>(profile: &Profile, level: &'a [Arc<Policy>]) -> Vec<StanzaRef<'a>> {
    if profile.strategies.follows_2021 {
        return oldest_over(level.iter().flat_map(|policy| policy.stanzas()).collect());
    }
    match *profile.same_target {
        SameTarget::Merge => merging(level.iter()),
        SameTarget::MergeOldest | SameTarget::MergeUnsettled => oldest_over(merging(level.iter())),
        SameTarget::OldestWins => stanzas_of(level.first()),
        SameTarget::NewestWins => stanzas_of(level.last()),
        SameTarget::FieldOverlap | SameTarget::EqualField | SameTarget::NoneWins => {
            let each = level.iter().zip(rejected(level));
            merging(
                each.filter(|(_, by)| by.is_none())
                    .map(|(policy, _)| policy),
            )
        }
    }
}

/// The policies of a level that are not excluded by their age alone.
pub(crate) fn contenders<'a>(profile: &Profile, level: &'a [Arc<Policy>]) -> &'a [Arc<Policy>] {
    let counts = match *profile.same_target {
        _ if profile.strategies.follows_2021 => None,
        SameTarget::OldestWins => level.get(..1),
        SameTarget::NewestWins => level.get(level.len().saturating_sub(1)..),
        _ => None,
    };
    counts.unwrap_or(level)
}

fn stanzas_of(policy: Option<&Arc<Policy>>) -> Vec<StanzaRef<'_>> {
    policy
        .into_iter()
        .flat_map(|policy| policy.stanzas())
        .collect()
}

/// Combines the stanzas of one level into one. Lists that add up contain the entries of each; elsewhere the newer
/// stanza wins.
pub(super) fn with_appended_lists(stanzas: &[StanzaRef<'_>]) -> Option<(Strategy, Arc<Tree>)> {
    let (first, others) = stanzas.split_first()?;
    let mut tree = first.tree().clone();
    for piece in others {
        Arc::make_mut(&mut tree).patch(piece.tree(), MergeUnit::Fields, ByEntry::All);
    }
    Some((first.strategy(), tree))
}

/// Orders stanzas so that the older one wins in either direction: overrides first, then defaults from the newest.
fn oldest_over(stanzas: Vec<StanzaRef<'_>>) -> Vec<StanzaRef<'_>> {
    let (mut ordered, defaults): (Vec<_>, Vec<_>) =
        stanzas.into_iter().partition(|piece| piece.is_override());
    ordered.extend(defaults.into_iter().rev());
    ordered
}

/// All stanzas of a level, except for strategy None: such a stanza is alone if it is the first, and does not
/// count otherwise.
fn merging<'a>(level: impl Iterator<Item = &'a Arc<Policy>>) -> Vec<StanzaRef<'a>> {
    let mut stanzas: Vec<StanzaRef<'a>> = Vec::new();
    for piece in level.flat_map(|policy| policy.stanzas()) {
        let alone = stanzas.first().map(|first| first.strategy()) == Some(Strategy::None);
        if stanzas.is_empty() || !(alone || piece.strategy() == Strategy::None) {
            stanzas.push(piece);
        }
    }
    stanzas
}
