//! The status that each policy and each target should have (GEP-713, status).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::attachment::is_of_another_target;
use crate::attachment::rejection::{Rejection, RejectionEffect, RejectionFinder};
use crate::attachment::reported_rejections::{self};
use crate::attachment::reports::{ControllerStatus, Report};
use crate::attachment::{AttachmentPermission, explains_report, own_pods, permission, sections};
use crate::effective::{PathGroup, Resolver, narrower_listeners};
use crate::kinds::profile::Class;
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::Level;
use crate::model::maps::HashSet;
use crate::model::object::section_noun;
use crate::policy::{Policy, TargetRef};
use crate::state::snapshot::Snapshot;

mod ancestors;
mod by_hostname;
mod disagreement;
mod effective_targets;
mod enforce;
mod limits;
mod list;
mod no_effect;
mod overridden_settings;
mod paths_below_target;
mod rejected_ancestors;
mod state;
mod targets;
mod unknown;
mod without_target;

pub use ancestors::{Ancestor, ancestors};
pub use disagreement::{Disagreement, disagreement};
pub use effective_targets::EffectiveTargets;
use enforce::{combined, cost, enforce, groups_with};
pub use list::{ExpectedCondition, WhyNot, conditions};
pub use overridden_settings::{OverriddenSettings, Winner};
use paths_below_target::PathsBelow;
use rejected_ancestors::not_enforced_on;
pub use rejected_ancestors::{partly_rejected, rejections_on};
pub use state::{NoEffect, State};
pub use targets::{Affected, affected, affected_through};
pub use without_target::selects_unwatched;
use without_target::{unattached, unnamed};

/// Whether a policy is attached to a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accepted {
    /// It is attached.
    Accepted,
    /// Its controllers reject it or report that it is not in force, and attache finds no other reason.
    Rejected(Box<Report>),
    /// Its controllers reject it because of other objects, as far as attache knows.
    ExpectedRejection(Box<Rejection>),
    /// Its strategy cannot be used, or it may not name the target.
    Invalid,
    /// It conflicts with this policy, which takes precedence.
    Conflicted(ObjectKey),
    /// The target does not exist, or the policy may not learn whether it does.
    TargetNotFound,
}

/// The status of a policy on one target.
#[derive(Clone, Debug)]
pub struct TargetStatus {
    /// The target.
    pub target: Place,
    /// Whether the policy is attached to the target.
    pub accepted: Accepted,
    /// Why its controllers report that they reject it, though it is in force or left out on some sections alone.
    pub left_out: Option<Box<Rejection>>,
    /// The effect of the policy there; `None` if it is not attached.
    pub state: Option<State>,
    /// The policies that override it, wholly or in part.
    pub overridden_by: BTreeMap<ObjectKey, Winner>,
    /// The paths through the target, for [`TargetStatus::overridden_on`].
    paths_below: PathsBelow,
    /// Policies that it is merged with on some path, even if nothing of one of them remains.
    pub merged_with: BTreeSet<ObjectKey>,
    /// The effective targets at which some of it is in force.
    pub effective_targets: EffectiveTargets,
    /// The settings that are overridden on some path, and the policies that override them.
    pub overridden_settings: OverriddenSettings,
    /// The effect on requests through each Gateway, or mesh Service.
    pub state_by_gateway: BTreeMap<ObjectKey, State>,
    /// The Gateways and mesh Services through which requests reach a route or backend without it, because it does not apply
    /// there.
    pub gateways_not_applying: BTreeSet<ObjectKey>,
    /// The listeners through which requests reach a route without it, because their hostnames are narrower than those of the route.
    pub narrower_listeners: BTreeSet<Place>,
    /// Whether it is in force on a path that carries other policies of its kind.
    shares_paths: bool,
}

