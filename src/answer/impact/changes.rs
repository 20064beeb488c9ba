//! Changed paths as changes of effective targets.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

use super::fields::{Field, fields};
use super::{Change, KindName, Named, Paths, States, TargetChange, named};
use crate::engine::effective::impact::{Changed, EffectiveChange};
use crate::engine::effective::{PathGroup, Resolver};
use crate::engine::merge::EffectivePolicy;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::shared::Shared;

/// The difference between two effective policies, shared by all paths that have both.
#[derive(Debug, PartialEq)]
struct Difference {
    before: Side,
    after: Side,
    fields: Vec<Field>,
    /// The policies whose settings come into force or go out of it.
    moved: BTreeSet<ObjectKey>,
}

/// The effective policy before or after the change.
#[derive(Debug, PartialEq)]
struct Side {
    spec: Option<Value>,
    from: Vec<Named>,
}

/// The changes by target, kind and first path, and the policies whose settings come or go with them. Paths of one
/// target that change alike are one change.
pub(in crate::answer) fn changes(
    states: &States<'_>,
    all_changed: &[Changed],
) -> (Vec<Change>, BTreeSet<ObjectKey>) {
    let (before, after) = (states.before, states.after);
    let mut known: HashMap<[Shared<EffectivePolicy>; 2], Rc<Difference>> = HashMap::new();
    let mut count = Counting::new(*states);
    let mut changes = Vec::new();
    // `all_changed` is sorted by target and kind.
    for alike in all_changed.chunk_by(|a, b| a.target == b.target && a.change.kind == b.change.kind)
    {
        let mut reported: Vec<(&Changed, TargetChange, Rc<Difference>, usize)> = Vec::new();
        let altered = alike
            .iter()
            .filter(|changed| changed.change.alters_settings());
        for changed in altered {
            let change = &changed.change;
            let difference = known
                .entry([change.before.clone(), change.after.clone()])
                .or_insert_with(|| Rc::new(Difference::from_change(change)))
                .clone();
            let is_gone = states.is_gone(&changed.target.object);
            let what = if is_gone {
                TargetChange::Removed
            } else {
                what(change, &difference)
            };
            let same = |(_, known, other, _): &&mut (_, TargetChange, Rc<Difference>, _)| {
                *known == what && (Rc::ptr_eq(other, &difference) || *other == difference)
            };
            match reported.iter_mut().find(same) {
                Some((.., paths)) => *paths += 1,
                None => reported.push((changed, what, difference, 1)),
            }
        }
        let all: usize = reported.iter().map(|(.., paths)| paths).sum();
        for (changed, what, difference, paths) in reported {
            let count_in_all = count
                .paths(&changed.target, &changed.change.kind, what)
                .max(all);
            let is_gone = states.is_gone(&changed.target.object);
            let paths = Paths {
                changed: paths,
                of: count_in_all,
            };
            changes.push(difference.change_at(changed, what, is_gone, paths));
        }
    }
    let moved = known
        .values()
        .flat_map(|difference| difference.moved.iter());
    let policies = moved.filter(|key| after.profile(&key.gk).or(before.profile(&key.gk)).is_some());
    let policies = policies.cloned().collect();
    (changes, policies)
}

/// Whether the target stays. A path that appears or disappears changes nothing that was in force.
fn what(change: &EffectiveChange, difference: &Difference) -> TargetChange {
    let is_nothing = |side: &Side| side.from.is_empty();
    if change.exists_before_and_after {
        TargetChange::Changed
    } else if is_nothing(&difference.before) {
        TargetChange::Added
    } else if is_nothing(&difference.after) {
        TargetChange::Removed
    } else {
        TargetChange::Changed
    }
}

// === impl Difference ===

impl Difference {
    fn from_change(change: &EffectiveChange) -> Self {
        let (fields, moved) = fields(&change.before, &change.after);
        Self {
            before: Side::from_effective(&change.before),
            after: Side::from_effective(&change.after),
            fields,
            moved,
        }
    }

    fn change_at(
        &self,
        changed: &Changed,
        change: TargetChange,
        is_gone: bool,
        paths: Paths,
    ) -> Change {
        Change {
            object: Named::from(&changed.target),
            change,
            is_gone,
            path: changed.path.iter().map(Named::from).collect(),
            paths,
            policy_kind: KindName::from(&changed.change.kind),
            before: self.before.spec.clone(),
            before_from: self.before.from.clone(),
            after: self.after.spec.clone(),
            after_from: self.after.from.clone(),
            fields: self.fields.clone(),
        }
    }
}

// === impl Side ===

impl Side {
    fn from_effective(effective: &EffectivePolicy) -> Self {
        let from = named(&effective.policies());
        let spec = effective.spec().map(|(spec, _)| spec);
        Self {
            spec: spec.filter(|_| !from.is_empty()),
            from,
        }
    }
}

/// Counts the paths to a target. Resolves each object once.
struct Counting<'a> {
    states: States<'a>,
    before: Resolver<'a>,
    after: Resolver<'a>,
    /// The last object asked for: its changes come one after the other.
    last: Option<(ObjectKey, GroupKind, [Vec<PathGroup>; 2])>,
}

// === impl Counting ===

impl<'a> Counting<'a> {
    fn new(states: States<'a>) -> Self {
        Self {
            states,
            before: Resolver::new(states.before),
            after: Resolver::new(states.after),
            last: None,
        }
    }

    /// The paths to a target: on the side that has it, or the larger number if both have it.
    fn paths(&mut self, target: &Place, kind: &GroupKind, what: TargetChange) -> usize {
        let key = &target.object;
        let known = matches!(&self.last, Some((last, of, _)) if last == key && of == kind);
        if !known {
            let former = self.states.renames.former(key);
            let before = former.map(|key| self.before.paths_through(&key, kind));
            let groups = [
                before.unwrap_or_default(),
                self.after.paths_through(key, kind),
            ];
            self.last = Some((key.clone(), kind.clone(), groups));
        }
        let Some((.., [before, after])) = &self.last else {
            return 0;
        };
        let count = |groups: &[PathGroup], target: &Place| -> usize {
            groups.iter().map(|group| to(group, target)).sum()
        };
        let former = self.states.renames.former_place(target);
        let count_before = || former.map_or(0, |target| count(before, &target));
        match what {
            TargetChange::Added => count(after, target),
            TargetChange::Removed => count_before(),
            TargetChange::Changed => std::cmp::max(count_before(), count(after, target)),
        }
    }
}

/// The number of paths in a group that lead to a target.
fn to(group: &PathGroup, target: &Place) -> usize {
    if group.paths.routes.is_empty() {
        let ancestor_paths = group.paths.ancestors.iter();
        return ancestor_paths
            .filter(|ancestor_path| ancestor_path.last() == Some(target))
            .count();
    }
    let route_paths = group.paths.routes.iter();
    let route_paths = route_paths
        .filter(|route_path| route_path.target() == Some(target))
        .count();
    route_paths * group.paths.ancestors.len()
}
