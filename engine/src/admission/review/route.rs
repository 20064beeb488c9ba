//! Findings on a route: parents that do not accept it, and backends that get no requests from it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::admission::finding::{Code, Finding, Hint};
use crate::admission::validate::suggestion;
use crate::effective::Resolver;
use crate::kinds::profile::{ControllerFile, UnsupportedFilterEffect};
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object, Rule};
use crate::model::section;
use crate::policy::fuel;
use crate::state::grants::granted;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::{delegation_cost, facts_of, unknown_parent};
use crate::topology::reports::faults;
use crate::topology::{
    ParentAttachment, RouteKindConflicts, Unreached, controller_facts, delegated, gateway_of,
    missing_class, not_usable, parent_attachment, parent_attachment_cost, too_many_delegations,
    unusable_by,
};

use super::fuel::too_much;
use super::unsupported_filters;

/// The references of one list for which a hint is looked for: it compares many names, and a route may have thousands.
const HINTED: usize = 16;

/// Findings on a route: each parentRef that does not attach and each backend that gets no requests, with the reason.
pub(super) fn findings(resolver: &mut Resolver<'_>, key: &ObjectKey) -> Vec<Finding> {
    let snapshot = resolver.snapshot();
    let Some(route) = snapshot.get(key) else {
        return Vec::new();
    };
    let Node::Route { parents, rules, .. } = &route.node else {
        return Vec::new();
    };
    let called = |rule: &Rule| rule.filters.as_deref().map_or(0, |all| all.called.len());
    let backends = rules.iter().map(|rule| rule.backends.len() + called(rule));
    let backends: usize = backends.sum();
    resolver.charge(parent_attachment_cost(snapshot, route) + backends / fuel::FOUND);
    resolver.charge(delegation_cost(snapshot, route));
    if resolver.is_spent() {
        return vec![too_much(key, "the attachment of this route")];
    }
    let mut findings = Vec::new();
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    // Routes that others delegate to need no parent.
    if parents.is_empty()
        && delegated(&mut route_kind_conflicts, route).is_empty()
        && unknown_parent(snapshot, route).is_none()
    {
        let message = "it names no parent, so no request reaches it".to_owned();
        let finding = Finding::new(Code::RouteNotAttached, key, message);
        let finding = finding.at("spec.parentRefs".to_owned()).about("no parent");
        let is_unknown = too_many_delegations(&mut route_kind_conflicts, route).is_some();
        findings.push(if is_unknown {
            too_much(key, "which routes delegate to this one")
        } else {
            finding
        });
    }
    for (i, parent) in parents.iter().enumerate() {
        if let ParentAttachment::NotAttached { why, .. } =
            parent_attachment(&mut route_kind_conflicts, route, parent)
        {
            let missing = snapshot.lacks(&parent.object);
            let message = if missing {
                why
            } else {
                format!("not attached to {}: {why}", parent.object)
            };
            let section = parent.section.as_deref().unwrap_or_default();
            let port = parent.port.map(|port| port.to_string()).unwrap_or_default();
            let subject = format!("{} {section} {port}", parent.object);
            let finding = Finding::new(Code::RouteNotAttached, key, message)
                .at(format!("spec.parentRefs[{i}]"))
                .about(subject);
            let absent = if missing {
                Some(parent.object.clone())
            } else {
                let gateway = snapshot.get(gateway_of(snapshot, &parent.object));
                gateway.and_then(|gateway| missing_class(snapshot, gateway))
            };
            let finding = if missing && i < HINTED {
                finding.hinting(other_object(resolver, route, &parent.object, false))
            } else {
                finding
            };
            findings.push(match absent {
                Some(absent) => finding.depending_on_absence_of(&absent),
                None => finding,
            });
        }
    }
    findings.extend(unreachable_rules(resolver, route));
    findings.extend(filters_of(snapshot, route));
    findings.extend(unsupported_filters::findings(snapshot, route));
    let of_backends = backends_of(resolver, route);
    if of_backends.is_empty() {
        findings.extend(faults_of(snapshot, route));
    }
    findings.extend(of_backends);
    findings.extend(backends_of_filters(resolver, route));
    findings
}

/// The findings on a route, or on rules of it, that get no requests because rules with the same match take precedence.
fn unreachable_rules(resolver: &mut Resolver<'_>, route: &Arc<Object>) -> Vec<Finding> {
    const REMEDY: &str = "change its matches or delete it";
    let key = &route.key;
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    if let Some(by) = resolver.taken_by(&key.whole()) {
        let message = format!("no request reaches it: {}; {REMEDY}", by.why());
        return vec![Finding::new(Code::RouteShadowed, key, message).at("spec.rules".to_owned())];
    }
    let of_rule = |index: usize| {
        let label = section::rule_label(route, index);
        let by = resolver.taken_by(&key.section(label.clone()))?;
        let message = format!("no request reaches {label}: {}; {REMEDY}", by.why());
        let finding = Finding::new(Code::RouteShadowed, key, message);
        Some(
            finding
                .at(format!("spec.rules[{index}]"))
                .about(label.to_string()),
        )
    };
    (0..rules.len()).filter_map(of_rule).collect()
}

/// The findings on faults of the route that controllers report.
fn faults_of(snapshot: &Snapshot, route: &Arc<Object>) -> Vec<Finding> {
    let findings = faults(snapshot, route).map(|(parent, report)| {
        let message = format!("the controller of {} reports {report}", parent.object);
        let about = format!("{} {}", parent.object, report.name);
        Finding::new(Code::BackendNotUsable, &route.key, message).about(about)
    });
    findings.collect()
}

