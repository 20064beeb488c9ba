//! The threat model names existing tests.

use std::fs;
use std::path::Path;

/// The head of each table of threats.
const HEAD: &str = "| threat | mitigation | test |";

fn read(path: &str) -> Result<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Whether a file has this test, and the test is not ignored.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &&str| {
        let rest = line.trim_start_matches("async ").strip_prefix("fn ");
        rest.is_some_and(|rest| {
            rest.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('('))
        })
    };
    let Some(at) = lines.iter().position(is_it) else {
        return false;
    };
    let attributes: Vec<&&str> = lines[..at]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
        .collect();
    let has = |what: &str| attributes.iter().any(|line| line.contains(what));
    // Property tests have the attribute too, inside their macro.
    (has("#[test]") || has("#[tokio::test")) && !has("ignore")
}

/// The faults in the tables of a page.
fn faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut tests = 0;
    let mut in_table = false;
    for line in page.lines() {
        in_table = line == HEAD || in_table && line.starts_with('|');
        if !in_table || line == HEAD || line.starts_with("|---") {
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let named: Vec<&str> = cells[cells.len() - 1]
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        if cells.len() != 3 || named.is_empty() {
            faults.push(format!("no test: {line}"));
        }
        for test in named {
            tests += 1;
            let Some((file, name)) = test.split_once("::") else {
                faults.push(format!("{test} is not file::name"));
                continue;
            };
            match read(file) {
                Err(why) => faults.push(why),
                Ok(text) if !has_test(&text, name) => {
                    faults.push(format!("{file} has no test {name}"));
                }
                Ok(_) => {}
            }
        }
    }
    if tests < 50 {
        faults.push(format!(
            "only {tests} tests: have the tables changed their form?"
        ));
    }
    faults
}

#[test]
fn every_test_of_the_threat_model_exists() {
    let faults = faults(&read("SECURITY.md").unwrap());
    assert!(faults.is_empty(), "SECURITY.md:\n{}", faults.join("\n"));
}

#[test]
fn a_test_that_is_not_there_is_found() {
    let page = format!(
        "{HEAD}\n|---|---|---|\n| a | b | |\n| a | b | `tests/repository/security.rs::no_such` |\n| a | b | `tests/none.rs::a` |\n| a | b | `tests/repository/security.rs::read` |\n"
    );
    let faults = faults(&page);
    for wrong in [
        "no test: | a",
        "no test no_such",
        "tests/none.rs",
        "no test read",
        "only 3",
    ] {
        assert!(
            faults.iter().any(|fault| fault.contains(wrong)),
            "{wrong}: {faults:?}"
        );
    }
}
