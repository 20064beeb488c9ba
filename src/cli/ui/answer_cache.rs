//! Answers that are kept while the state stays the same: several pages, and several parts of one, ask the same.

use std::collections::HashMap;

use bytes::Bytes;
use jiff::civil::Date;

use crate::today::today;
use crate::ui::Question;

/// The most bytes of all answers.
const MAX_BYTES: usize = 16 << 20;
/// The most answers.
const ANSWERS: usize = 1000;

/// The answers about one generation, on one day.
#[derive(Debug, Default)]
pub(super) struct AnswerCache {
    generation_and_day: (u64, Date),
    answers: HashMap<Question, Bytes>,
    bytes: usize,
}

// === impl AnswerCache ===

impl AnswerCache {
    pub(super) fn get(&self, generation: u64, question: &Question) -> Option<Bytes> {
        if self.generation_and_day != (generation, today()) {
            return None;
        }
        self.answers.get(question).cloned()
    }

    pub(super) fn put(&mut self, generation: u64, question: Question, json: &Bytes) {
        let generation_and_day = (generation, today());
        if !question.is_kept() || generation_and_day < self.generation_and_day {
            return;
        }
        if self.generation_and_day != generation_and_day {
            *self = Self {
                generation_and_day,
                ..Self::default()
            };
        }
        if self.bytes + json.len() <= MAX_BYTES && self.answers.len() < ANSWERS {
            self.bytes += json.len();
            self.answers.insert(question, json.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_for_one_generation_and_not_without_limit() {
        let (mut answer_cache, small) = (AnswerCache::default(), Bytes::from_static(b"{}"));
        answer_cache.put(1, Question::Graph, &small);
        assert!(answer_cache.get(1, &Question::Graph).is_some());
        assert!(answer_cache.get(2, &Question::Graph).is_none());
        answer_cache.put(2, Question::Kinds, &Bytes::from(vec![b' '; MAX_BYTES]));
        answer_cache.put(2, Question::Graph, &small);
        assert!(answer_cache.get(2, &Question::Graph).is_none());
        assert!(answer_cache.get(2, &Question::Kinds).is_some());
        // An answer that took long may be older than a cached one.
        answer_cache.put(1, Question::Graph, &small);
        assert!(answer_cache.get(2, &Question::Kinds).is_some());
        answer_cache.put(2, Question::History, &small);
        assert!(answer_cache.get(2, &Question::History).is_none());
    }
}
