//! Policies on the Gateways, `ListenerSets` and listeners above a route that their controllers reject: they are on no path.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::policies_at_or_above::{PoliciesAtOrAbove, PolicyAtOrAbove};
use crate::engine::effective::Resolver;
use crate::engine::kinds::profile::Class;
use crate::engine::model::ids::Place;
use crate::engine::model::level::Level;
use crate::engine::policy::Policy;
use crate::engine::status::conditions::{Accepted, attachments, status_on_paths};
use crate::engine::topology::gateway_of;

/// Adds the rejected policies above an object that requests reach through these listeners.
pub(super) fn add_rejected_above(
    resolver: &mut Resolver<'_>,
    listeners: &BTreeSet<Place>,
    policies_over: &mut PoliciesAtOrAbove,
) {
    let snapshot = resolver.snapshot();
    let owners = listeners.iter().map(|listener| &listener.object);
    let owners = owners.flat_map(|owner| [owner, gateway_of(snapshot, owner)]);
    let owners: BTreeSet<_> = owners.filter(|owner| owner.gk.has_listeners()).collect();
    for owner in owners {
        let naming: Vec<Arc<Policy>> = snapshot.policies_naming(owner).cloned().collect();
        let naming = naming.iter().filter(|policy| applies_below(policy));
        for policy in naming {
            for attachment in attachments(resolver, policy) {
                let at = &attachment.target;
                let is_above =
                    at.object == *owner && (at.section.is_none() || listeners.contains(at));
                let is_rejected = matches!(
                    attachment.accepted,
                    Accepted::Rejected(_) | Accepted::ExpectedRejection(_)
                );
                let id = (policy.key().clone(), at.clone());
                if !is_above || !is_rejected || policies_over.contains_key(&id) {
                    continue;
                }
                let mut status = status_on_paths(snapshot, policy, at, &[]);
                status.accepted = attachment.accepted;
                status.state = None;
                let level = match &at.section {
                    Some(_) => Level::Listener,
                    None => Level::end_for(&owner.gk),
                };
                let over = PolicyAtOrAbove {
                    policy: policy.clone(),
                    level,
                    status,
                };
                policies_over.insert(id, over);
            }
        }
    }
}

/// Whether policies on Gateways apply to routes.
fn applies_below(policy: &Policy) -> bool {
    let profile = &policy.profile;
    *profile.class == Class::Inherited && !profile.end().is_above_routes()
}
