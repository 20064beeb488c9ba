//! Everything known of a cluster or a directory at one moment, as an immutable value.

pub mod grants;
pub mod snapshot;
