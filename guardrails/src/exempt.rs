//! Policies that do not protect the requests to their targets: the target lets every request pass by its own fields, or controllers
//! do not apply the policy to the requests of some routes or through some Gateways.

use std::collections::HashMap;
use std::rc::Rc;

use attache_engine::attachment::opened_by_target;
use attache_engine::attachment::requests_to::Requests;
use attache_engine::effective::protection::requests_without_policies;
use attache_engine::effective::{Outcome, PathGroup};
use attache_engine::kinds::profile::{Class, Profile};
use attache_engine::model::ids::{GroupKind, Place};
use attache_engine::model::level::Level;
use attache_engine::state::snapshot::Snapshot;

use crate::in_force::InForce;
use crate::judge::RulePath;

/// Finds the policies that do not protect the requests on a path. Keeps what it found of each target.
#[derive(Default)]
pub(crate) struct ExemptRequests {
    /// By target and effective policy, before the change if that is set.
    known: HashMap<(bool, Place, Outcome), Exempt>,
}

/// The requests to a target that policies do not protect.
#[derive(Clone)]
enum Exempt {
    All,
    These(Rc<[Requests]>),
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
            let may_be =
                profile.is_some_and(|profile| may_be_exempt(profile)) && !group.stack.is_empty();
            let Some(target) = group.target().filter(|_| may_be) else {
                return false;
            };
            let id = (is_before, target.clone(), group.outcome());
            let known = self.known.entry(id);
            match known.or_insert_with(|| exempt(snapshot, kind, group, target)) {
                Exempt::All => true,
                Exempt::These(requests) => requests.iter().any(|one| takes(rule_path, one)),
            }
        })
        .collect()
    }
}

fn may_be_exempt(profile: &Profile) -> bool {
    *profile.class == Class::Direct || profile.has_open_targets()
}

fn exempt(snapshot: &Snapshot, kind: &GroupKind, group: &PathGroup, target: &Place) -> Exempt {
    let Some(profile) = snapshot.profile(kind) else {
        return Exempt::These(Rc::default());
    };
    if opened_by_target(snapshot, profile, &target.object).is_some() {
        return Exempt::All;
    }
    Exempt::These(requests_without_policies(snapshot, profile, group).into())
}

/// Whether a path takes these requests. The paths of a guardrail about a direct kind name neither route nor Gateway: they take any.
fn takes(rule_path: &RulePath<'_>, requests: &Requests) -> bool {
    let frontend = rule_path.path.at(Level::Frontend);
    let parent = rule_path.gateway.or(frontend.map(|place| &place.object));
    let path = &rule_path.path;
    match (path.at(Level::Rule).or(path.at(Level::Route)), parent) {
        (Some(rule), Some(parent)) => requests.are_of(rule, parent),
        _ => true,
    }
}
