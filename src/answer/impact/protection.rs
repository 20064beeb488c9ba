//! Protections that a change takes away, by object.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::States;
use crate::answer::named::{KindName, Named, named};
use crate::engine::effective::Resolver;
use crate::engine::effective::impact::{Changed, EffectiveChange};
use crate::engine::effective::protection::{
    Coverage, ProtectionLoss, Remedy, all_lost_by_acceptance, lost_at_listeners,
    lost_by_own_fields, protection_losses_by_object, remedies,
};
use crate::engine::effective::traffic::OpenedRoutes;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::wording;

/// A protection that requests to an object lose with the change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostProtection {
    /// The effective target; the rule of a route or the listener of a Gateway, if others of the same object do not lose it.
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
    /// How a policy in the change can be written so that nothing is lost: `with spec.mergeType: StrategicMerge in SecurityPolicy
    /// shop/cart the route keeps it`. Absent if its kind has no such strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

// === impl LostProtection ===

impl LostProtection {
    /// The lost protection: `authentication`, or `part of authentication` if some requests keep it.
    pub fn what(&self) -> String {
        if self.partly {
            format!("part of {}", self.protection)
        } else {
            self.protection.clone()
        }
    }
}

/// Adds the losses of requests that another rule takes, unless the object that takes them is known
/// to lose the protection.
pub(in crate::answer) fn add(known: &mut Vec<LostProtection>, requests: Vec<LostProtection>) {
    let new = unknown(known, requests);
    known.extend(new);
    known.sort();
}

/// The losses of objects that are not known to lose the same protection.
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
    all_changed: &[Changed],
) -> Vec<LostProtection> {
    let kinds: BTreeSet<&GroupKind> = all_changed
        .iter()
        .map(|changed| &changed.change.kind)
        .collect();
    let mut all = Vec::new();
    for kind in kinds {
        let of_kind = all_changed
            .iter()
            .filter(|changed| changed.change.kind == *kind);
        let mut shared: Vec<&Rc<EffectiveChange>> =
            of_kind.map(|changed| &changed.change).collect();
        shared.sort_by_key(|change| Rc::as_ptr(change));
        shared.dedup_by_key(|change| Rc::as_ptr(change));
        let changes = shared.iter().map(|change| &***change);
        let states_of = [states.before, states.after];
        let mut remedies = Remedies::new(states);
        for loss in protection_losses_by_object(states_of, states.renames, kind, &changes) {
            let remedy = remedies.of(kind, &loss);
            all.extend(of_objects(states, kind, &loss).map(|lost| LostProtection {
                remedy: remedy.clone(),
                ..lost
            }));
        }
    }
    all.sort();
    all
}

/// The protections that routes lose by listeners that a change opens to them, of kinds that apply to
/// listeners: none if the change renames objects, because then the listeners had other names
/// before. Also the protections that these objects give up by their own fields and labels.
pub(in crate::answer) fn at_listeners(
    states: &States<'_>,
    opened: &OpenedRoutes,
    objects: &[ObjectKey],
) -> Vec<LostProtection> {
    let mut resolver_before = Resolver::new(states.before);
    let mut resolver_after = resolver_before.for_snapshot(states.after);
    let lost = if states.renames.is_empty() {
        lost_at_listeners([&mut resolver_before, &mut resolver_after], opened)
    } else {
        Vec::new()
    };
    let own = lost_by_own_fields([&mut resolver_before, &mut resolver_after], objects);
    let lost = lost.iter();
    let at_listeners = lost.flat_map(|(kind, loss)| of_objects(states, kind, loss));
    // Some objects protect what they select only as long as they exist.
    let own = own.iter();
    let own = own.flat_map(|(kind, loss)| of_each(kind, loss, loss.objects.iter()));
    at_listeners.chain(own).collect()
}

/// The protections without which requests pass because policies that take the place of others are no longer rejected.
pub(in crate::answer) fn by_acceptance(
    states: &States<'_>,
    objects: &[ObjectKey],
) -> Vec<LostProtection> {
    let accepted = all_lost_by_acceptance([states.before, states.after], objects);
    let mut all = Vec::new();
    for accepted in accepted {
        for loss in accepted.losses.iter().chain(&accepted.left_out) {
            all.extend(of_objects(states, &accepted.policy.gk, loss));
        }
    }
    all
}

/// A loss, object by object. An object that the change deletes needs no protection.
fn of_objects<'a>(
    states: &'a States<'_>,
    kind: &'a GroupKind,
    loss: &'a ProtectionLoss,
) -> impl Iterator<Item = LostProtection> + 'a {
    let objects = loss.objects.iter();
    of_each(kind, loss, objects.filter(|object| !states.is_gone(object)))
}

/// A loss of each of these objects.
fn of_each<'a>(
    kind: &'a GroupKind,
    loss: &'a ProtectionLoss,
    objects: impl Iterator<Item = &'a ObjectKey> + 'a,
) -> impl Iterator<Item = LostProtection> + 'a {
    let taken = &loss.lost;
    let settings = taken.settings.keys().map(|path| wording::field(path));
    let settings: Vec<String> = settings.collect();
    let places = objects.flat_map(|object| loss.places_of(object));
    places.map(move |place| LostProtection {
        object: Named::from(&place),
        protection: loss.protection.to_string(),
        policy_kind: KindName::from(kind),
        from: named(&taken.by),
        settings: settings.clone(),
        opened: loss.opened.iter().map(Named::from).collect(),
        partly: taken.remains > Coverage::NoRequests,
        reasons: taken.reasons.iter().map(ToString::to_string).collect(),
        remedy: None,
    })
}

/// The strategies by which policies in a change keep what they take away, each policy asked once.
struct Remedies<'a> {
    states: &'a States<'a>,
    known: BTreeMap<ObjectKey, Vec<Remedy>>,
}

// === impl Remedies ===

impl<'a> Remedies<'a> {
    fn new(states: &'a States<'a>) -> Self {
        Self {
            states,
            known: BTreeMap::new(),
        }
    }

    /// The remedy for a loss, if one policy of the change took the place of others there. Under other names before the change, the
    /// paths cannot be compared.
    fn of(&mut self, kind: &GroupKind, loss: &ProtectionLoss) -> Option<String> {
        let [before, after] = [self.states.before, self.states.after];
        let is_changed = |key: &&ObjectKey| {
            let [old, new] = [before, after].map(|snapshot| snapshot.policy(key));
            new.is_some_and(|new| old.is_none_or(|old| old.spec() != new.spec()))
        };
        let mut replacing = loss.lost.now.iter().filter(is_changed);
        let (Some(policy), None) = (replacing.next(), replacing.next()) else {
            return None;
        };
        if !self.states.renames.is_empty() {
            return None;
        }
        let remedies = self
            .known
            .entry(policy.clone())
            .or_insert_with(|| remedies([before, after], policy, kind));
        let remedy = remedies
            .iter()
            .find(|remedy| remedy.keeps(&loss.protection))?;
        let policy = policy.text();
        Some(format!("with {remedy} in {policy} the route keeps it"))
    }
}
