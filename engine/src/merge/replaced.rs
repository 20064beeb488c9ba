//! The policies that replaced another one as a whole, so that the result contains no trace of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::level::level_stanzas;
use super::{OVERRIDES_WHOLE, REPLACES_WHOLE};
use crate::kinds::profile::{DictatedBy, MergeWith, Profile};
use crate::model::ids::ObjectKey;
use crate::policy::Policy;
use crate::policy::StanzaRef;

/// The policies that were in force when `policy` lost to one of them as a whole; `None` if it did not. `levels` run
/// from the least to the most specific, as for [`super::fold_levels`].
pub fn replaced(
    profile: &Profile,
    levels: &[&[Arc<Policy>]],
    policy: &Policy,
) -> Option<BTreeSet<ObjectKey>> {
    let merging = &profile.merging;
    // Lists that add up are merged separately, and of a policy with two stanzas one may remain.
    if !merging.append_lists.is_empty() || policy.parts().len() != 1 {
        return None;
    }
    let parts = || {
        let stanzas = levels.iter().map(|level| level_stanzas(profile, level));
        stanzas
            .flatten()
            .collect::<Vec<StanzaRef<'_>>>()
            .into_iter()
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
    (*merging.merge_with == MergeWith::AllAncestors).then_some(())?;
    lost(parts(), policy, |part| {
        let strategy = part.strategy();
        (
            REPLACES_WHOLE.contains(&strategy),
            strategy == OVERRIDES_WHOLE,
        )
    })
}

/// Folds the stanzas in order. `wins_or_loses` returns whether the next one wins as a whole, and whether it loses as a whole.
fn lost<'a>(
    parts: impl Iterator<Item = StanzaRef<'a>>,
    policy: &Policy,
    wins_or_loses: impl Fn(StanzaRef<'a>) -> (bool, bool),
) -> Option<BTreeSet<ObjectKey>> {
    let mut side: BTreeSet<ObjectKey> = BTreeSet::new();
    for part in parts {
        let key = part.policy().key();
        let (wins, loses) = if side.is_empty() {
            (false, false)
        } else {
            wins_or_loses(part)
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
