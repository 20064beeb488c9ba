//! Values of settings in tables: a short one in its cell, a long one as YAML below its row.

use serde_json::Value;

use super::style::Style;
use super::table::Cell;
use crate::engine::model::flow::flow;

/// The limit of characters for a value in a cell; a longer one goes below the row.
const IN_A_CELL: usize = 40;
/// The limit of lines for a value below its row, unless the user asks for all.
const LINES: usize = 12;

/// A formatted value.
pub(crate) enum FormattedValue {
    /// In the cell.
    Here(String),
    /// In these lines below the row.
    Below(Vec<String>),
}

/// Formats a value.
pub(crate) fn shown(value: &Value, style: Style) -> FormattedValue {
    let line = flow(value, IN_A_CELL);
    if !line.ends_with('…') || flow(value, IN_A_CELL + 1) == line {
        return FormattedValue::Here(line);
    }
    let text = serde_saphyr::to_string(value).unwrap_or_else(|_| value.to_string());
    let mut lines: Vec<String> = text.trim_end().lines().map(str::to_owned).collect();
    let more = lines.len().saturating_sub(LINES);
    if !style.full && more > 1 {
        lines.truncate(LINES);
        lines.push(format!("… {more} more lines: --full"));
    }
    FormattedValue::Below(lines)
}

// === impl FormattedValue ===

impl FormattedValue {
    /// The text of the cell.
    pub(crate) fn cell(&self) -> Cell {
        match self {
            Self::Here(line) => line.into(),
            Self::Below(_) => Cell::default(),
        }
    }

    /// The lines below the row.
    pub(crate) fn below(self) -> Vec<String> {
        match self {
            Self::Here(_) => Vec::new(),
            Self::Below(lines) => lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FormattedValue, Style, shown};

    #[test]
    fn a_long_value_is_yaml_below() {
        let shown_value = |value: &serde_json::Value, style| match shown(value, style) {
            FormattedValue::Here(line) => vec![format!("here: {line}")],
            FormattedValue::Below(lines) => lines,
        };
        let providers = json!([{"name": "corp", "issuer": "https://login.example.com"}]);
        assert_eq!(
            shown_value(&providers, Style::default()),
            ["- issuer: https://login.example.com", "  name: corp"]
        );
        let (short, list) = (json!("a…"), json!(["a", 500]));
        assert_eq!(shown_value(&short, Style::default()), ["here: a…"]);
        assert_eq!(shown_value(&list, Style::default()), ["here: [a, 500]"]);
        let many = json!((0..100).collect::<Vec<_>>());
        let lines = shown_value(&many, Style::default());
        assert_eq!(
            (lines.len(), lines[12].as_str()),
            (13, "… 88 more lines: --full")
        );
        assert_eq!(shown_value(&many, Style::default().full(true)).len(), 100);
    }
}
