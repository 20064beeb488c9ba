//! A report for people: refusals first, then warnings, each by file; the last line says why the check passes or fails.
//!
//! On a terminal a finding has one line for its code and position, and its message below, wrapped. Otherwise it is one
//! line, `file:line: severity code: object: field: message`, for programs that read lines.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::plain::Plain;
use super::wrap::wrap;
use super::{severity, undefined};
use crate::answer::report::{Report, ReportedFinding, Summary};
use crate::cli::render::phrases::count;
use crate::cli::render::style::{Style, Tone};
use crate::engine::admission::finding::{Code, Severity};
use crate::engine::admission::verdict::escape;

/// Options for the text besides the findings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    /// Whether notices are shown.
    pub notices: bool,
    /// Why the check passes or fails.
    pub reason: Reason,
    /// Whether the manifests are the whole state.
    pub is_closed: bool,
    /// Whether files that are not manifests are listed.
    pub show_skipped: bool,
}

/// Why a check passes or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// No finding counts.
    Nothing,
    /// There are only warnings, and they do not fail the check.
    OnlyWarnings,
    /// This many findings deny.
    Denied(usize),
    /// This many findings count, including warnings.
    Warnings(usize),
    /// There are findings, but no finding may fail the check.
    Never,
}

/// The findings and the closing lines.
pub(crate) fn text(report: &Report, closing: &Closing, style: Style) -> String {
    let plain = Plain::from_report(report);
    let mut text = String::new();
    let mut last = None;
    let shown = report.findings.iter();
    for finding in shown.filter(|f| f.suppressed.is_none() && !f.known) {
        let group = (severity(finding), &finding.file);
        if last.is_some_and(|last| last != group) {
            text.push('\n');
        }
        last = Some(group);
        match style.width {
            Some(width) => block(&mut text, finding, &plain, style, width),
            None => line(&mut text, finding, &plain, style),
        }
    }
    if last.is_some() {
        text.push('\n');
    }
    if closing.show_skipped && !report.skipped.is_empty() {
        for skipped in &report.skipped {
            let place = match skipped.line {
                Some(line) => format!("{}:{line}", skipped.file),
                None => skipped.file.clone(),
            };
            for line in wrap(
                &format!("skipped {place}: {}", skipped.reason),
                style.width,
                0,
            ) {
                let _ = writeln!(text, "{}", style.paint(Tone::Faint, &line));
            }
        }
        text.push('\n');
    }
    for (tone, closing_line) in closing_lines(report, closing) {
        for line in wrap(&closing_line, style.width, 0) {
            let _ = writeln!(text, "{}", style.paint(tone, &line));
        }
    }
    text
}

fn tone(finding: &ReportedFinding) -> Tone {
    match finding.severity {
        _ if finding.notice => Tone::Faint,
        Severity::Deny => Tone::Bad,
        Severity::Warn => Tone::Warning,
    }
}

/// `file:line:column`, or the object if there is no file.
fn place(finding: &ReportedFinding, plain: &Plain) -> String {
    match (&finding.file, finding.line, finding.column) {
        (None, ..) => plain
            .object(finding)
            .unwrap_or_else(|| "cluster".to_owned()),
        (Some(file), None, _) => file.clone(),
        (Some(file), Some(line), None) => format!("{file}:{line}"),
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}"),
    }
}

fn line(text: &mut String, finding: &ReportedFinding, plain: &Plain, style: Style) {
    let code = format!("{} {}:", severity(finding), finding.code.as_str());
    let _ = write!(
        text,
        "{}: {} ",
        style.paint(Tone::Heading, &place(finding, plain)),
        style.paint(tone(finding), &code),
    );
    if let (Some(object), Some(_)) = (plain.object(finding), &finding.file) {
        let _ = write!(text, "{}: ", escape(&object));
    }
    let _ = writeln!(text, "{}", escape(&plain.message(finding)));
}

/// Two lines, or more on a narrow terminal.
fn block(text: &mut String, finding: &ReportedFinding, plain: &Plain, style: Style, width: usize) {
    let code = format!("{} {}", severity(finding), finding.code.as_str());
    let place = escape(&place(finding, plain));
    let fits = unicode_width::UnicodeWidthStr::width(&*place) + code.len() + 2 <= width;
    let code = style.paint(tone(finding), &code);
    if fits {
        let place = style.paint(Tone::Heading, &place);
        let _ = writeln!(text, "{code}  {place}");
    } else {
        let _ = writeln!(text, "{code}");
        for line in wrap(&place, Some(width), 0) {
            let _ = writeln!(text, "{}", style.paint(Tone::Heading, &line));
        }
    }
    let message = plain.message(finding);
    let message = match (plain.object(finding), &finding.file) {
        (Some(object), Some(_)) => format!("{object}: {message}"),
        _ => message,
    };
    for line in wrap(&escape(&message), Some(width), 2) {
        let _ = writeln!(text, "{line}");
    }
}

