//! Policies of one kind that act at different moments of a request, and so do not merge with each other.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::MergeLevel;
use crate::kinds::profile::PartitionBy;
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::policy::tree::Tree;

/// The levels of a path with the policies that have one value of the field.
type LevelsOfPartition<'a> = Vec<(&'a MergeLevel<'a>, Vec<Arc<Policy>>)>;

/// The policies of a path by the value of the field; `None` if all of them have one value.
pub(super) fn partitioned<'a>(
    by: &PartitionBy,
    levels: &'a [MergeLevel<'a>],
) -> Option<Vec<LevelsOfPartition<'a>>> {
    let policies = levels.iter().flat_map(|level| level.policies);
    let values: BTreeSet<String> = policies.map(|policy| value(by, policy)).collect();
    if values.len() < 2 {
        return None;
    }
    let parts = values.iter().map(|wanted| {
        let matching = levels.iter().map(|level| {
            let policies = level.policies.iter();
            let policies = policies.filter(|policy| value(by, policy) == *wanted);
            (level, policies.cloned().collect::<Vec<Arc<Policy>>>())
        });
        matching
            .filter(|(_, policies)| !policies.is_empty())
            .collect()
    });
    Some(parts.collect())
}

/// Whether two policies of a kind act at the same moment of a request.
pub(crate) fn act_together(one: &Policy, other: &Policy) -> bool {
    let by = one.profile.merging.partition_by.as_ref();
    by.is_none_or(|by| value(by, one) == value(by, other))
}

/// The value of the field in a policy, or the one that is meant if it is not set.
fn value(by: &PartitionBy, policy: &Policy) -> String {
    let mut parts = policy.stanzas().map(StanzaRef::tree);
    let set = parts.find_map(|tree| match tree.at(&by.field)? {
        Tree::Leaf(setting) => setting.value.value().as_str().map(str::to_owned),
        _ => None,
    });
    set.unwrap_or_else(|| by.default.clone())
}
