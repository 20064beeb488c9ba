//! Admission webhook for Gateway API policy attachment.
//!
//! The map of the modules; an arrow points to what a module may import, and a test holds it:
//!
//! ```text
//! main -> cli -> serve -> { cache, http } -> metrics -> engine
//!         cli -> answer -> engine
//!          cli, serve -> config
//!          cli, serve, http -> telemetry -> metrics
//!          cli, cache -> registration -> engine
//! ```
//!
//! - [`engine`] is pure: no async, no clock, no I/O, no client. [`engine::review::review`] is its door.
//! - [`answer`] is pure too: what the commands tell, as data.
//! - [`registration`] is pure as well: which kinds the API server asks about, and on what terms.
//! - [`reading`] is for all that open files which somebody names: so that reading ends.
//! - [`cache`] turns a cluster or a directory into published snapshots.
//! - [`http`] turns bytes into requests and verdicts into bytes.
//! - `cache` and `http` do not know each other; [`serve`] joins them.

pub mod answer;
pub mod cache;
pub mod cli;
pub mod config;
pub mod engine;
pub mod http;
pub mod metrics;
pub mod reading;
pub mod registration;
pub mod serve;
pub mod telemetry;
