//! attache with a real API server, judged by what `kubectl` prints.
//!
//! `cluster.sh` builds and starts the API server; `harness` drives it. Without Go and without `KUBEBUILDER_ASSETS` the
//! tests print SKIPPED and pass; with `ATTACHE_REQUIRE_CLUSTER=1` they fail.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod harness;

mod access;
mod callers;
mod certificates;
mod chart;
mod commands;
mod events;
mod gitops;
mod guardrails;
mod kinds;
mod life;
mod live_page;
mod lockout;
mod manifests;
mod mutations;
mod operate;
mod order;
mod pipelines;
mod projects;
mod reading;
mod refusals;
mod registration;
mod reports;
mod rights;
mod status_writer;
mod tutorial;
mod upgrade;
mod warnings;
mod worked;
