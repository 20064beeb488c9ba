//! The tools of an operator: metrics, logs, traces, dashboards and alerts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

#[path = "../wire/client.rs"]
#[allow(dead_code, reason = "tests/wire misbehaves in more ways")]
mod client;
mod collector;
mod logs;
mod metrics;
mod monitoring;
mod process;
mod promql;
#[path = "../serving/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod serving;
mod traces;
