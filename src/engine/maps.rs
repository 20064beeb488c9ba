//! Maps that live as long as a request. Their keys are addresses and keys whose hash is seeded already.

use std::collections;

use foldhash::fast::RandomState;

/// A map of one request.
pub(super) type HashMap<K, V> = collections::HashMap<K, V, RandomState>;

/// A set of one request.
pub(super) type HashSet<T> = collections::HashSet<T, RandomState>;
