//! The effect of a policy on a target: enforced, partly enforced or overridden, and by which policies.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::effective_targets::EffectiveTargets;
use super::no_effect::no_effect;
use super::unknown::{if_it_delegates, if_it_is_rejected};
use super::{NoEffect, State, TargetStatus, Winner};
use crate::effective::{PathGroup, Stack, StackAndEffective, has_narrower_listener};
use crate::kinds::profile::SameTarget;
use crate::merge::{PolicyOutcome, ValuesInForce, act_together, policies_in_force};
use crate::model::ids::{ObjectKey, Place, PrehashedBuildHasher};
use crate::model::json_text::JsonText;
use crate::model::level::Level;
use crate::model::maps;
use crate::model::object::is_route;
use crate::model::path_trie::PathTrie;
use crate::model::setting_path::{SettingPath, is_under};
use crate::model::shared::Shared;
use crate::policy::Policy;
use crate::policy::StanzaRef;
use crate::policy::tree::Tree;
use crate::state::snapshot::Snapshot;
use crate::topology::AncestorPaths;

/// The groups of paths on which a policy is attached to a place. Many share one stack.
pub(super) fn groups_with<'a>(
    groups: &'a [PathGroup],
    policy: &Policy,
    place: &Place,
) -> Vec<&'a PathGroup> {
    let mut known: maps::HashMap<Shared<Stack>, bool> = maps::HashMap::default();
    let attachments = |group: &&PathGroup| {
        let is_attached = known.entry(group.stack.clone());
        *is_attached.or_insert_with(|| is_attached_at(&group.stack, policy, place))
    };
    groups.iter().filter(attachments).collect()
}

fn is_attached_at(stack: &Stack, policy: &Policy, place: &Place) -> bool {
    let mut levels = stack.iter().filter(|level| level.step.place == *place);
    levels.any(|level| level.policies.has(policy.key()))
}

fn has_others(stack: &Stack, policy: &Policy) -> bool {
    let mut policies = stack.iter().flat_map(|level| level.policies.iter());
    policies.any(|other| other.key() != policy.key())
}

/// The maximum number of leaves of a policy that [`enforce`] visits.
pub(super) fn cost(policy: &Policy, groups: &[&PathGroup]) -> usize {
    let outcomes: maps::HashSet<StackAndEffective> =
        groups.iter().map(|group| group.outcome()).collect();
    outcomes.len() * policy.leaves()
}

/// Fills in the effect of a policy on a target, given the groups of paths on which it is attached there.
///
/// A policy near the top is on many thousands of paths with few differences, so each distinct outcome is processed
/// once.
pub(super) fn enforce(
    snapshot: &Snapshot,
    policy: &Policy,
    groups: &[&PathGroup],
    status: &mut TargetStatus,
) {
    let counts = |group: &&&PathGroup| group.complete && group.attached;
    let mut tally = PathCounts::default();
    let mut known: maps::HashMap<StackAndEffective, Option<PathState>> = maps::HashMap::default();
    // By list of ancestor paths, which many groups share.
    let mut through: maps::HashMap<&AncestorPaths, PathCounts> = maps::HashMap::default();
    let mut paths: Option<Arc<[SettingPath]>> = None;
    let (mut unordered, mut rejected, mut passes_over) = (None, None, false);
    for group in groups.iter().filter(counts) {
        let in_force = *known.entry(group.outcome()).or_insert_with(|| {
            if is_idle_here(policy, group) {
                return None;
            }
            if let Some(why) = group.rejected_merge(policy) {
                rejected = Some(why.to_string());
                return Some(PathState::Not);
            }
            if unordered.is_none() {
                unordered = unsettled(policy, group, &status.target)
                    .or_else(|| merged_by_controller(policy, group));
            }
            record_merged(policy, group, status);
            if group.only_overrides_without_merge(policy) {
                passes_over = true;
                status.shares_paths = true;
                return Some(PathState::Whole);
            }
            let sole = group.effective.sole();
            let sole = sole.map(|sole| group.overridden_without_merge_by(policy).unwrap_or(sole));
            if let Some(other) = sole.filter(|sole| *sole != policy.key()) {
                let acting = group.with_settings_here(policy);
                if acting.variant() == policy.variant() {
                    let lost = paths.get_or_insert_with(|| paths_of(policy));
                    record_override(other, group, lost, status);
                } else {
                    record_override(other, group, &paths_of(acting), status);
                }
                return Some(PathState::Not);
            }
            let outcome = group.outcome_of(policy);
            let in_force = PathState::from_outcome(&outcome);
            status.shares_paths |= outcome.is_in_force && has_others(&group.stack, policy);
            record_outcome(policy, group, outcome, status);
            Some(in_force)
        });
        let Some(in_force) = in_force else {
            continue;
        };
        tally.count(in_force);
        let of_list = through.entry(&group.paths.ancestors).or_default();
        of_list.count(in_force);
        let is_in_force = in_force != PathState::Not;
        if is_in_force {
            status.effective_targets.add(group);
        }
        status.paths_below.add(group, &status.target, is_in_force);
    }
    let mut by_gateway: HashMap<ObjectKey, PathCounts, PrehashedBuildHasher> = HashMap::default();
    for (ancestors, tally_of_list) in through {
        for gateway in tops_of(ancestors) {
            by_gateway.entry(gateway).or_default().add(tally_of_list);
        }
    }
    let with_state = |(key, tally): (ObjectKey, PathCounts)| Some((key, tally.state()?));
    status.state_by_gateway = by_gateway.into_iter().filter_map(with_state).collect();
    status.state = Some(if policy.adds_nothing() && !passes_over {
        without_settings(policy, status)
    } else {
        let idle = || no_effect(snapshot, policy, groups, &status.target);
        let state = tally.state().unwrap_or_else(idle);
        let state = match rejected {
            Some(why) if state == State::Overridden && status.overridden_by.is_empty() => {
                State::NoEffect(NoEffect::lasting(why))
            }
            _ => state,
        };
        unless_unknown(snapshot, policy, &status.target, state, unordered)
    });
    if is_route(&status.target.object.gk) {
        status.note_gateways_not_applying(without_policy(snapshot, policy, groups));
    }
}

