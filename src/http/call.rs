//! One call of a webhook.

use tokio::time::Instant;

/// The webhook that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Refusals and warnings.
    Validate,
    /// Patches.
    Mutate,
}

/// One call by the API server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) endpoint: Endpoint,
    pub(super) arrived: Instant,
    /// The API server ignores a later answer.
    pub(super) deadline: Instant,
}

// === impl Endpoint ===

impl Endpoint {
    /// The name in paths, logs and metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Mutate => "mutate",
        }
    }
}
