//! Load, overload and rolling updates: properties on any machine. `cargo bench --bench soak` measures the rest.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

#[path = "../../benches/soak/api.rs"]
mod api;
mod balancer;
#[path = "../../benches/soak/client.rs"]
mod client;
#[path = "../../benches/soak/mix.rs"]
mod mix;
#[path = "../../benches/soak/objects.rs"]
mod objects;
#[path = "../../benches/soak/overload.rs"]
#[allow(dead_code, reason = "the bench uses the rest")]
mod overload;
#[path = "../../benches/soak/pace.rs"]
mod pace;
#[path = "../../benches/soak/process.rs"]
#[allow(dead_code, reason = "the bench uses the rest")]
mod process;
#[path = "../../benches/soak/review.rs"]
mod review;
mod rolling;
#[path = "../../benches/soak/sample.rs"]
#[allow(dead_code, reason = "the bench uses the rest")]
mod sample;
mod soak;
#[path = "../cache/server.rs"]
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the tests of the cache, whose module it is, use the rest"
)]
mod stand_in;
#[path = "../../benches/soak/usage.rs"]
mod usage;

const CONFIG: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";

/// Checks that no call failed or was rejected.
#[track_caller]
fn all_answered(all: &pace::Outcome) {
    let (failed, sent_away) = (all.failed, all.rude + all.shed.len());
    assert_eq!((failed, sent_away), (0, 0), "{:?}", all.why);
}
