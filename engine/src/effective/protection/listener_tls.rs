//! TLS that listeners give up: their requests are sent in plain text.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::{Coverage, ProtectionLoss};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::json_text::JsonText;
use crate::model::object::Listener;
use crate::state::snapshot::Snapshot;

/// The name of the protection, for users.
const TLS_OF_LISTENERS: &str = "TLS of listeners";

/// The TLS that listeners of Gateways and `ListenerSets` among these objects give up because their protocol changes. One loss for
/// each object.
pub(super) fn lost_tls(
    [before, after]: [&Snapshot; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let losses = objects.iter().filter_map(|key| {
        let (old, new) = (before.get(key)?, after.get(key)?);
        let mut loss = ProtectionLoss::named(TLS_OF_LISTENERS);
        for listener in old.listeners().iter().filter(|listener| has_tls(listener)) {
            let mut later = new.listeners().iter();
            let same = later.find(|later| later.name == listener.name);
            if same.is_some_and(is_plain) {
                let path = ["listeners", &*listener.name, "protocol"];
                let path = path.map(Arc::from).into();
                loss.lost
                    .note(path, JsonText::from(&json!(listener.protocol)));
            }
        }
        if loss.lost.settings.is_empty() {
            return None;
        }
        loss.objects.insert(key.clone());
        loss.lost.by = BTreeSet::from([key.clone()]);
        loss.lost.remains = Coverage::NoRequests;
        Some((key.gk.clone(), loss))
    });
    losses.collect()
}

fn has_tls(listener: &Listener) -> bool {
    matches!(&*listener.protocol, "HTTPS" | "TLS")
}

/// Whether a listener certainly has no TLS. Other protocols are those of single controllers.
fn is_plain(listener: &Listener) -> bool {
    matches!(&*listener.protocol, "HTTP" | "TCP" | "UDP")
}
