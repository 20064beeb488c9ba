//! Losses by a change: protections that a path loses, and settings of other policies that a new policy
//! replaces.

use std::collections::BTreeSet;

use super::change;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::effective::impact::{EffectiveChange, diff};
use crate::effective::protection::lost;
use crate::effective::renames::Renames;
use crate::kinds::profile::{DictatedBy, Op, Strategy};
use crate::merge::{SettingPath, StanzaRef};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::json_text::JsonText;
use crate::model::maps::HashMap;
use crate::model::object::is_route;
use crate::model::wording;
use crate::policy::Policy;
use crate::state::snapshot::{Change, Snapshot};

/// Finds what a new or existing policy takes from others.
///
/// `is` resolves the snapshot with the policy; the result is the difference to the snapshot without it.
pub(super) fn losses_by(is: &mut Resolver<'_>, policy: &Policy) -> Losses {
    let key = policy.key();
    let before = is.snapshot().with_change(Change::Deleted(key.clone()));
    let mut was = is.of(&before);
    let changed = diff(&mut was, is, std::slice::from_ref(key));
    if was.is_spent() || is.is_spent() {
        return Losses::TooMuch;
    }
    // There are many paths and few results.
    let mut known: HashMap<(*const (), *const ()), bool> = HashMap::default();
    let mut loses = |shifted: &EffectiveChange| {
        let id = (shifted.before.address(), shifted.after.address());
        shifted.stays && *known.entry(id).or_insert_with(|| takes_away(shifted, key))
    };
    let mut taken = Vec::new();
    for shifted in changed {
        if loses(&shifted) {
            taken.push(shifted);
        }
    }
    if taken.is_empty() {
        return Losses::Nothing;
    }
    Losses::These(Box::new(before), taken)
}

/// The effect of a policy at the expense of others.
pub(super) enum Losses {
    /// It takes nothing.
    Nothing,
    /// The snapshot without it, and the paths on which others lose something.
    These(Box<Snapshot>, Vec<EffectiveChange>),
    /// The work exceeds the fuel of a request.
    TooMuch,
}

// === impl Losses ===

impl Losses {
    /// The findings on a created policy: the protections that are lost, and the other changes.
    pub(super) fn findings(self, is: &mut Resolver<'_>, policy: &Policy) -> Vec<Finding> {
        let key = policy.key();
        let mut findings = self.protections(is, policy);
        match self {
            Self::Nothing => {}
            Self::TooMuch => findings.push(change::too_much(key, "what this policy takes away")),
            Self::These(_, all) => findings.push(change::effect(is, key, &key.gk, &all)),
        }
        findings
    }

    /// The protections that others lose: the only losses that are reported for an existing policy.
    pub(super) fn protections(&self, is: &Resolver<'_>, policy: &Policy) -> Vec<Finding> {
        let key = policy.key();
        match self {
            Self::Nothing | Self::TooMuch => Vec::new(),
            Self::These(before, all) => protections([before, is.snapshot()], key, &key.gk, all),
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
            Self::Nothing => {
                "it has no settings, and there is no policy of its kind that it replaces"
                    .clone_into(&mut empty.message);
            }
            Self::These(_, all) => {
                let replaced = all.iter().flat_map(|shifted| shifted.before.policies());
                let replaced: BTreeSet<ObjectKey> = replaced.collect();
                let objects = all.iter().flat_map(|shifted| shifted.ends.objects());
                let objects: BTreeSet<ObjectKey> = objects.cloned().collect();
                let names: Vec<String> = replaced.iter().map(ObjectKey::text).collect();
                empty.message = format!(
                    "it has no settings: it replaces {} by nothing on {}",
                    names.join(", "),
                    wording::named(&objects)
                );
                empty.mentions.extend(replaced);
            }
        }
    }
}

/// Whether a setting of another policy is no longer in force or has another value.
fn takes_away(shifted: &EffectiveChange, policy: &ObjectKey) -> bool {
    if shifted.before.is_opaque() || shifted.after.is_opaque() {
        return shifted
            .before
            .policies()
            .iter()
            .any(|other| other != policy);
    }
    let after = shifted.after.leaves();
    let after: HashMap<&SettingPath, &JsonText> = after
        .iter()
        .map(|(path, setting)| (path, &setting.value))
        .collect();
    // Policies that are each in force as a whole take nothing from each other.
    let beside = shifted.before.is_side_by_side() || shifted.after.is_side_by_side();
    let before = shifted.before.leaves().into_iter();
    let mut lost =
        before.filter(|(_, setting)| !setting.value.is_null() && setting.policy != *policy);
    !beside && lost.any(|(path, setting)| after.get(&path) != Some(&&setting.value))
}

/// The protections of a kind that paths lose, one finding for each. `states` are the snapshots before and after the
/// change.
pub(super) fn protections(
    states: [&Snapshot; 2],
    key: &ObjectKey,
    kind: &GroupKind,
    all: &[EffectiveChange],
) -> Vec<Finding> {
    let lost = lost(states, Renames::NONE, kind, &all.iter());
    let findings = lost.into_iter().map(|loss| {
        let by: Vec<String> = loss.by.iter().map(ObjectKey::text).collect();
        let verb = if loss.objects.len() == 1 {
            "loses"
        } else {
            "lose"
        };
        let name = &loss.protection;
        let message = format!(
            "{} {verb} the {name} of {}",
            wording::named(&loss.objects),
            by.join(", ")
        );
        let mut finding =
            Finding::new(Code::ProtectionLost, key, message).about(format!("{kind} {name}"));
        finding.settings = wording::settings(&loss.settings).into();
        finding.source = remedy(states, key, kind).unwrap_or_default();
        let told = loss.by.into_iter().chain(loss.now);
        finding.mentions = told.filter(|policy| policy != key).collect();
        finding
    });
    findings.collect()
}

/// How to write the policy so that nothing is lost, if the more specific policy decides how it merges and this one
/// replaces the policies above it.
fn remedy([_, after]: [&Snapshot; 2], key: &ObjectKey, kind: &GroupKind) -> Option<String> {
    let policy = after
        .policy(key)
        .filter(|policy| policy.key().gk == *kind)?;
    let profile = &policy.profile;
    let field = profile.strategies.path.as_ref()?;
    let on_routes = policy.targets.iter().all(|target| is_route(&target.gk));
    let replaces = policy.parts().all(StanzaRef::is_whole);
    if *profile.merging.dictated_by != DictatedBy::Challenger || !on_routes || !replaces {
        return None;
    }
    let named = |wanted: Op| {
        let mut values = profile.strategies.values.iter();
        values.find(|(_, strategy)| matches!(strategy, Strategy::Merge(_, op) if *op == wanted))
    };
    let (name, _) = named(Op::Strategic).or_else(|| named(Op::Patch))?;
    Some(format!("spec.{field}: {name} keeps it"))
}
