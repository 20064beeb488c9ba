//! Maps that live as long as a request. Their hashes are seeded, and quick to take.

use std::collections;

use foldhash::fast::RandomState;

/// A map of one request.
pub(super) type HashMap<K, V> = collections::HashMap<K, V, RandomState>;

/// A set of one request.
pub(super) type HashSet<T> = collections::HashSet<T, RandomState>;
