//! The states of policies, as conditions that the engine computes.

pub mod conditions;
