//! The entry point of the engine: `review(&Snapshot, &Request, &Evidence) -> Verdict`.

use std::sync::Arc;

use crate::admission::evidence::Evidence;
use crate::admission::finding::Finding;
use crate::admission::request::{Operation, Request};
use crate::admission::validate::is_target_kind;
use crate::admission::verdict::Verdict;
use crate::attachment::may_open;
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Incoming, Node, Object};
use crate::routing::RouteVersions;
use crate::state::deleted_with::without;
use crate::state::snapshot::{Change, Snapshot};

mod change_set;
mod crd;
mod deletion;
mod fuel;
mod listeners;
mod losses;
mod lost_protection;
mod moved_to_backends;
mod new_rejections;
mod one_change;
mod policy;
mod precedence_reason;
mod refused_policy;
mod rerouted_requests;
mod route;
mod settings;
mod status_disagreement;
mod stored_faults;
mod target;
mod unsupported_filters;

pub use change_set::findings_on_changes;

/// The states before and after a request.
#[derive(Clone, Debug)]
pub struct States {
    /// The object that changes.
    pub key: ObjectKey,
    /// The state before.
    pub before: Snapshot,
    /// The state after.
    pub after: Snapshot,
    /// Both versions of the object if it is a route that the request updates.
    pub route_versions: RouteVersions,
}

/// The states before and after a request. `None` if it changes nothing that [`review`] judges, or cannot be read.
pub fn states(snapshot: &Snapshot, request: &Request<'_>) -> Option<States> {
    if !is_judged(snapshot, request) {
        return None;
    }
    let old = request.old.and_then(|text| Incoming::parse(text).ok());
    let new = request.object.map(Incoming::parse).transpose().ok()?;
    if let (Some(old), Some(new)) = (&old, &new)
        && request.operation == Operation::Update
        && old.unchanged(new, |one, other| snapshot.same_annotations(one, other))
    {
        return None;
    }
    let key = request.key();
    let with = |object: Option<Object>| match object {
        Some(object) => snapshot.with_change(Change::Applied(Arc::new(object))),
        None => snapshot.with_change(Change::Deleted(key.clone())),
    };
    let old = old.and_then(|old| request.read(old).ok());
    let new = match (new, request.operation) {
        (_, Operation::Delete) => None,
        (new, _) => Some(request.read(new?).ok()?),
    };
    if new.as_ref().is_some_and(|new| new.meta.deleting) {
        return None;
    }
    let route_versions = RouteVersions::of_change(&old, &new);
    // A DELETE may come without the object.
    let before = match (old, request.operation) {
        (None, Operation::Delete) => snapshot.clone(),
        (old, _) => with(old),
    };
    let after = match new {
        None => {
            let gone = deletion::gone(&before, &key).unwrap_or_else(|| vec![key.clone()]);
            without(before.clone(), &gone)
        }
        new => with(new),
    };
    Some(States {
        key,
        before,
        after,
        route_versions,
    })
}

/// Whether a request changes an object that policies, or attache itself, have to do with.
fn is_judged(snapshot: &Snapshot, request: &Request<'_>) -> bool {
    let is_known = || {
        snapshot.profile(&request.gk).is_some()
            || request.gk == GroupKind::CRD
            || is_target_kind(&request.gk)
            || may_open(snapshot, &request.gk)
    };
    request.operation != Operation::Connect && request.subresource.is_empty() && is_known()
}

/// Judges a request against a snapshot. Never fails: input that cannot be understood is a finding.
pub fn review(snapshot: &Snapshot, request: &Request<'_>, evidence: &Evidence) -> Verdict {
    if !is_judged(snapshot, request) {
        return Verdict::default();
    }
    // An old object that cannot be read does not count for the ratchet.
    let old = request.old.and_then(|text| Incoming::parse(text).ok());
    let new = request.object.map(Incoming::parse);
    if let (Some(old), Some(Ok(new))) = (&old, &new)
        && request.operation == Operation::Update
        && old.unchanged(new, |one, other| snapshot.same_annotations(one, other))
    {
        return Verdict::default();
    }
    let old = old.and_then(|old| request.read(old).ok());
    if request.operation == Operation::Delete {
        let findings = deletion::deleted(snapshot, &request.key(), old);
        return Verdict::new(findings, evidence);
    }
    let Some(new) = new else {
        return not_checked(request, "the request has no object");
    };
    let object = match new.and_then(|new| request.read(new)) {
        Ok(object) => object,
        Err(why) => return not_checked(request, &why.to_string()),
    };
    if object.meta.deleting {
        return Verdict::default();
    }
    let findings = if let Node::Crd(crd) = &object.node {
        let mut findings = crd::findings(snapshot, &object.key, crd);
        findings.extend(crd::effects(snapshot, &object, old));
        findings
    } else if snapshot.profile(&request.gk).is_some() {
        policy::findings(snapshot, object, old)
    } else {
        target::findings(snapshot, &Arc::new(object), old.map(Arc::new).as_ref())
    };
    Verdict::new(findings, evidence)
}

/// The findings about an object in the snapshot of a resolver: those of [`review`] on its creation, for any
/// user. One resolver serves many objects.
pub fn inspect(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<Finding> {
    let snapshot = resolver.snapshot();
    let Some(object) = snapshot.get(key).filter(|object| !object.meta.deleting) else {
        return Vec::new();
    };
    let mut findings = match (&object.node, snapshot.policy(key)) {
        (Node::Crd(crd), _) => crd::findings(snapshot, key, crd),
        (_, Some(policy)) => policy::findings_as_attached(resolver, policy),
        (_, None) if is_target_kind(&key.gk) => target::own_findings(resolver, key),
        _ => Vec::new(),
    };
    findings.sort();
    findings.dedup();
    findings
}

fn not_checked(request: &Request<'_>, why: &str) -> Verdict {
    let message = format!("{} was not checked: {why}", request.gk);
    Verdict::unreadable(&request.key(), message)
}
