//! Protections that a change takes away, by object.

use std::collections::BTreeSet;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::States;
use crate::answer::named::{KindName, Named, named};
use crate::engine::effective::impact::{Changed, EffectiveChange};
use crate::engine::effective::protection::{Extent, lost_by_object};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::wording;

/// A protection that requests to an object lose with the change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostProtection {
    /// The effective target.
    pub object: Named,
    /// Its name in the profile of the kind: `authentication`.
    pub protection: String,
    /// The policy kind that provided it.
    pub policy_kind: KindName,
    /// The policies that provided it.
    pub from: Vec<Named>,
    /// The settings that provided it; empty if only the controller of the kind knows them.
    pub settings: Vec<String>,
    /// The listeners, the Services, or the rules that delegate, by which requests come to the object only after the
    /// change, without the protection, while those that came before had it. Empty if the object loses the protection on paths that it had before.
    pub opened: Vec<Named>,
    /// Whether some requests keep it.
    pub partly: bool,
    /// Why the settings that are in force after the change do not provide it, or only for some requests.
    pub reasons: Vec<String>,
}

// === impl LostProtection ===

impl LostProtection {
    /// What is lost: `authentication`, or `part of authentication` if some requests keep it.
    pub fn what(&self) -> String {
        if self.partly {
            format!("part of {}", self.protection)
        } else {
            self.protection.clone()
        }
    }
}

/// Adds what requests lose that another rule takes, unless the object that takes them is known to lose it.
pub(in crate::answer) fn add(known: &mut Vec<LostProtection>, requests: Vec<LostProtection>) {
    let new = unknown(known, requests);
    known.extend(new);
    known.sort();
}

/// Those of objects that are not known to lose the same protection.
pub(super) fn unknown(
    known: &[LostProtection],
    mut requests: Vec<LostProtection>,
) -> Vec<LostProtection> {
    requests.retain(|lost| {
        let mut known = known.iter();
        !known.any(|other| {
            other.object.0.object == lost.object.0.object
                && other.protection == lost.protection
                && other.policy_kind == lost.policy_kind
        })
    });
    requests
}

/// The protections that the changed paths lose, sorted.
pub(in crate::answer) fn lost_protection(
    states: &States<'_>,
    found: &[Changed],
) -> Vec<LostProtection> {
    let kinds: BTreeSet<&GroupKind> = found.iter().map(|changed| &changed.shifted.kind).collect();
    let mut all = Vec::new();
    for kind in kinds {
        let of_kind = found.iter().filter(|changed| changed.shifted.kind == *kind);
        let mut shifted: Vec<&Rc<EffectiveChange>> =
            of_kind.map(|changed| &changed.shifted).collect();
        shifted.sort_by_key(|shifted| Rc::as_ptr(shifted));
        shifted.dedup_by_key(|shifted| Rc::as_ptr(shifted));
        let changes = shifted.iter().map(|shifted| &***shifted);
        for loss in lost_by_object(
            [states.before, states.after],
            states.renames,
            kind,
            &changes,
        ) {
            let lost = loss.lost;
            let settings = lost.settings.keys().map(|path| wording::field(path));
            let settings: Vec<String> = settings.collect();
            // An object that the change deletes needs no protection.
            let stays = loss.objects.iter();
            let stays = stays.filter(|object| !states.is_gone(object));
            let each = stays.map(|object| LostProtection {
                object: Named::from(&object.whole()),
                protection: loss.protection.to_string(),
                policy_kind: KindName::from(kind),
                from: named(&lost.by),
                settings: settings.clone(),
                opened: loss.opened.iter().map(Named::from).collect(),
                partly: lost.remains > Extent::None,
                reasons: lost.reasons.iter().map(ToString::to_string).collect(),
            });
            all.extend(each);
        }
    }
    all.sort();
    all
}
