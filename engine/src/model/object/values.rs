//! Single values of objects, as Kubernetes writes them.

use std::sync::Arc;

/// A string, unless it is empty.
pub(super) fn not_empty(text: Option<Arc<str>>) -> Option<Arc<str>> {
    text.filter(|text| !text.is_empty())
}

/// The number of a port, if it is one.
pub(super) fn port(number: Option<u32>) -> Option<u16> {
    number.and_then(|p| u16::try_from(p).ok())
}
