//! Pairs the listeners that a change removes with those that it adds, if they receive the same requests.

use std::rc::Rc;
use std::sync::Arc;

use crate::merge::EffectivePolicy;
use crate::model::ids::ObjectKey;
use crate::model::shared::Shared;
use crate::topology::{AncestorPath, ListenerEndpoint};

/// Finds the listener endpoint of an ancestor path; `None` if it has no listener.
pub(super) type EndpointOf<'a> = &'a dyn Fn(&AncestorPath) -> Option<ListenerEndpoint>;

/// An ancestor path that is only on one side, with its effective policy.
pub(super) type OneSided<'a> = (&'a Rc<AncestorPath>, &'a Shared<EffectivePolicy>);

/// The properties that two listeners have in common if they receive the same requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// Owner, port and hostname.
    Endpoint,
    /// Port and hostname; the owner is another one.
    Port,
    /// The owner.
    Owner,
}

// === impl Alike ===

impl Alike {
    /// The compared properties of the last place of an ancestor path.
    fn compared_part(self, endpoint: EndpointOf<'_>, path: &AncestorPath) -> Option<ListenerPart> {
        let endpoint = endpoint(path).filter(|_| self != Self::Owner);
        match (self, endpoint) {
            (Self::Owner, _) => Some((Some(path.last()?.object.clone()), None)),
            (Self::Endpoint, Some((owner, port, host))) => Some((Some(owner), Some((port, host)))),
            (Self::Port, Some((_, port, host))) => Some((None, Some((port, host)))),
            (_, None) => None,
        }
    }
}

/// The owner of a listener, and its port and hostname, as far as they are compared.
type ListenerPart = (Option<ObjectKey>, Option<(u16, Option<Arc<str>>)>);

/// Removes the ancestor paths through listeners that were renamed or replaced and are alike. Returns each with the
/// effective policies before and after.
pub(super) fn renamed<'a>(
    [endpoint_before, endpoint_after]: [EndpointOf<'_>; 2],
    alike: Alike,
    lost: &mut Vec<OneSided<'a>>,
    won: &mut Vec<OneSided<'a>>,
) -> Vec<(
    &'a Rc<AncestorPath>,
    &'a Shared<EffectivePolicy>,
    &'a Shared<EffectivePolicy>,
)> {
    let mut renamed_paths = Vec::new();
    // One side is usually empty.
    if lost.is_empty() || won.is_empty() {
        return renamed_paths;
    }
    let each = won
        .iter()
        .map(|(path, _)| alike.compared_part(endpoint_after, path));
    let mut parts: Vec<Option<ListenerPart>> = each.collect();
    lost.retain(|(ancestor_path, before)| {
        let part = alike.compared_part(endpoint_before, ancestor_path);
        let mut each = parts.iter();
        let Some(at) = each.position(|other| part.is_some() && *other == part) else {
            return true;
        };
        parts.remove(at);
        let (ancestor_path, after) = won.remove(at);
        renamed_paths.push((ancestor_path, *before, after));
        false
    });
    renamed_paths
}
