//! Protections that objects give up by their own fields and labels, whatever the policies say.

use super::ProtectionLoss;
use super::external_auth_filters::lost_filters;
use super::gateway_client_certificates::lost_by_gateways;
use super::left_mesh::lost_by_leaving;
use super::listener_tls::lost_tls;
use super::open_targets::lost_by_targets;
use super::weakened_by_objects::lost_by_named_objects;
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};

/// The protections that objects give up by their own fields and labels, or those of objects that policies name.
pub fn lost_by_own_fields(
    [before, after]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let states = [before.snapshot(), after.snapshot()];
    let mut lost = lost_by_gateways([before, after], objects);
    lost.extend(lost_tls(states, objects));
    lost.extend(lost_filters(states, after, objects));
    lost.extend(lost_by_leaving([before, after], objects));
    lost.extend(lost_by_targets([before, after], objects));
    lost.extend(lost_by_named_objects([before, after], objects));
    lost
}
