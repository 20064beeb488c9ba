//! Writes the namespaces of a picture that does not draw all objects.

use std::fmt::Write as _;

use super::text::{SMALL, measured, number, text_of, write_text};
use crate::cli::render::graph::rows::INSET;
use crate::cli::render::graph::rows::{Row, SpaceRow, problems_of, tally, title_of};
use crate::cli::render::graph::states::look;

/// The height of the text of a row, from its top.
const TEXT: f64 = 17.0;

/// Writes a namespace.
pub(super) fn row(own: &SpaceRow, row: &Row<'_>, width: f64, text: &mut String) {
    let (space, top) = (&own.space, row.top);
    let counted = space.counted();
    let _ = writeln!(
        text,
        "<g class=\"part\"><title>Namespace {}: {counted}</title>\n<path class=\"line\" d=\"M0 {}H{}\"/>",
        text_of(title_of(space)),
        number(top),
        number(width)
    );
    write_text("policy-name", INSET, top + TEXT, title_of(space), text);
    let mut x = own.states_at;
    for (state, count) in &space.states {
        let look = look(*state);
        let _ = writeln!(
            text,
            "<g class=\"tally {}\"><title>{count} {}</title><rect class=\"pill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" rx=\"9\"/><path class=\"glyph\" d=\"{}\" transform=\"translate({} {})\"/>",
            look.class,
            state.as_str(),
            number(x),
            number(top + 4.0),
            number(tally(*count) - 5.0),
            look.glyph,
            number(x + 4.0),
            number(top + 7.0)
        );
        write_text("policy", x + 18.0, top + TEXT, &count.to_string(), text);
        text.push_str("</g>\n");
        x += tally(*count);
    }
    if space.problems > 0 {
        let words = problems_of(space.problems);
        let x = own.problems_at;
        let _ = writeln!(
            text,
            "<g class=\"tally broken\"><rect class=\"pill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"18\" rx=\"9\"/>",
            number(x),
            number(top + 4.0),
            number(measured(&words, SMALL) + 14.0)
        );
        write_text("policy", x + 7.0, top + TEXT, &words, text);
        text.push_str("</g>\n");
    }
    write_text("kind end", width - INSET, top + TEXT, &counted, text);
    text.push_str("</g>\n");
}
