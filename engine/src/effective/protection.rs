//! Protections that a change removes: authentication, rate limits and the like, as the profiles of kinds define them.
//!
//! A path loses a protection if settings that provide it for all or some requests were in force before the change, and
//! those in force after it provide it for fewer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::effective::impact::EffectiveChange;
use crate::effective::renames::Renames;
use crate::effective::traffic::is_detached;
use crate::kinds::profile::{Class, Profile, Protection};
use crate::merge::{SettingPath, StanzaRef, is_under};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::json_text::JsonText;
use crate::model::level::{Level, Step};
use crate::model::maps::HashMap;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;
use crate::topology::KeptOutCache;

mod given;
mod provided;

pub use given::Extent;
use given::Given;
pub use provided::{Provided, provided};

/// The name of the protection by allowed origins in profiles.
pub const CORS: &str = "CORS rules";

/// A protection that some paths lose.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The name for users: `authentication`.
    pub protection: Arc<str>,
    /// The effective targets of these paths.
    pub objects: BTreeSet<ObjectKey>,
    /// The settings that provided it; empty if only the kind's own controller knows them.
    pub settings: BTreeMap<SettingPath, JsonText>,
    /// The policies that provided it.
    pub by: BTreeSet<ObjectKey>,
    /// The policies of the kind that are in force there after the change.
    pub now: BTreeSet<ObjectKey>,
    /// What remains of it: for some requests, or for none on at least one of the paths.
    pub remains: Extent,
    /// Why what is in force after the change provides no more, as sentences for users.
    pub reasons: BTreeSet<Arc<str>>,
}

/// The protections of a kind that a change removes; `states` are the snapshots before and after it. Paths that appear
/// or disappear with the change lose nothing, and neither do targets that no request reaches any more.
pub fn lost<'a>(
    states: [&Snapshot; 2],
    renames: &Renames,
    kind: &GroupKind,
    changes: &(impl Iterator<Item = &'a EffectiveChange> + Clone),
) -> Vec<Loss> {
    let [before, after] = states;
    let Some(profile) = after.profile(kind).or_else(|| before.profile(kind)) else {
        return Vec::new();
    };
    let mut one_kind = states.map(KeptOutCache::new);
    let losses = profile.protects.iter().map(|protection| {
        let mut losing = Losing::of(profile, protection);
        let stay = changes.clone().filter(|shifted| shifted.stays);
        for shifted in stay.filter(|shifted| !is_cut_off(after, shifted)) {
            losing.add(states, shifted);
        }
        if *profile.class == Class::Direct {
            // Their paths are the object alone, whether it is attached or not.
            let objects = &mut losing.loss.objects;
            objects.retain(|object| !is_detached(&mut one_kind, renames, object));
        }
        losing.loss
    });
    losses.filter(|loss| !loss.objects.is_empty()).collect()
}

/// Whether a change leaves the effective targets of these paths without requests. An unknown parent may send some.
fn is_cut_off(after: &Snapshot, shifted: &EffectiveChange) -> bool {
    let known = |route: &Step| {
        let route = after.get(&route.place.object);
        let parents = route.map_or(&[][..], |route| route.parents());
        let mut parents = parents.iter().map(|parent| &parent.object);
        parents.all(|parent| after.get(parent).is_some() || after.lacks(parent))
    };
    let mut routes = shifted
        .ends
        .steps()
        .filter(|step| step.level == Level::Route);
    shifted.detached && routes.all(known)
}

// === impl Policy ===

impl Policy {
    /// Whether it has a setting that provides the protection of this name.
    pub fn protects_by(&self, name: &str) -> bool {
        let mut protections = self.profile.protects.iter();
        let gives = |protection: &&Protection| &*protection.name == name;
        let protection = protections.find(gives);
        protection.is_some_and(|protection| {
            let mut paths = self.parts().flat_map(StanzaRef::paths);
            paths.any(|path| {
                let mut settings = protection.settings.iter();
                settings.any(|setting| is_under(&path, setting))
            })
        })
    }
}

/// Compares results for one protection, each pair once: there are many paths and few results.
struct Losing<'a> {
    profile: &'a Profile,
    protection: &'a Protection,
    known: HashMap<(*const (), *const ()), bool>,
    loss: Loss,
}

// === impl Losing ===

impl<'a> Losing<'a> {
    fn of(profile: &'a Profile, protection: &'a Protection) -> Self {
        Self {
            profile,
            protection,
            known: HashMap::default(),
            loss: Loss {
                protection: protection.name.clone(),
                objects: BTreeSet::new(),
                settings: BTreeMap::new(),
                by: BTreeSet::new(),
                now: BTreeSet::new(),
                remains: Extent::Some,
                reasons: BTreeSet::new(),
            },
        }
    }

    fn add(&mut self, [before, after]: [&Snapshot; 2], shifted: &EffectiveChange) {
        let id = (shifted.before.address(), shifted.after.address());
        let known = self.known.get(&id).copied();
        let is_lost = known.unwrap_or_else(|| {
            let (profile, protection) = (self.profile, self.protection);
            let had = Given::by(before, profile, protection, &shifted.before);
            let has = Given::by(after, profile, protection, &shifted.after);
            let is_lost = has.extent < had.extent;
            if is_lost {
                for (by, setting) in had.sources {
                    self.loss.by.insert(by);
                    if let Some((path, value)) = setting.filter(|(path, _)| !path.is_empty()) {
                        self.note(path, value);
                    }
                }
                self.loss.now.extend(shifted.after.policies());
                self.loss.remains = self.loss.remains.min(has.extent);
                self.loss.reasons.extend(has.weaknesses);
            }
            self.known.insert(id, is_lost);
            is_lost
        });
        if is_lost {
            self.loss.objects.extend(shifted.ends.objects().cloned());
        }
    }

    /// Records a setting. If policies set it to different values, one of them is kept, regardless of their order.
    fn note(&mut self, path: SettingPath, value: JsonText) {
        let known = self.loss.settings.get(&path);
        if known.is_none_or(|known| value.text() < known.text()) {
            self.loss.settings.insert(path, value);
        }
    }
}
