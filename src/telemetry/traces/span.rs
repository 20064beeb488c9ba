//! Spans as they were measured.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use super::context::{SpanId, TraceId};

/// Who is on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Nobody: a part of the work.
    Within,
    /// Somebody who asks us.
    Asked,
    /// Somebody whom we ask.
    Asking,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(Cow<'static, str>),
    /// Yes or no.
    Is(bool),
    /// A number.
    Number(i64),
    /// Some words.
    Words(Vec<&'static str>),
}

/// An attribute of a span.
pub(super) type Attribute = (&'static str, Value);

/// A span that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Its name.
    pub(super) id: SpanId,
    /// The span that it is part of.
    pub(super) parent: Option<SpanId>,
    /// What it is, one of few names.
    pub(super) name: &'static str,
    /// Who is on the other side.
    pub(super) side: Side,
    /// When it began, after the review did.
    pub(super) after: Duration,
    /// How long it took.
    pub(super) took: Duration,
    /// What is known of it.
    pub(super) attributes: Vec<Attribute>,
    /// Why it failed; none where it did not.
    pub(super) failed: Option<&'static str>,
}

/// The spans of one request; the first is the request itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    /// The trace that they belong to.
    pub(super) trace: TraceId,
    /// What the systems on the way have noted.
    pub(super) state: String,
    /// Whether the parent of the first span is the caller's.
    pub(super) joined: bool,
    /// When the request came.
    pub(super) began: SystemTime,
    /// The spans.
    pub(super) spans: Vec<Span>,
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Self::Is(is)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Vec<&'static str>> for Value {
    fn from(words: Vec<&'static str>) -> Self {
        Self::Words(words)
    }
}
