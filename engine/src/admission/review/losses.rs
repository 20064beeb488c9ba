//! Losses by a change: protections that a path loses, and settings of other policies that a new policy
//! replaces.

use std::collections::BTreeSet;

use super::fuel::too_much;
use super::lost_protection::protections;
use super::one_change;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::effective::impact::{EffectiveChange, diff};
use crate::effective::protection::{CLIENT_CERTIFICATES, carries_others};
use crate::kinds::profile::MergeWith;
use crate::merge::{ComparedBy, EffectivePolicy};
use crate::model::ids::{ObjectKey, Place};
use crate::model::json_text::JsonText;
use crate::model::maps::HashMap;
use crate::model::setting_path::SettingPath;
use crate::model::shared::Shared;
use crate::model::wording;
use crate::policy::Policy;
use crate::state::snapshot::{Change, Snapshot};
use crate::status::conditions::PolicyStatus;

/// Whether a policy may take something from other policies of its kind, from those of a kind that are alternatives to it, or from a
/// Gateway that itself asks for client certificates.
pub(super) fn may_take_away(policy: &Policy, status: &PolicyStatus) -> bool {
    let alternatives = policy.profile.alternatives.as_ref();
    let opens_others = || alternatives.is_some_and(|which| !which.other_kinds.is_empty());
    let replaces_own = || policy.protects_by(CLIENT_CERTIFICATES);
    // Controllers that reject all policies on one target reject those that were there before, too.
    let rejects_others = || {
        policy
            .profile
            .rejected_if
            .iter()
            .any(|one| one.shared_target)
    };
    // Policies below merge with the nearest policy above them: with this one in place of another, also where they set all that it sets.
    let is_merged_with = || {
        *policy.profile.merging.merge_with == MergeWith::NearestAboveRoutes
            && !status.by().is_empty()
    };
    status.may_take_away()
        || policy.may_be_weak() && (opens_others() || replaces_own())
        || rejects_others()
        || is_merged_with()
}

/// Finds the settings and protections that a new or existing policy takes from others.
///
/// `resolver_after` resolves the snapshot with the policy; the result is its difference to the snapshot without the policy.
pub(super) fn losses_by(resolver_after: &mut Resolver<'_>, policy: &Policy) -> TakenFromOthers {
    let key = policy.key();
    let before = resolver_after
        .snapshot()
        .with_change(Change::Deleted(key.clone()));
    let mut resolver_before = resolver_after.for_snapshot(&before);
    let changed = diff(
        &mut resolver_before,
        resolver_after,
        std::slice::from_ref(key),
    );
    if resolver_before.is_spent() || resolver_after.is_spent() {
        return TakenFromOthers::TooMuch;
    }
    // There are many paths and few results.
    let mut known: HashMap<(Shared<EffectivePolicy>, Shared<EffectivePolicy>), bool> =
        HashMap::default();
    let mut loses = |change: &EffectiveChange| {
        let id = (change.before.clone(), change.after.clone());
        change.exists_before_and_after
            && *known.entry(id).or_insert_with(|| takes_away(change, key))
    };
    let (mut taken, mut in_force_otherwise) = (Vec::new(), Vec::new());
    let profile = &policy.profile;
    let adds_alternatives =
        profile.alternatives.is_some() || !profile.alternative_entries.is_empty();
    let carries_others = carries_others(resolver_after.snapshot(), &key.gk);
    let weakens = adds_alternatives || carries_others || policy.may_be_weak();
    for change in changed {
        if loses(&change) {
            taken.push(change);
        } else if change.exists_before_and_after && weakens {
            in_force_otherwise.push(change);
        }
    }
    if !taken.is_empty() {
        return TakenFromOthers::These(Box::new(before), taken);
    }
    if in_force_otherwise.is_empty() {
        return TakenFromOthers::Nothing;
    }
    TakenFromOthers::Weakened(Box::new(before), in_force_otherwise)
}

/// The effect of a policy at the expense of others.
pub(super) enum TakenFromOthers {
    /// It takes nothing.
    Nothing,
    /// The snapshot without it, and the paths on which others lose something.
    These(Box<Snapshot>, Vec<EffectiveChange>),
    /// It takes nothing, but it may let requests pass that others keep out: the paths on which it is in force beside them.
    Weakened(Box<Snapshot>, Vec<EffectiveChange>),
    /// The work exceeds the fuel of a request.
    TooMuch,
}

