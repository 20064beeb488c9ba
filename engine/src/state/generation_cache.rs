//! A cache of results about objects above the routes, kept across reviews.
//!
//! Most reviews are of routes, and routes attach to a few Gateways with many policies. Each thread caches the results
//! of the latest topology generation; an evicted result is computed again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use crate::state::snapshot::TopologyGeneration;

/// The maximum number of entries of one cache.
const MOST: usize = 1024;

/// The results of one topology generation.
#[derive(Debug)]
pub(crate) struct GenerationCache<K, V, S = RandomState> {
    generation: TopologyGeneration,
    known: HashMap<K, V, S>,
}

// === impl GenerationCache ===

impl<K, V, S: Default> Default for GenerationCache<K, V, S> {
    fn default() -> Self {
        Self {
            generation: TopologyGeneration::default(),
            known: HashMap::default(),
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone, S: BuildHasher + Default> GenerationCache<K, V, S> {
    /// Returns the cached result of this generation, or computes and caches it.
    pub(crate) fn get_or_compute(
        memo: &RefCell<Self>,
        era: TopologyGeneration,
        key: &K,
        find: impl FnOnce() -> V,
    ) -> V {
        if !era.is_cacheable() {
            return find();
        }
        let known = memo.borrow_mut().of(era).get(key).cloned();
        known.unwrap_or_else(|| {
            // `find` may use this cache too.
            let found = find();
            let mut memo = memo.borrow_mut();
            let known = memo.of(era);
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(key.clone(), found.clone());
            found
        })
    }

    fn of(&mut self, era: TopologyGeneration) -> &mut HashMap<K, V, S> {
        if self.generation != era {
            self.generation = era;
            self.known.clear();
        }
        &mut self.known
    }
}
