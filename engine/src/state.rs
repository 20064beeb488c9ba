//! Everything known of a cluster or a directory at one moment, as an immutable value.

pub mod deleted_with;
pub mod grants;
pub mod snapshot;
