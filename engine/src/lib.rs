//! The meaning of policy attachment: which policies are attached where, and what is in force.
//!
//! Pure: no async, no clock, no I/O, no client, no thread-local state; `Cargo.toml` and `tests/layering` hold it. A caller brings a
//! [`Snapshot`](state::snapshot::Snapshot) of the cluster and a request, and [`review`](admission::review::review)
//! returns the verdict.
//!
//! An arrow points to what a module uses most:
//!
//! ```text
//! admission -> effective -> merge -> policy -> kinds -> model
//!              effective -> attachment -> topology -> state -> model
//!              status, routing -> topology
//! ```
//!
//! - [`model`]: names, keys, versions and values of objects.
//! - [`kinds`]: what is known of each policy kind, from profiles and definitions (CRDs).
//! - [`policy`]: one policy object as its kind reads it: targets, settings, merge strategy.
//! - [`state`]: the snapshot: all objects at one moment, and the indexes over them.
//! - [`topology`]: which listeners, routes and backends count, and how they are connected.
//! - [`attachment`]: which policies are attached to an object.
//! - [`merge`]: how the settings of policies of one kind become one.
//! - [`effective`]: what is in force on each path of an object.
//! - [`status`]: what controllers wrote about objects, and what attache expects them to write.
//! - [`admission`]: the review of a request: findings, warnings, verdict, patch.
//! - [`routing`]: which route a request takes.

pub mod admission;
pub mod attachment;
pub mod effective;
pub mod kinds;
pub mod merge;
pub mod model;
pub mod policy;
pub mod routing;
pub mod state;
pub mod status;
pub mod topology;
