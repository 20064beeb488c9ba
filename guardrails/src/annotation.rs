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
use attache_engine::model::object::Annotations;
use attache_engine::model::object::annotations::LONGEST_WITH_REASONS;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::annotated::{Annotated, EXCEPTIONS, is_read, lines};
use crate::exception::Exception;
use crate::file::Action;
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::unmatched::with_near;

/// A line, with the guardrail and the exception, or why it has no effect.
type ReadLine<'a, 'g> = (&'a str, Result<(&'g Guardrail, Exception), String>);

// === impl Guardrails ===

impl Guardrails {
    /// The findings on exceptions that a request adds to the annotation of its object: lines that have no effect, and
    /// exceptions that the user may not make.
    pub(crate) fn on_annotation(
        &self,
        states: &States,
        subject: Option<&Subject>,
        today: Date,
    ) -> Vec<Finding> {
        let key = &states.key;
        let [old, new] = [&states.before, &states.after].map(|side| annotations_in(side, key));
        if !is_read(&new) {
            return is_read(&old).then(|| too_long(key)).into_iter().collect();
        }
        let known: BTreeSet<&str> = lines(&old).collect();
        let read = self.read_lines(key, &new, today).into_iter();
        let added = read.filter(|(line, _)| !known.contains(line));
        added
            .filter_map(|(line, read)| {
                // A line below one that holds counts when that one ends.
                let known = self.read_line(line).ok();
                let denied =
                    known.and_then(|(guardrail, _)| not_allowed(key, line, guardrail, subject));
                let is_over = match read {
                    Err(why) => Some(why),
                    Ok((guardrail, exception)) if exception.is_over(today) => {
                        ended(guardrail, &exception, today)
                    }
                    Ok(_) => None,
                };
                denied.or_else(|| is_over.map(|why| finding(key, line, why)))
            })
            .collect()
    }

    /// The notices on the exceptions in the annotation of an object: lines that have no effect, and exceptions that have
    /// ended or end soon.
    pub fn annotated(&self, snapshot: &Snapshot, key: &ObjectKey, today: Date) -> Vec<Finding> {
        let Some(object) = snapshot.get(key).filter(|_| !self.is_empty()) else {
            return Vec::new();
        };
        let annotations = &object.meta.annotations;
        if !is_read(annotations) {
            // The author of the annotation cannot know, so it is more than a notice.
            return vec![too_long(key)];
        }
        let read = self.read_lines(key, annotations, today).into_iter();
        let notices = read.filter_map(|(line, read)| {
            let why = match read {
                Ok((guardrail, exception)) => ended(guardrail, &exception, today)?,
                Err(why) => why,
            };
            let mut finding = finding(key, line, why);
            finding.notice = true;
            Some(finding)
        });
        notices.collect()
    }

    /// The findings on exceptions that a change of unknown author adds to the annotation of an
    /// object, because they allow changes that a guardrail would refuse.
    pub fn added_exceptions(
        &self,
        [before, after]: [&Snapshot; 2],
        key: &ObjectKey,
    ) -> Vec<Finding> {
        let [old, new] = [before, after].map(|side| annotations_in(side, key));
        let known: BTreeSet<&str> = lines(&old).collect();
        let added = lines(&new).filter(|line| !known.contains(line));
        let added = added.filter_map(|line| {
            let (guardrail, asked) = self.read_line(line).ok()?;
            let why = format!(
                "it makes an exception from {:?} until {}: only the users that its spec.exceptBy names may apply it",
                guardrail.name, asked.until
            );
            Some(finding(key, line, why))
        });
        added.collect()
    }

    /// Why lines in the annotation of an object, or all of it, have no effect.
    pub fn without_effect(&self, snapshot: &Snapshot, key: &ObjectKey, today: Date) -> Vec<String> {
        let Some(object) = snapshot.get(key) else {
            return Vec::new();
        };
        let annotations = &object.meta.annotations;
        if !is_read(annotations) {
            return vec![too_long(key).message];
        }
        let read = self.read_lines(key, annotations, today).into_iter();
        read.filter_map(|(_, read)| read.err()).collect()
    }

    /// The lines of an annotation.
    fn read_lines<'a>(
        &self,
        key: &ObjectKey,
        annotations: &'a Annotations,
        today: Date,
    ) -> Vec<ReadLine<'a, '_>> {
        let mut holding: BTreeSet<&str> = BTreeSet::new();
        let mut all = Vec::new();
        for line in lines(annotations) {
            let read = self.read_line(line).and_then(|(guardrail, asked)| {
                let exception = Exception::of_annotation(key, &asked);
                if !exception.is_over(today) && !holding.insert(&guardrail.name) {
                    let name = asked.guardrail;
                    return Err(format!(
                        "{line:?} has no effect: a line above it is an exception from {name:?} too"
                    ));
                }
                Ok((guardrail, exception))
            });
            all.push((line, read));
        }
        all
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

fn annotations_in(snapshot: &Snapshot, key: &ObjectKey) -> Annotations {
    let object = snapshot.get(key);
    object.map_or_else(Annotations::new, |object| object.meta.annotations.clone())
}

/// The message that an exception has ended or ends soon; `None` if it does not.
fn ended(guardrail: &Guardrail, exception: &Exception, today: Date) -> Option<String> {
    let end = exception.end(today)?;
    Some(format!("the exception from {:?} {end}", guardrail.name))
}

/// The finding on an exception that the user may not make.
fn not_allowed(
    key: &ObjectKey,
    line: &str,
    guardrail: &Guardrail,
    subject: Option<&Subject>,
) -> Option<Finding> {
    if guardrail.except_by.has(subject) {
        return None;
    }
    let name = &guardrail.name;
    let why =
        format!("only users that spec.exceptBy of {name:?} names may write an exception from it");
    let mut finding = finding(key, line, why);
    if guardrail.action == Action::Deny {
        finding.severity = Severity::Deny;
        finding.may_refuse = true;
    }
    Some(finding)
}

fn too_long(key: &ObjectKey) -> Finding {
    let why =
        format!("it is longer than {LONGEST_WITH_REASONS} bytes, so no exception in it counts");
    finding(key, "length", why)
}

fn finding(key: &ObjectKey, line: &str, message: String) -> Finding {
    let mut finding = Finding::new(Code::Guardrail, key, message)
        .at(format!("metadata.annotations[{EXCEPTIONS}]"))
        .about(line.to_owned());
    finding.warn();
    finding
}
