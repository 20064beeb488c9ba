//! The meaning of policy attachment: which policies are attached where, and what is in force. Pure: no async, no
//! clock, no I/O, no client. Thread-local caches do not affect answers.

pub mod admission;
pub mod attachment;
pub mod effective;
pub mod kinds;
pub mod merge;
pub mod model;
pub mod policy;
pub mod routing;
pub mod state;
pub mod status;
pub mod topology;
