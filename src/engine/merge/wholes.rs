//! Atomic levels: exactly one policy wins as a whole, so no merging is needed.

use std::sync::Arc;

use super::level::level_pieces;
use super::piece::Part;
use super::{Effective, Merged, OVERRIDES_WHOLE};
use crate::engine::policy::Policy;
use crate::engine::profile::{DictatedBy, SameTarget};
use crate::engine::work;

/// The facts about one atomic level that decide the winner of any path through it. There are many paths and few
/// levels.
#[derive(Clone, Copy, Debug)]
pub struct Wholes {
    /// The first stanza that wins over everything more specific.
    overrides: Option<Nth>,
    /// The last stanza.
    last: Option<Nth>,
    pieces: usize,
    /// The size of the largest stanza.
    leaves: usize,
}

/// The stanza that wins.
#[derive(Clone, Copy, Debug)]
pub struct Won<'a> {
    part: Option<Part<'a>>,
    /// The cost of reporting it, in units of fuel.
    pub leaves: usize,
}

/// The index of a policy, and the index of one of its stanzas.
type Nth = (usize, usize);

// === impl Wholes ===

impl Wholes {
    /// Summarizes the policies of one level; `None` if they must be merged or compared.
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

/// The winner of these levels, from the least to the most specific: the same result as [`super::merged`], with the
/// cost that [`super::leaves_of`] computes.
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
    /// The effective policy.
    pub fn effective(self) -> Effective {
        let settings = |part: Part<'_>| Merged::Settings(part.tree().clone());
        Effective {
            result: self.part.map(settings),
        }
    }
}
