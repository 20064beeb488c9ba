//! A regular expression of a match.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

use crate::model::expression_syntax::is_no_expression;

/// The largest compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

/// A regular expression. It is compiled once, when it is first needed; copies share that.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    /// Whether it is certainly none.
    invalid: Arc<OnceLock<bool>>,
    /// The expression for whole values, and the one for the beginnings of values.
    compiled: Arc<[OnceLock<Option<Regex>>; 2]>,
}

// === impl Expression ===

impl Expression {
    /// Whether it is certainly no regular expression.
    pub(super) fn is_invalid(&self) -> bool {
        *self.invalid.get_or_init(|| is_no_expression(&self.text))
    }

    /// Whether it matches a value as a whole; `None` if it cannot be parsed here.
    ///
    /// The dialect is implementation-specific. Most implementations use RE2 and match the whole value, as this does.
    pub(super) fn covers(&self, value: &str) -> Option<bool> {
        let [whole, _] = &*self.compiled;
        let compiled = whole.get_or_init(|| self.compile("\\z"));
        Some(compiled.as_ref()?.is_match(value))
    }

    /// Whether it matches the beginning of a value, as locations of NGINX do; `None` if it cannot be parsed here.
    pub(super) fn covers_beginning(&self, value: &str) -> Option<bool> {
        let [_, beginning] = &*self.compiled;
        let compiled = beginning.get_or_init(|| self.compile(""));
        Some(compiled.as_ref()?.is_match(value))
    }

    /// An expression for values that start with it, up to this end.
    fn compile(&self, end: &str) -> Option<Regex> {
        // It is parsed alone first: an unbalanced expression may become valid inside the group.
        regex_syntax::parse(&self.text).ok()?;
        let anchored = format!("\\A(?:{}){end}", self.text);
        let builder = &mut RegexBuilder::new(&anchored);
        builder.size_limit(LARGEST).build().ok()
    }
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        Self {
            text,
            invalid: Arc::default(),
            compiled: Arc::default(),
        }
    }
}

impl Deref for Expression {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}
