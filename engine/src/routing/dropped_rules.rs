//! Rules that a controller leaves out because of a regular expression that is not one.

use super::Matching;
use super::expression::Expression;
use super::path::Path;
use super::spec::MatchSpec;
use super::text_match::TextMatch;
use crate::kinds::profile::RuleOrder;
use crate::model::object::Object;

// === impl MatchSpec ===

impl MatchSpec {
    /// Whether it has a regular expression that is not one.
    fn is_invalid(&self) -> bool {
        let path = match &self.path {
            Some(Path::Expression(expression)) => Some(expression),
            _ => None,
        };
        let named = self.headers.iter().chain(&self.params);
        let texts = named.map(|(_, text)| text);
        let texts = texts.chain(&self.service).chain(&self.call);
        let mut all = texts.filter_map(TextMatch::expression).chain(path);
        all.any(Expression::is_invalid)
    }
}

// === impl TextMatch ===

impl TextMatch {
    fn expression(&self) -> Option<&Expression> {
        match self {
            Self::Expression(expression) => Some(expression),
            Self::Exact(_) => None,
        }
    }
}

/// Whether a controller leaves out a rule with these matches.
pub(super) fn is_dropped(order: RuleOrder, matches: &[Result<MatchSpec, String>]) -> bool {
    let mut known = matches.iter().flatten();
    order.drops_rules_with_invalid_expressions && known.any(MatchSpec::is_invalid)
}

impl Matching<'_> {
    /// Whether a controller leaves out all rules of a route. Its hostnames are left to other routes then.
    pub(super) fn drops_all_rules(&self, order: RuleOrder, route: &Object) -> bool {
        if !order.drops_rules_with_invalid_expressions {
            return false;
        }
        let rules = self.rules_of(route);
        let rules = rules.as_deref().unwrap_or_default();
        !rules.is_empty() && rules.iter().all(|rule| is_dropped(order, &rule.matches))
    }
}
