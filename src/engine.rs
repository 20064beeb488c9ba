//! What policy attachment means. Pure: no async, no clock, no I/O, no client.

pub mod affected;
pub mod attach;
pub mod cel;
pub mod conditions;
pub mod conduct;
pub mod disclosure;
pub mod effective;
pub mod finding;
pub mod grants;
pub mod ids;
pub mod impact;
pub mod level;
pub mod merge;
pub mod mutate;
pub mod object;
pub mod policy;
pub mod profile;
pub mod review;
pub mod rivals;
pub mod section;
pub mod selector;
pub mod severities;
pub mod snapshot;
pub mod topology;
pub mod validate;
pub mod verdict;
