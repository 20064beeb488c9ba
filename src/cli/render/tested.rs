//! The output of `attache test`: as `cargo test` writes it, and as `JUnit` XML.

use std::fmt::Write as _;

use super::report::junit::xml;
use super::style::{Style, Tone};
use crate::answer::tested::{TestFailure, TestReport, Tested, TestedFile};
use crate::engine::admission::verdict::escape;

/// A line for each test, then why tests failed, then the result.
pub(crate) fn text(report: &TestReport, style: Style) -> String {
    let mut text = String::new();
    for file in &report.files {
        let count = file.tests.len();
        let noun = if count == 1 { "test" } else { "tests" };
        let _ = writeln!(text, "running {count} {noun} of {}", escape(&file.file));
        for test in &file.tests {
            let result = if test.passed {
                style.paint(Tone::Good, "ok")
            } else {
                style.paint(Tone::Bad, "FAILED")
            };
            let _ = writeln!(text, "test {} ... {result}", escape(&test.name));
            for note in &test.notes {
                let _ = writeln!(text, "  note: {}", escape(note));
            }
        }
        text.push('\n');
    }
    failures(report, style, &mut text);
    let summary = &report.summary;
    let result = if summary.failed == 0 {
        style.paint(Tone::Good, "ok")
    } else {
        style.paint(Tone::Bad, "FAILED")
    };
    let _ = writeln!(
        text,
        "test result: {result}. {} passed; {} failed; {} filtered out",
        summary.passed, summary.failed, summary.filtered_out
    );
    text
}

fn failures(report: &TestReport, style: Style, text: &mut String) {
    if report.summary.failed == 0 {
        return;
    }
    text.push_str("failures:\n\n");
    for (file, test, failure) in failed(report) {
        let _ = writeln!(
            text,
            "---- {} ({}:{}) ----",
            escape(&test.name),
            escape(&file.file),
            test.line
        );
        for line in lines(failure) {
            let tone = match line.chars().next() {
                Some('-') => Tone::Bad,
                Some('+') => Tone::Good,
                _ => Tone::Plain,
            };
            let _ = writeln!(text, "{}", style.paint(tone, &line));
        }
        text.push('\n');
    }
}

fn failed(report: &TestReport) -> impl Iterator<Item = (&TestedFile, &Tested, &TestFailure)> {
    report.files.iter().flat_map(|file| {
        let tests = file.tests.iter();
        tests.filter_map(move |test| Some((file, test, test.failure.as_ref()?)))
    })
}

/// The lines of a failure, not escaped.
fn lines(failure: &TestFailure) -> Vec<String> {
    let mut lines: Vec<String> = failure.message.lines().map(str::to_owned).collect();
    for difference in &failure.differences {
        lines.push(difference.at.clone());
        lines.extend(difference.diff.lines().map(str::to_owned));
    }
    lines
}

/// A suite for each file, a test case for each test.
pub(crate) fn junit(report: &TestReport) -> String {
    let summary = &report.summary;
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        text,
        "<testsuites name=\"attache test\" tests=\"{}\" failures=\"{}\">",
        summary.passed + summary.failed,
        summary.failed
    );
    for file in &report.files {
        let failed = file.tests.iter().filter(|test| !test.passed).count();
        let name = xml(&file.file);
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\">",
            file.tests.len()
        );
        for test in &file.tests {
            case(&mut text, &name, test);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// One test case, which says why no test could run.
pub(crate) fn junit_of_error(why: &str) -> String {
    let why = xml(why);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"attache test\" tests=\"1\" failures=\"0\" errors=\"1\">
  <testsuite name=\"attache test\" tests=\"1\" failures=\"0\" errors=\"1\">
    <testcase classname=\"attache test\" name=\"the tests can be read\">
      <error message=\"{why}\"/>
    </testcase>
  </testsuite>
</testsuites>
"
    )
}

fn case(out: &mut String, file: &str, test: &Tested) {
    let _ = write!(
        out,
        "    <testcase classname=\"{file}\" name=\"{}\" file=\"{file}\" line=\"{}\"",
        xml(&test.name),
        test.line
    );
    if test.failure.is_none() && test.notes.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    if let Some(failure) = &test.failure {
        let body: Vec<String> = lines(failure).iter().map(|line| xml(line)).collect();
        let first = failure.message.lines().next().unwrap_or_default();
        let _ = writeln!(
            out,
            "      <failure message=\"{}\">{}</failure>",
            xml(first),
            body.join("\n")
        );
    }
    if !test.notes.is_empty() {
        let notes: Vec<String> = test.notes.iter().map(|note| xml(note)).collect();
        let _ = writeln!(out, "      <system-out>{}</system-out>", notes.join("\n"));
    }
    out.push_str("    </testcase>\n");
}
