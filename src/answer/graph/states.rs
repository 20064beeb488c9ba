//! The state of each policy in the graph, over all its targets and on each, with the policies that override it.

use std::collections::HashMap;
use std::sync::Arc;

use super::on_target::OnTarget;
use super::sketch::{Index, Sketch};
use crate::answer::state::PolicyState;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::policy::Policy;
use crate::engine::status::conditions::statuses;

/// Sets the states of the kept policies and of the edges from them.
pub(super) fn fill(sketch: &mut Sketch<'_>, resolver: &mut Resolver<'_>, kept: &[bool]) {
    let snapshot = sketch.snapshot;
    let spots = sketch.spots().iter().enumerate();
    let shown = spots.filter(|(index, _)| kept.get(*index).copied().unwrap_or(false));
    let policies: Vec<(Index, &Arc<Policy>)> = shown
        .filter(|(_, spot)| spot.place.section.is_none())
        .filter_map(|(index, spot)| Some((index, snapshot.policy(&spot.place.object)?)))
        .collect();
    let numbers: HashMap<&ObjectKey, Index> = policies
        .iter()
        .map(|(index, policy)| (policy.key(), *index))
        .collect();
    let policies: Vec<&Arc<Policy>> = policies.into_iter().map(|(_, policy)| policy).collect();
    let mut states: HashMap<Index, PolicyState> = HashMap::new();
    let mut on: HashMap<(Index, Place), OnTarget> = HashMap::new();
    statuses(resolver, &policies, |policy, status| {
        let Some(index) = numbers.get(policy.key()).copied() else {
            return;
        };
        states.insert(index, PolicyState::over_targets(snapshot, policy, &status));
        for target in &status.targets {
            on.insert(
                (index, target.target.clone()),
                OnTarget::new(snapshot, policy, target),
            );
        }
    });
    sketch.set_states(&states, on);
}
