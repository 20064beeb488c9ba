//! The routes that name a listener's owner: which of them it takes, and why not the others.

use std::sync::Arc;

use crate::engine::object::{Object, ParentRef, is_route};
use crate::engine::policy::Precedence;
use crate::engine::snapshot::Snapshot;
use crate::engine::topology::{OwnListener, Refusal, kept_out, refusal};

/// What names an owner of listeners, seen from one of these.
#[derive(Debug, Default)]
pub(super) struct Attached<'a> {
    /// The routes that are attached, the oldest first.
    pub(super) routes: Vec<&'a Arc<Object>>,
    /// Routes that the listener does not take, with the reference that comes nearest.
    pub(super) refused: Vec<(&'a Arc<Object>, &'a ParentRef, Refusal)>,
    /// Routes that an older one of another kind keeps out, and that one.
    pub(super) rejected: Vec<(&'a Arc<Object>, Arc<Object>)>,
}

/// What names the owner of a listener, seen from the listener.
pub(super) fn attached<'a>(snapshot: &'a Snapshot, here: &OwnListener<'_>) -> Attached<'a> {
    let mut found = Attached::default();
    let kept_out = kept_out(snapshot, here);
    let routes = snapshot.below(&here.owner.key);
    for route in routes.filter(|o| is_route(&o.key.gk)) {
        // The last refusal is the one that comes nearest: it is the first test that fails.
        let mut nearest: Option<(Refusal, &ParentRef)> = None;
        let mut taken = false;
        for parent in route.parents_to(&here.owner.key) {
            match refusal(snapshot, here, route, parent) {
                None => taken = true,
                Some(why) if nearest.is_none_or(|(known, _)| known < why) => {
                    nearest = Some((why, parent));
                }
                Some(_) => {}
            }
        }
        match (nearest, kept_out.get(&Arc::as_ptr(route))) {
            (_, Some(rival)) if taken => found.rejected.push((route, rival.clone())),
            _ if taken => found.routes.push(route),
            (Some((why, parent)), _) => found.refused.push((route, parent, why)),
            (None, _) => {}
        }
    }
    found
        .routes
        .sort_by_cached_key(|route| Precedence::of(route));
    found
        .rejected
        .sort_by_cached_key(|(route, _)| Precedence::of(route));
    found
}
