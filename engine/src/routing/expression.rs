//! A regular expression of a match.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

/// The largest compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

/// A regular expression. It is compiled once, when it is first needed; copies share that.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

// === impl Expression ===

impl Expression {
    /// Whether it matches a value as a whole; `None` if it cannot be parsed here.
    ///
    /// The dialect is implementation-specific. Most implementations use RE2 and match the whole value, as this does.
    pub(super) fn covers(&self, value: &str) -> Option<bool> {
        let compiled = self.compiled.get_or_init(|| compile(&self.text));
        Some(compiled.as_ref()?.is_match(value))
    }
}

fn compile(text: &str) -> Option<Regex> {
    let built = |text: &str| RegexBuilder::new(text).size_limit(LARGEST).build().ok();
    // It is parsed alone first: an unbalanced expression may become valid inside the group.
    regex_syntax::parse(text).ok()?;
    built(&format!("\\A(?:{text})\\z"))
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        Self {
            text,
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
