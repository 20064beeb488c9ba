//! A report as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::message;
use crate::answer::report::{Report, ReportedFinding, address, page, rule};
use crate::cache::files::STDIN;
use crate::engine::admission::finding::{Code, Severity};
use crate::engine::model::printable::escape;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The base of relative paths, by its name in code scanning.
const ROOT: &str = "%SRCROOT%";
/// The key of fingerprints. Increase the number when they are computed differently.
const FINGERPRINT: &str = "attache/v1";

/// The SARIF log. Paths below `root` are relative to it. With a baseline, each result says whether the baseline has it.
///
/// # Errors
/// None: all keys are strings.
pub(crate) fn sarif(
    report: &Report,
    root: Option<&Path>,
    baseline: bool,
) -> serde_json::Result<String> {
    let rules: Vec<Value> = Code::ALL.into_iter().map(descriptor).collect();
    let indices = Code::ALL.into_iter().zip(0..).collect();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| result(finding, &indices, root, baseline))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "attache",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log)?;
    text.push('\n');
    Ok(text)
}

fn descriptor(code: Code) -> Value {
    let words = rule(code);
    let level = match code.default_severity() {
        _ if code.is_notice() => "note",
        Severity::Deny => "error",
        Severity::Warn => "warning",
    };
    let mut rule = json!({
        "id": code.as_str(),
        "shortDescription": {"text": words.title},
        "fullDescription": {"text": format!("{}.", words.title)},
        "help": {"text": words.help, "markdown": page(code)},
        "defaultConfiguration": {"level": level},
    });
    if let (Some(address), Some(rule)) = (address(code), rule.as_object_mut()) {
        rule.insert("helpUri".to_owned(), json!(address));
    }
    rule
}

fn result(
    finding: &ReportedFinding,
    indices: &BTreeMap<Code, usize>,
    root: Option<&Path>,
    baseline: bool,
) -> Value {
    let level = match finding.severity {
        _ if finding.notice => "note",
        Severity::Deny => "error",
        Severity::Warn => "warning",
    };
    let suppressions: Vec<Value> = finding
        .suppressed
        .iter()
        .map(|reason| json!({"kind": "inSource", "justification": escape(reason)}))
        .collect();
    let mut result = json!({
        "ruleId": finding.code.as_str(),
        "ruleIndex": indices.get(&finding.code),
        "level": level,
        "message": {"text": without_links(&message(finding))},
        "locations": locations(finding, root),
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "suppressions": suppressions,
    });
    if let (true, Some(result)) = (baseline, result.as_object_mut()) {
        let state = if finding.known { "unchanged" } else { "new" };
        result.insert("baselineState".to_owned(), json!(state));
    }
    result
}

/// Escapes a message: SARIF would read `[text](address)` as a link.
fn without_links(text: &str) -> String {
    let text = escape(text);
    if !text.contains("](") {
        return text;
    }
    text.replace('\\', r"\\")
        .replace('[', r"\[")
        .replace(']', r"\]")
}

/// The location of a finding. Empty if it has neither a file nor an object.
fn locations(finding: &ReportedFinding, root: Option<&Path>) -> Vec<Value> {
    let mut location = serde_json::Map::new();
    if let Some(file) = finding.file.as_deref().filter(|file| *file != STDIN) {
        let mut physical = json!({"artifactLocation": artifact(file, root)});
        if let (Some(line), Some(physical)) = (finding.line, physical.as_object_mut()) {
            let mut region = json!({"startLine": line});
            if let (Some(column), Some(region)) = (finding.column, region.as_object_mut()) {
                region.insert("startColumn".to_owned(), json!(column));
            }
            physical.insert("region".to_owned(), region);
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(name) = super::object(finding) {
        let logical = json!([{"fullyQualifiedName": escape(&name), "kind": "resource"}]);
        location.insert("logicalLocations".to_owned(), logical);
    }
    if location.is_empty() {
        return Vec::new();
    }
    vec![Value::Object(location)]
}

fn artifact(file: &str, root: Option<&Path>) -> Value {
    let path = Path::new(file);
    let below = root.and_then(|root| path.strip_prefix(root).ok());
    match below.and_then(Path::to_str) {
        Some(below) => json!({"uri": uri(below), "uriBaseId": ROOT}),
        None if path.is_absolute() => json!({"uri": format!("file://{}", uri(file))}),
        None => json!({"uri": uri(file), "uriBaseId": ROOT}),
    }
}

/// A path within a URI.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{artifact, without_links};

    #[test]
    fn a_message_holds_no_link() {
        assert_eq!(without_links("spec.a[0].b"), "spec.a[0].b");
        assert_eq!(
            without_links("[x](https://e.com)[y]"),
            r"\[x\](https://e.com)\[y\]"
        );
        assert_eq!(without_links("\u{202e}"), r"\u{202e}");
    }

    #[test]
    fn paths_are_relative_uris_where_they_can_be() {
        let root = Path::new("/work/repo");
        let uri = |file: &str| artifact(file, Some(root))["uri"].clone();
        assert_eq!(uri("a b/ü.yaml"), "a%20b/%C3%BC.yaml");
        assert_eq!(uri("/work/repo/a.yaml"), "a.yaml");
        assert_eq!(uri("/tmp/a.yaml"), "file:///tmp/a.yaml");
    }
}
