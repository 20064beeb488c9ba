//! Findings on filters of rules that the controllers of a route do not support.

use std::sync::Arc;

use crate::admission::finding::{Code, Finding};
use crate::kinds::profile::UnsupportedFilterEffect;
use crate::model::object::{Filters, Node, Object};
use crate::model::section::rule_label;
use crate::state::snapshot::Snapshot;
use crate::topology::controller_facts;

/// One finding for each rule with such a filter, on the first of them. Routes that a controller does not serve at all because of a
/// filter are reported as not attached.
pub(super) fn findings(snapshot: &Snapshot, route: &Object) -> Vec<Finding> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let parents = route.parents().iter();
    let unsupported = parents.filter_map(|parent| {
        let facts = controller_facts(snapshot, &parent.object)?;
        let facts = facts.unsupported_filters.as_ref()?;
        (facts.then != UnsupportedFilterEffect::RouteNotServed).then_some((&parent.object, facts))
    });
    let unsupported: Vec<_> = unsupported.collect();
    let with_filters = rules.iter().enumerate();
    let with_filters =
        with_filters.filter_map(|(index, rule)| Some((index, rule.filters.as_deref()?)));
    let findings = with_filters.filter_map(|(index, filters)| {
        let mut unsupported = unsupported.iter();
        let (gateway, effect, filter) = unsupported.find_map(|(gateway, facts)| {
            let of_rules = first(&filters.types, &facts.of_rules);
            let of_backends = || of_backends(filters, &facts.of_backends);
            let together = || together(filters, &facts.together);
            let what = of_rules.or_else(of_backends).or_else(together)?;
            Some((gateway, facts.then, what))
        })?;
        let then = match effect {
            UnsupportedFilterEffect::Ignored => "has no effect",
            UnsupportedFilterEffect::RequestsFail | UnsupportedFilterEffect::RouteNotServed => {
                "makes requests fail"
            }
        };
        let label = rule_label(route, index);
        let message = format!(
            "the controller of {gateway} does not support {filter}: it {then}; remove it from {label}"
        );
        let finding = Finding::new(Code::BackendNotUsable, &route.key, message);
        Some(
            finding
                .at(format!("spec.rules[{index}]"))
                .about(format!("{filter} of {label}")),
        )
    });
    findings.collect()
}

fn first(types: &[Arc<str>], unsupported: &[String]) -> Option<String> {
    let is_unsupported = |one: &&Arc<str>| unsupported.iter().any(|name| **name == ***one);
    let found = types.iter().find(is_unsupported);
    found.map(|filter| format!("the filter {filter}"))
}

fn of_backends(filters: &Filters, unsupported: &[String]) -> Option<String> {
    let found = first(&filters.types_of_backends, unsupported)?;
    Some(format!("{found} of a backend"))
}

fn together(filters: &Filters, unsupported: &[Vec<String>]) -> Option<String> {
    let has = |name: &String| filters.types.iter().any(|one| **one == **name);
    let mut unsupported = unsupported.iter();
    let found = unsupported.find(|names| names.iter().all(has))?;
    Some(format!("the filters {} in one rule", found.join(" and ")))
}
