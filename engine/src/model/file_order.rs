//! Creation times of manifests without one: they only express the order of the manifests.

use jiff::{SignedDuration, Timestamp};

/// The seconds before the end of time in which these times are; more than there can be manifests.
const SPAN: i64 = 1 << 32;

/// The time from which the creation times of `count` manifests are counted: each manifest is a second newer than the one before it.
pub fn before_first(count: usize) -> Timestamp {
    let seconds = i64::try_from(count).unwrap_or(SPAN).min(SPAN);
    let first = Timestamp::MAX.saturating_sub(SignedDuration::from_secs(seconds));
    first.unwrap_or(Timestamp::MAX)
}

/// Whether a creation time only expresses the order of manifests.
pub fn is_order(created: Timestamp) -> bool {
    created >= before_first(usize::MAX)
}