/// `12 objects, 3 policies: 1 deny, 2 warn`, what is hidden, and why the check passes or fails.
pub(super) fn closing_lines(report: &Report, closing: &Closing) -> Vec<(Tone, String)> {
    let summary = &report.summary;
    let mut lines = vec![counts(summary)];
    let mut more = |n: usize, what: String| {
        if n > 0 {
            lines.push((Tone::Faint, what));
        }
    };
    let left_out = count(summary.suppressed, "finding", "findings");
    more(
        summary.suppressed,
        format!("{left_out} suppressed by annotations"),
    );
    let known = count(summary.known, "finding", "findings");
    more(summary.known, format!("{known} in the baseline"));
    if !closing.notices {
        let notices = count(summary.notices, "notice", "notices");
        let them = them(summary.notices);
        more(
            summary.notices,
            format!("{notices} hidden; use --notices to show {them}"),
        );
    }
    let files: BTreeSet<&str> = report
        .skipped
        .iter()
        .map(|skipped| &*skipped.file)
        .collect();
    let skipped = match files.len() {
        1 => "1 file is not a manifest".to_owned(),
        many => format!("{many} files are not manifests"),
    };
    let how = if closing.show_skipped {
        String::new()
    } else {
        format!("; --show-skipped lists {}", them(files.len()))
    };
    more(files.len(), format!("{skipped}{how}"));
    let counting = report.findings.iter().filter(|finding| finding.counts());
    let codes = explained(counting.map(|finding| finding.code.as_str()));
    more(usize::from(!codes.is_empty()), codes);
    let undefined = undefined(report);
    more(
        usize::from(undefined.is_some()),
        undefined.unwrap_or_default(),
    );
    let of_closed = closing.is_closed && report.findings.iter().any(rests_on_the_set);
    more(
        usize::from(of_closed),
        "the manifests are taken as the whole state, so target-not-found and kind-unknown deny; if other objects exist, name the manifests as PATH and the existing state with --from DIR or --cluster"
            .to_owned(),
    );
    lines.push(ending(closing.reason));
    lines
}

/// How to have the codes of findings explained, in the order in which they are shown; empty without findings.
fn explained<'c>(codes: impl Iterator<Item = &'c str>) -> String {
    /// The limit of codes in the line.
    const MAX_NAMED_CODES: usize = 4;
    let mut names: Vec<&str> = Vec::new();
    for code in codes {
        if !names.contains(&code) {
            names.push(code);
        }
    }
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("attache help {one} explains this finding"),
        _ => {
            let more = match names.len().saturating_sub(MAX_NAMED_CODES) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            names.truncate(MAX_NAMED_CODES);
            format!(
                "attache help CODE explains a finding: {}{more}",
                names.join(", ")
            )
        }
    }
}

/// `it` for one thing, `them` for several.
fn them(number: usize) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

/// Whether a finding denies because the manifests are the whole state.
fn rests_on_the_set(finding: &ReportedFinding) -> bool {
    let code = matches!(finding.code, Code::TargetNotFound | Code::KindUnknown);
    code && finding.severity == Severity::Deny && finding.counts()
}

fn counts(summary: &Summary) -> (Tone, String) {
    let (tone, verdict) = match (summary.deny, summary.warn) {
        (0, 0) if summary.known > 0 => (Tone::Good, "no new problems".to_owned()),
        (0, 0) => (Tone::Good, "no problems found".to_owned()),
        (0, warn) => (Tone::Warning, format!("{warn} warn")),
        (deny, warn) => (Tone::Bad, format!("{deny} deny, {warn} warn")),
    };
    let objects = count(summary.objects, "object", "objects");
    let policies = count(summary.policies, "policy", "policies");
    (tone, format!("{objects}, {policies}: {verdict}"))
}

fn ending(reason: Reason) -> (Tone, String) {
    let denied = |n| match n {
        1 => "1 finding with severity deny".to_owned(),
        many => format!("{many} findings with severity deny"),
    };
    match reason {
        Reason::Nothing => (Tone::Good, "passed (exit code 0)".to_owned()),
        Reason::OnlyWarnings => (
            Tone::Good,
            "passed (exit code 0): warnings fail a check only with --fail-on warn".to_owned(),
        ),
        Reason::Denied(n) => (Tone::Bad, format!("failed (exit code 1): {}", denied(n))),
        Reason::Warnings(n) => (
            Tone::Bad,
            format!(
                "failed (exit code 1): {} at --fail-on warn",
                count(n, "finding", "findings")
            ),
        ),
        Reason::Never => (
            Tone::Good,
            "passed (exit code 0): nothing fails a check with --fail-on never".to_owned(),
        ),
    }
}
