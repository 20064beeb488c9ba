//! The webhook server: reads requests and writes verdicts, over TLS.
//!
//! A request takes one path: `server` (connection) -> `router` (limits) -> `envelope` (wire types) -> `admission`
//! (engine, live reads) -> `envelope` -> bytes. `admin` serves probes and metrics on a port without TLS.

pub mod admin;
pub mod admission;
mod bodies;
mod bounds;
pub mod call;
mod connections;
pub mod dependencies;
pub mod drain;
pub mod envelope;
pub mod limits;
mod live_reads;
mod paced_stream;
mod reviewed;
pub mod router;
pub mod server;
pub mod tls;
