//! The cost of a merge in units of fuel, and the policies whose settings it reads.

use std::sync::Arc;

use super::{OVERRIDES_WHOLE, TargetFields, contenders};
use crate::attachment::conflict::comparison_cost;
use crate::kinds::profile::{DictatedBy, Profile, SameTarget};
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::policy::fuel;

/// The cost of merging these levels and reporting the result, in units of fuel. If one stanza wins
/// as a whole, it is taken as it is and the others are skipped. Otherwise each stanza copies the
/// result so far; so do the fields that the target sets itself.
pub(crate) fn fold_cost(
    profile: &Profile,
    levels: &[&[Arc<Policy>]],
    own: Option<&TargetFields>,
) -> usize {
    let downward = *profile.merging.dictated_by == DictatedBy::Challenger;
    let mut all_whole = profile.merging.append_lists.is_empty();
    let (mut most, mut sum, mut stanzas, mut copied) = (0, 0, 0, 0);
    let policies = levels.iter().flat_map(|level| level.iter());
    let own = own.map(|own| (own.leaves, false));
    let settings = policies.flat_map(|policy| policy.stanzas());
    let settings = settings.map(|part| (part.leaves(), part.is_whole()));
    for (leaves, is_whole) in settings.chain(own) {
        all_whole &= is_whole;
        most = leaves.max(most);
        sum += leaves;
        stanzas += 1;
        copied += if downward { sum } else { leaves * stanzas };
        // The limit is exceeded, whatever the other stanzas contain.
        if !all_whole && sum > fuel::MAX_UNITS {
            break;
        }
    }
    let compared = match *profile.same_target {
        SameTarget::FieldOverlap | SameTarget::EqualField => {
            levels.iter().map(|level| comparison_cost(*level)).sum()
        }
        _ => 0,
    };
    let put_together = if all_whole {
        most + stanzas / fuel::PASSED_OVER
    } else {
        sum + copied / fuel::COPIED
    };
    put_together + compared
}

/// The policies whose settings are read when these levels are merged.
pub(crate) fn policies_read<'a>(
    profile: &Profile,
    levels: &[&'a [Arc<Policy>]],
) -> impl Iterator<Item = &'a Policy> {
    let parts = levels
        .iter()
        .flat_map(|level| contenders(profile, level))
        .flat_map(|policy| policy.stanzas());
    let parts: Vec<StanzaRef<'a>> = parts.collect();
    let all_whole =
        profile.merging.append_lists.is_empty() && parts.iter().all(|part| part.is_whole());
    let one = if *profile.merging.dictated_by == DictatedBy::Challenger {
        let last = parts.iter().rev();
        let mut last = last.filter(|part| part.strategy() != OVERRIDES_WHOLE);
        last.next().or(parts.first())
    } else {
        let mut first = parts.iter();
        first
            .find(|part| part.strategy() == OVERRIDES_WHOLE)
            .or(parts.last())
    };
    let one = one.copied();
    parts
        .into_iter()
        .filter(move |part| !all_whole || one.is_some_and(|one| one.is(*part)))
        .map(StanzaRef::policy)
}
