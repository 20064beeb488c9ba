//! Filters that a controller does not support: the answers to the requests, and notes.

use super::backends::Answer;
use super::spec::RuleSpec;
use crate::kinds::profile::{ControllerFile, UnsupportedFilterEffect, UnsupportedFiltersFile};
use crate::model::object::Object;

/// The filters that a controller does not support.
#[derive(Clone, Copy)]
pub(super) struct UnsupportedFilters<'a>(Option<&'a UnsupportedFiltersFile>);

// === impl UnsupportedFilters ===

impl<'a> UnsupportedFilters<'a> {
    pub(super) fn of(controller: Option<&'a ControllerFile>) -> Self {
        Self(controller.and_then(|facts| facts.unsupported_filters.as_ref()))
    }

    /// The error that answers the requests of a rule.
    pub(super) fn of_rule(self, route: &Object, rule: &RuleSpec) -> Option<Answer> {
        let facts = self.with(UnsupportedFilterEffect::RequestsFail)?;
        let types = &rule.filters.types;
        let one = || {
            let filter = facts.in_rule(types)?;
            Some(format!("the filter {filter} of the rule"))
        };
        let together = || {
            let filters = facts.combined(types)?;
            Some(format!("the filters {filters} in one rule"))
        };
        let what = one().or_else(together)?;
        let why = format!("the controller does not support {what}");
        Some(Answer::error(&route.key, why))
    }

    /// The error that answers the requests for a backend with these filters.
    pub(super) fn of_backend(self, route: &Object, filters: &[String]) -> Option<Answer> {
        let facts = self.with(UnsupportedFilterEffect::RequestsFail)?;
        let filter = facts.on_backend(filters)?;
        let why = format!("the controller does not support the filter {filter} of a backend");
        Some(Answer::error(&route.key, why))
    }

    /// A note on a rule with a filter that the controller ignores.
    pub(super) fn note(self, rule: &RuleSpec) -> Option<String> {
        let facts = self.with(UnsupportedFilterEffect::Ignored)?;
        let of_rule = facts.in_rule(&rule.filters.types);
        let of_backends = || {
            let mut backends = rule.backends.iter();
            backends.find_map(|backend| facts.on_backend(&backend.filters.types))
        };
        let filter = of_rule.or_else(of_backends)?;
        Some(format!(
            "the filter {filter} has no effect: the controller ignores it"
        ))
    }

    fn with(self, effect: UnsupportedFilterEffect) -> Option<&'a UnsupportedFiltersFile> {
        self.0.filter(|facts| facts.then == effect)
    }
}
