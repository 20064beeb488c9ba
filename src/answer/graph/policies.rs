//! Adds the policies and their targets to a graph.

use super::Link;
use super::sketch::Sketch;
use super::text;
use crate::engine::effective::Resolver;
use crate::engine::kinds::profile::ServiceAs;
use crate::engine::policy::Policy;
use crate::engine::status::conditions::attachments;

/// Adds every policy with an edge to each of its targets, whether the target exists or not.
pub(super) fn draw(sketch: &mut Sketch<'_>, resolver: &mut Resolver<'_>) {
    let snapshot = sketch.snapshot;
    for kind in snapshot.used_kinds() {
        for policy in snapshot.policies(kind) {
            one(sketch, resolver, policy);
        }
    }
}

fn one(sketch: &mut Sketch<'_>, resolver: &mut Resolver<'_>, policy: &Policy) {
    let node = sketch.object(policy.key(), false);
    let attachments = attachments(resolver, policy);
    if attachments.is_empty() {
        sketch.say(node, &text::idle(sketch.snapshot, policy));
    }
    for at in attachments {
        // A Service has two nodes.
        let frontend = at.target.object.gk.is_core("Service")
            && *policy.profile.service_as == ServiceAs::Frontend;
        let target = sketch.place(&at.target, frontend);
        match text::not_attached(sketch.snapshot, policy, &at.target, &at.accepted) {
            None => sketch.line(node, target, Link::Attached, None),
            reason => sketch.line(node, target, Link::NotAttached, reason),
        }
    }
}
