//! The cost of a body: at most four times its size in memory, plus a constant, and a bounded amount of work.
//!
//! Work is counted in allocations, which are deterministic; `make bench` measures time.

mod lists;
mod resident;
mod status;

use std::fmt::Write as _;

use attache::engine::admission::evidence::Evidence;
use attache::http::admission::respond;
use attache::http::call::Endpoint;

use testing::amplification::bodies::{self, Hostile};
use testing::amplification::states;

/// The limits of an answer, independent of body and state: a few bytes may concern forty thousand rules.
struct Most {
    /// Memory in addition to three times the body; the body itself is the fourth.
    memory: u64,
    /// Allocations.
    work: u64,
}

const MOST: Most = Most {
    memory: 16 << 20,
    work: 1_000_000,
};

/// The limit of [`Most::memory`] for settings, where the body is nearly all the data.
const BESIDE_SETTINGS: u64 = 4 << 20;

/// Checks that no body of a group exceeds the limits.
fn hold(group: fn() -> Vec<Hostile>) {
    hold_to(group, MOST.memory);
}

fn hold_to(group: fn() -> Vec<Hostile>, allowance: u64) {
    let review_settings = states::configuration().review_settings();
    let mut beyond = String::new();
    for hostile in group() {
        let (state, name) = (hostile.state, &hostile.name);
        let (snapshot, body) = (state.get(), hostile.body());
        for endpoint in [Endpoint::Validate, Endpoint::Mutate] {
            let ask = || {
                let evidence = Evidence::Authoritative;
                respond(
                    snapshot,
                    &review_settings,
                    &evidence,
                    endpoint,
                    body.as_bytes(),
                )
            };
            let mut answer = None;
            let taken = allocation_counter::measure(|| answer = Some(ask()));
            let answer = answer.unwrap();
            let answer = answer.unwrap_or_else(|why| panic!("{name}: {why}"));
            let patch =
                testing::answers::checked(bodies::UID, &answer, endpoint == Endpoint::Mutate);
            if let Some(patch) = patch {
                testing::answers::patched(body.as_bytes(), &patch);
            }
            let (memory, work) = (taken.bytes_max, taken.count_total);
            if memory > 3 * body.len() as u64 + allowance || work > MOST.work {
                let length = body.len();
                writeln!(beyond, "{endpoint:?} {name} on {state:?}: {memory} bytes and {work} allocations for {length} bytes").unwrap();
            }
        }
    }
    assert!(beyond.is_empty(), "\n{beyond}");
}

#[test]
fn large_settings_stay_within_the_memory_budget() {
    hold_to(bodies::settings, BESIDE_SETTINGS);
}

#[test]
fn many_targets_stay_within_the_memory_budget() {
    hold(bodies::targets);
}

#[test]
fn large_metadata_and_envelopes_stay_within_the_memory_budget() {
    hold(bodies::metadata);
}

#[test]
fn large_topologies_stay_within_the_memory_budget() {
    hold(bodies::topology);
}

#[test]
fn large_crds_stay_within_the_memory_budget() {
    hold(bodies::definitions);
}

#[test]
fn many_policies_on_one_target_stay_within_the_memory_budget() {
    hold(bodies::crowds);
}

#[test]
fn many_conflicts_stay_within_the_memory_budget() {
    hold(bodies::disputes);
}

#[test]
fn many_paths_times_many_policies_stay_within_the_memory_budget() {
    hold(bodies::products);
}

#[test]
fn a_policy_over_many_routes_stays_within_the_memory_budget() {
    hold(bodies::far);
}

/// Parsed settings stay in memory after a review: they must not take many times the size of their source.
#[test]
fn parsed_policies_stay_within_the_memory_budget() {
    const MOST: i64 = 4 << 20;
    let review_settings = states::configuration().review_settings();
    let snapshot = bodies::State::Long.build();
    let over = bodies::products().into_iter();
    for hostile in over.filter(|hostile| matches!(hostile.state, bodies::State::Long)) {
        let (name, body) = (&hostile.name, hostile.body());
        let kept = allocation_counter::measure(|| {
            let (evidence, endpoint) = (Evidence::Authoritative, Endpoint::Validate);
            let answer = respond(
                &snapshot,
                &review_settings,
                &evidence,
                endpoint,
                body.as_bytes(),
            );
            assert!(answer.is_ok(), "{name}");
        });
        let kept = kept.bytes_current;
        assert!(kept < MOST, "{name} leaves {kept} bytes");
    }
}
