//! Load, overload and rolling updates: properties on any machine. `cargo bench --bench soak` measures the rest.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

mod rolling;
mod soak;

use testing::load::pace::Outcome;

const CONFIG: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";

/// Checks that no call failed or was rejected.
#[track_caller]
fn all_answered(all: &Outcome) {
    let (failed, sent_away) = (all.failed, all.rude + all.shed.len());
    assert_eq!((failed, sent_away), (0, 0), "{:?}", all.why);
}