/// The status of a policy.
#[derive(Clone, Debug)]
pub struct PolicyStatus {
    /// Accepted if at least one target is accepted; otherwise the reason.
    pub accepted: Accepted,
    /// The effect on all targets together; `None` if the policy is not accepted.
    pub state: Option<State>,
    /// One entry per target, in the order of the spec; for a selector, one per object that it selects now.
    pub targets: Vec<TargetStatus>,
    /// The status that its controllers report.
    pub controllers: ControllerStatus,
}

// === impl PolicyStatus ===

impl PolicyStatus {
    /// The policies that override it somewhere.
    pub fn by(&self) -> BTreeSet<ObjectKey> {
        let mut by: BTreeSet<ObjectKey> = BTreeSet::new();
        for target in &self.targets {
            by.extend(target.overridden_by.keys().cloned());
            if let Accepted::Conflicted(with) = &target.accepted {
                by.insert(with.clone());
            }
        }
        by
    }

    /// Whether it may change the effect of other policies of its kind: it is in force together with them, overrides
    /// them, causes both to be rejected, or is rejected and still replaces them.
    pub fn may_take_away(&self) -> bool {
        let takes_away = |target: &TargetStatus| match &target.accepted {
            Accepted::Conflicted(_) => true,
            Accepted::ExpectedRejection(why) => why.effect == RejectionEffect::WithoutSettings,
            _ => target.shares_paths,
        };
        self.targets.iter().any(takes_away)
    }

    /// The effective targets at which some of it is in force.
    pub fn effective_targets(&self) -> BTreeSet<&Place> {
        let targets = self.targets.iter().map(|target| &target.effective_targets);
        targets.flat_map(EffectiveTargets::places).collect()
    }

    /// The objects of these effective targets.
    pub fn objects(&self) -> BTreeSet<&ObjectKey> {
        let targets = self.targets.iter().map(|target| &target.effective_targets);
        targets.flat_map(EffectiveTargets::objects).collect()
    }
}

// === impl TargetStatus ===

impl TargetStatus {
    fn new(target: Place, accepted: Accepted) -> Self {
        Self {
            target,
            accepted,
            left_out: None,
            state: None,
            overridden_by: BTreeMap::new(),
            paths_below: PathsBelow::default(),
            merged_with: BTreeSet::new(),
            effective_targets: EffectiveTargets::default(),
            overridden_settings: OverriddenSettings::default(),
            state_by_gateway: BTreeMap::new(),
            gateways_not_applying: BTreeSet::new(),
            narrower_listeners: BTreeSet::new(),
            shares_paths: false,
        }
    }

    /// Notes that its controllers reject it on some sections of the target. A policy that is in
    /// force on the other sections is partly enforced.
    fn leave_out(&mut self, rejection: Rejection) {
        let is_in_force = rejection.effect == RejectionEffect::InForce;
        let states = self.state_by_gateway.values_mut().chain(&mut self.state);
        let states = states.filter(|_| !is_in_force);
        for state in states.filter(|state| **state == State::Enforced) {
            *state = State::PartiallyEnforced;
        }
        self.left_out = Some(Box::new(rejection));
    }

    /// The sections of the target, or the requests to it, for which its controllers leave it out, and why.
    pub fn left_out(&self) -> Option<String> {
        let why = self.left_out.as_ref()?;
        if let Some(requests) = why.requests_in_words() {
            return Some(format!("{requests} to {} ({})", self.target, why.message));
        }
        if let RejectionEffect::WithoutSetting(path) = &why.effect {
            return Some(format!("its setting {} ({})", path.join("."), why.message));
        }
        if why.sections().is_empty() {
            return None;
        }
        let noun = section_noun(&self.target.object.gk).unwrap_or("section");
        let sections: Vec<String> = why
            .sections()
            .iter()
            .map(|name| format!("{noun} {name}"))
            .collect();
        Some(format!(
            "{} of {} ({why})",
            sections.join(", "),
            self.target
        ))
    }

    /// Objects below the target, and sections of it, where other policies override it completely.
    pub fn overridden_on(&self) -> BTreeSet<Place> {
        self.paths_below.overridden(&self.target)
    }
}

