//! Which policies act on an object, and with which settings (design 9, ruling 3).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::attach::attached;
use super::ids::{GroupKind, ObjectKey, Place};
use super::merge::{LeafPath, effective};
use super::object::{Object, section_noun};
use super::policy::Policy;
use super::snapshot::Snapshot;
use super::topology::paths;

/// A policy that acts on an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Acting {
    /// The policy.
    pub policy: ObjectKey,
    /// Where it stands.
    pub from: BTreeSet<Place>,
    /// The settings of it that are in force on at least one path.
    pub settings: BTreeMap<LeafPath, Value>,
}

/// The policies of every kind that act on an object, by policy.
///
/// A direct policy acts on what it names. An inherited one acts from there down, on paths where at
/// least one leaf of it survives. Paths that carry the same policies are one path, folded once.
pub fn acting_on(snapshot: &Snapshot, object: &Object) -> Vec<Acting> {
    let mut standing = Standing::default();
    let mut found: BTreeMap<ObjectKey, Acting> = BTreeMap::new();
    let paths = paths(snapshot, object);
    let above = standing.stacks(snapshot, &paths.above);
    let ends = standing.stacks(snapshot, &paths.ends);
    for (above, end) in above.iter().flat_map(|a| ends.iter().map(move |e| (a, e))) {
        for (kind, levels) in standing.by_kind(above, end) {
            if reaches(snapshot, &kind, &object.key) {
                fold(&levels, &mut found);
            }
        }
    }
    found.into_values().collect()
}

/// Policies of one kind by the place where they stand, the least specific first.
type Levels = Vec<(Place, Vec<Arc<Policy>>)>;

/// What stands at the places that were looked at, each looked at once.
#[derive(Default)]
struct Standing {
    numbers: HashMap<Place, Option<usize>>,
    places: Vec<(Place, Vec<Arc<Policy>>)>,
}

// === impl Standing ===

impl Standing {
    /// The number of a place; none where no policy stands.
    fn at(&mut self, snapshot: &Snapshot, place: &Place) -> Option<usize> {
        if let Some(known) = self.numbers.get(place) {
            return *known;
        }
        let policies = attached(snapshot, place);
        let number = (!policies.is_empty()).then(|| {
            self.places.push((place.clone(), policies));
            self.places.len() - 1
        });
        self.numbers.insert(place.clone(), number);
        number
    }

    /// The places of each path at which policies stand; equal ones once.
    fn stacks(&mut self, snapshot: &Snapshot, paths: &[Vec<Place>]) -> BTreeSet<Vec<usize>> {
        let mut stack = |path: &Vec<Place>| {
            let numbers = path.iter().filter_map(|place| self.at(snapshot, place));
            numbers.collect()
        };
        paths.iter().map(&mut stack).collect()
    }

    /// A path kind by kind: policies of different kinds never merge. Direct policies stop at what
    /// they name, so they count only at the object itself.
    fn by_kind(&self, above: &[usize], end: &[usize]) -> BTreeMap<GroupKind, Levels> {
        let mut kinds: BTreeMap<GroupKind, Levels> = BTreeMap::new();
        let above = above.iter().map(|number| (false, *number));
        for (own, number) in above.chain(end.iter().map(|number| (true, *number))) {
            let Some((place, policies)) = self.places.get(number) else {
                continue;
            };
            for policy in policies.iter().filter(|p| own || p.profile.inherits()) {
                let levels = kinds.entry(policy.key().gk.clone()).or_default();
                match levels.last_mut() {
                    Some((last, level)) if last == place => level.push(policy.clone()),
                    _ => levels.push((place.clone(), vec![policy.clone()])),
                }
            }
        }
        kinds
    }
}

/// Merges one stack, and notes whose leaves are left.
fn fold(levels: &Levels, found: &mut BTreeMap<ObjectKey, Acting>) {
    let policies: Vec<Vec<Arc<Policy>>> = levels.iter().map(|(_, level)| level.clone()).collect();
    let in_force = effective(&policies);
    for (path, leaf) in in_force.leaves() {
        let acting = found.entry(leaf.policy.clone()).or_insert_with(|| Acting {
            policy: leaf.policy.clone(),
            from: BTreeSet::new(),
            settings: BTreeMap::new(),
        });
        acting.settings.insert(path.clone(), leaf.value.clone());
    }
    let winners = in_force.policies();
    for (place, level) in levels {
        for policy in level.iter().filter(|policy| winners.contains(policy.key())) {
            if let Some(acting) = found.get_mut(policy.key()) {
                acting.from.insert(place.clone());
            }
        }
    }
}

/// Whether policies of a kind reach objects of this one from above: inherited kinds end at the rule
/// of the route unless their targets include kinds below it (ruling 2).
fn reaches(snapshot: &Snapshot, kind: &GroupKind, object: &ObjectKey) -> bool {
    let below_routes = section_noun(&object.gk) == Some("port");
    !below_routes
        || snapshot
            .profile(kind)
            .is_some_and(|profile| !profile.inherits() || profile.allows_explicitly(&object.gk))
        || snapshot
            .naming(object)
            .any(|policy| policy.key().gk == *kind)
}
