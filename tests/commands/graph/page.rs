//! What holds for pages before a browser sees them.

use serde_json::Value;

const DATA: &str = "<script type=\"application/json\" id=\"data\">";

/// A page without what is the same in all of them: style and script, and their hashes.
pub(super) fn without_constants(page: &str) -> String {
    let mut text = page.to_owned();
    for (start, end, what) in [
        ("'sha256-", "'", "hash"),
        ("'sha256-", "'", "hash"),
        ("<style>", "</style>", "style"),
        ("<script>", "</script>", "script"),
    ] {
        let from = text.find(start).unwrap() + start.len();
        let to = from + text[from..].find(end).unwrap();
        text.replace_range(from..to, "…");
        assert!(text.contains('…'), "{what}");
        // The next of its kind.
        text = text.replacen(start, &start.replace('s', "\u{1}"), 1);
    }
    text.replace('\u{1}', "s")
}

/// Panics where a page is not as it should be.
pub(super) fn check(page: &str, graph: &Value) {
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
    assert!(!page.contains("unsafe-inline") && !page.contains("unsafe-eval"));
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the data and the script"
    );
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    for from_elsewhere in ["src=\"", "href=\"", "url(", "@import", "import("] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    let (_, data) = page.split_once(DATA).unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert!(!data.contains(['<', '>', '\u{2028}']));
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["graph"]["nodes"], graph["nodes"]);
    assert_eq!(data["graph"]["edges"], graph["edges"]);
    let nodes = graph["nodes"].as_array().unwrap().len();
    assert_eq!(data["details"].as_array().unwrap().len(), nodes);
}
