//! Policies that controllers reject, or report not to be in force, for requests through single ancestors.

use super::{Accepted, State, TargetStatus};
use crate::attachment::is_of_another_target;
use crate::attachment::reported_rejections::{self, Rejected};
use crate::attachment::reports::Report;
use crate::effective::PathGroup;
use crate::kinds::profile::Class;
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::Level;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;
use crate::topology::gateway_of;

/// Whether a place is another section of the object of a target.
fn is_sibling_section(place: &Place, target: &Place) -> bool {
    let both = place.section.is_some() && target.section.is_some();
    both && place.object == target.object && place.section != target.section
}

/// Whether a place is another object that the policy targets, of the kind of the target.
fn is_another_target(snapshot: &Snapshot, policy: &Policy, place: &Place, target: &Place) -> bool {
    let (one, other) = (&place.object, &target.object);
    let object = snapshot.get(one).map(|object| &**object);
    one.gk == other.gk && one != other && policy.has_target(one, object)
}

/// The reports by which a policy that is in force on a target is not in force for requests through single ancestors.
pub fn rejections_on(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Vec<Report> {
    let is_whole = !matches!(
        reported_rejections::rejected(snapshot, policy),
        Rejected::Through(_)
    );
    if is_whole || is_of_another_target(snapshot, policy, &target.object) {
        return Vec::new();
    }
    let mut reports = reported_rejections::rejections_by_ancestor(snapshot, policy);
    reports.retain(|report| {
        let ancestor = report.ancestor.as_ref();
        ancestor.is_some_and(|place| {
            !is_sibling_section(place, target)
                && !is_another_target(snapshot, policy, place, target)
        })
    });
    reports
}

/// The report that a policy is not in force on a target, though its controllers accept it.
pub(super) fn not_enforced_on(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &Place,
) -> Option<Report> {
    let is_everywhere = reported_rejections::rejected(snapshot, policy).at(&target.object)
        && !is_of_another_target(snapshot, policy, &target.object);
    is_everywhere
        .then(|| reported_rejections::not_enforced(snapshot, policy))
        .flatten()
}

/// Notes that a policy in force on a target is rejected on some of these paths through it.
pub fn partly_rejected(
    snapshot: &Snapshot,
    policy: &Policy,
    paths: &[PathGroup],
    status: &mut TargetStatus,
) {
    let target = &status.target;
    let mut rejections = rejections_on(snapshot, policy, target);
    let has = |group: &PathGroup, place: &Place| {
        let mut steps = group.paths.steps();
        steps.any(|step| step.place == *place)
    };
    // Paths of direct policies on backends begin at the backend.
    let begins_here =
        *policy.profile.class == Class::Direct && Level::is_of_backend(&target.object.gk);
    let is_above = |ancestor: &Place| {
        if begins_here {
            return sends_to(snapshot, ancestor, &target.object);
        }
        let mut groups = paths.iter().filter(|group| has(group, target));
        groups.any(|group| has(group, ancestor))
    };
    rejections.retain(|report| report.ancestor.as_ref().is_some_and(is_above));
    status.reject_in_part(rejections);
}

/// Whether requests through an ancestor reach a backend: a route names both.
fn sends_to(snapshot: &Snapshot, ancestor: &Place, backend: &ObjectKey) -> bool {
    let mut routes = snapshot.using(backend);
    routes.any(|route| {
        let mut parents = route.parents().iter();
        parents.any(|parent| {
            parent.object == ancestor.object
                || *gateway_of(snapshot, &parent.object) == ancestor.object
        })
    })
}

// === impl TargetStatus ===

impl TargetStatus {
    /// Notes that its controllers reject it for requests through some ancestors.
    pub fn reject_in_part(&mut self, reports: Vec<Report>) {
        let Some(report) = reports.into_iter().next() else {
            return;
        };
        match &self.state {
            Some(State::Enforced) => self.state = Some(State::PartiallyEnforced),
            // No request reaches the target through other ancestors.
            Some(State::NoEffect(_)) => {
                self.accepted = Accepted::Rejected(Box::new(report));
                self.state = None;
            }
            _ => {}
        }
    }
}
