//! The tools of an operator: metrics, logs, traces, dashboards and alerts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod logs;
mod metrics;
mod monitoring;
mod process;
mod promql;
mod traces;
