//! Protections that a change removes: authentication, rate limits and the like, as the profiles of kinds define them.
//!
//! A path loses a protection if settings that provide it for all or some requests were in force before the change, and
//! those in force after it provide it for fewer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::effective::Resolver;
use crate::effective::impact::{EffectiveChange, FormerEffective};
use crate::effective::renames::Renames;
use crate::effective::traffic::is_detached;
use crate::kinds::profile::{Class, MergeWith, Profile, Protection};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::json_text::JsonText;
use crate::model::level::{Level, Step};
use crate::model::maps::{HashMap, HashSet};
use crate::model::setting_path::SettingPath;
use crate::model::shared::Shared;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;
use crate::topology::{GatewayClientCertificates, RouteKindConflicts};

mod acting_through;
mod alternatives;
mod at_listeners;
mod behind_errors;
mod certain;
mod contributions;
mod external_auth_filters;
mod gateway_client_certificates;
mod left_mesh;
mod listener_effects;
mod listener_tls;
mod loss;
mod newly_failing;
mod no_longer_failing;
mod open_targets;
mod other_kinds;
mod own_fields;
mod provided;
mod remedy;
mod weakened_by_objects;

pub use acting_through::carries_others;
pub use at_listeners::lost_at_listeners;
use behind_errors::provided_behind_errors;
pub use certain::{certainly_provided, requests_without_policies};
use contributions::Contributions;
pub use external_auth_filters::{EXTERNAL_AUTH_FILTER, has_external_auth_filter, loses_filter};
use gateway_client_certificates::BeforeAndAfter;
pub use gateway_client_certificates::own_client_certificates;
use listener_tls::opened_without_tls;
pub use loss::ProtectionLoss;
use newly_failing::NewlyFailing;
pub use no_longer_failing::{AcceptedPolicy, all_lost_by_acceptance, lost_by_acceptance};
use open_targets::is_closed_without_policy;
use other_kinds::OtherKinds;
pub use own_fields::lost_by_own_fields;
pub use provided::Coverage;
use provided::Provided;
pub use remedy::{Remedy, remedies};

/// The name of the protection by client certificates in profiles.
pub const CLIENT_CERTIFICATES: &str = "client certificates";

/// The name of the protection by allowed origins in profiles.
pub const CORS: &str = "CORS rules";

/// A policy that provides a protection, and the setting if it is known.
type ProtectionSource = (ObjectKey, Option<(SettingPath, JsonText)>);

/// The settings and policies that provided a lost protection, and the policies in their place.
#[derive(Clone, Debug)]
pub struct LostSources {
    /// The settings that provided it; empty if only the kind's own controller knows them.
    pub settings: BTreeMap<SettingPath, JsonText>,
    /// The policies that provided it.
    pub by: BTreeSet<ObjectKey>,
    /// The policies of the kind that are in force there after the change.
    pub now: BTreeSet<ObjectKey>,
    /// The requests that keep it: some, or none on at least one of the paths.
    pub remains: Coverage,
    /// Sentences for users: why the settings after the change provide less.
    pub reasons: BTreeSet<Arc<str>>,
}

/// The protections of a kind that a change removes; `states` are the snapshots before and after it. A target that is new
/// or gone loses nothing, and neither does a path that no request reaches any more. A target that was there loses a protection
/// by a new path without it, if all of its paths had it before. `None` if it takes too much work to tell.
pub fn lost<'a>(
    states: [&Snapshot; 2],
    renames: &Renames,
    kind: &GroupKind,
    changes: &(impl Iterator<Item = &'a EffectiveChange> + Clone),
) -> Option<Vec<ProtectionLoss>> {
    let resolve: Resolve = |state| Resolver::bounded(state);
    losses((states, resolve), renames, kind, changes, |_| ())
}

/// Like [`lost`], object by object, and however much work it is.
pub fn protection_losses_by_object<'a>(
    states: [&Snapshot; 2],
    renames: &Renames,
    kind: &GroupKind,
    changes: &(impl Iterator<Item = &'a EffectiveChange> + Clone),
) -> Vec<ProtectionLoss> {
    let resolve: Resolve = |state| Resolver::new(state);
    let losses = losses((states, resolve), renames, kind, changes, ObjectKey::clone);
    losses.unwrap_or_default()
}

/// Makes the resolver of a state for what the changes alone do not tell.
type Resolve = for<'s> fn(&'s Snapshot) -> Resolver<'s>;

