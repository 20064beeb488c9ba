//! Finds the files of tests, and runs the tests in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::file::{OneOrMore, TestCase};
use super::read::{self, Read};
use super::test_result::{TestResult, tested};
use super::test_state::{ReadOptions, TestState, relative_to};
use super::{change, effective, guardrail, request};
use crate::answer::tested::{TestReport, TestedFile};
use crate::cache::files;
use crate::cli::Failure;
use crate::engine::admission::verdict::escape;

/// All tests of some files, and the files that they read.
pub(super) struct Suite {
    files: Vec<(PathBuf, Vec<Read>)>,
}

// === impl Suite ===

impl Suite {
    /// Reads the files of tests among these files and directories.
    ///
    /// # Errors
    /// If a path does not exist, a file cannot be read, or there are no tests.
    pub(super) fn read(paths: &[PathBuf], how: &ReadOptions) -> Result<Self, Failure> {
        if let Some(missing) = paths.iter().find(|path| !path.exists()) {
            let missing = escape(&missing.display().to_string());
            return Err(format!("{missing} does not exist").into());
        }
        let mut tests = Vec::new();
        for path in files::names(paths, how.links) {
            let is_given = paths.contains(&path);
            if !is_given && !read::is_named(&path) {
                continue;
            }
            match read::read(&path)? {
                Some(documents) => tests.push((path, documents)),
                None if is_given => {
                    let path = escape(&path.display().to_string());
                    let why = "it needs apiVersion: attache.dev/v1 and kind: Test";
                    return Err(format!("{path}: this is not a file of tests: {why}").into());
                }
                None => {}
            }
        }
        if tests.is_empty() {
            let places: Vec<String> = paths
                .iter()
                .map(|path| escape(&path.display().to_string()))
                .collect();
            return Err(format!(
                "there are no tests in {}: files that end in .attache.yaml and have kind: Test are read",
                places.join(", ")
            )
            .into());
        }
        Ok(Self { files: tests })
    }

    /// The files and directories that the result depends on.
    pub(super) fn depends_on(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        for (file, documents) in &self.files {
            all.push(file.clone());
            for document in documents {
                let from = document.from.iter().map(|path| relative_to(file, path));
                all.extend(from.flat_map(|path| {
                    let built = crate::cache::repository::read_by(&path);
                    std::iter::once(path).chain(built)
                }));
                let changes = document.tests.iter().filter_map(|(_, test)| match test {
                    TestCase::Change(test) => test.apply.as_ref(),
                    _ => None,
                });
                let applied = changes.flat_map(OneOrMore::all);
                all.extend(applied.map(|path| relative_to(file, Path::new(path))));
            }
        }
        all
    }

    /// Runs the tests whose names contain one of the filters; all without a filter.
    ///
    /// # Errors
    /// If manifests or a configuration cannot be read, or no test has such a name.
    pub(super) fn run(&self, how: &ReadOptions, filters: &[String]) -> Result<TestReport, Failure> {
        let mut test_states: BTreeMap<Vec<PathBuf>, Rc<TestState>> = BTreeMap::new();
        let mut files = Vec::new();
        let mut filtered_out = 0;
        let is_asked = |name: &str| {
            filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
        };
        for (file, documents) in &self.files {
            let shown = escape(&file.display().to_string());
            let mut tests = Vec::new();
            for document in documents {
                let (asked, others): (Vec<_>, Vec<_>) = document
                    .tests
                    .iter()
                    .partition(|(_, test)| is_asked(test.name()));
                filtered_out += others.len();
                if asked.is_empty() {
                    continue;
                }
                let from: Vec<PathBuf> = document
                    .from
                    .iter()
                    .map(|path| relative_to(file, path))
                    .collect();
                let test_state = if let Some(test_state) = test_states.get(&from) {
                    test_state.clone()
                } else {
                    let read =
                        TestState::read(&from, how).map_err(|why| format!("{shown}: {why}"))?;
                    test_states.entry(from).or_insert(Rc::new(read)).clone()
                };
                tests.extend(asked.into_iter().map(|(line, test)| {
                    let outcome = test.run(&test_state, file, how);
                    tested(test.name(), *line, outcome)
                }));
            }
            if !tests.is_empty() {
                files.push(TestedFile { file: shown, tests });
            }
        }
        if files.is_empty() {
            let filters: Vec<String> = filters.iter().map(|part| format!("{part:?}")).collect();
            let filters = filters.join(" or ");
            return Err(match filtered_out {
                1 => format!("the only test does not have {filters} in its name"),
                all => format!("none of the {all} tests has {filters} in its name"),
            }
            .into());
        }
        Ok(TestReport::new(files, filtered_out))
    }
}

// === impl TestCase ===

impl TestCase {
    fn name(&self) -> &str {
        match self {
            Self::Effective(test) => &test.name,
            Self::Request(test) => &test.name,
            Self::Change(test) => &test.name,
            Self::Guardrail(test) => &test.name,
        }
    }

    fn run(&self, test_state: &TestState, file: &Path, how: &ReadOptions) -> TestResult {
        match self {
            Self::Effective(test) => effective::run(test_state, test),
            Self::Request(test) => request::run(test_state, test),
            Self::Change(test) => change::run(test_state, file, how.links, test),
            Self::Guardrail(test) => guardrail::run(test_state, test),
        }
    }
}
