//! Limits on the work of the webhook server.

use std::time::Duration;

/// The number of requests that may wait for each review in progress. All of them get their turn within a second even if
/// each review has a live read that times out. More would only learn later that they have to retry.
const WAITING: usize = 3;

/// Limits on concurrent work.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Concurrent reviews: requests that have arrived completely.
    pub max_in_flight: usize,
    /// Bytes of bodies that are arriving or in review, and of answers that wait to be read.
    pub body_memory: usize,
    /// Timeout for a body to arrive; the API server sends it from memory at once.
    pub body_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_in_flight: 64,
            // Nine of the largest bodies, or thousands of the usual ones.
            body_memory: 64 * 1024 * 1024,
            body_timeout: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// The number of requests that may wait for a review to finish.
    pub(super) fn waiting(&self) -> usize {
        self.max_in_flight.saturating_mul(WAITING)
    }
}
