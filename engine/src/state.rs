//! Everything known of a cluster or a directory at one moment, as an immutable value.

pub(crate) mod generation_cache;
pub mod snapshot;
