//! Findings on a target: the policies that will apply to it, and attached policies that cannot.

use std::sync::Arc;

use super::fuel::too_much;
use crate::admission::finding::{Code, Finding};
use crate::attachment::rejection::RejectionFinder;
use crate::effective::applying::{ApplyingPolicy, applying_or_attached};
use crate::effective::{Resolver, names_same_gateway};
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object, is_route};
use crate::policy::{Policy, TargetRef};
use crate::state::snapshot::{Change, Snapshot};

use super::change_set::{changing_other_paths, orphaned_by_own_fields};
use super::stored_faults::warn_of_stored;
use super::{listeners, moved_to_backends, one_change, rerouted_requests, route};
use crate::model::wording;
use crate::policy::fuel::{MOST_REFERENCES, MOST_ROUTES};

/// Findings on a target as it will be after admission, and on the effect of the change on others.
pub(super) fn findings(
    snapshot: &Snapshot,
    object: &Arc<Object>,
    old: Option<&Arc<Object>>,
) -> Vec<Finding> {
    let key = object.key.clone();
    let is_grant = key.gk.is_gateway_api("ReferenceGrant");
    let change = |object: &Arc<Object>| {
        if is_grant {
            snapshot.with_change(Change::Applied(object.clone()))
        } else {
            snapshot.with_object(object.clone())
        }
    };
    let after = change(object);
    let mut resolver = Resolver::bounded(&after);
    let mut findings = own_findings(&mut resolver, &key);
    // The stored object in the request is newer than any cache.
    if old
        .as_ref()
        .is_some_and(|old| alters_nothing(snapshot, old, object))
    {
        findings.iter_mut().for_each(Finding::warn);
        return findings;
    }
    let before = match old {
        Some(old) => change(old),
        None if is_grant || !changing_other_paths(snapshot, &[object]).is_empty() => {
            snapshot.with_change(Change::Deleted(key.clone()))
        }
        // Nothing was in force on a new target.
        None => return findings,
    };
    if old.is_none() && !is_grant {
        findings.extend(one_change::effective_changes(
            &before,
            &mut resolver,
            &key,
            one_change::takes_from_others,
        ));
        findings.extend(one_change::opened_by_created(
            &before,
            &after,
            &key,
            MOST_ROUTES,
        ));
        return findings;
    }
    if old.is_some() && findings.iter().any(|one| one.code != Code::AffectedBy) {
        let stored = own_findings(&mut Resolver::bounded(&before), &key);
        warn_of_stored(&mut findings, &stored);
    }
    findings.extend(one_change::effective_changes(
        &before,
        &mut resolver,
        &key,
        |_| true,
    ));
    findings.extend(one_change::listener_changes(
        &before,
        &after,
        &key,
        std::slice::from_ref(&key),
        MOST_ROUTES,
    ));
    if let Some(old) = old {
        let finder = || RejectionFinder::new(true);
        findings.extend(orphaned_by_own_fields(&before, &after, old, object, finder));
        findings.extend(rerouted_requests::findings([&before, &after], old, object));
        findings.extend(moved_to_backends::findings([&before, &after], old, object));
    }
    if is_grant {
        findings.extend(one_change::grant(&before, &after, &key, MOST_REFERENCES));
    }
    findings
}

/// Findings on a target as it is in the snapshot: the policies that apply to it, and its faults.
pub(super) fn own_findings(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<Finding> {
    let mut findings = findings_as_attached(resolver, key);
    if resolver.is_spent() {
        findings = vec![too_much(key, "the policies that apply to this object")];
    }
    findings.extend(listeners::findings(resolver, key));
    findings.extend(route::findings(resolver, key));
    findings
}

/// Whether the difference between two versions of a target cannot change any effective policy: the engine reads the
/// same from both, both name the same Gateway by label, no policy selects the target by labels or annotations, no policy
/// controls fields of it, and it is no route whose labels or annotations matter because routes delegate to each other.
fn alters_nothing(snapshot: &Snapshot, old: &Object, new: &Object) -> bool {
    let selects = |policy: &Arc<Policy>| policy.targets.iter().any(TargetRef::selects);
    let delegates = |snapshot: &Snapshot| snapshot.delegations().next().is_some();
    // For a Namespace, the labels matter to listeners.
    !matches!(new.node, Node::Other)
        && old.node == new.node
        && !(is_route(&new.key.gk) && old.meta != new.meta && delegates(snapshot))
        && names_same_gateway(snapshot, &old.meta, &new.meta)
        && !snapshot.policies_naming(&new.key).any(selects)
        && snapshot.controls(&new.key.gk).next().is_none()
}

/// Findings on the policies that apply to a target.
fn findings_as_attached(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<Finding> {
    let over = applying_or_attached(resolver, key);
    let snapshot = resolver.snapshot();
    let findings = over
        .iter()
        .filter_map(|acting| finding(snapshot, key, acting));
    findings.collect()
}

fn finding(snapshot: &Snapshot, object: &ObjectKey, acting: &ApplyingPolicy) -> Option<Finding> {
    let policy = acting.policy.key();
    let on_it = acting
        .attachments
        .iter()
        .any(|place| place.object == *object);
    let (code, from) = if acting.applies() {
        (Code::AffectedBy, &acting.from)
    } else if on_it && acting.on_served_path && !acting.policy.adds_nothing() {
        (Code::Overridden, &acting.attachments)
    } else {
        return None;
    };
    let name = policy.text();
    let requests_fail = code == Code::AffectedBy && acting.policy.requests_fail(snapshot);
    let message = match code {
        Code::Overridden => format!("{name} has no effect: it is overridden"),
        _ if requests_fail => format!("{name} is rejected, so requests get an error"),
        _ => name.clone(),
    };
    let mut finding = Finding::new(code, object, message).about(name);
    finding.mentions.insert(policy.clone());
    if !requests_fail {
        finding.settings = wording::settings(&acting.settings).into();
    }
    finding.source = wording::origin(object, from);
    Some(finding)
}
