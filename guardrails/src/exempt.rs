//! Policies that do not protect the requests to their targets: the target lets every request pass by its own fields, or controllers
//! do not apply the policy to the requests of some routes or through some Gateways.

use std::collections::HashMap;

use attache_engine::attachment::opened_by_target;
use attache_engine::attachment::requests_to_backend::RequestFilter;
use attache_engine::effective::protection::requests_without_policies;
use attache_engine::effective::{PathGroup, StackAndEffective};
use attache_engine::kinds::profile::{Class, Profile};
use attache_engine::model::ids::Place;
use attache_engine::model::level::Level;
use attache_engine::state::snapshot::Snapshot;

use crate::in_force::InForce;
use crate::judge::RulePath;

/// Finds the policies that do not protect the requests on a path. Keeps what it found of each target.
#[derive(Default)]
pub(crate) struct ExemptRequests {
    /// By target and effective policy, before the change if that is set.
    known: HashMap<(bool, Place, StackAndEffective), Exempt>,
}

/// The requests to a target that policies do not protect.
enum Exempt {
    All,
    These(Vec<RequestFilter>),
}

// === impl ExemptRequests ===

impl ExemptRequests {
    /// Whether the policies of each kind after and before the change do not protect the requests on a path.
    pub(crate) fn on(&mut self, rule_path: &RulePath<'_>) -> [Vec<bool>; 2] {
        let before = rule_path.earlier.map_or(&[][..], |earlier| earlier);
        [
            self.at(rule_path.snapshot, rule_path.in_force, rule_path),
            self.at(rule_path.earlier_snapshot, before, rule_path),
        ]
    }

    /// Whether the policies of each kind do not protect the requests on a path.
    pub(crate) fn at(
        &mut self,
        snapshot: &Snapshot,
        in_force: &InForce<'_>,
        rule_path: &RulePath<'_>,
    ) -> Vec<bool> {
        let is_before = !std::ptr::eq(snapshot, rule_path.snapshot);
        let each = in_force.iter();
        each.map(|(kind, group)| {
            let profile = snapshot.profile(kind);
            let profile = profile.filter(|profile| may_exempt(profile, group));
            let Some((profile, target)) = profile.zip(group.target()) else {
                return false;
            };
            let id = (is_before, target.clone(), group.outcome());
            let known = self.known.entry(id);
            match known.or_insert_with(|| exempt(snapshot, profile, group, target)) {
                Exempt::All => true,
                Exempt::These(requests) => requests.iter().any(|one| takes(rule_path, one)),
            }
        })
        .collect()
    }
}

/// Whether policies of a kind may leave out requests to the target of a group. Few kinds do.
fn may_exempt(profile: &Profile, group: &PathGroup) -> bool {
    let may_leave_out = *profile.class == Class::Direct || profile.has_open_targets();
    may_leave_out && !group.stack.is_empty()
}

fn exempt(snapshot: &Snapshot, profile: &Profile, group: &PathGroup, target: &Place) -> Exempt {
    if opened_by_target(snapshot, profile, &target.object).is_some() {
        return Exempt::All;
    }
    Exempt::These(requests_without_policies(snapshot, profile, group))
}

/// Whether a path takes these requests. The paths of a guardrail about a direct kind name neither route nor Gateway: they take any.
fn takes(rule_path: &RulePath<'_>, requests: &RequestFilter) -> bool {
    let frontend = rule_path.path.at(Level::Frontend);
    let parent = rule_path.gateway.or(frontend.map(|place| &place.object));
    let path = &rule_path.path;
    match (path.at(Level::Rule).or(path.at(Level::Route)), parent) {
        (Some(rule), Some(parent)) => requests.are_of(rule, parent),
        _ => true,
    }
}
