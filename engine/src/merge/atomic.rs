//! Atomic levels: exactly one policy wins as a whole, so no merging is needed.

use std::sync::Arc;

use super::level::level_stanzas;
use super::{EffectivePolicy, Merged, OVERRIDES_WHOLE};
use crate::kinds::profile::{DictatedBy, SameTarget};
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::policy::fuel;

/// The facts about one atomic level that decide the winner of any path through it. There are many paths and few
/// levels.
#[derive(Clone, Copy, Debug)]
pub struct AtomicLevel {
    /// The first stanza that wins over everything more specific.
    overrides: Option<PolicyAndStanza>,
    /// The last stanza.
    last: Option<PolicyAndStanza>,
    stanzas: usize,
    /// The size of the largest stanza.
    leaves: usize,
}

/// The stanza that wins.
#[derive(Clone, Copy, Debug)]
pub struct AtomicWinner<'a> {
    part: Option<StanzaRef<'a>>,
    /// The cost of reporting it, in units of fuel.
    pub cost: usize,
}

/// The index of a policy, and the index of one of its stanzas.
type PolicyAndStanza = (usize, usize);

// === impl AtomicLevel ===

impl AtomicLevel {
    /// Summarizes the policies of one level; `None` if they must be merged or compared.
    pub fn summarize(level: &[Arc<Policy>]) -> Option<Self> {
        let profile = &level.first()?.profile;
        let parts = || level.iter().flat_map(|policy| policy.stanzas());
        let merging = &profile.merging;
        let compares = matches!(
            *profile.same_target,
            SameTarget::FieldOverlap | SameTarget::EqualField
        );
        let puts_together = *merging.dictated_by == DictatedBy::Challenger
            || !merging.append_lists.is_empty()
            || !parts().all(|part| part.is_whole() && !part.lacks_required());
        if compares || puts_together {
            return None;
        }
        let counted = level_stanzas(profile, level);
        let nth = |part: &StanzaRef<'_>| {
            let mut all = level.iter().enumerate().flat_map(|(policy, policy_parts)| {
                let pieces = policy_parts.stanzas().enumerate();
                pieces.map(move |(piece, part)| ((policy, piece), part))
            });
            all.find(|(_, one)| one.is(*part)).map(|(nth, _)| nth)
        };
        let mut overrides = counted.iter();
        let overrides = overrides.find(|part| part.strategy() == OVERRIDES_WHOLE);
        Some(Self {
            overrides: overrides.and_then(nth),
            last: counted.last().and_then(nth),
            stanzas: parts().count(),
            leaves: parts().map(StanzaRef::leaves).max().unwrap_or(0),
        })
    }
}

/// The winner of these levels, from the least to the most specific: the same result as [`super::fold_levels`], with the
/// cost that `fold_cost` computes.
pub fn winner<'a>(
    levels: impl Iterator<Item = (&'a [Arc<Policy>], Option<AtomicLevel>)>,
) -> Option<AtomicWinner<'a>> {
    let mut won = AtomicWinner {
        part: None,
        cost: 0,
    };
    let (mut overrides, mut pieces) = (false, 0);
    for (level, atomic) in levels {
        let atomic = atomic?;
        pieces += atomic.stanzas;
        won.cost = won.cost.max(atomic.leaves);
        if overrides {
            continue;
        }
        overrides = atomic.overrides.is_some();
        let part = |(policy, piece): PolicyAndStanza| level.get(policy)?.stanzas().nth(piece);
        let last_part = atomic.overrides.or(atomic.last).and_then(part);
        won.part = last_part.or(won.part);
    }
    won.cost += pieces / fuel::PASSED_OVER;
    Some(won)
}

// === impl AtomicWinner ===

impl<'a> AtomicWinner<'a> {
    /// The policy that wins; `None` if there is none.
    pub fn policy(&self) -> Option<&'a Policy> {
        self.part.map(StanzaRef::policy)
    }

    /// The effective policy.
    pub fn effective(self) -> EffectivePolicy {
        let settings = |part: StanzaRef<'a>| Merged::Settings(part.tree().clone());
        EffectivePolicy {
            result: self.part.map(settings),
            filters: None,
        }
    }
}
