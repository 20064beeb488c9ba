//! Which policies act on an object, and with which settings (design 9, ruling 3).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
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
    let mut seen: HashSet<Vec<(bool, usize)>> = HashSet::new();
    let mut found: BTreeMap<ObjectKey, Acting> = BTreeMap::new();
    for path in paths(snapshot, object) {
        let stack: Vec<(bool, usize)> = path
            .places
            .iter()
            .enumerate()
            .filter_map(|(i, place)| Some((i >= path.above, standing.at(snapshot, place)?)))
            .collect();
        if stack.is_empty() || !seen.insert(stack.clone()) {
            continue;
        }
        for (kind, levels) in standing.by_kind(&stack) {
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

    /// A stack kind by kind: policies of different kinds never merge. Direct policies stop at what
    /// they name, so they count only at the object itself.
    fn by_kind(&self, stack: &[(bool, usize)]) -> BTreeMap<GroupKind, Levels> {
        let mut kinds: BTreeMap<GroupKind, Levels> = BTreeMap::new();
        for (own, number) in stack {
            let Some((place, policies)) = self.places.get(*number) else {
                continue;
            };
            let here = policies
                .iter()
                .filter(|policy| *own || policy.profile.inherits());
            for policy in here {
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
    for (place, level) in levels {
        for policy in level {
            let leaves = in_force.leaves_of(policy.key());
            let leaves: BTreeMap<LeafPath, Value> = leaves
                .map(|(path, value)| (path.clone(), value.clone()))
                .collect();
            if leaves.is_empty() {
                continue;
            }
            let acting = found.entry(policy.key().clone()).or_insert_with(|| Acting {
                policy: policy.key().clone(),
                from: BTreeSet::new(),
                settings: BTreeMap::new(),
            });
            acting.from.insert(place.clone());
            acting.settings.extend(leaves);
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