// === impl TakenFromOthers ===

impl TakenFromOthers {
    /// The findings on a created policy: the protections that are lost, and the other changes.
    pub(super) fn findings(
        self,
        resolver_after: &mut Resolver<'_>,
        policy: &Policy,
    ) -> Vec<Finding> {
        let mut findings = self.protections(resolver_after, policy);
        findings.extend(self.effect(resolver_after, policy));
        findings
    }

    /// The settings of others that are no longer in force, or that nobody knows.
    pub(super) fn effect(
        &self,
        resolver_after: &mut Resolver<'_>,
        policy: &Policy,
    ) -> Option<Finding> {
        let key = policy.key();
        match self {
            Self::Nothing | Self::Weakened(..) => None,
            Self::TooMuch => Some(too_much_taken(key)),
            Self::These(before, all) => {
                one_change::effect(before, resolver_after, key, &key.gk, all)
            }
        }
    }

    /// The protections that others lose: the only losses that are reported for an existing policy.
    pub(super) fn protections(
        &self,
        resolver_after: &Resolver<'_>,
        policy: &Policy,
    ) -> Vec<Finding> {
        let key = policy.key();
        match self {
            Self::Nothing | Self::TooMuch => Vec::new(),
            Self::These(before, all) | Self::Weakened(before, all) => {
                protections([before, resolver_after.snapshot()], key, &key.gk, all)
            }
        }
    }

    /// Adds to the finding on an empty policy which policies it replaces, and where.
    pub(super) fn complete(&self, findings: &mut [Finding], policy: &Policy) {
        let mut empty = findings.iter_mut();
        let empty = empty.find(|finding| finding.code == Code::SpecEmpty);
        let Some(empty) = empty.filter(|_| policy.replaces_by_nothing()) else {
            return;
        };
        match self {
            Self::TooMuch => {}
            Self::Nothing | Self::Weakened(..) => {
                "it has no settings, and there is no policy of its kind that it replaces; add settings or delete it"
                    .clone_into(&mut empty.message);
            }
            Self::These(_, all) => {
                let replaced = all.iter().flat_map(|change| change.before.policies());
                let replaced: BTreeSet<ObjectKey> = replaced.collect();
                let objects = all.iter().flat_map(|change| change.paths.objects());
                let objects: BTreeSet<ObjectKey> = objects.cloned().collect();
                let names: Vec<String> = replaced.iter().map(ObjectKey::text).collect();
                let target = policy
                    .only_target()
                    .filter(|target| target.section.is_some());
                let is_all = |target: &Place| objects.iter().all(|one| *one == target.object);
                let on = target.filter(is_all);
                let on = on.map_or_else(|| wording::named(&objects), |place| place.to_string());
                empty.message = format!(
                    "it has no settings, so it removes the settings of {} on {on}",
                    names.join(", ")
                );
                empty.mentions.extend(replaced);
            }
        }
    }
}

/// Whether a setting of another policy is no longer in force or has another value.
fn takes_away(change: &EffectiveChange, policy: &ObjectKey) -> bool {
    if change.before.is_opaque() || change.after.is_opaque() {
        return change.before.policies().iter().any(|other| other != policy);
    }
    let by = ComparedBy::for_results(&change.before, &change.after);
    let after = change.after.leaves();
    let after: HashMap<(&SettingPath, Option<ObjectKey>), &JsonText> = after
        .iter()
        .map(|(path, setting)| ((path, by.policy(path, setting)), &setting.value))
        .collect();
    // Policies that are each in force as a whole take nothing from each other.
    let side_by_side = change.before.is_side_by_side() || change.after.is_side_by_side();
    let before = change.before.leaves().into_iter();
    let mut lost =
        before.filter(|(_, setting)| !setting.value.is_null() && setting.policy != *policy);
    !side_by_side
        && lost.any(|(path, setting)| {
            after.get(&(&path, by.policy(&path, setting))) != Some(&&setting.value)
        })
}

/// The finding that what a policy takes from others exceeds the fuel of a request.
pub(super) fn too_much_taken(policy: &ObjectKey) -> Finding {
    too_much(policy, "the protections that this policy removes")
}
