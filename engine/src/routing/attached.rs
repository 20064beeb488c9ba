//! The routes that refer to the owner of a listener: which are attached to the listener, and why the others are not.

use std::sync::Arc;

use super::delegated::{DelegatedRoute, delegated_at, facts_at};
use crate::kinds::profile::DelegationFile;
use crate::model::object::{Object, ParentRef, is_route};
use crate::policy::Precedence;
use crate::state::snapshot::Snapshot;
use crate::topology::{OwnListener, Refusal, kept_out, refusal};

/// The routes that refer to the owner of a listener, from the point of view of this listener.
#[derive(Debug)]
pub(super) struct Attached<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// How the controller of the listener follows delegation, if it does.
    pub(super) facts: Option<&'a DelegationFile>,
    /// Routes that those attached delegate to.
    pub(super) delegated: Vec<DelegatedRoute<'a>>,
    /// Attached routes, the oldest first.
    pub(super) routes: Vec<&'a Arc<Object>>,
    /// Routes that the listener refuses, each with the parent reference that comes closest.
    pub(super) refused: Vec<(&'a Arc<Object>, &'a ParentRef, Refusal)>,
    /// Routes that lose their place to an older route of another kind, which is the second value.
    pub(super) rejected: Vec<(&'a Arc<Object>, Arc<Object>)>,
}

/// Sorts the routes that refer to the owner of a listener.
pub(super) fn attached<'a>(snapshot: &'a Snapshot, here: &OwnListener<'_>) -> Attached<'a> {
    let mut found = Attached {
        snapshot,
        facts: facts_at(snapshot, here),
        delegated: Vec::new(),
        routes: Vec::new(),
        refused: Vec::new(),
        rejected: Vec::new(),
    };
    let kept_out = kept_out(snapshot, here);
    let routes = snapshot.below(&here.owner.key);
    for route in routes.filter(|o| is_route(&o.key.gk)) {
        // The checks are ordered, so the largest refusal has passed the most checks.
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
        match (nearest, kept_out.get(&route.key)) {
            (_, Some(winner)) if taken => found.rejected.push((route, winner.clone())),
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
    if found.facts.is_some() {
        found.delegated = delegated_at(snapshot, here, &found.routes);
    }
    found
}
