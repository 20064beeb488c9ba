//! Filters of a rule that name objects (`ExtensionRef`): those whose object does not exist, and
//! those whose object no controller reads.

use serde_json::Value;

use super::EntryPoint;
use super::backends::Answer;
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object};
use crate::state::snapshot::Snapshot;
use crate::topology::controller_facts;
use crate::topology::reports::controller;

/// The objects that filters of a rule name, in the order of the filters.
fn named(route: &Object, rule: usize) -> &[ObjectKey] {
    let Node::Route { rules, .. } = &route.node else {
        return &[];
    };
    let refs = rules.get(rule).and_then(|rule| rule.filters.as_ref());
    refs.map_or(&[], |refs| &refs.of_rule)
}

/// The error with which a controller answers the requests of a rule if the object of a filter does
/// not exist, or the controller does not know its kind (`HTTPRouteFilter.extensionRef` of the
/// Gateway API).
pub(super) fn unresolved(
    snapshot: &Snapshot,
    entry_point: &EntryPoint,
    route: &Object,
    rule: usize,
) -> Option<Answer> {
    if let EntryPoint::Listener(entry) = entry_point
        && let Some(facts) = controller_facts(snapshot, &entry.gateway)
        && facts.ignores_missing_filter_objects()
    {
        return None;
    }
    let missing = snapshot.missing_filters_of(route, rule).next();
    let missing =
        missing.map(|named| format!("a filter of the rule names {named}, which does not exist"));
    let why = missing.or_else(|| of_others(snapshot, entry_point, route, rule))?;
    Some(Answer::error(&route.key, why))
}

/// The answer of an object that a filter of a rule names, if the controller lets it answer requests.
pub(super) fn direct(
    snapshot: &Snapshot,
    entry_point: &EntryPoint,
    route: &Object,
    rule: usize,
    has_backends: bool,
) -> Option<Answer> {
    let EntryPoint::Listener(entry) = entry_point else {
        return None;
    };
    if !route.key.gk.is_gateway_api("HTTPRoute") {
        return None;
    }
    let facts = controller_facts(snapshot, &entry.gateway)?;
    named(route, rule).iter().find_map(|named| {
        let mut known = facts.direct_response_filters.iter();
        let filter = known.find(|filter| filter.is_of(&named.gk))?;
        let spec = snapshot.get(named)?.spec.as_ref()?;
        let spec: Value = serde_json::from_str(spec).ok()?;
        let status = filter.answer(&spec)?;
        Some(if has_backends && filter.fails_with_backends {
            let why = format!("{named} cannot answer for a rule with backends");
            Answer::error(&route.key, why)
        } else {
            Answer {
                status: Some(status),
                location: None,
                why: format!("{named}, which a filter of the rule names, answers"),
            }
        })
    })
}

fn of_others(
    snapshot: &Snapshot,
    entry_point: &EntryPoint,
    route: &Object,
    rule: usize,
) -> Option<String> {
    let EntryPoint::Listener(entry) = entry_point else {
        return None;
    };
    if !route.key.gk.is_gateway_api("HTTPRoute") {
        return None;
    }
    let controller = controller(snapshot, &entry.gateway)?;
    let is_foreign = |named: &&ObjectKey| {
        let profile = snapshot.profile(&named.gk);
        profile.is_some_and(|profile| profile.is_ignored_by(controller))
            && snapshot.knows_controller(controller)
    };
    let named = named(route, rule).iter().find(is_foreign)?;
    Some(format!(
        "a filter of the rule names {named}, which {controller} does not read"
    ))
}

/// Notes on filters whose objects do not exist, and without which the controller serves the rule, and on those whose objects are no
/// policies, so that their effect is not known.
pub(super) fn notes(snapshot: &Snapshot, route: &Object, rule: usize) -> Vec<String> {
    let unread = named(route, rule)
        .iter()
        .filter(|named| snapshot.profile(&named.gk).is_none());
    let note = |named: &ObjectKey| {
        format!(
            "a filter names {named}, which may answer requests or change them: attache does not read it"
        )
    };
    let missing = snapshot.missing_filters_of(route, rule).map(|named| {
        format!("a filter names {named}, which does not exist: the controller serves the rule without it")
    });
    missing.chain(unread.map(note)).collect()
}
