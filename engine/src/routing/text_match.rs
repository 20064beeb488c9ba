//! Matches of header and parameter values: exact or by regular expression.

use super::expression::Expression;

/// A match of a string value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextMatch {
    /// The exact value.
    Exact(String),
    /// A regular expression.
    Expression(Expression),
}

// === impl TextMatch ===

impl TextMatch {
    /// Its value, as written.
    pub fn value(&self) -> &str {
        match self {
            Self::Exact(value) => value,
            Self::Expression(value) => value,
        }
    }

    /// The name of its type in the API.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Exact(_) => "Exact",
            Self::Expression(_) => "RegularExpression",
        }
    }

    /// Whether it is a regular expression.
    pub fn is_expression(&self) -> bool {
        matches!(self, Self::Expression(_))
    }

    /// Whether it matches a value; `None` if the expression cannot be parsed here.
    pub(super) fn covers(&self, value: &str) -> Option<bool> {
        match self {
            Self::Exact(exact) => Some(exact == value),
            Self::Expression(expression) => expression.covers(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TextMatch;

    #[test]
    fn values_are_compared_with_case() {
        assert_eq!(TextMatch::Exact("v2".into()).covers("v2"), Some(true));
        assert_eq!(TextMatch::Exact("v2".into()).covers("V2"), Some(false));
    }

    #[test]
    fn expressions_that_cannot_be_read_are_not_guessed() {
        let expression = |text: &str| TextMatch::Expression(text.to_owned().into()).covers("abc");
        assert_eq!(expression("a.c"), Some(true));
        assert_eq!(expression("b"), Some(false));
        assert_eq!(expression("("), None);
        assert_eq!(expression("a)|(abc"), None);
        assert_eq!(expression("(a)\\1"), None);
        assert_eq!(expression("a{1000}{1000}{1000}"), None);
    }
}
