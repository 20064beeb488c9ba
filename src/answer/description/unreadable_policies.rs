//! Policies that could not be read: nobody knows to which objects they apply.

use crate::answer::named::Named;
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

/// The policies of a state that could not be read, sorted.
pub fn unreadable_policies(snapshot: &Snapshot) -> Vec<Named> {
    let policies = snapshot.policy_kinds().flat_map(|gk| snapshot.objects(gk));
    let unread = policies.filter(|policy| policy.unread.is_some());
    let mut keys: Vec<&ObjectKey> = unread.map(|policy| &policy.key).collect();
    keys.sort();
    keys.into_iter().map(Named::from).collect()
}