/// The state of a policy that has no settings and replaces none: it applies nowhere.
fn without_settings(policy: &Policy, status: &mut TargetStatus) -> State {
    status.effective_targets = EffectiveTargets::default();
    let why = policy.why_not_applied().map(ToString::to_string);
    let why = why.unwrap_or_else(|| "it sets nothing".to_owned());
    State::NoEffect(NoEffect::lasting(why))
}

/// A state, unless nobody knows it.
fn unless_unknown(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &Place,
    state: State,
    unordered: Option<String>,
) -> State {
    let is_idle = matches!(state, State::NoEffect(_));
    let elsewhere = || {
        let elsewhere = policy.may_apply_elsewhere(snapshot, &target.object.gk);
        elsewhere.map(ToOwned::to_owned)
    };
    let of_pods = is_idle && target.object.gk.is_core("Pod");
    let of_pods = of_pods.then(|| "attache does not follow what policies set for Pods".to_owned());
    let elsewhere = is_idle.then(elsewhere).flatten().or(of_pods);
    let unknown = elsewhere
        .or_else(|| if_it_delegates(snapshot, target))
        .or_else(|| if_it_is_rejected(snapshot, target))
        .or(unordered);
    unknown.map_or(state, State::Unknown)
}

/// The reason if only its controller knows which settings remain of the policy beside others.
fn merged_by_controller(policy: &Policy, group: &PathGroup) -> Option<String> {
    if !group.effective.is_opaque() {
        return None;
    }
    let merged = group.effective.policies();
    let is_one_of_several = merged.len() > 1 && merged.contains(policy.key());
    is_one_of_several
        .then(|| "only its controller knows how it merges with the other policies here".to_owned())
}

/// The reason if another policy of its target sets the same, and nothing orders the two.
fn unsettled(policy: &Policy, group: &PathGroup, target: &Place) -> Option<String> {
    if *policy.profile.same_target != SameTarget::MergeUnsettled {
        return None;
    }
    let level = group
        .stack
        .iter()
        .find(|level| level.step.place == *target)?;
    let others = level.policies.iter();
    // An override goes before a default, whatever the order.
    let is_equal = |other: &&Arc<Policy>| other.strategies == policy.strategies;
    let others = others.filter(|other| other.key() != policy.key() && act_together(policy, other));
    let others = others.filter(is_equal);
    let others: Vec<&Arc<Policy>> = others.collect();
    let accumulated = &policy.profile.merging.accumulate_per_stage;
    let mut leaves = group.effective.leaves();
    leaves.retain(|(path, _)| !accumulated.iter().any(|setting| is_under(path, setting)));
    leaves.iter().find_map(|(path, setting)| {
        let is_owner = |one: &Policy| setting.policy == *one.key();
        let differs = |one: &Policy| !is_owner(one) && sets_otherwise(one, path, &setting.value);
        let other = if differs(policy) {
            others.iter().find(|other| is_owner(other))?
        } else if is_owner(policy) || sets(policy, path) {
            others.iter().find(|other| differs(other))?
        } else {
            return None;
        };
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        let whole = whole_setting(&policy.profile.merging.atomic_fields, &path);
        let shown = whole.unwrap_or(&path);
        let name = other.key().path();
        let does = if other.stanzas().any(|part| part.tree().at(shown).is_some()) {
            format!("{name} also sets {} on {target}", shown.join("."))
        } else {
            format!("{name} is on {target}, too")
        };
        Some(format!(
            "{does}, and the controller defines no order: either value may be in force, and it may change after a restart"
        ))
    })
}

