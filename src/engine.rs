//! What policy attachment means. Pure: no async, no clock, no I/O, no client.

pub mod affected;
pub mod attach;
pub mod disclosure;
pub mod finding;
pub mod ids;
pub mod merge;
pub mod mutate;
pub mod object;
pub mod policy;
pub mod profile;
pub mod review;
pub mod snapshot;
pub mod topology;
pub mod validate;
pub mod verdict;
