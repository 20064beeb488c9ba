//! Logs, and traces for a collector.

pub mod logs;
pub mod panics;
pub mod traces;

pub use logs::{LogFormat, TelemetryError, init};
