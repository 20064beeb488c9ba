//! The text of `attache guardrails`.

use std::fmt::Write as _;

use attache_guardrails::in_force_there;

use super::style::Style;
use super::table::Table;
use super::text::parts;
use crate::answer::guardrails::{Guarded, GuardrailReport};
use crate::engine::admission::verdict::escape;

/// The most targets that are listed for a guardrail; `-o json` has all.
const MAX_TARGETS: usize = 20;

/// One line for each guardrail; then the targets that break it, and its exceptions.
pub(crate) fn table(report: &GuardrailReport, style: Style) -> String {
    let mut table = Table::new(&[
        "GUARDRAIL",
        "ACTION",
        "FULFILLED",
        "BROKEN",
        "ERRORS",
        "EXCEPTED",
    ]);
    for guarded in &report.guardrails {
        let count = |count: usize| count.to_string();
        table.row([
            (&guarded.name).into(),
            guarded.action.into(),
            count(guarded.fulfilled).into(),
            count(guarded.broken).into(),
            count(guarded.errors).into(),
            count(guarded.excepted).into(),
        ]);
    }
    let mut text = table.show(style, "");
    for guarded in &report.guardrails {
        details(guarded, style, &mut text);
    }
    if !report.without_effect.is_empty() {
        text.push_str("\nannotations with exceptions\n");
    }
    for line in &report.without_effect {
        let line = format!("{}: {}", line.target.0, line.why);
        text.push_str(&detail(style, line));
    }
    text
}

/// A line below a guardrail, wrapped to the width of the terminal.
fn detail(style: Style, line: String) -> String {
    parts(style, "  ", &[(None, line)], "    ")
}

fn details(guarded: &Guarded, style: Style, text: &mut String) {
    let mut lines = Vec::new();
    lines.extend(
        guarded
            .error
            .as_ref()
            .map(|why| format!("not judged: {why}")),
    );
    lines.extend(guarded.notes.iter().cloned());
    for fault in guarded.faults.iter().take(MAX_TARGETS) {
        let through = match (&fault.through, fault.paths) {
            (None, _) => String::new(),
            (Some(through), 1) => format!(" through {through}"),
            (Some(through), 2) => format!(" through {through} and on 1 more path"),
            (Some(through), paths) => format!(" through {through} and on {} more paths", paths - 1),
        };
        let verb = if fault.is_error {
            "cannot be judged: "
        } else {
            ""
        };
        let policies = fault.policies.iter().map(|named| named.0.object.clone());
        let kind = guarded.policy_kind.as_ref().map(|kind| &kind.0);
        lines.push(format!(
            "{}{through}: {verb}{} ({})",
            fault.target.0,
            fault.message,
            in_force_there(&policies.collect(), kind)
        ));
    }
    if guarded.faults.len() > MAX_TARGETS {
        let more = guarded.faults.len() - MAX_TARGETS;
        lines.push(format!("and {more} more: attache guardrails -o json"));
    }
    for exception in &guarded.exceptions {
        let until = if exception.ended { "ended on" } else { "until" };
        lines.push(format!(
            "exception for {}/{} {until} {}: {}",
            exception.namespace, exception.name, exception.until, exception.reason
        ));
    }
    if lines.is_empty() {
        return;
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{}", escape(&guarded.name));
    for line in lines {
        text.push_str(&detail(style, line));
    }
}

#[cfg(test)]
mod tests {
    use super::detail;
    use crate::cli::render::style::Style;

    #[test]
    fn lines_fit_the_terminal() {
        let line = "HTTPRoute shop/cart through Gateway infra/public listener https: it requires 'authentication' in protections";
        let narrow = Style {
            width: Some(80),
            ..Style::default()
        };
        let wrapped = detail(narrow, line.to_owned());
        assert!(wrapped.lines().count() > 1 && wrapped.lines().all(|line| line.len() <= 80));
        assert_eq!(
            detail(Style::default(), line.to_owned()),
            format!("  {line}\n")
        );
    }
}
