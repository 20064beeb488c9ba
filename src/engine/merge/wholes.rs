//! Levels on which each policy is in force whole or not at all: of all of them one wins, and nothing is put together.

use std::sync::Arc;

use super::level::level_pieces;
use super::piece::Part;
use super::{Effective, Merged, OVERRIDES_WHOLE};
use crate::engine::policy::Policy;
use crate::engine::profile::{DictatedBy, SameTarget};
use crate::engine::work;

/// What counts of one such level, whatever else stands on a path. There are many paths and few levels.
#[derive(Clone, Copy, Debug)]
pub struct Wholes {
    /// The first piece that wins over everything more specific.
    overrides: Option<Nth>,
    /// The last piece.
    last: Option<Nth>,
    pieces: usize,
    /// Of the largest piece.
    leaves: usize,
}

/// Who wins.
#[derive(Clone, Copy, Debug)]
pub struct Won<'a> {
    part: Option<Part<'a>>,
    /// How many leaves are looked at to tell it.
    pub leaves: usize,
}

/// The number of a policy, and of a piece of it.
type Nth = (usize, usize);

// === impl Wholes ===

impl Wholes {
    /// Of the policies of one level; none where something has to be put together, or compared.
    pub fn of(level: &[Arc<Policy>]) -> Option<Self> {
        let profile = &level.first()?.profile;
        let parts = || level.iter().flat_map(|policy| policy.parts());
        let merging = &profile.merging;
        let compares = matches!(
            *profile.same_target,
            SameTarget::FieldOverlap | SameTarget::EqualField
        );
        let puts_together = *merging.dictated_by == DictatedBy::Challenger
            || !merging.add_up.is_empty()
            || !parts().all(Part::is_whole);
        if compares || puts_together {
            return None;
        }
        let counted = level_pieces(profile, level);
        let nth = |part: &Part<'_>| {
            let mut all = level.iter().enumerate().flat_map(|(policy, of)| {
                let pieces = of.parts().enumerate();
                pieces.map(move |(piece, part)| ((policy, piece), part))
            });
            all.find(|(_, one)| one.is(*part)).map(|(nth, _)| nth)
        };
        let mut overrides = counted.iter();
        let overrides = overrides.find(|part| part.strategy() == OVERRIDES_WHOLE);
        Some(Self {
            overrides: overrides.and_then(nth),
            last: counted.last().and_then(nth),
            pieces: parts().count(),
            leaves: parts().map(Part::leaves).max().unwrap_or(0),
        })
    }
}

/// Who of these levels wins, from the least to the most specific: what [`super::merged`] makes of them, and the leaves
/// that [`super::leaves_of`] counts.
pub fn won<'a>(
    levels: impl Iterator<Item = (&'a [Arc<Policy>], Option<Wholes>)>,
) -> Option<Won<'a>> {
    let mut won = Won {
        part: None,
        leaves: 0,
    };
    let (mut overrides, mut pieces) = (false, 0);
    for (level, wholes) in levels {
        let wholes = wholes?;
        pieces += wholes.pieces;
        won.leaves = won.leaves.max(wholes.leaves);
        if overrides {
            continue;
        }
        overrides = wholes.overrides.is_some();
        let part = |(policy, piece): Nth| level.get(policy)?.parts().nth(piece);
        let here = wholes.overrides.or(wholes.last).and_then(part);
        won.part = here.or(won.part);
    }
    won.leaves += pieces / work::PASSED_OVER;
    Some(won)
}

// === impl Won ===

impl Won<'_> {
    /// What is in force.
    pub fn effective(self) -> Effective {
        let settings = |part: Part<'_>| Merged::Settings(part.tree().clone());
        Effective {
            result: self.part.map(settings),
        }
    }
}
