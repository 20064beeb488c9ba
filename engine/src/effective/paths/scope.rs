//! Where the paths of a kind through an object end, and which sections they distinguish.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::level::Level;

/// The extent of the paths of a kind through an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathScope {
    /// The level at which the paths end; `None` if there are no paths.
    pub(in crate::effective) end: Option<Level>,
    /// Sections that direct policies distinguish.
    pub(in crate::effective) sections: BTreeSet<Arc<str>>,
}

// === impl PathScope ===

impl PathScope {
    /// The level at which the paths end, if there are any.
    pub fn end(&self) -> Option<Level> {
        self.end
    }

    /// A scope that covers the paths of both.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        self.end = self.end.max(other.end);
        self.sections.extend(other.sections);
        self
    }
}
