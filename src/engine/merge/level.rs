//! The stanzas of the policies attached to one place.

use std::sync::Arc;

use super::piece::Part;
use super::tree::{Tree, Units};
use crate::engine::policy::Policy;
use crate::engine::profile::{Profile, SameTarget, Strategy};
use crate::engine::rivals::rejected;

/// The stanzas of one level, the established first. If the oldest or the newest policy wins, it represents the level.
/// In the legacy dialect the oldest wins field by field, so its defaults come last.
pub(super) fn level_pieces<'a>(profile: &Profile, level: &'a [Arc<Policy>]) -> Vec<Part<'a>> {
    if profile.strategies.legacy {
        return oldest_over(level.iter().flat_map(|policy| policy.parts()).collect());
    }
    match *profile.same_target {
        SameTarget::Merge => merging(level.iter()),
        SameTarget::MergeOldest => oldest_over(merging(level.iter())),
        SameTarget::OldestWins => pieces_of(level.first()),
        SameTarget::NewestWins => pieces_of(level.last()),
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
pub(in crate::engine) fn may_count<'a>(
    profile: &Profile,
    level: &'a [Arc<Policy>],
) -> &'a [Arc<Policy>] {
    let counts = match *profile.same_target {
        _ if profile.strategies.legacy => None,
        SameTarget::OldestWins => level.get(..1),
        SameTarget::NewestWins => level.get(level.len().saturating_sub(1)..),
        _ => None,
    };
    counts.unwrap_or(level)
}

fn pieces_of(policy: Option<&Arc<Policy>>) -> Vec<Part<'_>> {
    policy
        .into_iter()
        .flat_map(|policy| policy.parts())
        .collect()
}

/// Combines the stanzas of one level into one. Lists that add up contain the entries of each; elsewhere the newer
/// stanza wins.
pub(super) fn added_up(pieces: &[Part<'_>]) -> Option<(Strategy, Arc<Tree>)> {
    let (first, rest) = pieces.split_first()?;
    let mut tree = first.tree().clone();
    for piece in rest {
        Arc::make_mut(&mut tree).patch(piece.tree(), Units::Fields, true);
    }
    Some((first.strategy(), tree))
}

/// Orders stanzas so that the older one wins in either direction: overrides first, then defaults from the newest.
fn oldest_over(pieces: Vec<Part<'_>>) -> Vec<Part<'_>> {
    let (mut ordered, defaults): (Vec<_>, Vec<_>) =
        pieces.into_iter().partition(|piece| piece.is_override());
    ordered.extend(defaults.into_iter().rev());
    ordered
}

/// All stanzas of a level, except for strategy None: such a stanza is alone if it is the first, and does not
/// count otherwise.
fn merging<'a>(level: impl Iterator<Item = &'a Arc<Policy>>) -> Vec<Part<'a>> {
    let mut pieces: Vec<Part<'a>> = Vec::new();
    for piece in level.flat_map(|policy| policy.parts()) {
        let alone = pieces.first().map(|first| first.strategy()) == Some(Strategy::None);
        if pieces.is_empty() || !(alone || piece.strategy() == Strategy::None) {
            pieces.push(piece);
        }
    }
    pieces
}
