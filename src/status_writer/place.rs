//! The place for conditions of attache in objects of a kind.

use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::is_route;
use crate::engine::state::snapshot::Snapshot;

/// Kinds of the core API with `status.conditions`, one entry per type.
const CORE_WITH_CONDITIONS: [&str; 2] = ["Namespace", "Service"];
/// Kinds of the core API without conditions.
const CORE_WITHOUT: [&str; 3] = ["ConfigMap", "Secret", "ServiceAccount"];

/// The place of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In entries of `status.parents` with the name of attache.
    Parents,
    /// In `status.conditions`, which has one entry per type.
    Conditions,
    /// In an annotation `<domain>/<Kind>Affected: "true"`.
    Annotation,
}

// === impl Place ===

impl Place {
    /// The place for a kind; `None` for policies and for kinds whose status is not known.
    pub(super) fn for_kind(snapshot: &Snapshot, gk: &GroupKind) -> Option<Self> {
        if is_route(gk) {
            return Some(Self::Parents);
        }
        let above = ["GatewayClass", "Gateway"];
        if gk.is_listener_set() || above.iter().any(|kind| gk.is_gateway_api(kind)) {
            return Some(Self::Conditions);
        }
        if gk.group.is_empty() {
            return if CORE_WITH_CONDITIONS.contains(&&*gk.kind) {
                Some(Self::Conditions)
            } else {
                CORE_WITHOUT
                    .contains(&&*gk.kind)
                    .then_some(Self::Annotation)
            };
        }
        if snapshot.profile(gk).is_some() {
            return None;
        }
        let crd = snapshot.definition(gk)?;
        Some(if crd.facts.permitted_mutations.conditions_by_type {
            Self::Conditions
        } else {
            Self::Annotation
        })
    }
}
