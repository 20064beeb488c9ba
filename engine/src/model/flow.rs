//! A value in one line, in the flow style of YAML: `[500, 502]`, `{type: Local}`, `"1.3"`.

use serde_json::Value;

use crate::model::literal;

/// Formats a value, with at most `most` characters.
pub fn flow(value: &Value, most: usize) -> String {
    let mut line = Line {
        text: String::new(),
        room: most,
    };
    if line.value(value, false).is_none() {
        line.text.push('…');
    }
    line.text
}

/// Whether a string can be written without quotes and still be read as the same string. Within a list or a map,
/// commas and brackets are special too.
pub fn is_plain(text: &str, within: bool) -> bool {
    const FIRST: [char; 20] = [
        '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '#', ',', '?', ':',
        '~', '=',
    ];
    let is_word = [
        "null", "true", "false", "yes", "no", "on", "off", ".inf", ".nan",
    ]
    .iter()
    .any(|word| text.eq_ignore_ascii_case(word));
    let is_number = text
        .trim_start_matches(['-', '+'])
        .starts_with(|c: char| c.is_ascii_digit())
        && (literal::from_str(text).is_ok() || text.parse::<f64>().is_ok());
    !text.is_empty()
        && !is_word
        && !is_number
        && !text.starts_with(FIRST)
        && text != "-"
        && !text.starts_with("- ")
        && text.trim() == text
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(" #")
        && !text.chars().any(char::is_control)
        && !(within && text.contains([',', '[', ']', '{', '}']))
}

/// A line under construction.
struct Line {
    text: String,
    /// The number of characters that still fit.
    room: usize,
}

impl Line {
    /// Returns `None` as soon as the value does not fit.
    fn value(&mut self, value: &Value, within: bool) -> Option<()> {
        match value {
            Value::String(text) => self.scalar(text, within),
            Value::Array(items) => {
                self.push("[")?;
                for (i, item) in items.iter().enumerate() {
                    self.push(if i > 0 { ", " } else { "" })?;
                    self.value(item, true)?;
                }
                self.push("]")
            }
            Value::Object(map) => {
                self.push("{")?;
                for (i, (key, value)) in map.iter().enumerate() {
                    self.push(if i > 0 { ", " } else { "" })?;
                    self.scalar(key, true)?;
                    self.push(": ")?;
                    self.value(value, true)?;
                }
                self.push("}")
            }
            other => self.push(&other.to_string()),
        }
    }

    fn scalar(&mut self, text: &str, within: bool) -> Option<()> {
        // Scans only as much of a long string as fits.
        let end = text
            .char_indices()
            .nth(self.room + 1)
            .map_or(text.len(), |(at, _)| at);
        let part = text.get(..end).unwrap_or_default();
        if is_plain(
            text.get(..end.max(32).min(text.len())).unwrap_or(part),
            within,
        ) {
            return self.push(part);
        }
        self.push(&Value::from(part).to_string())?;
        (end == text.len()).then_some(())
    }

    fn push(&mut self, text: &str) -> Option<()> {
        let length = text.chars().count();
        if length <= self.room {
            self.room -= length;
            self.text.push_str(text);
            return Some(());
        }
        self.text.extend(text.chars().take(self.room));
        self.room = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::flow;

    #[test]
    fn values_stand_in_one_line_as_yaml() {
        for (value, line) in [
            (json!("30s"), "30s"),
            (json!("1.3"), "\"1.3\""),
            (json!(3), "3"),
            (json!("3"), "\"3\""),
            (json!("true"), "\"true\""),
            (json!("No"), "\"No\""),
            (json!(""), "\"\""),
            (json!("-"), "\"-\""),
            (json!("a, b"), "a, b"),
            (json!(["a, b"]), "[\"a, b\"]"),
            (json!("a: b"), "\"a: b\""),
            (json!("https://a.example/x"), "https://a.example/x"),
            (json!("10.0.0.0/8"), "10.0.0.0/8"),
            (json!("a\nb"), "\"a\\nb\""),
            (json!("*.example.com"), "\"*.example.com\""),
            (json!([500, "a"]), "[500, a]"),
            (json!([]), "[]"),
            (json!({}), "{}"),
            (json!({"rules": [{"limit": 3}]}), "{rules: [{limit: 3}]}"),
            (json!(null), "null"),
        ] {
            assert_eq!(flow(&value, 80), line);
        }
    }

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(
            flow(&json!(["connect-failure", "reset"]), 16),
            "[connect-failure…"
        );
        assert_eq!(flow(&json!("x".repeat(1_000_000)), 5), "xxxxx…");
        assert_eq!(flow(&json!("x".repeat(5)), 5), "xxxxx");
        assert_eq!(flow(&json!("12345678901234"), 5), "\"1234…");
        assert_eq!(flow(&json!(vec![1; 1_000_000]), 7), "[1, 1, …");
    }
}
