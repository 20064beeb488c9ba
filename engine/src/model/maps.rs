//! Maps that live as long as one request, with fast, seeded hashes.

use std::collections;

use foldhash::fast::RandomState;

/// A map for one request.
pub(crate) type HashMap<K, V> = collections::HashMap<K, V, RandomState>;

/// A set for one request.
pub(crate) type HashSet<T> = collections::HashSet<T, RandomState>;
