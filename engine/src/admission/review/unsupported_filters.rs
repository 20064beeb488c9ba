//! Findings on filters of rules that the controllers of a route do not support.

use crate::admission::finding::{Code, Finding};
use crate::kinds::profile::{UnsupportedFilterEffect, UnsupportedFiltersFile};
use crate::model::object::{Filters, Object};
use crate::model::section::rule_label;
use crate::state::snapshot::Snapshot;
use crate::topology::controller_facts;
use crate::topology::delegation::rules_of;

/// One finding for each rule with such a filter, on the first of them. Routes that a controller does not serve at all because of a
/// filter are reported as not attached.
pub(super) fn findings(snapshot: &Snapshot, route: &Object) -> Vec<Finding> {
    let parents = route.parents().iter();
    let unsupported = parents.filter_map(|parent| {
        let facts = controller_facts(snapshot, &parent.object)?;
        let facts = facts.unsupported_filters.as_ref()?;
        (facts.then != UnsupportedFilterEffect::RouteNotServed).then_some((&parent.object, facts))
    });
    let unsupported: Vec<_> = unsupported.collect();
    let with_filters = rules_of(route).iter().enumerate();
    let with_filters =
        with_filters.filter_map(|(index, rule)| Some((index, rule.filters.as_deref()?)));
    let findings = with_filters.filter_map(|(index, filters)| {
        let mut unsupported = unsupported.iter();
        let (gateway, effect, filter) = unsupported.find_map(|(gateway, facts)| {
            Some((gateway, facts.then, unsupported_by(facts, filters)?))
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

/// What a controller does not support in a rule, in words: `the filter CORS of a backend`.
fn unsupported_by(facts: &UnsupportedFiltersFile, filters: &Filters) -> Option<String> {
    let of_rule = facts.in_rule(&filters.types);
    let of_rule = of_rule.map(|filter| format!("the filter {filter}"));
    let of_backend = || {
        let filter = facts.on_backend(&filters.types_of_backends)?;
        Some(format!("the filter {filter} of a backend"))
    };
    let together = || {
        let combined = facts.combined(&filters.types)?;
        Some(format!("the filters {combined} in one rule"))
    };
    of_rule.or_else(of_backend).or_else(together)
}
