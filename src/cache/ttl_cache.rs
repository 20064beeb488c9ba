//! Answers that are remembered for a short time.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// Answers by question, each until its time is over. When it is full, new answers are not remembered until old ones end.
#[derive(Debug)]
pub struct TtlCache<Q, A> {
    answers: HashMap<Q, (A, Instant)>,
    limit: usize,
}

// === impl TtlCache ===

impl<Q: Eq + Hash, A: Clone> TtlCache<Q, A> {
    /// Remembers nothing yet, and later at most `limit` answers at a time.
    pub fn new(limit: usize) -> Self {
        Self {
            answers: HashMap::new(),
            limit,
        }
    }

    /// The answer to a question, if it is remembered.
    pub fn get(&self, question: &Q) -> Option<A> {
        let (answer, until) = self.answers.get(question)?;
        (*until > Instant::now()).then(|| answer.clone())
    }

    /// Remembers an answer.
    pub fn put(&mut self, question: Q, answer: A, life: Duration) {
        let now = Instant::now();
        if self.answers.len() >= self.limit {
            self.answers.retain(|_, (_, until)| *until > now);
        }
        if self.answers.len() < self.limit {
            self.answers.insert(question, (answer, now + life));
        }
    }
}
