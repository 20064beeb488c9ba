//! Settings that provide a protection.

use std::sync::Arc;

use super::SpecPath;

/// A protection, and the settings that provide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The name for users: `authentication`.
    pub name: Arc<str>,
    /// Paths within the settings, each of which provides it; the empty path means any policy.
    pub settings: Vec<SpecPath>,
}