/// The status of a policy attached to a place, for these paths only.
pub fn status_on_paths(
    snapshot: &Snapshot,
    policy: &Policy,
    place: &Place,
    groups: &[PathGroup],
) -> TargetStatus {
    let mut status = TargetStatus::new(place.clone(), Accepted::Accepted);
    if let Some(report) = not_enforced_on(snapshot, policy, place) {
        status.accepted = Accepted::Rejected(Box::new(report));
        return status;
    }
    let rejection = RejectionFinder::default().of_attached(snapshot, policy, place);
    let effect = rejection.as_ref().map(|rejection| &rejection.effect);
    if let (Some(rejection), Some(RejectionEffect::WithoutSettings)) = (&rejection, effect) {
        status.accepted = Accepted::ExpectedRejection(Box::new(rejection.clone()));
        return status;
    }
    enforce(
        snapshot,
        policy,
        &groups_with(groups, policy, place),
        &mut status,
    );
    let is_here = |rejection: &Rejection| {
        let mut steps = groups.iter().flat_map(|group| group.paths.steps());
        !rejection.requests().is_empty()
            || matches!(rejection.effect, RejectionEffect::WithoutSetting(_))
            || steps.any(|step| rejection.leaves_out(&place.object, &step.place))
    };
    if let Some(rejection) = rejection.filter(is_here) {
        status.leave_out(rejection);
    }
    status
}

/// A policy at one of its targets.
#[derive(Clone, Debug)]
pub struct TargetAttachment<'a> {
    /// The entry of the spec that names the target.
    pub entry: &'a TargetRef,
    /// The target.
    pub target: Place,
    /// Whether the policy is attached.
    pub accepted: Accepted,
    /// Why its controllers leave it out on some sections of the target.
    pub left_out: Option<Box<Rejection>>,
    /// Its state there, if it is known without the paths: unknown, or without effect.
    pub known: Option<State>,
}

/// The places at which a policy of the resolver's snapshot is attached and those at which it is not, in the order of
/// the spec; a selector yields the objects that it selects now.
pub fn attachments<'a>(
    resolver: &mut Resolver<'_>,
    policy: &'a Policy,
) -> Vec<TargetAttachment<'a>> {
    let mut attachments: Vec<TargetAttachment<'a>> = Vec::new();
    let mut known: HashSet<Place> = HashSet::default();
    for entry in &policy.targets {
        for target in places(resolver, policy, entry) {
            if known.insert(target.clone()) {
                let (accepted, partial) = accepted(resolver, policy, entry, &target);
                // Only kinds that know the Pods of Gateways have this permission.
                let is_unknown = policy.profile.gateway_pods.is_some()
                    && permission(resolver.snapshot(), policy, entry, &target.object)
                        == AttachmentPermission::OwnPods;
                let unknown = is_unknown.then(|| State::Unknown(own_pods(policy, &target.object)));
                let (no_effect, left_out) = match partial {
                    Some(why) if why.effect == RejectionEffect::NotApplied => {
                        (Some(State::NoEffect(NoEffect::lasting(why.message))), None)
                    }
                    partial => (None, partial),
                };
                let on_port = || no_effect::on_unnamed_port(resolver.snapshot(), &target);
                let known = unknown.or(no_effect).or_else(on_port);
                attachments.push(TargetAttachment {
                    entry,
                    target,
                    accepted,
                    left_out,
                    known,
                });
            }
        }
    }
    attachments
}

/// The status that a policy of the resolver's snapshot should have.
pub fn status(resolver: &mut Resolver<'_>, policy: &Policy) -> PolicyStatus {
    let attachments = attachments(resolver, policy).into_iter();
    let targets = attachments.map(|at| on_target(resolver, policy, at));
    let targets: Vec<TargetStatus> = targets.collect();
    let accepted = targets.iter().map(|t| t.accepted.clone()).min();
    PolicyStatus {
        accepted: accepted.unwrap_or_else(|| unattached(resolver.snapshot(), policy)),
        state: combined(&targets).or_else(|| unnamed(resolver.snapshot(), policy, &targets)),
        targets,
        controllers: ControllerStatus::collect(resolver.snapshot(), policy),
    }
}