/// Whether a policy sets a field.
fn sets(policy: &Policy, path: &[Arc<str>]) -> bool {
    let path: Vec<String> = path.iter().map(ToString::to_string).collect();
    policy.stanzas().any(|part| part.tree().at(&path).is_some())
}

/// Whether a policy sets a field to another value, or other fields of a setting that is taken as a whole with it.
fn sets_otherwise(policy: &Policy, path: &[Arc<str>], value: &JsonText) -> bool {
    let path: Vec<String> = path.iter().map(ToString::to_string).collect();
    let is_whole = policy.stanzas().all(StanzaRef::is_whole);
    let whole = whole_setting(&policy.profile.merging.atomic_fields, &path);
    let whole = if is_whole { Some(&[][..]) } else { whole };
    policy.stanzas().any(|part| match part.tree().at(&path) {
        Some(Tree::Leaf(own)) => own.value != *value,
        Some(_) => true,
        None => whole.is_some_and(|whole| part.tree().at(whole).is_some()),
    })
}

/// The setting that is taken as a whole with a field: that of the longest of these paths, in which `*` is any key.
fn whole_setting<'p>(whole_settings: &[Vec<String>], path: &'p [String]) -> Option<&'p [String]> {
    let covers = |whole: &&Vec<String>| {
        let mut keys = whole.iter().zip(path);
        whole.len() <= path.len() && keys.all(|(whole, key)| whole == "*" || whole == key)
    };
    let lengths = whole_settings.iter().filter(covers).map(Vec::len);
    path.get(..lengths.max()?)
}

/// The Gateways through which requests reach a route of the groups, and to which the policy does not apply.
fn without_policy(
    snapshot: &Snapshot,
    policy: &Policy,
    groups: &[&PathGroup],
) -> BTreeSet<ObjectKey> {
    if !policy.profile.knows_controllers() && policy.profile.parents.is_empty() {
        return BTreeSet::new();
    }
    // The status names listeners whose hostnames are too narrow on their own.
    let is_narrower = |group: &PathGroup| {
        let steps = group.paths.routes.iter().flat_map(|path| &path.steps);
        let mut routes = steps.filter_map(|step| snapshot.get(&step.place.object));
        let route = routes.find(|object| is_route(&object.key.gk));
        route.is_some_and(|route| {
            let mut paths = group.paths.ancestors.iter();
            paths.any(|path| has_narrower_listener(snapshot, &policy.profile, route, path))
        })
    };
    let without = groups
        .iter()
        .filter(|group| group.complete && !group.attached && !is_narrower(group));
    without
        .flat_map(|group| tops_of(&group.paths.ancestors))
        .collect()
}

/// Whether none of a policy's settings applies to the listeners or routes of a group, and it replaces no other policy there.
fn is_idle_here(policy: &Policy, group: &PathGroup) -> bool {
    if group.rejected_merge(policy).is_some() {
        return false;
    }
    if policy.lacks_required() && does_nothing(policy, group) {
        return true;
    }
    let acting = group.with_settings_here(policy);
    let is_whole_policy = acting.variant() == policy.variant() || policy.is_empty();
    !is_whole_policy
        && acting.is_empty()
        && (acting.profile.merging.parent_first || !has_others(&group.stack, policy))
}

/// Whether a policy that lacks what its kind requires does nothing on the paths of a group: it gave way to another one, or
/// no policy there has what it lacks, and it replaces none.
fn does_nothing(policy: &Policy, group: &PathGroup) -> bool {
    let mut in_force = policies_in_force(&group.effective);
    if !in_force.any(|key| key == *policy.key()) {
        return true;
    }
    let replaces_others =
        policy.stanzas().any(StanzaRef::is_override) && has_others(&group.stack, policy);
    group.effective.lacks_required(&policy.profile) && !replaces_others
}

/// The settings of a policy, without duplicates: a policy of GEP-713 of 2021 may set a field twice.
fn paths_of(policy: &Policy) -> Arc<[SettingPath]> {
    let paths: BTreeSet<SettingPath> = policy.stanzas().flat_map(StanzaRef::paths).collect();
    paths.into_iter().collect()
}

/// Records that one other policy overrides all settings of the policy on the paths of a group.
fn record_override(
    by: &ObjectKey,
    group: &PathGroup,
    lost: &Arc<[SettingPath]>,
    status: &mut TargetStatus,
) {
    if lost.is_empty() {
        return;
    }
    let winner = status.overridden_by.entry(by.clone()).or_default();
    for level in group.stack.iter() {
        if level.policies.has(by) {
            winner.from.insert(level.step.place.clone());
        }
    }
    winner.settings.add_whole(&group.effective, lost);
    status.overridden_settings.add_all(lost, by);
}

