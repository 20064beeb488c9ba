//! What a run tells about itself beside its metrics: logs, and traces for those who collect them.

pub mod logs;
pub mod panics;
pub mod traces;

pub use logs::{LogFormat, TelemetryError, init};
