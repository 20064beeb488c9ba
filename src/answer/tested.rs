//! `attache test`: which expectations on the policies in force, on requests and on changes hold.

use schemars::JsonSchema;
use serde::Serialize;

use super::Answer;

/// The result of the tests in all files.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TestReport {
    /// The files, in the order in which they were found.
    pub files: Vec<TestedFile>,
    /// The number of tests.
    pub summary: TestSummary,
}

/// A file with tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestedFile {
    /// The path, as given or found.
    pub file: String,
    /// Its tests, in their order.
    pub tests: Vec<Tested>,
}

/// A test that ran.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tested {
    /// The name.
    pub name: String,
    /// The line in the file, from 1.
    pub line: u64,
    /// Whether it passed.
    pub passed: bool,
    /// Facts that the result depends on and that attache does not know, such as how a controller reads regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<TestFailure>,
}

/// Why a test failed.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TestFailure {
    /// The reason.
    pub message: String,
    /// The differences between the result and the expectation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// A result that differs from the expectation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// The paths on which it differs.
    pub at: String,
    /// A unified diff of YAML, from the expectation to the result.
    pub diff: String,
}

/// The number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestSummary {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that did not run because of `--filter`.
    pub filtered_out: usize,
}

impl Answer for TestReport {
    const KIND: &'static str = "TestReport";
}

// === impl TestReport ===

impl TestReport {
    /// Counts the tests.
    pub fn new(files: Vec<TestedFile>, filtered_out: usize) -> Self {
        let tests = || files.iter().flat_map(|file| &file.tests);
        let passed = tests().filter(|test| test.passed).count();
        let summary = TestSummary {
            passed,
            failed: tests().count() - passed,
            filtered_out,
        };
        Self { files, summary }
    }
}

// === impl TestFailure ===

impl TestFailure {
    /// A failure without a difference to show.
    pub fn because(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            differences: Vec::new(),
        }
    }
}

impl From<String> for TestFailure {
    fn from(message: String) -> Self {
        Self::because(message)
    }
}

impl From<Box<dyn std::error::Error + Send + Sync>> for TestFailure {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self::because(error.to_string())
    }
}
