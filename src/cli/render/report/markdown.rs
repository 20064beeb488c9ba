//! A report as a comment on a pull request: refusals in full, warnings and notices folded.

use super::plain::Plain;
use super::severity;
use super::text::{Closing, closing_lines};
use crate::answer::report::{Report, ReportedFinding};
use crate::cli::render::markdown::{Comment, code, text};

pub(crate) fn markdown(report: &Report, closing: &Closing) -> String {
    let plain = Plain::of(report);
    let shown: Vec<&ReportedFinding> = report
        .findings
        .iter()
        .filter(|found| found.suppressed.is_none() && !found.known)
        .collect();
    let of = |wanted: &str| {
        let found = shown.iter().filter(|found| severity(found) == wanted);
        found.map(|found| item(found, &plain)).collect::<Vec<_>>()
    };
    let mut lines = closing_lines(report, closing)
        .into_iter()
        .map(|(_, line)| line);
    let mut comment = Comment::default();
    let counts = lines.next().unwrap_or_default();
    comment.paragraph(&format!("**attache check**: {}", text(&counts)));
    let denied = of("deny");
    if !denied.is_empty() {
        comment.paragraph("**Denied**");
        comment.list(denied);
    }
    for (wanted, one, many) in [
        ("warn", "warning", "warnings"),
        ("notice", "notice", "notices"),
    ] {
        let found = of(wanted);
        if !found.is_empty() {
            let noun = if found.len() == 1 { one } else { many };
            comment.folded(&format!("{} {noun}", found.len()), found);
        }
    }
    let rest: Vec<String> = lines.map(|line| text(&line)).collect();
    comment.paragraph(&rest.join("<br>\n"));
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
