//! The API server's side: bytes to requests, verdicts to bytes, over TLS.
//!
//! A request is one straight line: `server` (connection) -> `router` (limits) -> `envelope` (wire types) ->
//! `admission` (engine, live reads) -> `envelope` -> bytes. `admin` is the plain port for probes and metrics.

pub mod admin;
pub mod admission;
mod bodies;
mod bounds;
mod connections;
pub mod drain;
pub mod envelope;
mod reviewed;
pub mod router;
pub mod server;
pub mod tls;
mod today;
mod wire;
