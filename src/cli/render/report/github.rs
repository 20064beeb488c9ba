//! A report as workflow commands of GitHub Actions, which annotate the lines of a change.

use std::fmt::Write as _;

use super::{message, object};
use crate::answer::report::{Report, ReportedFinding};
use crate::cache::files::STDIN;
use crate::engine::admission::finding::Severity;
use crate::engine::model::printable::escape;

/// One command for each finding, without suppressed and known ones.
pub(crate) fn github(report: &Report) -> String {
    let mut text = String::new();
    let shown = report.findings.iter();
    for finding in shown.filter(|f| f.suppressed.is_none() && !f.known) {
        command(&mut text, finding);
    }
    text
}

fn command(text: &mut String, finding: &ReportedFinding) {
    let command = match finding.severity {
        _ if finding.notice => "notice",
        Severity::Deny => "error",
        Severity::Warn => "warning",
    };
    let _ = write!(text, "::{command} ");
    // Standard input has no file to annotate.
    if let Some(file) = finding.file.as_deref().filter(|file| *file != STDIN) {
        let _ = write!(text, "file={},", property(file));
        if let Some(line) = finding.line {
            let _ = write!(text, "line={line},");
        }
        if let Some(column) = finding.column {
            let _ = write!(text, "col={column},");
        }
    }
    let title = match object(finding) {
        Some(object) => format!("{}: {object}", finding.code.as_str()),
        None => finding.code.as_str().to_owned(),
    };
    let _ = writeln!(
        text,
        "title={}::{}",
        property(&title),
        data(&message(finding))
    );
}

/// The message of a command.
fn data(text: &str) -> String {
    escape(text).replace('%', "%25")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn characters_that_end_a_command_or_property_are_escaped() {
        assert_eq!(data("100% of a:b,\r\nc"), r"100%25 of a:b,\u{d}\u{a}c");
        assert_eq!(property("a:b,c%3A"), "a%3Ab%2Cc%253A");
        let odd = "\u{1b}\u{202e}\u{2028}::stop-commands::x";
        let shown = r"\u{1b}\u{202e}\u{2028}%3A%3Astop-commands%3A%3Ax";
        assert_eq!(property(odd), shown);
    }
}
