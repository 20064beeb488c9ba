//! What policies do: the conditions that the engine computes, and those that controllers reported.

pub mod conditions;
pub mod reports;
