//! The tools of an operator: metrics, logs, traces, dashboards and alerts.

mod current_state;
mod logs;
mod metrics;
mod monitoring;
mod process;
mod promql;
mod traces;
