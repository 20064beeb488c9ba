//! Everything known of a cluster or a directory at one moment, as an immutable value.

pub(in crate::engine) mod generation_cache;
pub mod snapshot;
