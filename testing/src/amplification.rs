//! Requests that are expensive for their size, and the states in which they are: for `tests/serving/amplification`, which
//! counts memory and allocations, and `benches/hostile.rs`, which measures time.

pub mod bodies;
pub mod states;
