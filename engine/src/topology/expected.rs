//! Listeners and routes that are not accepted whatever their controllers report. Such a report says no more than that, and is out of date
//! where a change lets them in.

use super::accepted_listeners::{listener_acceptance, listeners_of};
use super::route_acceptance::{ListenerWithOwner, NotAttachedReason, why_not_attached};
use crate::model::ids::ObjectKey;
use crate::model::listener_acceptance::ListenerFault;
use crate::model::object::ParentRef;
use crate::state::snapshot::Snapshot;

// === impl Snapshot ===

impl Snapshot {
    /// Whether a listener of a Gateway or `ListenerSet` accepts no routes, reports aside.
    pub(super) fn expects_no_listener(&self, owner: &ObjectKey, name: &str) -> bool {
        let Some(owner) = self.get(owner) else {
            return false;
        };
        let Some(known) = listener_acceptance(self, owner) else {
            return true;
        };
        let index = listeners_of(owner)
            .iter()
            .position(|listener| *listener.name == *name);
        let conflict = index.and_then(|index| known.fault(index));
        known.rejection().is_some()
            || conflict.is_some_and(|conflict| conflict != ListenerFault::Reported)
    }

    /// Whether no listener of a parent takes a route, reports aside.
    pub(super) fn expects_no_attachment(&self, route: &ObjectKey, parent: &ParentRef) -> bool {
        let owner = self.get(&parent.object);
        let Some((route, owner)) = self.get(route).zip(owner) else {
            return true;
        };
        let Some(known) = listener_acceptance(self, owner) else {
            return true;
        };
        ListenerWithOwner::all(self, owner, &known).all(|own| {
            let why = why_not_attached(self, &own, route, parent);
            !matches!(
                why,
                None | Some(
                    NotAttachedReason::Reported
                        | NotAttachedReason::ListenerNotAccepted(ListenerFault::Reported)
                )
            )
        })
    }
}
