//! TLS that listeners give up, or that routes lose by listeners without it: requests are sent in plain text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::{Coverage, ProtectionLoss};
use crate::effective::traffic::Opened;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::json_text::JsonText;
use crate::model::object::Listener;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::rules_of;
use crate::topology::listener_at;

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
            // Under another name, it is the listener of its port and hostname.
            let renamed = || {
                let mut later = new.listeners().iter();
                later.find(|later| {
                    let is_new = !old.listeners().iter().any(|one| one.name == later.name);
                    is_new && (later.port, &later.hostname) == (listener.port, &listener.hostname)
                })
            };
            if same.or_else(renamed).is_some_and(is_plain) {
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

/// The routes that get requests through listeners without TLS after a change, while all listeners by which their requests came before
/// had it. `None` if there is no such route; a route that only redirects loses nothing.
pub(super) fn opened_without_tls(
    [before, after]: [&Snapshot; 2],
    opened: &BTreeMap<ObjectKey, Opened>,
) -> Option<(GroupKind, ProtectionLoss)> {
    let mut loss = ProtectionLoss::named(TLS_OF_LISTENERS);
    for (route, opened) in opened {
        let had_tls = |place: &Place| listener_at(before, place).is_some_and(has_tls);
        if opened.before.is_empty() || !opened.before.iter().all(had_tls) {
            continue;
        }
        let lacks_tls = |place: &&Place| listener_at(after, place).is_some_and(is_plain);
        let plain: BTreeSet<&Place> = opened.new.iter().filter(lacks_tls).collect();
        if plain.is_empty() || !sends_to_backends(after, route) {
            continue;
        }
        loss.objects.insert(route.clone());
        loss.opened.extend(plain.into_iter().cloned());
        let owners = opened.before.iter().map(|place| place.object.clone());
        loss.lost.by.extend(owners);
    }
    loss.lost.remains = Coverage::NoRequests;
    let owner = loss.lost.by.first()?.gk.clone();
    Some((owner, loss))
}

fn sends_to_backends(snapshot: &Snapshot, route: &ObjectKey) -> bool {
    let route = snapshot.get(route);
    route.is_some_and(|route| rules_of(route).iter().any(|rule| !rule.backends.is_empty()))
}

fn has_tls(listener: &Listener) -> bool {
    matches!(&*listener.protocol, "HTTPS" | "TLS")
}

/// Whether a listener certainly has no TLS. Other protocols are those of single controllers.
fn is_plain(listener: &Listener) -> bool {
    matches!(&*listener.protocol, "HTTP" | "TCP" | "UDP")
}