/// Records the policies that the settings of a policy merge with on some paths.
fn record_merged(policy: &Policy, group: &PathGroup, status: &mut TargetStatus) {
    let merged = group.merged_policies();
    if merged.contains(policy.key()) {
        let others = merged.into_iter().filter(|other| other != policy.key());
        status.merged_with.extend(others);
    }
}

/// Records which policies override which settings on the paths of a group, and which are in force together with the
/// policy.
fn record_outcome(
    policy: &Policy,
    group: &PathGroup,
    outcome: PolicyOutcome,
    status: &mut TargetStatus,
) {
    note(group, &outcome, &mut status.overridden_by);
    if outcome.is_in_force {
        let others = policies_in_force(&group.effective).filter(|other| other != policy.key());
        status.merged_with.extend(others);
    }
    status.overridden_settings.add(outcome.lost);
}

/// Whether a policy is in force on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathState {
    Whole,
    Partly,
    Not,
}

// === impl PathState ===

impl PathState {
    fn from_outcome(outcome: &PolicyOutcome) -> Self {
        match (outcome.is_in_force, outcome.lost.is_empty()) {
            (true, true) => Self::Whole,
            (true, false) => Self::Partly,
            (false, _) => Self::Not,
        }
    }
}

/// The number of paths by effect of a policy.
#[derive(Clone, Copy, Debug, Default)]
struct PathCounts {
    whole: usize,
    partly: usize,
    not: usize,
}

// === impl PathCounts ===

impl PathCounts {
    fn count(&mut self, in_force: PathState) {
        match in_force {
            PathState::Whole => self.whole += 1,
            PathState::Partly => self.partly += 1,
            PathState::Not => self.not += 1,
        }
    }

    fn add(&mut self, other: Self) {
        self.whole += other.whole;
        self.partly += other.partly;
        self.not += other.not;
    }

    /// `None` if there was no path.
    fn state(self) -> Option<State> {
        match (self.whole, self.partly, self.not) {
            (0, 0, 0) => None,
            (_, 0, 0) => Some(State::Enforced),
            (0, 0, _) => Some(State::Overridden),
            _ => Some(State::PartiallyEnforced),
        }
    }
}

/// The Gateways and mesh Services on ancestor paths.
fn tops_of(ancestors: &AncestorPaths) -> BTreeSet<ObjectKey> {
    let steps = ancestors.iter().flat_map(|path| &path.steps);
    let tops = steps.filter(|s| matches!(s.level, Level::Gateway | Level::Frontend));
    tops.map(|step| step.place.object.clone()).collect()
}

/// Records where the overriding policies are attached, and their settings that replace the lost ones; all of their
/// settings if none replaces exactly these fields.
fn note(group: &PathGroup, outcome: &PolicyOutcome, by: &mut BTreeMap<ObjectKey, Winner>) {
    #[derive(Default)]
    struct Shown {
        from: BTreeSet<Place>,
        sides: ValuesInForce,
    }
    let winners = outcome.by().into_iter().map(|key| (key, Shown::default()));
    let mut winners: HashMap<ObjectKey, Shown, PrehashedBuildHasher> = winners.collect();
    if winners.is_empty() {
        return;
    }
    for level in group.stack.iter() {
        for policy in level.policies.iter() {
            if let Some(winner) = winners.get_mut(policy.key()) {
                winner.from.insert(level.step.place.clone());
            }
        }
    }
    let lost = PathTrie::from_paths(outcome.lost.keys());
    group.effective.visit(&mut |path, setting| {
        if let Some(winner) = winners.get_mut(&setting.policy) {
            winner.sides.add(&lost, path, setting);
        }
    });
    for (key, shown) in winners {
        let winner = by.entry(key).or_default();
        winner.from.extend(shown.from);
        winner.settings.add(shown.sides);
    }
}

/// The state on all targets together: the common state, otherwise partly enforced.
pub(super) fn combined(targets: &[TargetStatus]) -> Option<State> {
    let states: Vec<&State> = targets.iter().filter_map(|t| t.state.as_ref()).collect();
    let idle = |state: &&&State| matches!(state, State::NoEffect(_));
    let unknown = |state: &&State| matches!(state, State::Unknown(_));
    let busy: Vec<&&State> = states.iter().filter(|s| !idle(s)).collect();
    match busy.split_first() {
        None => states.first().map(|state| (*state).clone()),
        Some((first, rest)) if unknown(first) && rest.iter().all(|state| unknown(state)) => {
            Some((**first).clone())
        }
        Some((first, rest)) if rest.iter().all(|state| state == first) => Some((**first).clone()),
        Some(_) => Some(State::PartiallyEnforced),
    }
}
