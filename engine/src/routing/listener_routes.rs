//! The routes that refer to the owner of a listener: which are attached to the listener, and why the others are not.

use std::sync::Arc;

use super::delegated::{DelegatedRoute, delegated_at, facts_at};
use crate::kinds::profile::DelegationFile;
use crate::model::ids::Place;
use crate::model::level::{Level, Step};
use crate::model::object::{Object, ParentRef, Rule, is_route};
use crate::policy::Precedence;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::{delegates, is_dead_end};
use crate::topology::{
    KeptOut, ListenerWithOwner, NotAttachedReason, controller_facts, kept_out, perhaps_kept_out,
    why_not_attached,
};

/// The routes that refer to the owner of a listener, from the point of view of this listener.
#[derive(Debug)]
pub(super) struct ListenerRoutes<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The facts of the controller of the listener about delegation, if it follows delegation.
    pub(super) facts: Option<&'a DelegationFile>,
    /// Routes that those attached delegate to.
    pub(super) delegated: Vec<DelegatedRoute<'a>>,
    /// Attached routes, the oldest first.
    pub(super) routes: Vec<&'a Arc<Object>>,
    /// Routes that the listener does not accept, each with the parent reference that comes closest.
    pub(super) excluded: Vec<(&'a Arc<Object>, &'a ParentRef, NotAttachedReason)>,
    /// Routes that the controller rejects because of an older route of another kind, which is the
    /// second value.
    pub(super) rejected: Vec<(&'a Arc<Object>, Arc<Object>)>,
    /// Attached routes that it may reject for that reason, if the behaviour of the controller is
    /// unknown.
    pub(super) doubtful: KeptOut,
}

/// Whether a rule passes its requests to other routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delegation {
    /// It serves them itself.
    None,
    /// Other routes get them.
    Delegates,
    /// It delegates, and no other route takes them: they get an error.
    DeadEnd,
}

/// Sorts the routes that refer to the owner of a listener.
pub(super) fn listener_routes<'a>(
    snapshot: &'a Snapshot,
    own: &ListenerWithOwner<'_>,
) -> ListenerRoutes<'a> {
    let mut attached = ListenerRoutes {
        snapshot,
        facts: facts_at(snapshot, own),
        delegated: Vec::new(),
        routes: Vec::new(),
        excluded: Vec::new(),
        rejected: Vec::new(),
        doubtful: perhaps_kept_out(snapshot, own),
    };
    let kept_out = kept_out(snapshot, own);
    let routes = snapshot.below(&own.owner.key);
    for route in routes.filter(|o| is_route(&o.key.gk)) {
        // The checks are ordered, so the largest reason has passed the most checks.
        let mut nearest: Option<(NotAttachedReason, &ParentRef)> = None;
        let mut taken = false;
        for parent in route.parents_to(&own.owner.key) {
            match why_not_attached(snapshot, own, route, parent) {
                None => taken = true,
                Some(why) if nearest.is_none_or(|(known, _)| known < why) => {
                    nearest = Some((why, parent));
                }
                Some(_) => {}
            }
        }
        match (nearest, kept_out.get(&route.key)) {
            (_, Some(winner)) if taken => attached.rejected.push((route, winner.clone())),
            _ if taken => attached.routes.push(route),
            (Some((why, parent)), _) => attached.excluded.push((route, parent, why)),
            (None, _) => {}
        }
    }
    let facts = controller_facts(snapshot, &own.owner.key);
    attached
        .routes
        .sort_by_cached_key(|route| Precedence::for_controller(route, facts));
    attached
        .rejected
        .sort_by_cached_key(|(route, _)| Precedence::for_controller(route, facts));
    if attached.facts.is_some() {
        attached.delegated = delegated_at(snapshot, own, &attached.routes);
    }
    attached
}

// === impl ListenerRoutes ===

impl ListenerRoutes<'_> {
    /// The delegation by a rule. `above` are the routes above its own.
    pub(super) fn delegation_of(&self, rule: &Rule, place: &Place, above: &[Step]) -> Delegation {
        let Some(facts) = self.facts.filter(|facts| delegates(facts, rule)) else {
            return Delegation::None;
        };
        let below = self.delegated.iter().filter(|below| {
            let mut steps = below.above.iter().rev();
            let is_directly_above = steps.next().is_some_and(|step| step.place == *place);
            let places = |steps: &[Step]| -> Vec<Place> {
                let rules = steps.iter().filter(|step| step.level == Level::Rule);
                rules.map(|step| step.place.clone()).collect()
            };
            let mut chain = places(&below.above);
            chain.pop();
            is_directly_above && chain == places(above)
        });
        let routes: Vec<&Arc<Object>> = below.map(|below| below.route).collect();
        if is_dead_end(self.snapshot, facts, rule, &routes) {
            Delegation::DeadEnd
        } else {
            Delegation::Delegates
        }
    }
}
