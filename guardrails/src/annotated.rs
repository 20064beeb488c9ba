//! The lines of the annotation with exceptions.

use attache_engine::model::object::Annotations;
pub use attache_engine::model::object::annotations::GUARDRAIL_EXCEPTIONS as EXCEPTIONS;
use attache_engine::model::object::annotations::TOO_LONG;
use jiff::civil::Date;

/// The separator between the guardrail and the last day.
const UNTIL: &str = " until ";

/// A line of the annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Annotated<'a> {
    pub(crate) guardrail: &'a str,
    pub(crate) until: Date,
    pub(crate) reason: &'a str,
}

// === impl Annotated ===

impl<'a> Annotated<'a> {
    /// The lines of the annotation, each with an error if it is wrong.
    pub(crate) fn read_all(
        annotations: &'a Annotations,
    ) -> impl Iterator<Item = Result<Self, (&'a str, String)>> {
        lines(annotations).map(|line| Self::read(line).map_err(|why| (line, why)))
    }

    /// Reads a line.
    pub(crate) fn read(line: &'a str) -> Result<Self, String> {
        let wanted = || "write \"GUARDRAIL until 2027-01-31: reason\"".to_owned();
        let (head, reason) = line.split_once(':').ok_or_else(wanted)?;
        let (guardrail, day) = head.split_once(UNTIL).ok_or_else(wanted)?;
        let (guardrail, day, reason) = (guardrail.trim(), day.trim(), reason.trim());
        if guardrail.is_empty() || reason.is_empty() {
            return Err(wanted());
        }
        let until = day_named(day)
            .ok_or_else(|| format!("{day:?} is not a date; write it as 2027-01-31"))?;
        Ok(Self {
            guardrail,
            until,
            reason,
        })
    }
}

/// A day as it has to be written. A time beside it is not read: its colons would begin the reason.
pub(crate) fn day_named(text: &str) -> Option<Date> {
    let is_day = text.len() == "2027-01-31".len() && !text.contains(['T', 't', ' ']);
    is_day.then(|| text.parse().ok()).flatten()
}

/// The lines of the annotation.
pub(crate) fn lines(annotations: &Annotations) -> impl Iterator<Item = &str> {
    let text = annotations.get(EXCEPTIONS).filter(|_| is_read(annotations));
    let lines = text.into_iter().flat_map(|text| text.lines());
    lines.map(str::trim).filter(|line| !line.is_empty())
}

/// Whether the annotation, if there is one, is short enough to be read.
pub(crate) fn is_read(annotations: &Annotations) -> bool {
    annotations
        .get(EXCEPTIONS)
        .is_none_or(|text| **text != *TOO_LONG)
}
