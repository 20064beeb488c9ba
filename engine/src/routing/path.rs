//! Path matches: exact, by prefix of path elements, or by regular expression.

use super::expression::Expression;
use crate::kinds::profile::{RuleOrder, TrailingSlash};

/// A path match of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// The exact path.
    Exact(String),
    /// A prefix of path elements.
    Prefix(String),
    /// A regular expression.
    Expression(Expression),
}

// === impl Path ===

impl Path {
    /// The name of its type in the API.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Exact(_) => "Exact",
            Self::Prefix(_) => "PathPrefix",
            Self::Expression(_) => "RegularExpression",
        }
    }

    /// Its value, as written.
    pub fn value(&self) -> &str {
        match self {
            Self::Exact(value) | Self::Prefix(value) => value,
            Self::Expression(value) => value,
        }
    }

    /// Whether it matches a path; `None` if the expression cannot be parsed here.
    pub(super) fn covers(&self, path: &str) -> Option<bool> {
        match self {
            Self::Exact(value) => Some(value == path),
            Self::Prefix(value) => {
                let suffix = path.strip_prefix(elements(value));
                Some(suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/')))
            }
            Self::Expression(value) => value.covers(path),
        }
    }

    /// Whether it matches a path for a controller that reads prefixes with a slash at the end, or expressions, in a way of its own.
    pub(super) fn covers_with(&self, path: &str, order: RuleOrder) -> Option<bool> {
        let keeps_slash = order.trailing_slash == TrailingSlash::Kept;
        match self {
            Self::Prefix(value) if value.ends_with('/') && keeps_slash => {
                Some(path.starts_with(&**value))
            }
            Self::Expression(value) if order.partial_expressions => value.covers_beginning(path),
            _ => self.covers(path),
        }
    }

    /// The number of its characters; a prefix ends without a slash, unless the slash counts.
    pub(super) fn length(&self, slash: TrailingSlash) -> usize {
        let value = match self {
            Self::Prefix(value) if slash == TrailingSlash::Ignored => elements(value),
            Self::Prefix(value) | Self::Exact(value) => value,
            Self::Expression(value) => value,
        };
        value.chars().count()
    }
}

/// A prefix without its trailing slash, which is ignored.
pub(super) fn elements(prefix: &str) -> &str {
    prefix.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::{Path, RuleOrder, TrailingSlash};

    #[test]
    fn a_prefix_is_compared_element_by_element() {
        for (prefix, path, covered) in [
            ("/", "/", true),
            ("/", "/anything", true),
            ("/foo", "/foo", true),
            ("/foo", "/foo/", true),
            ("/foo", "/foo/bar", true),
            ("/foo", "/foobar", false),
            ("/foo", "/Foo", false),
            ("/foo/", "/foo", true),
            ("/foo/", "/foo/bar", true),
            ("/foo/", "/foobar", false),
            ("/foo/bar", "/foo", false),
            ("/%2F", "/%2F/x", true),
            ("/", "", true),
            ("/", "*", false),
        ] {
            let prefix = Path::Prefix(prefix.to_owned());
            assert_eq!(prefix.covers(path), Some(covered), "{prefix:?} {path}");
        }
    }

    #[test]
    fn a_slash_at_the_end_may_count() {
        let slash = Path::Prefix("/foo/".to_owned());
        let order = |trailing_slash| RuleOrder {
            trailing_slash,
            ..RuleOrder::default()
        };
        let [kept, counted] = [TrailingSlash::Kept, TrailingSlash::Counted].map(order);
        assert_eq!(slash.covers_with("/foo", kept), Some(false));
        assert_eq!(slash.covers_with("/foo/x", kept), Some(true));
        assert_eq!(slash.covers_with("/foo", counted), Some(true));
        let lengths = [TrailingSlash::Ignored, TrailingSlash::Counted];
        assert_eq!(lengths.map(|one| slash.length(one)), [4, 5]);
    }

    #[test]
    fn exact_is_exact() {
        for (value, path, covered) in [
            ("/abc", "/abc", true),
            ("/abc", "/abc/", false),
            ("/abc", "/Abc", false),
            ("/abc", "/abcd", false),
        ] {
            let exact = Path::Exact(value.to_owned());
            assert_eq!(exact.covers(path), Some(covered), "{value} {path}");
        }
    }

    #[test]
    fn an_expression_covers_the_whole_path() {
        let expression = |text: &str| Path::Expression(text.to_owned().into());
        assert_eq!(expression("/v[0-9]+/.*").covers("/v2/x"), Some(true));
        assert_eq!(expression("/v[0-9]+").covers("/v2/x"), Some(false));
        assert_eq!(expression("/a(?=b)").covers("/ab"), None);
        let beginnings = RuleOrder {
            partial_expressions: true,
            ..RuleOrder::default()
        };
        let begins = |path| expression("/v[0-9]+").covers_with(path, beginnings);
        assert_eq!(begins("/v2/x"), Some(true));
        assert_eq!(begins("/x/v2"), Some(false));
    }
}
