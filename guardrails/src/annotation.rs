//! Exceptions that a target asks for in an annotation, one a line:
//! `attache.dev/guardrail-exceptions: "<guardrail> until YYYY-MM-DD: <reason>"`.
//!
//! A guardrail names the users who may write them (`spec.exceptBy`). The webhook refuses the annotation of others; a
//! state without a request is believed.

use std::collections::BTreeSet;

use attache_engine::admission::disclosure::Subject;
use attache_engine::admission::finding::{Code, Finding, Severity};
use attache_engine::admission::review::States;
use attache_engine::model::hint::nearest;
use attache_engine::model::ids::ObjectKey;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::annotated::{Annotated, EXCEPTIONS, lines};
use crate::exception::Exception;
use crate::file::Action;
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::unmatched::with_near;

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
        let guardrail = match self.read_line(line) {
            Ok((guardrail, _)) => guardrail,
            Err(why) => return Some(finding(key, line, why)),
        };
        if guardrail.except_by.has(subject) {
            return None;
        }
        let name = &guardrail.name;
        let mut finding = finding(
            key,
            line,
            format!(
                "only users that spec.exceptBy of {name:?} names may write an exception from it"
            ),
        );
        if guardrail.action == Action::Deny {
            finding.severity = Severity::Deny;
            finding.may_refuse = true;
        }
        Some(finding)
    }

    /// The notices on the exceptions in the annotation of an object: lines that have no effect, and exceptions that have
    /// ended or end soon.
    pub fn annotated(&self, snapshot: &Snapshot, key: &ObjectKey, today: Date) -> Vec<Finding> {
        let Some(object) = snapshot.get(key).filter(|_| !self.is_empty()) else {
            return Vec::new();
        };
        let notices = lines(&object.meta.annotations).filter_map(|line| {
            let why = match self.read_line(line) {
                Ok((_, asked)) => {
                    let end = Exception::of_annotation(key, &asked).end(today)?;
                    format!("the exception from {:?} {end}", asked.guardrail)
                }
                Err(why) => why,
            };
            let mut finding = finding(key, line, why);
            finding.notice = true;
            Some(finding)
        });
        notices.collect()
    }

    /// An exception from one of the guardrails; an error says why the line has no effect.
    fn read_line<'a>(&self, line: &'a str) -> Result<(&Guardrail, Annotated<'a>), String> {
        let asked = Annotated::read(line).map_err(|why| format!("{line:?} is not read: {why}"))?;
        let name = asked.guardrail;
        let Some(guardrail) = self.iter().find(|one| one.name == name) else {
            let names: Vec<&str> = self.iter().map(|one| &*one.name).collect();
            let why = format!("there is no guardrail {name:?}");
            return Err(with_near(why, nearest(name, &names)));
        };
        if !guardrail.except_by.is_anybody() {
            return Err(format!(
                "it has no effect: {name:?} has no spec.exceptBy, which names who may write exceptions"
            ));
        }
        Ok((guardrail, asked))
    }
}

fn finding(key: &ObjectKey, line: &str, message: String) -> Finding {
    let mut finding = Finding::new(Code::Guardrail, key, message)
        .at(format!("metadata.annotations[{EXCEPTIONS}]"))
        .about(line.to_owned());
    finding.warn();
    finding
}
