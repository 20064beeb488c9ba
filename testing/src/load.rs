//! Load on `attache serve` as a process, with an API server whose cluster changes: for `tests/load` and the benches.

pub mod args;
pub mod client;
pub mod cluster;
pub mod life;
pub mod mix;
pub mod objects;
pub mod overload;
pub mod pace;
pub mod process;
pub mod review;
pub mod sample;
pub mod state;
pub mod usage;
