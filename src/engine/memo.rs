//! What was found out above the routes, from one review to the next.
//!
//! Most reviews are of routes, and routes come to a few Gateways on which many policies stand. Each thread remembers
//! what it found in the last era of the snapshot; what is forgotten is only found out again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use super::snapshot::Era;

/// Most things that one memory holds.
const MOST: usize = 1024;

/// What is known of one era.
#[derive(Debug)]
pub(super) struct Memo<K, V, S = RandomState> {
    era: Era,
    known: HashMap<K, V, S>,
}

// === impl Memo ===

impl<K, V, S: Default> Default for Memo<K, V, S> {
    fn default() -> Self {
        Self {
            era: Era::default(),
            known: HashMap::default(),
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone, S: BuildHasher + Default> Memo<K, V, S> {
    /// What is found, or was found before in this era.
    pub(super) fn remembered(
        memo: &RefCell<Self>,
        era: Era,
        key: &K,
        find: impl FnOnce() -> V,
    ) -> V {
        if !era.lasts() {
            return find();
        }
        let known = memo.borrow_mut().of(era).get(key).cloned();
        known.unwrap_or_else(|| {
            // What is asked on the way may be remembered here too.
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

    fn of(&mut self, era: Era) -> &mut HashMap<K, V, S> {
        if self.era != era {
            self.era = era;
            self.known.clear();
        }
        &mut self.known
    }
}
