//! Properties of pages that need no browser.

use serde_json::Value;

const DATA: &str = "<script type=\"application/json\" id=\"data\">";

/// The data of a page, line by line.
pub(super) fn data(page: &str) -> String {
    format!("{:#}\n", parsed(page))
}

fn parsed(page: &str) -> Value {
    let (_, data) = page.split_once(DATA).unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert!(!data.contains(['<', '>', '\u{2028}']));
    serde_json::from_str(data).unwrap()
}

/// The size limit of a page without its data, in bytes.
const LARGEST: usize = 400_000;

/// Panics if a page violates a property.
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
    let data = parsed(page);
    let size = page.len()
        - page
            .split_once(DATA)
            .unwrap()
            .1
            .split_once("</script>")
            .unwrap()
            .0
            .len();
    assert!(size < LARGEST, "{size} bytes without data");
    assert_eq!(data["graph"]["nodes"], graph["nodes"]);
    assert_eq!(data["graph"]["edges"], graph["edges"]);
    let nodes = graph["nodes"].as_array().unwrap().len();
    assert_eq!(data["details"].as_array().unwrap().len(), nodes);
}
