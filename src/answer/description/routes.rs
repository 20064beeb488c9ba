//! What is in force on the routes that lead to a backend, where it ends before the backend itself.

use std::sync::Arc;

use super::target::on;
use crate::answer::effective::OnPaths;
use crate::engine::effective::Survey;
use crate::engine::ids::{GroupKind, ObjectKey, Place};
use crate::engine::object::{Node, Object, Rule};
use crate::engine::section;

/// The results on routes to a backend, of kinds whose policies do not reach the backend.
pub(super) fn on_routes(survey: &mut Survey<'_>, backend: &ObjectKey) -> Vec<OnPaths> {
    let snapshot = survey.snapshot();
    let routes: Vec<Arc<Object>> = snapshot.using(backend).cloned().collect();
    let places: Vec<Place> = routes
        .iter()
        .flat_map(|route| leading(route, &[backend]))
        .collect();
    let mut found = Vec::new();
    for place in &places {
        for kind in survey.kinds_over(&place.object) {
            if !reaches(survey, backend, &kind) {
                let mut groups = on(survey, place, &kind);
                groups.retain(|group| !group.stack.is_empty());
                found.extend(groups.iter().map(|group| OnPaths::from((&kind, group))));
            }
        }
    }
    found.sort_by(|a, b| {
        let (a, b) = (&a.effective, &b.effective);
        (&a.policy_kind, &a.path).cmp(&(&b.policy_kind, &b.path))
    });
    found
}

/// Whether what a kind sets on routes is in force at the backend as well.
fn reaches(survey: &mut Survey<'_>, backend: &ObjectKey, kind: &GroupKind) -> bool {
    let profile = survey.snapshot().profile(kind);
    profile.is_some_and(|profile| profile.inherits())
        && survey
            .through(backend, kind)
            .iter()
            .any(|group| !group.stack.is_empty())
}

/// A route of which every rule leads to one of these Services, or the rules that do.
pub(in crate::answer) fn leading(route: &Object, services: &[&ObjectKey]) -> Vec<Place> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let leads = |rule: &Rule| rule.backends.iter().any(|b| services.contains(&&b.object));
    if rules.iter().all(leads) {
        return vec![route.key.whole()];
    }
    let rules = rules.iter().enumerate().filter(|(_, rule)| leads(rule));
    let places = rules.map(|(i, _)| route.key.section(section::rule_label(route, i)));
    places.collect()
}
