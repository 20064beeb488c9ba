//! A body to the mutating endpoint with every mutation on: patches apply, and lead to an object that needs
//! none.

use attache::engine::review::Evidence;
use attache::http::admission::{Endpoint, respond};

use super::world::World;
use super::{answers, budget, review};

/// Asks for a patch, and asks again with the object that it leads to.
pub(crate) fn run(body: &[u8]) {
    let world = World::get();
    let evidence = Evidence::Authoritative;
    let ask = |snapshot, body: &[u8]| {
        respond(snapshot, &world.conduct, &evidence, Endpoint::Mutate, body)
    };
    let answer = budget::within(body.len(), "a patch", || ask(&world.listed, body));
    assert_eq!(answer.is_ok(), answers::uid(body).is_some(), "{answer:?}");
    assert_eq!(answer, ask(&world.listed, body), "the same again");
    assert_eq!(
        answer,
        ask(&world.grown, body),
        "on the same state, come by otherwise"
    );
    if let Ok(answer) = answer {
        answers::settled(body, &answer, true, |mended| {
            ask(&world.listed, mended).expect("what was mended is a review still")
        });
    }
}

/// The requests of the cases of patches, and all others.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    review::seeds()
}
