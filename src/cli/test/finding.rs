//! Compares the findings on a change with the refusal or warning that a test expects.

use std::fmt::Write as _;

use super::file::{ChangeTest, ExpectedFinding};
use super::test_result::TestResult;
use crate::answer::tested::TestFailure;
use crate::engine::admission::finding::{Code, Finding};
use crate::engine::admission::verdict::{escape, sentence};

/// The most findings or targets that a failure lists.
const MAX_LISTED: usize = 5;

/// Compares the findings with the expectation.
pub(super) fn judge(test: &ChangeTest, findings: &[Finding]) -> TestResult {
    let (refusals, warnings): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.refuses());
    if let Some(expected) = &test.refused {
        if refusals.iter().any(|finding| is(expected, finding)) {
            return Ok(Vec::new());
        }
        let is_warning = warnings.iter().any(|finding| is(expected, finding));
        return Err(TestFailure::because(match refusals.as_slice() {
            [] if is_warning => {
                format!(
                    "it is allowed, with this as a warning only{}",
                    listed(&warnings)
                )
            }
            [] => format!("it is allowed{}", listed(&warnings)),
            _ => format!("it is refused for another reason{}", listed(&refusals)),
        }));
    }
    if !refusals.is_empty() {
        return Err(TestFailure::because(format!(
            "it is refused{}",
            listed(&refusals)
        )));
    }
    // Parts that could not be judged may be wrong.
    let open: Vec<&Finding> = warnings
        .iter()
        .copied()
        .filter(|finding| finding.code == Code::Unverified)
        .collect();
    if !open.is_empty() {
        return Err(TestFailure::because(format!(
            "it is allowed, but not all of it could be judged{}",
            listed(&open)
        )));
    }
    match &test.warned {
        Some(expected) if !warnings.iter().any(|finding| is(expected, finding)) => {
            Err(TestFailure::because(if warnings.is_empty() {
                "it is allowed without any warning; the test expects one".to_owned()
            } else {
                format!("it is allowed without this warning{}", listed(&warnings))
            }))
        }
        _ => Ok(Vec::new()),
    }
}

/// Whether a finding is the expected one.
fn is(expected: &ExpectedFinding, finding: &Finding) -> bool {
    let ExpectedFinding {
        code,
        guardrail,
        message,
    } = expected;
    let is_of = |name: &String| {
        finding.code == Code::Guardrail && finding.subject.split(' ').next() == Some(name)
    };
    code.is_none_or(|code| code == finding.code)
        && guardrail.as_ref().is_none_or(is_of)
        && message
            .as_ref()
            .is_none_or(|part| sentence(finding).contains(part.as_str()))
}

fn listed(findings: &[&Finding]) -> String {
    if findings.is_empty() {
        return ", without a warning".to_owned();
    }
    let lines = findings.iter().map(|finding| {
        let object = escape(&finding.object.to_string());
        let code = finding.code.as_str();
        format!("{object}: {code}: {}", sentence(finding))
    });
    format!(":{}", first_of(&lines.collect::<Vec<_>>()))
}

/// The first lines, each on a line of its own, and how many more there are.
pub(super) fn first_of(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines.iter().take(MAX_LISTED) {
        let _ = write!(text, "\n  {line}");
    }
    if lines.len() > MAX_LISTED {
        let _ = write!(text, "\n  and {} more", lines.len() - MAX_LISTED);
    }
    text
}
