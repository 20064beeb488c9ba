//! A report as lines: `file:line: severity code: object: field: message`.

use std::fmt::Write as _;

use super::{message, object, severity, undefined};
use crate::answer::report::{Report, Summary, Told};
use crate::cli::render::style::{Style, Tone};
use crate::engine::finding::Severity;
use crate::engine::verdict::escape;

/// The lines, the findings of each file together, and a summary.
pub(crate) fn text(report: &Report, notices: bool, style: Style) -> String {
    let mut text = String::new();
    let mut file = None;
    let shown = report.findings.iter();
    for finding in shown.filter(|f| f.suppressed.is_none() && !f.known) {
        if file.is_some_and(|file| file != &finding.file) {
            text.push('\n');
        }
        file = Some(&finding.file);
        line(&mut text, finding, style);
    }
    if file.is_some() {
        text.push('\n');
    }
    text.push_str(&summary(&report.summary, notices, style));
    if let Some(line) = undefined(report) {
        let _ = writeln!(text, "{}", style.paint(Tone::Faint, &line));
    }
    text
}

fn line(text: &mut String, finding: &Told, style: Style) {
    let object = object(finding);
    let tone = match finding.severity {
        _ if finding.notice => Tone::Faint,
        Severity::Deny => Tone::Bad,
        Severity::Warn => Tone::Warning,
    };
    let place = match (&finding.file, finding.line, finding.column) {
        (None, ..) => object.clone().unwrap_or_else(|| "cluster".to_owned()),
        (Some(file), None, _) => file.clone(),
        (Some(file), Some(line), None) => format!("{file}:{line}"),
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}"),
    };
    let code = format!("{} {}:", severity(finding), finding.code.as_str());
    let _ = write!(
        text,
        "{}: {} ",
        style.paint(Tone::Heading, &place),
        style.paint(tone, &code),
    );
    if let (Some(object), Some(_)) = (object, &finding.file) {
        let _ = write!(text, "{}: ", escape(&object));
    }
    let _ = writeln!(text, "{}", escape(&message(finding)));
}

/// `12 objects, 3 policies: 1 deny, 2 warn`, and what is not shown.
fn summary(summary: &Summary, notices: bool, style: Style) -> String {
    let (tone, verdict) = match (summary.deny, summary.warn) {
        (0, 0) => (Tone::Good, "nothing is wrong".to_owned()),
        (0, warn) => (Tone::Warning, format!("{warn} warn")),
        (deny, warn) => (Tone::Bad, format!("{deny} deny, {warn} warn")),
    };
    let mut text = format!(
        "{}, {}: {}\n",
        number(summary.objects, "object", "objects"),
        number(summary.policies, "policy", "policies"),
        style.paint(tone, &verdict)
    );
    let mut more = |n: usize, what: String| {
        if n > 0 {
            let _ = writeln!(text, "{}", style.paint(Tone::Faint, &what));
        }
    };
    let left_out = number(summary.suppressed, "finding", "findings");
    more(
        summary.suppressed,
        format!("{left_out} left out by annotations"),
    );
    let known = number(summary.known, "finding", "findings");
    more(summary.known, format!("{known} in the baseline"));
    if !notices {
        let told = number(summary.notices, "notice", "notices");
        more(
            summary.notices,
            format!("{told} of what is in force; --notices shows them"),
        );
    }
    text
}

fn number(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
