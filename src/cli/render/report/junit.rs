//! A report as `JUnit` XML: a suite for each file, a test case for each object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{message, severity};
use crate::answer::report::{Report, ReportedFinding, Spot};
use crate::engine::admission::finding::Severity;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::ObjectKey;

/// The suite of objects without a file.
const NO_FILE: &str = "cluster";

/// A test case.
#[derive(Default)]
struct Test<'a> {
    class: String,
    name: String,
    line: Option<u64>,
    failures: Vec<&'a ReportedFinding>,
    others: Vec<&'a ReportedFinding>,
}

/// The document. Refusals are failures; with `strict`, warnings are too.
pub(crate) fn junit(
    report: &Report,
    objects: &[(ObjectKey, Option<Spot>)],
    strict: bool,
) -> String {
    let mut suites: BTreeMap<&str, BTreeMap<(u64, Option<&ObjectKey>), Test<'_>>> = BTreeMap::new();
    let mut begins: BTreeMap<&ObjectKey, (&str, u64)> = BTreeMap::new();
    for (key, spot) in objects {
        let file = spot.as_ref().map_or(NO_FILE, |spot| &*spot.file);
        let line = spot.as_ref().map_or(0, |spot| spot.line);
        begins.insert(key, (file, line));
        let test = Test {
            class: key.gk.to_string(),
            name: key.path(),
            line: (line > 0).then_some(line),
            ..Test::default()
        };
        let suite = suites.entry(file).or_default();
        suite.insert((line, Some(key)), test);
    }
    for finding in &report.findings {
        let object = finding.object.as_ref().map(|object| &object.0.object);
        let known = object.and_then(|key| begins.get_key_value(key));
        let (file, case) = if let Some((key, (file, line))) = known {
            (*file, (*line, Some(*key)))
        } else {
            let file = finding.file.as_deref().unwrap_or(NO_FILE);
            (file, (finding.line.unwrap_or_default(), None))
        };
        let test = suites.entry(file).or_default().entry(case);
        let test = test.or_insert_with(|| Test {
            class: "file".to_owned(),
            name: file.to_owned(),
            line: finding.line,
            ..Test::default()
        });
        let fails = finding.severity == Severity::Deny || strict;
        if fails && finding.counts() {
            test.failures.push(finding);
        } else {
            test.others.push(finding);
        }
    }
    document(&suites)
}

fn document(suites: &BTreeMap<&str, BTreeMap<(u64, Option<&ObjectKey>), Test<'_>>>) -> String {
    let tests: usize = suites.values().map(BTreeMap::len).sum();
    let failed: usize = suites.values().map(failed).sum();
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        text,
        "<testsuites name=\"attache check\" tests=\"{tests}\" failures=\"{failed}\">"
    );
    for (file, suite) in suites {
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">",
            xml(file),
            suite.len(),
            self::failed(suite)
        );
        for test in suite.values() {
            case(&mut text, file, test);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn failed<K>(suite: &BTreeMap<K, Test<'_>>) -> usize {
    let failed = suite.values().filter(|test| !test.failures.is_empty());
    failed.count()
}

fn case(out: &mut String, file: &str, test: &Test<'_>) {
    let _ = write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\"",
        xml(&test.class),
        xml(&test.name)
    );
    if file != NO_FILE {
        let _ = write!(out, " file=\"{}\"", xml(file));
    }
    if let Some(line) = test.line {
        let _ = write!(out, " line=\"{line}\"");
    }
    if test.failures.is_empty() && test.others.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    if let Some(first) = test.failures.first() {
        let codes: BTreeSet<&str> = test.failures.iter().map(|f| f.code.as_str()).collect();
        let codes: Vec<&str> = codes.into_iter().collect();
        let _ = writeln!(
            out,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            codes.join(", "),
            xml(&message(first)),
            lines(&test.failures, file)
        );
    }
    if !test.others.is_empty() {
        let others = lines(&test.others, file);
        let _ = writeln!(out, "      <system-out>{others}</system-out>");
    }
    out.push_str("    </testcase>\n");
}

/// One line per finding.
fn lines(findings: &[&ReportedFinding], file: &str) -> String {
    let lines = findings.iter().map(|finding| xml(&line(finding, file)));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(finding: &ReportedFinding, file: &str) -> String {
    let place = match finding.line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    };
    let code = finding.code.as_str();
    let text = format!(
        "{place}: {} {code}: {}",
        severity(finding),
        message(finding)
    );
    match &finding.suppressed {
        Some(reason) => format!("{text} (suppressed: {reason})"),
        None if finding.known => format!("{text} (in the baseline)"),
        None => text,
    }
}

/// Escapes text for XML, including characters that XML forbids.
pub(in crate::cli::render) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
