//! The impact of a change as a comment on a pull request: losses in full, fields folded.

use super::super::kind_names::Kinds;
use super::super::markdown::{Comment, text};
use super::super::style::Style;
use super::{group_text, groups, guardrails, headline, kinds, lost_traffic, opened};
use crate::answer::impact::{Impact, LostProtection};

pub(crate) fn markdown(impact: &Impact) -> String {
    let kinds = kinds(impact);
    let mut comment = Comment::default();
    let headline = headline(impact, &kinds);
    comment.paragraph(&format!("**attache impact**: {}", text(&headline)));
    let lost = lost_traffic(&impact.traffic, &kinds);
    if !lost.is_empty() {
        comment.paragraph("**Traffic**");
        comment.list(lost.iter().map(|line| text(line)));
    }
    protection(&mut comment, &impact.lost_protection, &kinds);
    if !impact.guardrails.is_empty() {
        comment.paragraph("**Guardrails**");
        comment.list(guardrails(impact, &kinds).map(|line| text(&line)));
    }
    for group in groups(&impact.changes) {
        let text = group_text(&group, &kinds, Style::default());
        let (title, table) = text.split_once('\n').unwrap_or((&text, ""));
        comment.folded_code(title, table);
    }
    comment.done()
}

/// The lost protections, in full.
pub(in crate::cli::render) fn protection(
    comment: &mut Comment,
    lost: &[LostProtection],
    kinds: &Kinds,
) {
    if lost.is_empty() {
        return;
    }
    comment.paragraph("**Protection lost**");
    let lost = lost.iter().map(|lost| {
        let from: Vec<String> = lost.from.iter().map(|by| kinds.place(&by.0)).collect();
        let opened = opened(lost, kinds);
        let how = if opened.is_empty() {
            "loses".to_owned()
        } else {
            format!("is now reached {}, without", text(&opened))
        };
        let mut line = format!(
            "{}: {how} {}, which was set by {}",
            text(&kinds.place(&lost.object.0)),
            text(&lost.what()),
            text(&from.join(", "))
        );
        if !lost.reasons.is_empty() {
            line = format!("{line}: {}", text(&lost.reasons.join("; ")));
        }
        if let Some(remedy) = &lost.remedy {
            line = format!("{line} ({})", text(remedy));
        }
        line
    });
    comment.list(lost);
}
