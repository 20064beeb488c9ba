//! What a change takes away: protections that a path had and has no longer, and settings of other policies that a new
//! policy replaces (design 9, ruling 38).

use std::collections::BTreeSet;

use super::change;
use crate::engine::effective::Survey;
use crate::engine::finding::{Code, Finding};
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::impact::{Shifted, between};
use crate::engine::maps::HashMap;
use crate::engine::merge::{LeafPath, Part};
use crate::engine::object::is_route;
use crate::engine::policy::Policy;
use crate::engine::profile::{DictatedBy, Op, Strategy};
use crate::engine::protection::lost;
use crate::engine::setting::Setting;
use crate::engine::snapshot::{Change, Snapshot};
use crate::engine::words;

/// What a new policy, or one that is there, takes from others.
///
/// `is` answers from the state with the policy; it is compared with the state without it.
pub(super) fn taken_by(is: &mut Survey<'_>, policy: &Policy) -> Taken {
    let key = policy.key();
    let before = is.snapshot().what_if(Change::Deleted(key.clone()));
    let mut was = is.of(&before);
    let changed = between(&mut was, is, std::slice::from_ref(key));
    if was.is_spent() || is.is_spent() {
        return Taken::TooMuch;
    }
    let loses = |shifted: &Shifted| shifted.stays && takes_away(shifted, key);
    let taken = changed.into_iter().filter(loses).collect();
    Taken::These(Some(Box::new(before)), taken)
}

/// What a policy takes from others, path by path.
pub(super) enum Taken {
    /// The paths on which others lose something by it, and the state without it, where there are any.
    These(Option<Box<Snapshot>>, Vec<Shifted>),
    /// It was more than a request may work out.
    TooMuch,
}

// === impl Taken ===

impl Taken {
    /// It takes nothing.
    pub(super) fn nothing() -> Self {
        Self::These(None, Vec::new())
    }

    /// The findings on a policy that is created: the protections that are lost, and what else changes.
    pub(super) fn findings(self, is: &mut Survey<'_>, policy: &Policy) -> Vec<Finding> {
        let key = policy.key();
        match self {
            Self::TooMuch => vec![change::too_much(key, "what this policy takes away")],
            Self::These(None, _) => Vec::new(),
            Self::These(_, all) if all.is_empty() => Vec::new(),
            Self::These(Some(before), all) => {
                let mut findings = protections([&before, is.snapshot()], key, &key.gk, &all);
                findings.push(change::effect(is, key, &key.gk, &all));
                findings
            }
        }
    }

    /// The findings on a policy that is there: the protections that others lose by it.
    pub(super) fn protections(&self, is: &Survey<'_>, policy: &Policy) -> Vec<Finding> {
        match self {
            Self::TooMuch | Self::These(None, _) => Vec::new(),
            Self::These(Some(before), all) => {
                let key = policy.key();
                protections([before, is.snapshot()], key, &key.gk, all)
            }
        }
    }

    /// Says of an empty policy which policies it replaces by nothing, and where.
    pub(super) fn complete(&self, findings: &mut [Finding], policy: &Policy) {
        let mut empty = findings.iter_mut();
        let empty = empty.find(|finding| finding.code == Code::SpecEmpty);
        let (Self::These(_, all), Some(empty)) = (self, empty) else {
            return;
        };
        if !policy.replaces_by_nothing() {
            return;
        }
        let replaced = all.iter().flat_map(|shifted| shifted.before.policies());
        let replaced: BTreeSet<ObjectKey> = replaced.collect();
        if replaced.is_empty() {
            "it has no settings, and there is no policy of its kind that it replaces"
                .clone_into(&mut empty.message);
            return;
        }
        let names: Vec<String> = replaced.iter().map(ObjectKey::text).collect();
        empty.message = format!(
            "it has no settings: it replaces {} by nothing on {}",
            names.join(", "),
            on(&objects(all.iter()))
        );
        empty.tells_of.extend(replaced);
    }
}

/// Whether something that another policy set is not in force any more, or has another value.
fn takes_away(shifted: &Shifted, policy: &ObjectKey) -> bool {
    if shifted.before.is_opaque() || shifted.after.is_opaque() {
        return shifted
            .before
            .policies()
            .iter()
            .any(|other| other != policy);
    }
    let after = shifted.after.leaves();
    let after: HashMap<&LeafPath, &Setting> = after
        .iter()
        .map(|(path, leaf)| (path, &leaf.value))
        .collect();
    // Where policies are in force side by side nobody loses anything.
    let beside = shifted.before.is_together() || shifted.after.is_together();
    let before = shifted.before.leaves().into_iter();
    let mut lost = before.filter(|(_, leaf)| !leaf.value.is_null() && leaf.policy != *policy);
    !beside && lost.any(|(path, leaf)| after.get(&path) != Some(&&leaf.value))
}

/// The protections of a kind that paths lose, one finding for each. The states are those before and after the change.
pub(super) fn protections(
    states: [&Snapshot; 2],
    key: &ObjectKey,
    kind: &GroupKind,
    all: &[Shifted],
) -> Vec<Finding> {
    let lost = lost(states, kind, &all.iter());
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
            on(&loss.objects),
            by.join(", ")
        );
        let mut finding =
            Finding::new(Code::ProtectionLost, key, message).about(format!("{kind} {name}"));
        finding.settings = words::settings(&loss.settings).into();
        finding.source = remedy(states, key, kind).unwrap_or_default();
        let told = loss.by.into_iter().chain(loss.now);
        finding.tells_of = told.filter(|policy| policy != key).collect();
        finding
    });
    findings.collect()
}

/// How the change can be written so that nothing is lost: where the more specific policy says how it merges, and this one
/// replaces what is above it.
fn remedy([_, after]: [&Snapshot; 2], key: &ObjectKey, kind: &GroupKind) -> Option<String> {
    let policy = after
        .policy(key)
        .filter(|policy| policy.key().gk == *kind)?;
    let profile = &policy.profile;
    let field = profile.strategies.path.as_ref()?;
    let on_routes = policy.targets.iter().all(|target| is_route(&target.gk));
    let replaces = policy.parts().all(Part::is_whole);
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

/// The effective targets of paths.
fn objects<'a>(all: impl Iterator<Item = &'a Shifted>) -> BTreeSet<ObjectKey> {
    let objects = all.flat_map(|shifted| shifted.ends.objects());
    objects.cloned().collect()
}

/// One object by its name, several by their number.
fn on(objects: &BTreeSet<ObjectKey>) -> String {
    match (objects.len(), objects.first()) {
        (1, Some(object)) => object.to_string(),
        _ => words::counted(objects),
    }
}