/// The findings on filters that name policies which do not exist.
fn filters_of(snapshot: &Snapshot, route: &Arc<Object>) -> Vec<Finding> {
    let missing = snapshot.missing_filters(route).into_iter();
    let mut parents = route.parents().iter();
    let ignoring = parents.find(|parent| {
        let facts = controller_facts(snapshot, &parent.object);
        facts.is_some_and(ControllerFile::ignores_missing_filter_objects)
    });
    let then = match ignoring {
        Some(parent) => {
            format!(
                "the controller of {} serves the rule without it",
                parent.object
            )
        }
        None => "requests to the rule fail".to_owned(),
    };
    let findings = missing.map(|(i, policy)| {
        let message = format!("{policy} does not exist: {then}");
        let finding = Finding::new(Code::BackendNotUsable, &route.key, message);
        finding
            .at(format!("spec.rules[{i}].filters"))
            .about(format!("{i} {policy}"))
            .depending_on_absence_of(&policy)
    });
    findings.collect()
}

/// The hint for an object that a route names and that does not exist: one with a similar name, or in another namespace.
fn other_object(
    resolver: &Resolver<'_>,
    route: &Object,
    wanted: &ObjectKey,
    is_backend: bool,
) -> Hint {
    let snapshot = resolver.snapshot();
    let (kind, own) = (&route.key.gk, &route.key.namespace);
    let mut hint = suggestion::missing(snapshot, wanted, resolver.is_limited(), |other| {
        let namespace = &*other.namespace;
        if is_backend && !granted(snapshot, kind, own, other) {
            format!("write namespace {namespace:?} and let a ReferenceGrant allow it")
        } else {
            format!("write namespace {namespace:?}")
        }
    });
    // Names in a namespace other than that of the user's route are shown only to users who may read that kind there.
    if wanted.namespace != *own && hint.mentioned.is_empty() && !hint.text.is_empty() {
        hint.mentioned.insert(wanted.clone());
    }
    hint
}

/// Backends that get no requests, each once, at their first occurrence.
fn backends_of(resolver: &Resolver<'_>, route: &Arc<Object>) -> Vec<Finding> {
    let snapshot = resolver.snapshot();
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let facts = facts_of(snapshot, route);
    let mut findings = Vec::new();
    let mut reported: BTreeSet<&ObjectKey> = BTreeSet::new();
    for (i, rule) in rules.iter().enumerate() {
        for (j, reference) in rule.backends.iter().enumerate() {
            let backend = &reference.object;
            if reference.has_no_share {
                continue;
            }
            let Some(why) = unusable_by(snapshot, facts, route, reference) else {
                continue;
            };
            if !reported.insert(backend) {
                continue;
            }
            let reason = not_usable(why, &route.key, backend);
            let message = match why {
                Unreached::Missing
                | Unreached::NoPort(_)
                | Unreached::ExternalName
                | Unreached::OtherProtocol(_) => {
                    format!("{reason}: its share of requests fails")
                }
                _ => format!("{backend} gets no requests: {reason}"),
            };
            let finding = Finding::new(Code::BackendNotUsable, &route.key, message)
                .at(format!("spec.rules[{i}].backendRefs[{j}]"))
                .about(backend.to_string());
            let is_hinted = reported.len() <= HINTED;
            findings.push(match why {
                Unreached::Missing if is_hinted => finding
                    .hinting(other_object(resolver, route, backend, true))
                    .depending_on_absence_of(backend),
                Unreached::Missing => finding.depending_on_absence_of(backend),
                _ => finding,
            });
        }
    }
    findings
}

/// Backends that filters cannot use, each once, at the first rule with such a filter.
fn backends_of_filters(resolver: &Resolver<'_>, route: &Arc<Object>) -> Vec<Finding> {
    let snapshot = resolver.snapshot();
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let facts = facts_of(snapshot, route);
    let then = then_of_unresolved_filters(snapshot, route);
    let mut reported: BTreeSet<(&Arc<str>, &ObjectKey)> = BTreeSet::new();
    let mut findings = Vec::new();
    let rules = rules.iter().enumerate();
    let called = rules.filter_map(|(i, rule)| Some((i, &rule.filters.as_deref()?.called)));
    let called = called.flat_map(|(i, all)| all.iter().map(move |one| (i, one)));
    for (i, (filter, reference)) in called {
        let backend = &reference.object;
        let Some(why) = unusable_by(snapshot, facts, route, reference) else {
            continue;
        };
        if !reported.insert((filter, backend)) {
            continue;
        }
        let reason = not_usable(why, &route.key, backend);
        let message = match why {
            Unreached::Missing => format!("{reason}, so the filter {filter} cannot use it{then}"),
            _ => format!("the filter {filter} cannot use {backend}: {reason}{then}"),
        };
        let finding = Finding::new(Code::BackendNotUsable, &route.key, message)
            .at(format!("spec.rules[{i}]"))
            .about(format!("{filter} {backend}"));
        findings.push(match why {
            Unreached::Missing => finding.depending_on_absence_of(backend),
            _ => finding,
        });
    }
    findings
}

/// What becomes of requests where a filter names a backend that cannot be used, by the controllers of a route.
fn then_of_unresolved_filters(snapshot: &Snapshot, route: &Object) -> &'static str {
    let parents = route.parents().iter();
    let facts = parents.filter_map(|parent| controller_facts(snapshot, &parent.object));
    let effects: Vec<UnsupportedFilterEffect> =
        facts.filter_map(|facts| facts.unresolved_filters).collect();
    if effects.contains(&UnsupportedFilterEffect::RouteNotServed) {
        "; the controller serves no rule of the route"
    } else if effects.contains(&UnsupportedFilterEffect::RequestsFail) {
        "; requests to the rule fail"
    } else {
        ""
    }
}
