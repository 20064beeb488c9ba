//! A test of a guardrail: every target fulfils it, or exactly these targets break it.

use std::collections::BTreeSet;

use serde_json::json;

use super::difference::Differences;
use super::file::GuardrailTest;
use super::finding::first_of;
use super::subject;
use super::test_result::TestResult;
use super::test_state::TestState;
use crate::answer::guardrails::Guarded;
use crate::answer::tested::TestFailure;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::Place;

/// Runs the test.
pub(super) fn run(test_state: &TestState, test: &GuardrailTest) -> TestResult {
    let name = &test.guardrail;
    let all = &test_state.guardrail_report().guardrails;
    let Some(guarded) = all.iter().find(|guarded| guarded.name == *name) else {
        let all: Vec<String> = all.iter().map(|guarded| guarded.name.clone()).collect();
        return Err(format!(
            "there is no guardrail {name:?}; {}",
            subject::suggestion(name, &all)
        )
        .into());
    };
    if let Some(why) = &guarded.error {
        return Err(format!("{name}: {why}").into());
    }
    let unjudged: Vec<String> = lines(guarded, true);
    if !unjudged.is_empty() {
        return Err(format!("{name} cannot be judged:{}", first_of(&unjudged)).into());
    }
    match &test.broken {
        None => fulfilled(guarded),
        Some(broken) => breaking(test_state, guarded, broken),
    }
}

fn fulfilled(guarded: &Guarded) -> TestResult {
    let name = &guarded.name;
    if guarded.broken > 0 {
        return Err(format!("{name} is broken:{}", first_of(&lines(guarded, false))).into());
    }
    match (guarded.fulfilled, guarded.excepted) {
        (0, 0) => Err(format!("{name} applies to no target, so nothing fulfils it").into()),
        (0, _) => {
            Err(format!("{name}: all its targets have an exception, so nothing fulfils it").into())
        }
        (_, 0) => Ok(Vec::new()),
        (_, 1) => Ok(vec!["1 target has an exception".to_owned()]),
        (_, many) => Ok(vec![format!("{many} targets have exceptions")]),
    }
}

fn breaking(test_state: &TestState, guarded: &Guarded, broken: &[String]) -> TestResult {
    let expected = broken
        .iter()
        .map(|text| subject::existing(test_state, text));
    let expected: BTreeSet<Place> = expected.collect::<Result<_, _>>()?;
    let faults = guarded.faults.iter();
    let broken_at: BTreeSet<Place> = faults.map(|fault| fault.target.0.clone()).collect();
    if broken_at == expected {
        return Ok(Vec::new());
    }
    let names = |places: &BTreeSet<Place>| {
        let names = places.iter().map(|place| escape(&place.to_string()));
        json!({"broken": names.collect::<Vec<_>>()})
    };
    let mut differences = Differences::default();
    differences.note(guarded.name.clone(), names(&broken_at));
    Err(TestFailure {
        message: format!("other targets break {}", guarded.name),
        differences: differences.from(&names(&expected), "broken by")?,
    })
}

/// A line for each fault.
fn lines(guarded: &Guarded, errors: bool) -> Vec<String> {
    let faults = guarded
        .faults
        .iter()
        .filter(|fault| fault.is_error == errors);
    faults
        .map(|fault| {
            let through = fault.through.as_ref();
            let through = through.map(|place| format!(" through {place}"));
            let text = format!(
                "{}{}: {}",
                fault.target.0,
                through.unwrap_or_default(),
                fault.message
            );
            escape(&text)
        })
        .collect()
}
