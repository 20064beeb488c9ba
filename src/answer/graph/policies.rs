//! Adds the policies and their targets to a graph.

use super::Link;
use super::sketch::Sketch;
use super::words;
use crate::engine::conditions::attachments;
use crate::engine::effective::Survey;
use crate::engine::policy::Policy;
use crate::engine::profile::ServiceAs;

/// Adds every policy with an edge to each of its targets, whether the target exists or not.
pub(super) fn draw(sketch: &mut Sketch<'_>, survey: &mut Survey<'_>) {
    let snapshot = sketch.snapshot;
    for kind in snapshot.used_kinds() {
        for policy in snapshot.policies(kind) {
            one(sketch, survey, policy);
        }
    }
}

fn one(sketch: &mut Sketch<'_>, survey: &mut Survey<'_>, policy: &Policy) {
    let node = sketch.object(policy.key(), false);
    let attachments = attachments(survey, policy);
    if attachments.is_empty() {
        sketch.say(node, &words::idle(sketch.snapshot, policy));
    }
    for at in attachments {
        // A Service has two nodes (ruling 22).
        let frontend = at.target.object.gk.is_core("Service")
            && *policy.profile.service_as == ServiceAs::Frontend;
        let target = sketch.place(&at.target, frontend);
        match words::not_attached(sketch.snapshot, policy, &at.target, &at.accepted) {
            None => sketch.line(node, target, Link::Attached, None),
            reason => sketch.line(node, target, Link::NotAttached, reason),
        }
    }
}
