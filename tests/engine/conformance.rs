//! The offline part of the Gateway API's conformance suite: its manifests are the state, and what its tests expect
//! (attached routes, accepted listeners, the backend and the status of a request) is compared with attache's answers.
//! `record.sh` extracts the tables of the suite; none of them are stored here.
//!
//! Prints how many agree. Disagreements must be listed in `disagreements.txt`, with a reason. If the suite cannot be
//! fetched, the test is skipped with a message; with `ATTACHE_REQUIRE_CONFORMANCE=1`, as in CI, it fails.

mod asked;
mod requests;
mod test_state;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use asked::{Answer, ask};
use test_state::TestState;

#[test]
fn the_suite_agrees() {
    let Some(folder) = recorded() else {
        return;
    };
    let calls = fs::read_to_string(folder.join("calls.json")).unwrap();
    let tests: Vec<serde_json::Value> = serde_json::from_str(&calls).unwrap();
    assert!(tests.len() > 150, "the tests are gone");
    let (mut agreed, mut asked) = (0, 0);
    let mut wrong: Vec<String> = Vec::new();
    let mut not_asked: BTreeMap<String, usize> = BTreeMap::new();
    for test in &tests {
        let name = test["name"].as_str().unwrap();
        let calls = test["calls"].as_array();
        if test["mesh"] == true {
            *not_asked.entry("mesh tests".to_owned()).or_default() += 1;
            continue;
        }
        let state = TestState::of(&folder, test);
        for (i, call) in calls.into_iter().flatten().enumerate() {
            if call["func"] == "changes" {
                // From here on the state is one that the test itself changed.
                *not_asked.entry("after a change".to_owned()).or_default() += 1;
                break;
            }
            match ask(&state, call) {
                Answer::Agrees(n) => {
                    agreed += n;
                    asked += n;
                }
                Answer::Differs(why) => {
                    asked += 1;
                    wrong.push(format!("{name} {i}: {why}"));
                }
                Answer::NotAsked => {
                    let func = call["func"].as_str().unwrap().to_owned();
                    *not_asked.entry(func).or_default() += 1;
                }
            }
        }
    }
    println!("conformance: {agreed} of {asked} agree");
    for (what, n) in &not_asked {
        println!("not asked: {n} {what}");
    }
    let known = fs::read_to_string(root().join("disagreements.txt")).unwrap();
    let known: Vec<&str> = known
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let is_known = |wrong: &String| {
        let test = wrong.split(' ').next().unwrap_or_default();
        known
            .iter()
            .any(|line| line.split(':').next() == Some(test))
    };
    let new: Vec<&String> = wrong.iter().filter(|wrong| !is_known(wrong)).collect();
    for wrong in &wrong {
        println!("differs: {wrong}");
    }
    assert!(asked > 300, "{asked} questions are too few");
    assert!(new.is_empty(), "{new:#?}");
    for line in known.iter().filter(|line| !line.is_empty()) {
        let test = line.split(':').next().unwrap_or_default();
        let differs = wrong
            .iter()
            .any(|wrong| wrong.split(' ').next() == Some(test));
        assert!(
            differs,
            "{test} agrees by now: take it out of disagreements.txt"
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// The directory with the suite's tables and manifests. `None` if the suite cannot be fetched.
fn recorded() -> Option<PathBuf> {
    let ran = Command::new(root().join("record.sh")).output().unwrap();
    if ran.status.success() {
        let path = String::from_utf8(ran.stdout).unwrap();
        return Some(PathBuf::from(path.trim()));
    }
    let why = String::from_utf8_lossy(&ran.stderr).into_owned();
    let required = std::env::var_os("ATTACHE_REQUIRE_CONFORMANCE").is_some();
    assert!(!required, "the conformance suite is not here: {why}");
    println!("SKIPPED: the conformance suite is not here: {why}");
    None
}
