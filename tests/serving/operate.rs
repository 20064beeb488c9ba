//! The tools of an operator: metrics, logs, traces, dashboards and alerts.

mod logs;
mod metrics;
mod monitoring;
mod process;
mod promql;
mod current_state;
mod traces;
