//! The annotation by which an object leaves out findings about itself:
//! `attache.dev/ignore: "<code>[,<code>]: <reason>"`, one a line.

use std::collections::BTreeMap;

use crate::engine::finding::{Code, Finding};
use crate::engine::hint::nearest;
use crate::engine::object::{IGNORE, Object};

/// What an object leaves out, and why.
#[derive(Clone, Debug, Default)]
pub struct Ignored {
    reasons: BTreeMap<Code, String>,
    /// What is wrong with the annotation.
    pub faults: Vec<Finding>,
}

// === impl Ignored ===

impl Ignored {
    /// Reads the annotation of an object.
    pub fn of(object: &Object) -> Self {
        let mut ignored = Self::default();
        let text = object.meta.annotations.get(IGNORE);
        let lines = text.iter().flat_map(|text| text.lines()).map(str::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            ignored.line(object, line);
        }
        ignored
    }

    /// The reason for which a finding is left out. The faults of the annotation itself are not.
    pub fn reason(&self, code: Code) -> Option<&String> {
        let itself = code == Code::SuppressionInvalid;
        self.reasons.get(&code).filter(|_| !itself)
    }

    fn line(&mut self, object: &Object, line: &str) {
        let (codes, reason) = line.split_once(':').unwrap_or((line, ""));
        let reason = reason.trim();
        if reason.is_empty() {
            let message = format!("no reason; write \"{}: why\"", codes.trim());
            return self.fault(object, line, message);
        }
        for name in codes.split(',').map(str::trim) {
            match Code::ALL.iter().find(|code| code.as_str() == name) {
                Some(code) => {
                    self.reasons.insert(*code, reason.to_owned());
                }
                None => self.fault(object, name, unknown(name)),
            }
        }
    }

    fn fault(&mut self, object: &Object, about: &str, message: String) {
        let finding = Finding::new(Code::SuppressionInvalid, &object.key, message);
        let finding = finding.at(format!("metadata.annotations[{IGNORE}]"));
        self.faults.push(finding.about(about));
    }
}

fn unknown(name: &str) -> String {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    match nearest(name, &codes) {
        Some(near) => format!("{name:?} is no code; did you mean {near:?}?"),
        None => format!("{name:?} is no code; write those of the findings to leave out"),
    }
}