/// The losses. Objects for which `part` is equal share one. `None` if the fuel of a resolver is used up.
fn losses<'a, P: Ord>(
    (states, resolve): ([&Snapshot; 2], Resolve),
    renames: &Renames,
    kind: &GroupKind,
    changes: &(impl Iterator<Item = &'a EffectiveChange> + Clone),
    part: impl Fn(&ObjectKey) -> P,
) -> Option<Vec<ProtectionLoss>> {
    let [before, after] = states;
    let Some(profile) = after.profile(kind).or_else(|| before.profile(kind)) else {
        return Some(Vec::new());
    };
    let mut route_kind_conflicts = states.map(RouteKindConflicts::new);
    let may_fail = profile.may_fail_requests();
    let mut newly_failing = NewlyFailing::new(states);
    let changes: Vec<&EffectiveChange> = changes
        .clone()
        .filter(|change| !(may_fail && newly_failing.fails_at(profile, change)))
        .collect();
    let mut all_losses = Vec::new();
    for protection in profile.protects.iter() {
        let mut losing = LossFinder::new(profile, protection);
        let mut others = OtherKinds::new((states, resolve), profile, protection);
        let mut losses: BTreeMap<(bool, P), (ProtectionLoss, HashSet<Compared>)> = BTreeMap::new();
        let stay = changes
            .iter()
            .copied()
            .filter(|change| !change.no_longer_taken && change.is_policy_change());
        for change in stay.filter(|change| !is_cut_off(after, change)) {
            let (before, after) = (change.before.clone(), change.after.clone());
            let id = (change.on_replaced_paths.clone(), before, after);
            for (object, lost) in others.opened(change) {
                let loss = losses.entry((false, part(&object)));
                let (loss, _) = loss.or_insert_with(|| {
                    (ProtectionLoss::named(&protection.name), HashSet::default())
                });
                loss.objects.insert(object);
                loss.lost.add(&lost);
            }
            for certificates in GatewayClientCertificates::of_change(states, protection, change) {
                let id = (id.clone(), certificates);
                let Some(taken) = losing.lost(states, &id) else {
                    continue;
                };
                let mut decided = |object: &&ObjectKey| others.decide(change, object);
                let objects = change.paths.objects().filter(|object| {
                    !decided(object)
                        && !is_closed_without_policy(states[1], profile, change, object)
                });
                for object in objects {
                    let opens = change.on_replaced_paths.is_some();
                    let loss = losses.entry((opens, part(object)));
                    let (loss, known) = loss.or_insert_with(|| {
                        (ProtectionLoss::named(&protection.name), HashSet::default())
                    });
                    loss.add(object, change);
                    if !known.contains(&id) {
                        known.insert(id.clone());
                        loss.lost.add(taken);
                    }
                }
            }
        }
        if others.is_spent() {
            return None;
        }
        all_losses.extend(losses.into_values().map(|(loss, _)| loss));
    }
    for loss in &mut all_losses {
        loss.join_sections(after);
    }
    if *profile.class == Class::Direct {
        // Their paths are the object alone, whether it is attached or not.
        for loss in &mut all_losses {
            let objects = &mut loss.objects;
            objects.retain(|object| !is_detached(&mut route_kind_conflicts, renames, object));
        }
        all_losses.retain(|loss| !loss.objects.is_empty());
    }
    let changes = changes.into_iter();
    all_losses.extend(acting_through::displaced(
        (states, resolve),
        kind,
        &changes,
        part,
    )?);
    Some(all_losses)
}

/// The protections of a kind, by name, that requests lose if they take other paths: those `before` the change, and those
/// `after` it, each with its snapshot.
pub fn lost_between(
    profile: &Profile,
    before: (&Snapshot, &[Shared<EffectivePolicy>]),
    after: (&Snapshot, &[Shared<EffectivePolicy>]),
) -> Vec<(Arc<str>, LostSources)> {
    let alone = |paths: &[Shared<EffectivePolicy>]| -> Vec<AtPath> {
        paths.iter().map(|one| (one.clone(), None)).collect()
    };
    let (before, results_before) = (before.0, alone(before.1));
    let (after, results_after) = (after.0, alone(after.1));
    let each = profile.protects.iter().filter_map(move |protection| {
        let lost = LostSources::between(
            profile,
            protection,
            (before, &results_before),
            (after, &results_after),
        )?;
        Some((protection.name.clone(), lost))
    });
    each.collect()
}

