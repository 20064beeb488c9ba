//! Values of headers and parameters: exact or by regular expression.

use regex::RegexBuilder;

/// A larger expression is not read.
const LARGEST: usize = 1 << 20;

/// How a rule wants a value to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// Exactly this.
    Exact(String),
    /// Any that this expression covers.
    Expression(String),
}

// === impl Text ===

impl Text {
    /// Its value, as written.
    pub fn value(&self) -> &str {
        match self {
            Self::Exact(value) | Self::Expression(value) => value,
        }
    }

    /// What its type is called.
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

    /// Whether it covers a value; none where its expression cannot be read here.
    ///
    /// The dialect of expressions is up to implementations. Most read them as RE2 and want the whole
    /// value to match; so does this.
    pub(super) fn covers(&self, value: &str) -> Option<bool> {
        let expression = match self {
            Self::Exact(exact) => return Some(exact == value),
            Self::Expression(expression) => expression,
        };
        // By itself first: half an expression may become a whole one between the brackets.
        let built = |text: &str| RegexBuilder::new(text).size_limit(LARGEST).build().ok();
        built(expression)?;
        let whole = built(&format!("\\A(?:{expression})\\z"))?;
        Some(whole.is_match(value))
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn values_are_compared_with_case() {
        assert_eq!(Text::Exact("v2".into()).covers("v2"), Some(true));
        assert_eq!(Text::Exact("v2".into()).covers("V2"), Some(false));
    }

    #[test]
    fn expressions_that_cannot_be_read_are_not_guessed() {
        let expression = |text: &str| Text::Expression(text.to_owned()).covers("abc");
        assert_eq!(expression("a.c"), Some(true));
        assert_eq!(expression("b"), Some(false));
        assert_eq!(expression("("), None);
        assert_eq!(expression("a)|(abc"), None);
        assert_eq!(expression("(a)\\1"), None);
        assert_eq!(expression("a{1000}{1000}{1000}"), None);
    }
}
