//! The table of cases is complete, and each test that it names exists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/reference/reliability.md";
const CASES: usize = 85;
/// Marks a case that cannot have a test; the reason and the precaution follow it.
const NO_TEST: &str = "no test: ";

fn exists(path: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// Whether a Rust source has a test with this name that is not ignored.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = |line: &&str| {
        let line = line.trim_start_matches("async ");
        let rest = line
            .strip_prefix("fn ")
            .and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('('))
    };
    let Some(at) = lines.iter().position(begins) else {
        return false;
    };
    // Property tests have the attribute too, inside their macro.
    let above = lines[..at].iter().rev();
    let attributes: Vec<&&str> = above
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
        .collect();
    let has = |start: &str| attributes.iter().any(|line| line.starts_with(start));
    (has("#[test]") || has("#[tokio::test]") || has("#[tokio::test(")) && !has("#[ignore")
}

/// The numbers of a row: `7`, or `19, 20`.
fn numbers(cell: &str) -> Option<Vec<usize>> {
    cell.split(',').map(|n| n.trim().parse().ok()).collect()
}

/// The texts in backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The faults in the tests of a row: a file, then names of tests in it.
fn missing(cell: &str) -> Vec<String> {
    if let Some(why) = cell.strip_prefix(NO_TEST) {
        let is_told = why.split(' ').count() >= 8;
        return if is_told {
            Vec::new()
        } else {
            vec![format!("{why:?} does not say why there is no test")]
        };
    }
    let mut wrong = Vec::new();
    let mut file: Option<(&str, String, usize)> = None;
    let ends = |file: &Option<(&str, String, usize)>, wrong: &mut Vec<String>| {
        if let Some((path, _, 0)) = file {
            wrong.push(format!("no test of {path} is named"));
        }
    };
    for name in quoted(cell) {
        let is_path = name.contains('/');
        match &mut file {
            _ if is_path && Path::new(name).extension().is_some_and(|e| e == "rs") => {
                ends(&file, &mut wrong);
                let text = read(name);
                if text.is_none() {
                    wrong.push(format!("no file {name}"));
                }
                // For a missing file, do not report each of its tests.
                let known = usize::from(text.is_none());
                file = Some((name, text.unwrap_or_default(), known));
            }
            // The directory of a case, run by the test before it.
            _ if is_path => {
                if !exists(name) {
                    wrong.push(format!("no case {name}"));
                }
            }
            Some((path, text, tests)) => {
                if !text.is_empty() && !has_test(text, name) {
                    wrong.push(format!("no test {name} in {path}"));
                }
                *tests += 1;
            }
            None => wrong.push(format!("{name} precedes any file")),
        }
    }
    ends(&file, &mut wrong);
    if file.is_none() {
        wrong.push("no file is named".to_owned());
    }
    wrong
}

/// The faults of a page.
fn faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let Some(numbers) = numbers(cells[0]) else {
            continue;
        };
        let [_, what, does, held] = cells[..] else {
            faults.push(format!("{} cells instead of 4: {line}", cells.len()));
            continue;
        };
        if what.is_empty() || does.is_empty() {
            faults.push(format!("{numbers:?} says nothing"));
        }
        faults.extend(
            missing(held)
                .into_iter()
                .map(|why| format!("{numbers:?}: {why}")),
        );
        for number in numbers {
            *rows.entry(number).or_default() += 1;
        }
    }
    for number in 1..=CASES {
        match rows.remove(&number) {
            Some(1) => {}
            Some(n) => faults.push(format!("{number} is in {n} rows")),
            None => faults.push(format!("{number} is missing")),
        }
    }
    faults.extend(
        rows.keys()
            .map(|number| format!("there is no case {number}")),
    );
    faults
}

#[test]
fn each_case_names_an_existing_test() {
    let faults = faults(&read(PAGE).unwrap());
    assert!(faults.is_empty(), "{PAGE}:\n{}", faults.join("\n"));
}

/// A page with these rows, and valid rows for all other numbers.
fn page(rows: &[(usize, &str)]) -> String {
    let good = "`tests/repository/reliability.rs` `faults_of_a_table_are_found`";
    let bad = rows.iter().map(|(number, held)| (*number, *held));
    let rest = (1..=CASES).filter(|n| rows.iter().all(|(number, _)| number != n));
    let all = rest.map(|number| (number, good)).chain(bad);
    let lines = all.map(|(number, held)| format!("| {number} | a | b | {held} |"));
    lines.collect::<Vec<String>>().join("\n")
}

#[test]
fn faults_of_a_table_are_found() {
    assert_eq!(faults(&page(&[])), Vec::<String>::new());
    let this_file = "`tests/repository/reliability.rs`";
    for (held, fault) in [
        ("", "[7]: no file is named"),
        ("`name`", "[7]: name precedes any file"),
        (
            this_file,
            "[7]: no test of tests/repository/reliability.rs is named",
        ),
        ("`tests/none.rs` `a`", "[7]: no file tests/none.rs"),
        (
            &format!("{this_file} `page`"),
            "[7]: no test page in tests/repository/reliability.rs",
        ),
        (
            &format!("{this_file} `what_is_wrong`"),
            "[7]: no test what_is_wrong in tests/repository/reliability.rs",
        ),
        (
            &format!("{this_file} `faults_of_a_table_are_found`, `tests/review/none/`"),
            "[7]: no case tests/review/none/",
        ),
        (
            "no test: hard",
            "[7]: \"hard\" does not say why there is no test",
        ),
    ] {
        let found = faults(&page(&[(7, held)]));
        assert!(
            found.iter().any(|found| found == fault),
            "{held}: {found:?}"
        );
    }
    let good = &format!("{this_file} `faults_of_a_table_are_found`");
    assert_eq!(faults(&page(&[(7, good), (7, good)])), ["7 is in 2 rows"]);
    assert_eq!(faults(&page(&[(86, good)])), ["there is no case 86"]);
    let without = page(&[])
        .replace("| 85 |", "| 1, 85 |")
        .replace("| 3 |", "| x |");
    assert_eq!(faults(&without), ["1 is in 2 rows", "3 is missing"]);
    let short = page(&[]).replace("| 9 | a | b |", "| 9 | a |");
    assert!(faults(&short)[0].starts_with("3 cells instead of 4: "));
    let reason = "no test: nobody can take the sun away here; it was looked at instead";
    assert_eq!(faults(&page(&[(7, reason)])), Vec::<String>::new());
}

#[test]
fn tests_are_distinguished_from_other_functions() {
    let text = "#[test]\nfn a() {}\n\nfn b() {}\n#[tokio::test(start_paused = true)]\n/// Why.\n    async fn c() {}\n#[test]\n#[ignore]\nfn d() {}\n#[test]\nfn e(x in any::<u8>()) {}\n";
    let found = ["a", "b", "c", "d", "e", "f"].map(|name| has_test(text, name));
    assert_eq!(found, [true, false, true, false, true, false]);
}
