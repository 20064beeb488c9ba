//! What a change takes away: protections that a path had and has no longer, and settings of other policies that a new
//! policy replaces (design 9, ruling 38).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::change;
use crate::engine::effective::Survey;
use crate::engine::finding::{Code, Finding};
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::impact::{Shifted, between};
use crate::engine::maps::HashMap;
use crate::engine::merge::{Effective, LeafPath, Part};
use crate::engine::object::is_route;
use crate::engine::policy::Policy;
use crate::engine::profile::{DictatedBy, Op, Profile, Protection, Strategy};
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
    Taken::These(Box::new(before), taken)
}

/// What a policy takes from others, path by path.
pub(super) enum Taken {
    /// The state without the policy, and the paths on which others lose something by it.
    These(Box<Snapshot>, Vec<Shifted>),
    /// It was more than a request may work out.
    TooMuch,
}

// === impl Taken ===

impl Taken {
    /// The findings on a policy that is created: the protections that are lost, and what else changes.
    pub(super) fn findings(self, is: &mut Survey<'_>, policy: &Policy) -> Vec<Finding> {
        let key = policy.key();
        match self {
            Self::TooMuch => vec![change::too_much(key, "what this policy takes away")],
            Self::These(_, all) if all.is_empty() => Vec::new(),
            Self::These(before, all) => {
                let mut findings = protections([&before, is.snapshot()], key, &key.gk, &all);
                findings.push(change::effect(is, key, &key.gk, &all));
                findings
            }
        }
    }

    /// The findings on a policy that is there: the protections that others lose by it.
    pub(super) fn protections(&self, is: &Survey<'_>, policy: &Policy) -> Vec<Finding> {
        match self {
            Self::TooMuch => Vec::new(),
            Self::These(before, all) => {
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
    let [before, after] = states;
    let Some(profile) = after.profile(kind).or_else(|| before.profile(kind)) else {
        return Vec::new();
    };
    let lost = profile.protects.iter().filter_map(|protection| {
        let mut lost = Lost::default();
        for shifted in all.iter().filter(|shifted| shifted.stays) {
            lost.add(states, protection, shifted);
        }
        (!lost.objects.is_empty()).then(|| lost.finding(after, key, profile, protection))
    });
    lost.collect()
}

/// A protection that some paths lose.
#[derive(Default)]
struct Lost {
    objects: BTreeSet<ObjectKey>,
    settings: BTreeMap<LeafPath, Setting>,
    /// The policies that gave it.
    by: BTreeSet<ObjectKey>,
    /// The policies that are in force there now.
    now: BTreeSet<ObjectKey>,
    known: HashMap<(*const (), *const ()), bool>,
}

// === impl Lost ===

impl Lost {
    fn add(&mut self, [before, after]: [&Snapshot; 2], protection: &Protection, shifted: &Shifted) {
        let id = (shifted.before.address(), shifted.after.address());
        let known = self.known.get(&id).copied();
        let is_lost = known.unwrap_or_else(|| {
            let had = given(before, protection, &shifted.before);
            let has = given(after, protection, &shifted.after);
            let is_lost = !had.is_empty() && has.is_empty();
            if is_lost {
                for (by, setting) in had {
                    self.by.insert(by);
                    let setting = setting.filter(|(path, _)| !path.is_empty());
                    self.settings.extend(setting);
                }
                self.now.extend(shifted.after.policies());
            }
            self.known.insert(id, is_lost);
            is_lost
        });
        if is_lost {
            self.objects.extend(shifted.ends.objects().cloned());
        }
    }

    fn finding(
        self,
        after: &Snapshot,
        key: &ObjectKey,
        profile: &Profile,
        protection: &Protection,
    ) -> Finding {
        let name = &protection.name;
        let by: Vec<String> = self.by.iter().map(ObjectKey::text).collect();
        let verb = if self.objects.len() == 1 {
            "loses"
        } else {
            "lose"
        };
        let message = format!(
            "{} {verb} the {name} of {}",
            on(&self.objects),
            by.join(", ")
        );
        let about = format!("{} {name}", profile.gk);
        let mut finding = Finding::new(Code::ProtectionLost, key, message).about(about);
        finding.settings = words::settings(&self.settings).into();
        finding.source = remedy(after, key, profile).unwrap_or_default();
        let told = self.by.into_iter().chain(self.now);
        finding.tells_of = told.filter(|policy| policy != key).collect();
        finding
    }
}

/// What of a result gives a protection: policies, and the settings where these are known.
fn given(
    snapshot: &Snapshot,
    protection: &Protection,
    effective: &Effective,
) -> Vec<(ObjectKey, Option<(LeafPath, Setting)>)> {
    let gives = |path: &LeafPath| {
        let mut settings = protection.settings.iter();
        settings.any(|setting| {
            let above = path.iter().map(Deref::deref).take(setting.len());
            above.eq(setting.iter().map(String::as_str))
        })
    };
    if effective.is_opaque() {
        // Its controller alone knows the result: then what each of the policies sets counts.
        let policies = effective.policies().into_iter();
        let found = policies.filter(|key| {
            let parts = snapshot.policy(key).into_iter().flat_map(|p| p.parts());
            parts.flat_map(Part::paths).any(|path| gives(&path))
        });
        return found.map(|key| (key, None)).collect();
    }
    let leaves = effective.leaves().into_iter();
    let leaves = leaves.filter(|(path, leaf)| !leaf.value.is_null() && gives(path));
    let found = leaves.map(|(path, leaf)| (leaf.policy.clone(), Some((path, leaf.value.clone()))));
    found.collect()
}

/// How the change can be written so that nothing is lost: where the more specific policy says how it merges, and this one
/// replaces what is above it.
fn remedy(after: &Snapshot, key: &ObjectKey, profile: &Profile) -> Option<String> {
    let policy = after.policy(key)?;
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