/// The names of the protections that an effective policy provides for all requests.
pub fn provided<'p>(
    snapshot: &Snapshot,
    profile: &'p Profile,
    effective: &EffectivePolicy,
) -> impl Iterator<Item = &'p Arc<str>> {
    let is_provided = move |protection: &&Protection| {
        Provided::from_effective(snapshot, profile, protection, effective).coverage
            == Coverage::AllRequests
    };
    let provided = profile.protects.iter().filter(is_provided);
    provided.map(|protection| &protection.name)
}

/// Whether requests get an error because of a rejected policy that is in force all the same.
pub fn requests_fail(snapshot: &Snapshot, effective: &EffectivePolicy) -> bool {
    let policies = effective.policies();
    let policies = policies.iter().filter_map(|key| snapshot.policy(key));
    let (failing, others): (Vec<&Arc<Policy>>, Vec<&Arc<Policy>>) =
        policies.partition(|policy| policy.requests_fail(snapshot));
    // Merged with one that is not rejected, the settings of a rejected policy count as they are written.
    let merges = others.iter().any(|policy| policy.chooses_to_merge());
    failing.iter().any(|policy| {
        let merge_with = *policy.profile.merging.merge_with;
        !(merges && merge_with == MergeWith::NearestAboveRoutes)
    })
}

fn contributions(provided: &[Provided]) -> Vec<&Contributions> {
    provided
        .iter()
        .map(|provided| &provided.contributions)
        .collect()
}

/// The policies that are in force on one of these paths.
fn policies_in_force(paths: &[AtPath]) -> BTreeSet<ObjectKey> {
    paths.iter().flat_map(|(one, _)| one.policies()).collect()
}

/// Whether a change leaves the effective targets of these paths without requests. An unknown parent may send some.
fn is_cut_off(after: &Snapshot, change: &EffectiveChange) -> bool {
    let known = |route: &Step| {
        let route = after.get(&route.place.object);
        let parents = route.map_or(&[][..], |route| route.parents());
        let mut parents = parents.iter().map(|parent| &parent.object);
        parents.all(|parent| after.get(parent).is_some() || after.lacks(parent))
    };
    let mut routes = change
        .paths
        .steps()
        .filter(|step| step.level == Level::Route);
    change.detached && routes.all(known)
}

// === impl Policy ===

impl Policy {
    /// Whether it has a setting that provides the protection of this name.
    pub fn protects_by(&self, name: &str) -> bool {
        let protection = self.profile.protection(name);
        protection.is_some_and(|protection| self.sets_one(&protection.settings))
    }
}

/// Compares results for one protection, each pair once: there are many paths and few results.
struct LossFinder<'a> {
    profile: &'a Profile,
    protection: &'a Protection,
    known: HashMap<Compared, Option<LostSources>>,
}

/// The effective policies before a change on the former paths, if they are others, and on the path;
/// those after it; and the client certificates that the Gateways themselves ask for.
type Compared = (
    (
        Option<FormerEffective>,
        Shared<EffectivePolicy>,
        Shared<EffectivePolicy>,
    ),
    BeforeAndAfter,
);

/// The effective policy of a path, and the client certificates that the Gateway itself asks for
/// there.
type AtPath = (Shared<EffectivePolicy>, Option<GatewayClientCertificates>);

// === impl LossFinder ===

impl<'a> LossFinder<'a> {
    fn new(profile: &'a Profile, protection: &'a Protection) -> Self {
        Self {
            profile,
            protection,
            known: HashMap::default(),
        }
    }

    /// The protection that these paths lose, if any.
    fn lost(&mut self, [before, after]: [&Snapshot; 2], id: &Compared) -> Option<&LostSources> {
        let (profile, protection) = (self.profile, self.protection);
        let lost = self.known.entry(id.clone()).or_insert_with(|| {
            let ((on_replaced_paths, effective_before, effective_after), [own_before, own_after]) =
                id;
            let earlier = on_replaced_paths
                .as_ref()
                .map_or(std::slice::from_ref(effective_before), |all| all);
            let earlier = earlier
                .iter()
                .map(|effective_before| (effective_before.clone(), own_before.clone()));
            let earlier: Vec<AtPath> = earlier.collect();
            let later = [(effective_after.clone(), own_after.clone())];
            LostSources::between(profile, protection, (before, &earlier), (after, &later))
        });
        lost.as_ref()
    }
}

// === impl LostSources ===

impl LostSources {
    fn nothing() -> Self {
        Self {
            settings: BTreeMap::new(),
            by: BTreeSet::new(),
            now: BTreeSet::new(),
            remains: Coverage::AllRequests,
            reasons: BTreeSet::new(),
        }
    }

