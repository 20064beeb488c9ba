//! The annotation by which an object suppresses findings about itself, one line for each reason:
//! `attache.dev/ignore: "<code>[,<code>] [until YYYY-MM-DD]: <reason>"`.
//!
//! Refusals are suppressed only for users that the configuration names. The current date is an argument.

use std::collections::BTreeMap;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::disclosure::Subject;
use crate::admission::finding::{Code, Finding};
use crate::admission::severities::is_one_of;
use crate::model::hint::nearest;
use crate::model::ids::ObjectKey;
use crate::model::object::annotations::{LONGEST_WITH_REASONS, TOO_LONG};
use crate::model::object::{Annotations, IGNORE};

/// The separator between the codes and the last day.
const UNTIL: &str = " until ";

/// The findings that an object suppresses, and why.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    entries: BTreeMap<Code, Suppression>,
    /// Findings on the annotation itself.
    pub faults: Vec<Finding>,
}

/// Why findings of a code are suppressed, and until when.
#[derive(Clone, Debug)]
struct Suppression {
    reason: String,
    /// The last day on which it applies.
    until: Option<Date>,
}

/// Users whose objects may suppress refusals; nobody by default. Names may end in `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Suppressors {
    /// Names of users.
    #[serde(default)]
    pub users: Vec<String>,
    /// Names of groups.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// The result for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppressed {
    /// It is reported.
    No,
    /// It is reported with this remark.
    Remark(String),
    /// It is suppressed for this reason.
    Yes(String),
}

// === impl Suppressors ===

impl Suppressors {
    /// Whether any user is named.
    pub fn is_anybody(&self) -> bool {
        !(self.users.is_empty() && self.groups.is_empty())
    }

    /// Whether a user is named.
    pub fn has(&self, subject: Option<&Subject>) -> bool {
        subject.is_some_and(|subject| {
            let mut groups = subject.groups.iter();
            is_one_of(&self.users, &subject.user)
                || groups.any(|group| is_one_of(&self.groups, group))
        })
    }
}

// === impl Suppressions ===

impl Suppressions {
    /// Reads the annotation of an object.
    pub fn parse(object: &ObjectKey, annotations: &Annotations) -> Self {
        let mut suppressions = Self::default();
        let text = annotations.get(IGNORE);
        if text.is_some_and(|text| **text == *TOO_LONG) {
            let message =
                format!("it is longer than {LONGEST_WITH_REASONS} bytes, so it is not read");
            suppressions.fault(object, "length", message);
            return suppressions;
        }
        let lines = text.iter().flat_map(|text| text.lines()).map(str::trim);
        for line in lines.filter(|line| !line.is_empty()) {
            suppressions.line(object, line);
        }
        suppressions
    }

    /// Judges a finding on a day. Findings on the annotation itself are always reported. A refusal is suppressed only
    /// if `may` is set.
    pub fn judge(&self, finding: &Finding, today: Date, may: bool) -> Suppressed {
        let code = finding.code;
        let Some(entry) = self
            .entries
            .get(&code)
            .filter(|_| code != Code::SuppressionInvalid)
        else {
            return Suppressed::No;
        };
        match entry.until {
            Some(until) if until < today => {
                Suppressed::Remark(format!(" (was suppressed until {until})"))
            }
            _ if finding.refuses() && !may => {
                Suppressed::Remark(format!(" ({IGNORE} cannot suppress a refusal)"))
            }
            _ => Suppressed::Yes(entry.reason.clone()),
        }
    }

    /// The findings that remain, and those on the annotation itself.
    pub fn apply(&self, findings: Vec<Finding>, today: Date, may: bool) -> Vec<Finding> {
        let reported = findings.into_iter().filter_map(|mut finding| {
            match self.judge(&finding, today, may) {
                Suppressed::Yes(_) => return None,
                Suppressed::Remark(remark) => finding.message.push_str(&remark),
                Suppressed::No => {}
            }
            Some(finding)
        });
        reported.collect()
    }

