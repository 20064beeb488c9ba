//! Targets that themselves let every request pass, whatever policies say.

use std::sync::Arc;

use crate::kinds::profile::{FieldConditions, Profile, TargetCondition};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::literal;
use crate::model::object::{ParentRef, is_route};
use crate::state::snapshot::Snapshot;

/// Why a target lets every request pass, or a parent of a route those to the route, whatever policies of a kind say; `None` if neither
/// does, or if nothing is known of their specs.
pub fn opened_by_target<'p>(
    snapshot: &Snapshot,
    profile: &'p Profile,
    target: &ObjectKey,
) -> Option<&'p Arc<str>> {
    let alternatives = profile.alternatives.as_ref()?;
    let of_kind = |gk: &GroupKind| {
        let mut open = alternatives.open_targets.iter();
        open.find(|open| open.kind == *gk)
    };
    let opened = |target: &ObjectKey| {
        let open = of_kind(&target.gk)?;
        holds_for_target(snapshot, target, &open.when).then_some(&open.text)
    };
    let route = snapshot.get(target).filter(|_| is_route(&target.gk));
    let mut parents = route.into_iter().flat_map(|route| route.parents());
    opened(target).or_else(|| parents.find_map(|parent| opened(&parent.object)))
}

/// Whether a condition holds for the own fields of a target. `false` if its spec is not known.
pub(super) fn holds_for_target(
    snapshot: &Snapshot,
    target: &ObjectKey,
    fields: &FieldConditions,
) -> bool {
    let spec = snapshot.get(target).and_then(|object| object.spec.as_ref());
    let spec = spec.and_then(|spec| literal::from_str(spec).ok());
    spec.is_some_and(|spec| fields.all_in(&spec))
}

/// Whether a route has parents of a kind, and a condition holds for the own fields of each.
pub(super) fn holds_for_parents(
    snapshot: &Snapshot,
    route: &ObjectKey,
    fields: &TargetCondition,
) -> bool {
    let route = snapshot.get(route).into_iter();
    let parents = route.flat_map(|route| route.parents());
    let parents = parents.filter(|parent| parent.object.gk == fields.kind);
    let holds = |parent: &ParentRef| holds_for_target(snapshot, &parent.object, &fields.when);
    parents.clone().next().is_some() && parents.clone().all(holds)
}

/// Whether fields of objects of a kind may let requests pass, whatever policies in use say, or decide whether these apply.
pub fn may_open(snapshot: &Snapshot, gk: &GroupKind) -> bool {
    snapshot.used_kinds().any(|kind| {
        let profile = snapshot.profile(kind);
        let alternatives = profile.and_then(|profile| profile.alternatives.as_ref());
        let mut rejected = profile
            .iter()
            .flat_map(|profile| profile.rejected_if.iter());
        let mut references = profile.iter().flat_map(|profile| profile.references.iter());
        references.any(|reference| {
            !reference.weakened_by.is_empty()
                && *reference.kind == *gk.kind
                && *reference.group == *gk.group
        }) || alternatives
            .is_some_and(|which| which.open_targets.iter().any(|open| open.kind == *gk))
            || rejected.any(|rejected| {
                let mut read = rejected.of_target.iter().chain(&rejected.of_parents);
                read.any(|fields| fields.kind == *gk)
            })
    })
}
