//! Exceptions that a target asks for in an annotation, one a line:
//! `attache.dev/guardrail-exceptions: "<guardrail> until YYYY-MM-DD: <reason>"`.
//!
//! A guardrail names the users who may write them (`spec.exceptBy`). The webhook refuses the annotation of others; a
//! state without a request is believed.

use std::collections::BTreeSet;

use attache_engine::admission::disclosure::Subject;
use attache_engine::admission::finding::{Code, Finding, Severity};
use attache_engine::admission::review::States;
use attache_engine::model::ids::ObjectKey;
use attache_engine::model::object::Annotations;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::file::Action;
use crate::guardrails::Guardrails;

/// The annotation.
pub const EXCEPTIONS: &str = "attache.dev/guardrail-exceptions";
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
    /// The lines of the annotation; an error says what is wrong with a line.
    pub(crate) fn of(
        annotations: &'a Annotations,
    ) -> impl Iterator<Item = Result<Self, (&'a str, String)>> {
        lines(annotations).map(|line| Self::read(line).map_err(|why| (line, why)))
    }

    fn read(line: &'a str) -> Result<Self, String> {
        let wanted = || "write \"GUARDRAIL until 2027-01-31: reason\"".to_owned();
        let (head, reason) = line.split_once(':').ok_or_else(wanted)?;
        let (guardrail, day) = head.split_once(UNTIL).ok_or_else(wanted)?;
        let (guardrail, day, reason) = (guardrail.trim(), day.trim(), reason.trim());
        if guardrail.is_empty() || reason.is_empty() {
            return Err(wanted());
        }
        let until = day
            .parse()
            .map_err(|_| format!("{day:?} is no day; write it as 2027-01-31"))?;
        Ok(Self {
            guardrail,
            until,
            reason,
        })
    }
}

fn lines(annotations: &Annotations) -> impl Iterator<Item = &str> {
    let text = annotations.get(EXCEPTIONS);
    let lines = text.into_iter().flat_map(|text| text.lines());
    lines.map(str::trim).filter(|line| !line.is_empty())
}

// === impl Guardrails ===

impl Guardrails {
    /// The findings on exceptions that a request adds to the annotation of its object: lines that cannot be read, and
    /// exceptions that the user may not make.
    pub(crate) fn on_annotation(&self, states: &States, subject: Option<&Subject>) -> Vec<Finding> {
        let key = &states.key;
        let lines_in = |snapshot: &Snapshot| -> BTreeSet<String> {
            let object = snapshot.get(key);
            let lines_of_object =
                object.map(|object| lines(&object.meta.annotations).map(str::to_owned));
            lines_of_object.into_iter().flatten().collect()
        };
        let new = lines_in(&states.after);
        if new.is_empty() {
            return Vec::new();
        }
        let old = lines_in(&states.before);
        let added = new.difference(&old);
        added
            .filter_map(|line| self.on_line(key, line, subject))
            .collect()
    }

    fn on_line(&self, key: &ObjectKey, line: &str, subject: Option<&Subject>) -> Option<Finding> {
        let finding = |message: String| {
            let mut finding = Finding::new(Code::Guardrail, key, message)
                .at(format!("metadata.annotations[{EXCEPTIONS}]"))
                .about(line.to_owned());
            finding.warn();
            finding
        };
        let asked = match Annotated::read(line) {
            Ok(asked) => asked,
            Err(why) => return Some(finding(format!("{line:?} is not read: {why}"))),
        };
        let name = asked.guardrail;
        let Some(guardrail) = self.iter().find(|one| one.name == name) else {
            return Some(finding(format!("there is no guardrail {name:?}")));
        };
        if !guardrail.except_by.is_anybody() {
            return Some(finding(format!(
                "it has no effect: {name:?} has no spec.exceptBy, which names who may write exceptions"
            )));
        }
        if guardrail.except_by.has(subject) {
            return None;
        }
        let mut finding = finding(format!(
            "only users that spec.exceptBy of {name:?} names may write an exception from it"
        ));
        if guardrail.action == Action::Deny {
            finding.severity = Severity::Deny;
            finding.may_refuse = true;
        }
        Some(finding)
    }
}