/// Maps the status of each policy with `answer`, and returns the results in the order of `policies`. Processes policies
/// on the same object in sequence, so that the paths there are resolved once.
pub fn statuses<T>(
    resolver: &mut Resolver<'_>,
    policies: &[&Arc<Policy>],
    mut answer: impl FnMut(&Arc<Policy>, PolicyStatus) -> T,
) -> Vec<T> {
    let mut order: Vec<(usize, &Arc<Policy>)> = policies.iter().copied().enumerate().collect();
    order.sort_by_cached_key(|(at, policy)| {
        let first = policy.targets.first();
        let object = first.and_then(|target| target.object(&policy.key().namespace));
        (policy.key().gk.clone(), object, *at)
    });
    let all = order.into_iter();
    let mut all: Vec<(usize, T)> = all
        .map(|(at, policy)| (at, answer(policy, status(resolver, policy))))
        .collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, answer)| answer).collect()
}

/// The places that a target entry refers to now. Objects that a selector finds and that the policy may not reach are
/// left out.
fn places(resolver: &Resolver<'_>, policy: &Policy, target: &TargetRef) -> Vec<Place> {
    let snapshot = resolver.snapshot();
    let mut objects = resolver.targets_of(&policy.key().namespace, target);
    if target.selects_by_labels() {
        objects.retain(|key| permission(snapshot, policy, target, key).is_attached());
    }
    if target.is_whole() {
        return objects.iter().map(ObjectKey::whole).collect();
    }
    let sections = |object: ObjectKey| {
        let known = snapshot.get(&object).map(|object_found| &**object_found);
        let mut labels = sections(snapshot, &policy.profile, target, known);
        if labels.is_empty() {
            // The section does not exist: the place keeps the name as written.
            labels.extend(target.section.clone());
            labels.extend(target.port.map(|port| port.to_string().into()));
        }
        labels.into_iter().map(move |label| object.section(label))
    };
    objects.into_iter().flat_map(sections).collect()
}

fn on_target(
    resolver: &mut Resolver<'_>,
    policy: &Policy,
    at: TargetAttachment<'_>,
) -> TargetStatus {
    let mut status = TargetStatus::new(at.target, at.accepted);
    if at.known.is_some() {
        status.state = at.known;
    } else if status.accepted == Accepted::Accepted {
        let (object, kind) = (&status.target.object, &policy.key().gk);
        let scope = resolver.scope(object, kind);
        let fuel_before = resolver.fuel_left();
        let groups = resolver.paths_with_scope(object, kind, &scope);
        let behind = resolver.behind_labels(object, kind, &scope);
        let mut mine = groups_with(&groups, policy, &status.target);
        mine.extend(groups_with(&behind, policy, &status.target));
        // The work of resolving has been charged already. An unlimited resolver needs no charge.
        if resolver.is_limited() {
            let counted = fuel_before.saturating_sub(resolver.fuel_left());
            resolver.charge_reading(policy);
            resolver.charge(cost(policy, &mine).saturating_sub(counted));
        }
        if !resolver.is_spent() {
            let snapshot = resolver.snapshot();
            enforce(snapshot, policy, &mine, &mut status);
            let narrower = narrower_listeners(snapshot, &policy.profile, &status.target);
            status.note_narrower_listeners(snapshot, narrower.into_keys());
            if *policy.profile.class == Class::Direct
                && Level::is_of_backend(&status.target.object.gk)
            {
                let passed_by =
                    resolver.gateways_not_applying(&status.target.object, &policy.profile);
                status.note_gateways_not_applying(passed_by);
            }
            let target = status.target.clone();
            mark_unreachable(resolver, &target, &mut status);
        }
        let snapshot = resolver.snapshot();
        status.reject_in_part(rejections_on(snapshot, policy, &status.target));
        if let Some(rejection) = at.left_out {
            status.leave_out(*rejection);
        }
    }
    status
}

