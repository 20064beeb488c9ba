//! Sends a body to the mutating webhook with all mutations on: patches must apply, and the patched object must not need
//! another one.

use attache::engine::admission::evidence::Evidence;
use attache::http::admission::respond;
use attache::http::call::Endpoint;

use super::review_state::ReviewState;
use super::{budget, review};
use crate::answers;

/// Requests a patch, and another one for the patched object.
pub fn run(body: &[u8]) {
    let state = ReviewState::get();
    let evidence = Evidence::Authoritative;
    let ask = |snapshot, body: &[u8]| {
        respond(
            snapshot,
            &state.review_settings,
            &evidence,
            Endpoint::Mutate,
            body,
        )
    };
    let answer = budget::within(body.len(), "a patch", || ask(&state.listed, body));
    assert_eq!(answer.is_ok(), answers::uid(body).is_some(), "{answer:?}");
    assert_eq!(answer, ask(&state.listed, body), "the same again");
    assert_eq!(
        answer,
        ask(&state.grown, body),
        "on the same state, come by otherwise"
    );
    if let Ok(answer) = answer {
        answers::settled(body, &answer, true, |mended| {
            ask(&state.listed, mended).expect("what was mended is a review still")
        });
    }
}

/// The requests of all cases.
pub fn seeds() -> Vec<Vec<u8>> {
    review::seeds()
}
