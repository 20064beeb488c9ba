//! The rules of policy attachment: which policies are attached where, and which settings are in
//! force.
//!
//! Pure: no async, no clock, no I/O, no client, no state of the process. `Cargo.toml` and
//! `tests/repository/layering.rs` enforce this. A caller passes a
//! [`Snapshot`](state::snapshot::Snapshot) of the cluster and a request, and
//! [`review`](admission::review::review) returns the verdict.
//!
//! A module uses only modules before it in this list; `FOLDERS` in `tests/repository/layering.rs`
//! enforces this.
//!
//! - [`model`]: names, keys, versions and values of objects.
//! - [`kinds`]: the facts about each policy kind, from profiles and CRDs.
//! - [`policy`]: one policy object as its kind reads it: targets, settings, merge strategy; and the
//!   cost of work with it.
//! - [`state`]: the snapshot: all objects at one moment, and the indexes over them.
//! - [`topology`]: which listeners, routes and backends count, and how they are connected.
//! - [`attachment`]: which policies are attached to an object, and the reports of controllers about
//!   policies.
//! - [`merge`]: the merge of policies of one kind into an effective policy.
//! - [`effective`]: the effective policies on each path of an object.
//! - [`status`]: the conditions that attache expects controllers to write about objects.
//! - [`routing`]: the route and rule that a request takes.
//! - [`admission`]: the review of a request: findings, warnings, verdict, patch.

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