/// Sets the state of a policy in force on a route or a rule to no effect if no request reaches it.
pub fn mark_unreachable(resolver: &mut Resolver<'_>, place: &Place, status: &mut TargetStatus) {
    let in_force = matches!(
        status.state,
        Some(State::Enforced | State::PartiallyEnforced)
    );
    if let Some(by) = in_force.then(|| resolver.taken_by(place)).flatten() {
        let why = format!("no request reaches {place}: {}", by.why());
        *status = TargetStatus {
            state: Some(State::NoEffect(NoEffect::lasting(why))),
            ..TargetStatus::new(status.target.clone(), Accepted::Accepted)
        };
    }
}

/// Whether a policy is attached to a target, and the rejection by its controllers if it leaves the policy attached.
fn accepted(
    resolver: &mut Resolver<'_>,
    policy: &Policy,
    target: &TargetRef,
    place: &Place,
) -> (Accepted, Option<Box<Rejection>>) {
    let snapshot = resolver.snapshot();
    if let Some(fault) = not_attached(resolver, policy, target, place) {
        return (fault, None);
    }
    let object = &place.object;
    let rejection = resolver.rejection_at(policy, place);
    let is_partial = rejection.as_ref().is_some_and(Rejection::is_partial);
    let is_rejected = reported_rejections::rejected(snapshot, policy).at(object)
        && !is_of_another_target(snapshot, policy, object)
        && !(is_partial && explains_report(snapshot, policy, object, rejection.as_ref()));
    let report = is_rejected.then(|| reported_rejections::rejection(snapshot, policy));
    let is_applied = |rejection: &Rejection| rejection.effect != RejectionEffect::NotApplied;
    let is_expected = rejection.as_ref().is_some_and(|rejection| {
        rejection.reported.is_none() && !is_partial && is_applied(rejection)
    });
    match (report.flatten(), rejection.map(Box::new)) {
        (Some(report), _) => {
            let is_expected = is_expected && report.is_rejection;
            let report = Report {
                is_expected,
                ..report
            };
            (Accepted::Rejected(Box::new(report)), None)
        }
        (None, Some(rejection)) if is_partial || !is_applied(&rejection) => {
            (Accepted::Accepted, Some(rejection))
        }
        (None, Some(rejection)) => (Accepted::ExpectedRejection(rejection), None),
        (None, None) => (Accepted::Accepted, None),
    }
}

/// Why a policy is not attached to a target, whatever its controllers say.
fn not_attached(
    resolver: &mut Resolver<'_>,
    policy: &Policy,
    target: &TargetRef,
    place: &Place,
) -> Option<Accepted> {
    let snapshot = resolver.snapshot();
    if policy.strategies.is_none() {
        return Some(Accepted::Invalid);
    }
    match permission(snapshot, policy, target, &place.object) {
        AttachmentPermission::Allowed
        | AttachmentPermission::Consumer
        | AttachmentPermission::OwnPods => {}
        AttachmentPermission::NotGranted
        | AttachmentPermission::NoNamesake
        | AttachmentPermission::CoreGroup => {
            return Some(Accepted::TargetNotFound);
        }
        AttachmentPermission::Forbidden
        | AttachmentPermission::ClusterScoped
        | AttachmentPermission::TargetKindNotSupported
        | AttachmentPermission::OtherName => return Some(Accepted::Invalid),
    }
    match snapshot.get(&place.object) {
        None if snapshot.lacks(&place.object) => return Some(Accepted::TargetNotFound),
        Some(found)
            if !target.is_whole()
                && sections(snapshot, &policy.profile, target, Some(found)).is_empty() =>
        {
            return Some(Accepted::TargetNotFound);
        }
        _ => {}
    }
    let winner = resolver.conflict_winner(policy, place);
    winner.map(Accepted::Conflicted)
}
