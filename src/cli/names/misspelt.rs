//! Kinds whose names differ from an existing kind in case only.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::watched_gateway_kinds;

/// Kinds that differ from an existing one in case only: `HttpRoute`. The API server has no such kind.
pub(super) struct Misspelt {
    /// By their names in lower case.
    existing: BTreeMap<String, BTreeSet<GroupKind>>,
}

// === impl Misspelt ===

impl Misspelt {
    /// The kinds in `served`, those of Gateway API and those with a built-in profile exist.
    pub(super) fn new<'a>(
        served: impl IntoIterator<Item = &'a GroupKind>,
        rules: &ProfileRules,
    ) -> Self {
        let known = rules.builtin().map(|profile| profile.matches.clone());
        let known = known.chain(watched_gateway_kinds());
        let mut existing: BTreeMap<String, BTreeSet<GroupKind>> = BTreeMap::new();
        for gk in served.into_iter().cloned().chain(known) {
            existing.entry(lowercase(&gk)).or_default().insert(gk);
        }
        Self { existing }
    }

    /// Whether a kind is one of them.
    pub(super) fn has(&self, gk: &GroupKind) -> bool {
        let alike = self.existing.get(&lowercase(gk));
        alike.is_some_and(|alike| !alike.contains(gk))
    }
}

/// The name of a kind in lower case.
fn lowercase(gk: &GroupKind) -> String {
    gk.qualified().to_lowercase()
}
