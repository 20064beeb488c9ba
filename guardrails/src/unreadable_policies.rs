//! Policies that are too large to be read. Their settings are unknown, so results for targets in
//! their namespaces are uncertain.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use attache_engine::model::ids::GroupKind;
use attache_engine::state::snapshot::Snapshot;

/// The policies that are not read, by kind. They are cached, so all questions must be about one
/// snapshot.
#[derive(Default)]
pub(crate) struct UnreadablePolicies(HashMap<GroupKind, BTreeMap<Arc<str>, String>>);

// === impl UnreadablePolicies ===

impl UnreadablePolicies {
    /// Why the effect of policies of a kind on targets in a namespace is unknown; `None` if it is
    /// known.
    pub(crate) fn why(
        &mut self,
        snapshot: &Snapshot,
        kind: &GroupKind,
        namespace: &str,
    ) -> Option<&str> {
        if !self.0.contains_key(kind) {
            let unread = snapshot.objects(kind).filter_map(|object| {
                let why = object.unread.as_ref()?;
                let text = format!(
                    "{} is not read, so what it sets is not known: {why}",
                    object.key
                );
                Some((object.key.namespace.clone(), text))
            });
            self.0.insert(kind.clone(), unread.collect());
        }
        self.0.get(kind)?.get(namespace).map(String::as_str)
    }
}