    fn line(&mut self, object: &ObjectKey, line: &str) {
        let (codes, reason) = line.split_once(':').unwrap_or((line, ""));
        let reason = reason.trim();
        if reason.is_empty() {
            let message = format!("no reason; write \"{}: why\"", codes.trim());
            return self.fault(object, line, message);
        }
        let (codes, until) = match codes.split_once(UNTIL) {
            None => (codes, None),
            Some((codes, day)) => {
                let Ok(until) = day.trim().parse::<Date>() else {
                    let message = format!("{:?} is not a date; write it as 2027-01-31", day.trim());
                    return self.fault(object, line, message);
                };
                (codes, Some(until))
            }
        };
        for name in codes.split(',').map(str::trim) {
            match Code::ALL.iter().find(|code| code.as_str() == name) {
                Some(code) => {
                    let reason = reason.to_owned();
                    self.entries.insert(*code, Suppression { reason, until });
                }
                None => self.fault(object, name, unknown(name)),
            }
        }
    }

    fn fault(&mut self, object: &ObjectKey, about: &str, message: String) {
        let finding = Finding::new(Code::SuppressionInvalid, object, message);
        let finding = finding.at(format!("metadata.annotations[{IGNORE}]"));
        self.faults.push(finding.about(about));
    }
}

fn unknown(name: &str) -> String {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    match nearest(name, &codes) {
        Some(near) => format!("{name:?} is not a code of a finding; did you mean {near:?}?"),
        None => format!("{name:?} is not a code of a finding"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{Suppressed, Suppressions, Suppressors};
    use crate::admission::disclosure::Subject;
    use crate::admission::finding::{Code, Finding};
    use crate::model::ids::{GroupKind, ObjectKey};
    use crate::model::object::annotations::TOO_LONG;
    use crate::model::object::{Annotations, IGNORE};

    fn key() -> ObjectKey {
        ObjectKey::new(GroupKind::new("p.example.com", "Color"), "shop", "c")
    }

    fn parsed(text: &str) -> Suppressions {
        let mut annotations = Annotations::new();
        annotations.insert(IGNORE.into(), text.into());
        Suppressions::parse(&key(), &annotations)
    }

    #[test]
    fn a_suppression_counts_through_its_last_day() {
        let it = parsed("target-not-found until 2027-01-31: the route comes in January");
        assert_eq!(it.faults, []);
        let finding = Finding::new(Code::TargetNotFound, &key(), "there is no a");
        let on = |day| it.judge(&finding, day, false);
        let reason = "the route comes in January".to_owned();
        assert_eq!(on(date(2027, 1, 31)), Suppressed::Yes(reason));
        let remark = " (was suppressed until 2027-01-31)".to_owned();
        assert_eq!(on(date(2027, 2, 1)), Suppressed::Remark(remark));
        let other = Finding::new(Code::Conflicted, &key(), "");
        assert_eq!(it.judge(&other, date(2027, 1, 1), true), Suppressed::No);
    }

    #[test]
    fn what_refuses_is_left_out_only_for_those_who_may() {
        let it = parsed("section-unknown, spec-empty: known");
        let finding = Finding::new(Code::SectionUnknown, &key(), "no rule");
        let day = date(2026, 1, 1);
        assert!(matches!(
            it.judge(&finding, day, false),
            Suppressed::Remark(_)
        ));
        assert!(matches!(it.judge(&finding, day, true), Suppressed::Yes(_)));
        let platform = Suppressors {
            groups: vec!["platform-*".to_owned()],
            ..Suppressors::default()
        };
        let of_group = |group: &str| Subject {
            user: "ana".to_owned(),
            groups: vec![group.to_owned()],
            ..Subject::default()
        };
        assert!(platform.has(Some(&of_group("platform-eu"))));
        assert!(!platform.has(Some(&of_group("shop"))));
        assert!(!platform.has(None) && !Suppressors::default().is_anybody());
    }

    #[test]
    fn what_is_not_in_order_leaves_out_nothing_and_says_so() {
        for (text, why) in [
            ("target-not-found", "no reason"),
            (
                "target-not-found until soon: later",
                "\"soon\" is not a date",
            ),
            (
                "target-not-fuond: later",
                "did you mean \"target-not-found\"?",
            ),
            (TOO_LONG, "it is longer than 4096 bytes, so it is not read"),
        ] {
            let it = parsed(text);
            assert_eq!(it.faults.len(), 1, "{text}");
            assert!(it.faults[0].message.contains(why), "{:?}", it.faults);
            assert!(it.entries.is_empty(), "{text}");
        }
    }
}
