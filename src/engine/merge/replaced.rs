//! Which policies replaced another one as a whole, so that the result contains no trace of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::level::level_pieces;
use super::piece::Part;
use super::{OVERRIDES_WHOLE, REPLACES_WHOLE};
use crate::engine::ids::ObjectKey;
use crate::engine::policy::Policy;
use crate::engine::profile::{DictatedBy, Profile, With};

/// The policies that were in force when `policy` lost to one of them as a whole; `None` if it did not. `levels` run
/// from the least to the most specific, as for [`super::merged`].
pub fn replaced(
    profile: &Profile,
    levels: &[&[Arc<Policy>]],
    policy: &Policy,
) -> Option<BTreeSet<ObjectKey>> {
    let merging = &profile.merging;
    // Lists that add up are merged separately, and of a policy with two stanzas one may remain.
    if !merging.add_up.is_empty() || policy.parts().len() != 1 {
        return None;
    }
    let parts = || {
        let pieces = levels.iter().map(|level| level_pieces(profile, level));
        pieces.flatten().collect::<Vec<Part<'_>>>().into_iter()
    };
    if *merging.dictated_by != DictatedBy::Challenger {
        return lost(parts().rev(), policy, |part| {
            let strategy = part.strategy();
            (
                strategy == OVERRIDES_WHOLE,
                REPLACES_WHOLE.contains(&strategy),
            )
        });
    }
    // Other values of `with` skip policies, which is not a replacement.
    (*merging.with == With::AllAncestors).then_some(())?;
    lost(parts(), policy, |part| {
        let strategy = part.strategy();
        (
            REPLACES_WHOLE.contains(&strategy),
            strategy == OVERRIDES_WHOLE,
        )
    })
}

/// Folds the stanzas in order. `whole` returns whether the next one wins as a whole, and whether it loses as a whole.
fn lost<'a>(
    parts: impl Iterator<Item = Part<'a>>,
    policy: &Policy,
    whole: impl Fn(Part<'a>) -> (bool, bool),
) -> Option<BTreeSet<ObjectKey>> {
    let mut side: BTreeSet<ObjectKey> = BTreeSet::new();
    for part in parts {
        let key = part.policy().key();
        let (wins, loses) = if side.is_empty() {
            (false, false)
        } else {
            whole(part)
        };
        if loses && key == policy.key() {
            return Some(side);
        }
        if wins {
            if side.contains(policy.key()) && key != policy.key() {
                return Some([key.clone()].into());
            }
            side.clear();
        }
        if !loses {
            side.insert(key.clone());
        }
    }
    None
}
