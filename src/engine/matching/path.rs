//! Paths of requests: exact, by prefix on path elements, by regular expression.

use super::text::Text;

/// How a rule wants the path to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// Exactly this.
    Exact(String),
    /// These elements first.
    Prefix(String),
    /// Any that this expression covers.
    Expression(String),
}

/// How specific a path is; the more specific one goes first. Where regular expressions stand is up
/// to implementations: here they are tried last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// By regular expression.
    Expression,
    /// By a prefix of so many characters.
    Prefix(usize),
    /// Exactly.
    Exact,
}

// === impl Path ===

impl Path {
    /// What its type is called.
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
            Self::Exact(value) | Self::Prefix(value) | Self::Expression(value) => value,
        }
    }

    /// Whether it covers a path; none where its expression cannot be read here.
    pub(super) fn covers(&self, path: &str) -> Option<bool> {
        match self {
            Self::Exact(value) => Some(value == path),
            Self::Prefix(value) => {
                let rest = path.strip_prefix(elements(value));
                Some(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
            }
            Self::Expression(value) => Text::Expression(value.clone()).covers(path),
        }
    }

    /// How specific it is.
    pub(super) fn depth(&self) -> Depth {
        match self {
            Self::Exact(_) => Depth::Exact,
            // The slash at the end is ignored, so it does not count.
            Self::Prefix(value) => Depth::Prefix(elements(value).chars().count()),
            Self::Expression(_) => Depth::Expression,
        }
    }
}

/// A prefix without the slash at its end, which is ignored.
pub(super) fn elements(prefix: &str) -> &str {
    prefix.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::Path;

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
    fn exact_goes_before_prefix_and_expressions_come_last() {
        let text = str::to_owned;
        let order = [
            Path::Exact(text("/a")),
            Path::Prefix(text("/a/b/c")),
            Path::Prefix(text("/a/b")),
            Path::Prefix(text("/")),
            Path::Expression(text("/a/b/.*")),
        ];
        let depths: Vec<_> = order.iter().map(Path::depth).collect();
        assert!(depths.is_sorted_by(|a, b| a > b), "{depths:?}");
        let slash = Path::Prefix(text("/a/b/")).depth();
        assert_eq!(slash, Path::Prefix(text("/a/b")).depth());
    }

    #[test]
    fn an_expression_covers_the_whole_path() {
        let expression = |text: &str| Path::Expression(text.to_owned());
        assert_eq!(expression("/v[0-9]+/.*").covers("/v2/x"), Some(true));
        assert_eq!(expression("/v[0-9]+").covers("/v2/x"), Some(false));
        assert_eq!(expression("/a(?=b)").covers("/ab"), None);
    }
}
