//! `status.ancestors`: one entry for each Gateway through which requests reach the targets.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Accepted, PolicyStatus};
use crate::effective::Resolver;
use crate::model::ids::ObjectKey;
use crate::model::level::Level;
use crate::policy::Policy;
use crate::topology::reports::controller;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ancestor {
    /// The Gateway, or the target itself if no Gateway can lead to it.
    pub object: ObjectKey,
    /// The controller responsible for it: that of the Gateway's class.
    pub controller: Option<Arc<str>>,
}

/// The ancestors of a policy in the order of their keys, and the number of further ones that exceed the maximum of
/// the kind's list.
pub fn ancestors(
    resolver: &mut Resolver<'_>,
    policy: &Policy,
    status: &PolicyStatus,
) -> (Vec<Ancestor>, usize) {
    let mut objects: BTreeSet<ObjectKey> = BTreeSet::new();
    for target in &status.targets {
        if target.accepted == Accepted::TargetNotFound {
            continue;
        }
        let object = &target.target.object;
        let gateways = resolver.gateways_of(object);
        let topology = object.gk.is_core("Service") || Level::end_for(&object.gk) != Level::Port;
        if gateways.is_empty() && !topology {
            objects.insert(object.clone());
        }
        objects.extend(gateways);
    }
    let most = *policy.profile.max_ancestors;
    let cut = objects.len().saturating_sub(most);
    let kept = objects.into_iter().take(most).map(|object| Ancestor {
        controller: controller(resolver.snapshot(), &object).cloned(),
        object,
    });
    (kept.collect(), cut)
}