    /// The loss if nothing remains of these; `None` if none of them provided anything.
    fn all_of(provided: impl IntoIterator<Item = Provided>) -> Option<Self> {
        let provided = provided
            .into_iter()
            .filter(|provided| provided.coverage > Coverage::NoRequests);
        let mut sources = provided.flat_map(|provided| provided.sources).peekable();
        sources.peek()?;
        let mut lost = Self {
            remains: Coverage::NoRequests,
            ..Self::nothing()
        };
        lost.note_sources(sources);
        Some(lost)
    }

    /// The loss if effective policies take the place of others. Each side protects only the
    /// requests that it protects on all of its paths.
    fn between(
        profile: &Profile,
        protection: &Protection,
        before: (&Snapshot, &[AtPath]),
        after: (&Snapshot, &[AtPath]),
    ) -> Option<Self> {
        let [provided_before, provided_after] = [before, after].map(|(snapshot, paths)| {
            // Requests that fail do not pass without the protection.
            let passing = paths
                .iter()
                .filter(|(one, _)| !requests_fail(snapshot, one));
            let provided_by =
                |effective| Provided::from_effective(snapshot, profile, protection, effective);
            let provided = passing.map(|(one, own)| provided_by(one).or_gateway(own.as_ref()));
            provided.collect::<Vec<Provided>>()
        });
        let provided_before = if provided_before.is_empty()
            && !provided_after.is_empty()
            && profile.may_fail_requests()
        {
            provided_behind_errors(before.0, profile, protection, before.1)
        } else {
            provided_before
        };
        let least = |provided: &[Provided]| provided.iter().map(|provided| provided.coverage).min();
        let remains = match least(&provided_after) {
            Some(least) => least,
            None if after.1.is_empty() => Coverage::NoRequests,
            // All requests fail.
            None => {
                let before = policies_in_force(before.1);
                return Self::behind_rejected(protection, provided_before, &before, after);
            }
        };
        if remains >= least(&provided_before)? {
            let is_given = least(&provided_before)? > Coverage::NoRequests;
            let lost = Contributions::lost(
                &contributions(&provided_before),
                &contributions(&provided_after),
            );
            if !lost.is_empty() {
                return Some(Self::part(lost, after.1));
            }
            let results = |paths: &[AtPath]| -> Vec<Shared<EffectivePolicy>> {
                paths.iter().map(|(one, _)| one.clone()).collect()
            };
            let by_entries = || {
                let (before, after) = (results(before.1), results(after.1));
                Self::by_entries(profile, protection, &before, &after)
            };
            return is_given.then(by_entries).flatten();
        }
        let mut lost = Self {
            now: policies_in_force(after.1),
            remains,
            reasons: provided_after
                .into_iter()
                .flat_map(|provided| provided.weaknesses)
                .collect(),
            ..Self::nothing()
        };
        lost.note_sources(
            provided_before
                .into_iter()
                .flat_map(|provided| provided.sources),
        );
        Some(lost)
    }

    /// The loss of some settings that provided the protection, while others stay in force.
    fn part(sources: Vec<ProtectionSource>, after: &[AtPath]) -> Self {
        let mut lost = Self {
            now: policies_in_force(after),
            remains: Coverage::SomeRequests,
            ..Self::nothing()
        };
        lost.note_sources(sources);
        lost
    }

    /// Records the policies and settings that provided it.
    fn note_sources(&mut self, sources: impl IntoIterator<Item = ProtectionSource>) {
        for (by, setting) in sources {
            self.by.insert(by);
            if let Some((path, value)) = setting.filter(|(path, _)| !path.is_empty()) {
                self.note(path, value);
            }
        }
    }

    /// Adds the loss of other paths.
    fn add(&mut self, other: &Self) {
        self.by.extend(other.by.iter().cloned());
        self.now.extend(other.now.iter().cloned());
        self.reasons.extend(other.reasons.iter().cloned());
        self.remains = self.remains.min(other.remains);
        for (path, value) in &other.settings {
            self.note(path.clone(), value.clone());
        }
    }

    /// Records a setting. If policies set it to different values, one of them is kept, regardless of their order.
    fn note(&mut self, path: SettingPath, value: JsonText) {
        let known = self.settings.get(&path);
        if known.is_none_or(|known| value.text() < known.text()) {
            self.settings.insert(path, value);
        }
    }
}
