//! JSON values as YAML in the usual style.

use serde_json::Value;

/// A value as YAML, with a newline at the end.
pub(crate) fn yaml(value: &Value) -> String {
    // The fallback is JSON, which is valid YAML.
    serde_saphyr::to_string(value).unwrap_or_else(|_| format!("{value:#}\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::yaml;

    #[test]
    fn what_is_written_is_read_back_as_the_same() {
        let value = json!({
            "timeout": {"http": {"requestTimeout": "30s"}},
            "retries": 3,
            "on": ["5xx", "true", "no", "~", "1e3", "- a", "a: b", "#c", "", " "],
            "deep": [{"name": "a", "list": [[1, 2], []]}, {}],
            "text": "two\nlines\n",
            "null": null,
        });
        let text = yaml(&value);
        let back: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(back, value, "{text}");
    }
}
