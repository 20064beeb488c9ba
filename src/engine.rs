//! What policy attachment means. Pure: no async, no clock, no I/O, no client.

pub mod finding;
pub mod ids;
pub mod object;
pub mod policy;
pub mod profile;
pub mod review;
pub mod snapshot;
pub mod verdict;
