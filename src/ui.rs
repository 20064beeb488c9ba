//! The live page: serves its files and its data, on loopback for `attache ui` and on the admin port for
//! `attache serve --ui`.
//!
//! A request takes one path: `gate` (is it allowed) -> `api` (which question) -> [`Answers`]
//! (computed by the code behind the commands) -> JSON. This module does not read the answers, and
//! changes nothing.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::sync::watch;

mod api;
mod cookie;
mod events;
mod headers;
pub mod loopback;
mod page;
mod question;
mod refusal;
pub mod signed_in;
mod token;

pub use question::{ExplainQuery, Question};
pub use refusal::Refusal;

/// The most bytes of a change that is pasted: the most that the API server takes of one object.
pub const LARGEST_CHANGE: usize = 3 * 1024 * 1024;

/// The answers for one reader of the page.
pub trait Answers: Send + Sync {
    /// The number of the state that answers are computed from. It grows with each change.
    fn generations(&self) -> watch::Receiver<u64>;

    /// Distinguishes the generations of this process from those of others.
    fn instance(&self) -> &str;

    /// Answers a question.
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Result<Reply, Refusal>>;
}

/// An answer as JSON.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The generation that it was computed from.
    pub generation: u64,
    /// The text.
    pub json: Bytes,
}
