//! What policies do: the conditions that the engine computes.

pub mod conditions;
