//! A report as a comment on a pull request: refusals in full, warnings and notices folded.

use super::plain::Plain;
use super::severity;
use super::text::{Closing, closing_lines};
use crate::answer::report::{Report, ReportedFinding};
use crate::cli::render::markdown::{Comment, code, text};

pub(crate) fn markdown(report: &Report, closing: &Closing) -> String {
    let plain = Plain::from_report(report);
    let shown: Vec<&ReportedFinding> = report
        .findings
        .iter()
        .filter(|finding| finding.suppressed.is_none() && !finding.known)
        .collect();
    let items_of = |wanted: &str| {
        let findings = shown.iter().filter(|finding| severity(finding) == wanted);
        findings
            .map(|finding| item(finding, &plain))
            .collect::<Vec<_>>()
    };
    let mut lines = closing_lines(report, closing)
        .into_iter()
        .map(|(_, line)| line);
    let mut comment = Comment::default();
    let counts = lines.next().unwrap_or_default();
    comment.paragraph(&format!("**attache check**: {}", text(&counts)));
    let denied = items_of("deny");
    if !denied.is_empty() {
        comment.paragraph("**Denied**");
        comment.list(denied);
    }
    for (wanted, one, many) in [
        ("warn", "warning", "warnings"),
        ("notice", "notice", "notices"),
    ] {
        let items = items_of(wanted);
        if !items.is_empty() {
            let noun = if items.len() == 1 { one } else { many };
            comment.folded(&format!("{} {noun}", items.len()), items);
        }
    }
    let lines_left: Vec<String> = lines.map(|line| text(&line)).collect();
    comment.paragraph(&lines_left.join("<br>\n"));
    comment.done()
}

/// `` `section-unknown` HTTPRoute shop/cart: message (`file:line`) ``.
fn item(finding: &ReportedFinding, plain: &Plain) -> String {
    let mut item = code(finding.code.as_str());
    if let Some(object) = plain.object(finding) {
        item = format!("{item} **{}**:", text(&object));
    }
    item = format!("{item} {}", text(&plain.message(finding)));
    match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!("{item} ({})", code(&format!("{file}:{line}"))),
        (Some(file), None) => format!("{item} ({})", code(file)),
        (None, _) => item,
    }
}
