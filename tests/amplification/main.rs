//! What a body may take: four times its size in memory, beside what is fixed, and a bounded amount of work.
//!
//! Work is counted as allocations, which are the same each time; `make bench` tells the time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

#[path = "../../fuzz/targets/answers.rs"]
#[allow(dead_code, reason = "the fuzz targets use the rest")]
mod answers;
mod bodies;
#[path = "../wire/client.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod client;
mod lists;
mod resident;
mod states;

use std::fmt::Write as _;

use attache::engine::review::Evidence;
use attache::engine::snapshot::Snapshot;
use attache::http::admission::{Endpoint, respond};

use bodies::{Hostile, State};

/// What an answer may take.
#[derive(Clone, Copy)]
struct Most {
    /// Memory beside three times the body, which itself is the fourth.
    memory: u64,
    /// Allocations.
    work: u64,
}

/// Where the body decides.
const BODY: Most = Most {
    memory: 16 << 20,
    work: 1_000_000,
};
/// Where the state decides: a few bytes may concern forty thousand rules. Each processor works out one answer at a
/// time, so this is not taken many times over.
const STATE: Most = Most {
    memory: 96 << 20,
    work: 2_000_000,
};

/// What goes beyond, for each body of a group.
fn beyond(states: &[(State, Snapshot)], group: fn() -> Vec<Hostile>, most: Most) -> String {
    let conduct = states::configuration().conduct();
    let mut beyond = String::new();
    for hostile in group() {
        let (_, snapshot) = states
            .iter()
            .find(|(state, _)| *state == hostile.state)
            .unwrap();
        let body = hostile.body();
        for endpoint in [Endpoint::Validate, Endpoint::Mutate] {
            let evidence = Evidence::Authoritative;
            let mut answer = None;
            let taken = allocation_counter::measure(|| {
                answer = Some(respond(
                    snapshot,
                    &conduct,
                    &evidence,
                    endpoint,
                    body.as_bytes(),
                ));
            });
            let (state, name) = (hostile.state, &hostile.name);
            let answer = answer
                .unwrap()
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            if let Some(patch) =
                answers::check(body.as_bytes(), &answer, endpoint == Endpoint::Mutate)
            {
                answers::patched(body.as_bytes(), &patch);
            }
            let (memory, work) = (taken.bytes_max, taken.count_total);
            if memory > 3 * body.len() as u64 + most.memory || work > most.work {
                let length = body.len();
                writeln!(beyond, "{endpoint:?} {name} on {state:?}: {memory} bytes and {work} allocations for {length} bytes").unwrap();
            }
        }
    }
    beyond
}

fn hold(states: &[State], group: fn() -> Vec<Hostile>, most: Most) {
    let states: Vec<(State, Snapshot)> =
        states.iter().map(|state| (*state, state.build())).collect();
    // Settings of the policies that are there are read when they are first asked for, and kept.
    let conduct = states::configuration().conduct();
    for hostile in bodies::far()
        .iter()
        .filter(|hostile| hostile.name.contains("class"))
    {
        for (_, snapshot) in &states {
            let body = hostile.body();
            respond(
                snapshot,
                &conduct,
                &Evidence::Authoritative,
                Endpoint::Validate,
                body.as_bytes(),
            )
            .unwrap();
        }
    }
    let beyond = beyond(&states, group, most);
    assert!(beyond.is_empty(), "\n{beyond}");
}

#[test]
fn settings_take_little() {
    hold(&[State::Small], bodies::settings, BODY);
}

#[test]
fn targets_take_little() {
    hold(&[State::Small, State::Wide], bodies::targets, BODY);
}

#[test]
fn metadata_and_envelopes_take_little() {
    hold(&[State::Small], bodies::metadata, BODY);
}

#[test]
fn topologies_take_little() {
    hold(&[State::Small, State::Dense], bodies::topology, BODY);
}

#[test]
fn definitions_take_little() {
    hold(&[State::Small], bodies::definitions, BODY);
}

#[test]
fn crowds_take_little() {
    let states = [State::Crowded, State::Heavy, State::Wide, State::Dense];
    hold(&states, bodies::crowds, STATE);
}

#[test]
fn what_reaches_far_takes_little() {
    hold(&[State::Wide, State::Dense], bodies::far, STATE);
}
