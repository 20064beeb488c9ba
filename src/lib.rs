//! Admission webhook for Gateway API policy attachment.
//!
//! An arrow points to the modules that a module may import. `LAYERS` in
//! tests/repository/layering.rs has every arrow, and a test enforces them:
//!
//! ```text
//! main -> cli -> serve -> { cache, http } -> metrics -> engine
//!         serve -> { background, status_writer } -> lease -> cache
//!         cli, serve, background -> answer -> engine
//!         cli, serve -> config, ui -> engine
//!         cli, serve, http -> telemetry -> metrics
//!         cli, serve, cache -> registration -> engine
//!         cli, serve, cache, http -> certificates
//! ```
//!
//! - [`engine`], a package of its own, makes all decisions. Pure: no async, no clock, no I/O, no client. Its entry point
//!   is [`engine::admission::review::review`].
//! - [`answer`] holds the answers of the commands as data. Pure.
//! - [`registration`] computes the webhook configurations: which kinds the API server sends, and with which options.
//!   Pure.
//! - [`certificates`] makes certificates and decides when they are renewed.
//! - [`reading`] opens the files that users name, with limits on size and time.
//! - [`cache`] turns a cluster or a directory into published snapshots.
//! - [`http`] turns bytes into requests and verdicts into bytes.
//! - [`ui`] serves the live page: its files and its data, and checks who may see them.
//! - [`background`] judges the current state in the background, for metrics and reports.
//! - [`lease`] chooses one of several replicas.
//! - [`status_writer`] writes conditions into the status of the objects that policies apply to.
//! - [`today`] returns the current date.
//! - [`serve`] connects `cache` and `http`, which do not import each other.

pub use attache_engine as engine;

pub mod answer;
pub mod background;
pub mod cache;
pub mod certificates;
pub mod cli;
pub mod config;
pub mod http;
pub mod lease;
pub mod metrics;
pub mod reading;
pub mod registration;
pub mod serve;
pub mod status_writer;
pub mod telemetry;
pub mod today;
pub mod ui;
