//! Compares the paths of one kind before and after a change.
//!
//! There are many paths and few differences, so paths through one route with the same effective policy are compared
//! together.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::{Same, Shifted};
use crate::engine::effective::{Ends, Group};
use crate::engine::ids::GroupKind;
use crate::engine::maps::HashMap;
use crate::engine::merge::Effective;
use crate::engine::topology::{Door, Lower, Lowers, Upper, Uppers};

/// Compares the paths of a kind.
pub(super) struct Comparison<'a> {
    kind: &'a GroupKind,
    /// Whether an ancestor path that only appears or only disappears is a change.
    shut: &'a dyn Fn(&Upper) -> bool,
    /// The listener endpoint of an ancestor path, before and after.
    doors: [DoorOf<'a>; 2],
    lists: Lists,
    same: Same,
    nothing: Arc<Effective>,
    found: Vec<Shifted>,
}

/// The paths of one side, by their list of route paths. A list that both sides share contains all paths through its
/// route.
#[derive(Default)]
pub(super) struct Paths {
    by_list: HashMap<*const (), Through>,
}

/// The effective policies on one list of route paths, by number of the list of ancestor paths.
struct Through {
    lowers: Lowers,
    ways: Vec<(usize, Arc<Effective>)>,
}

/// Different effective policies on ancestor paths before and after, and whether the route paths exist on both sides.
#[derive(Clone)]
struct Pair {
    uppers: Uppers,
    before: Arc<Effective>,
    after: Arc<Effective>,
    stays: bool,
    detached: bool,
}

/// Finds the listener endpoint of an ancestor path; `None` if it has no listener.
pub(super) type DoorOf<'a> = &'a dyn Fn(&Upper) -> Option<Door>;

/// The effective policies of both sides, by list of ancestor paths: many routes share them.
type Sides = (
    Vec<(usize, *const Effective)>,
    Vec<(usize, *const Effective)>,
);

/// The effective policy by ancestor path.
type ByUpper = BTreeMap<Rc<Upper>, Arc<Effective>>;
type ByLower = HashMap<Rc<Lower>, ByUpper>;

/// Numbered lists of ancestor paths. Equal lists have the same number.
#[derive(Default)]
struct Lists {
    all: Vec<Uppers>,
    by_address: HashMap<*const Rc<Upper>, (Uppers, usize)>,
    by_ways: HashMap<Uppers, usize>,
    /// Whether the lists of a combination are disjoint, for the combinations checked so far.
    apart: HashMap<Vec<usize>, bool>,
}

// === impl Lists ===

impl Lists {
    fn number(&mut self, uppers: &Uppers) -> usize {
        if let Some((_, known)) = self.by_address.get(&uppers.as_ptr()) {
            return *known;
        }
        let next = self.all.len();
        let number = *self.by_ways.entry(uppers.clone()).or_insert(next);
        if number == next {
            self.all.push(uppers.clone());
        }
        self.by_address
            .insert(uppers.as_ptr(), (uppers.clone(), number));
        number
    }

    fn list(&self, number: usize) -> Uppers {
        self.all
            .get(number)
            .cloned()
            .unwrap_or_else(|| Rc::from([]))
    }

    /// Whether both sides have the same lists of ancestor paths, and these lists are disjoint.
    fn are_alike(&mut self, before: &Through, after: &Through) -> bool {
        let is_there = |(number, _): &(usize, _)| after.of(*number).is_some();
        before.ways.len() == after.ways.len()
            && before.ways.iter().all(is_there)
            && (after.ways.len() == 1 || self.are_apart(after))
    }

    fn are_apart(&mut self, through: &Through) -> bool {
        let numbers: Vec<usize> = through.ways.iter().map(|(number, _)| *number).collect();
        if let Some(known) = self.apart.get(&numbers) {
            return *known;
        }
        let mut met: BTreeSet<&Upper> = BTreeSet::new();
        let lists = numbers.iter().filter_map(|number| self.all.get(*number));
        let apart = lists
            .flat_map(|list| list.iter())
            .all(|way| met.insert(way));
        self.apart.insert(numbers, apart);
        apart
    }
}

// === impl Through ===

impl Through {
    fn of(&self, number: usize) -> Option<&Arc<Effective>> {
        let mut ways = self.ways.iter();
        ways.find(|(known, _)| *known == number)
            .map(|(_, effective)| effective)
    }

    fn name(&self) -> Vec<(usize, *const Effective)> {
        let ways = self.ways.iter();
        ways.map(|(number, effective)| (*number, Arc::as_ptr(effective)))
            .collect()
    }

    fn by_upper(&self, lists: &Lists, found: &mut ByUpper) {
        for (number, effective) in &self.ways {
            let list = lists.list(*number);
            found.extend(list.iter().map(|upper| (upper.clone(), effective.clone())));
        }
    }
}

// === impl Paths ===

impl Paths {
    /// Adds the paths of groups; paths that are already there stay.
    pub(super) fn note(&mut self, groups: &[Group], comparison: &mut Comparison<'_>) {
        for group in groups {
            let lowers = if group.ends.lowers.is_empty() {
                let complete = group.complete;
                let steps = Vec::new();
                Lowers::from(Lower { steps, complete })
            } else {
                group.ends.lowers.clone()
            };
            let number = comparison.lists.number(&group.ends.uppers);
            // No request takes a path that is not attached.
            let effective = if group.attached {
                &group.effective
            } else {
                &comparison.nothing
            };
            let through = self.by_list.entry(lowers.address());
            // Most have a single list.
            let through = through.or_insert_with(|| Through {
                lowers,
                ways: Vec::with_capacity(1),
            });
            if through.of(number).is_none() {
                through.ways.push((number, effective.clone()));
            }
        }
    }
}

// === impl Comparison ===

impl<'a> Comparison<'a> {
    pub(super) fn new(
        kind: &'a GroupKind,
        shut: &'a dyn Fn(&Upper) -> bool,
        doors: [DoorOf<'a>; 2],
    ) -> Self {
        Self {
            kind,
            shut,
            doors,
            lists: Lists::default(),
            same: Same::default(),
            nothing: Arc::default(),
            found: Vec::new(),
        }
    }

    /// The number of paths that are compared one by one: those in lists of route paths that the other side does not
    /// share.
    pub(super) fn apart(&self, was: &Paths, is: &Paths) -> usize {
        let only = |side: &Paths, other: &Paths| -> usize {
            let lists = side.by_list.iter();
            let lists = lists.filter(|(list, _)| !other.by_list.contains_key(*list));
            let paths = lists.map(|(_, through)| {
                let uppers = through.ways.iter().map(|(n, _)| self.lists.list(*n).len());
                through.lowers.len() * uppers.sum::<usize>()
            });
            paths.sum()
        };
        only(was, is) + only(is, was)
    }

    /// The differences. Compares paths that exist on both sides. A route path that loses one ancestor path and gains
    /// another is one change, from the lost to the gained. Ancestor paths that only appear or only disappear are a
    /// change if other objects let the route in or shut it out.
    pub(super) fn made(mut self, was: &Paths, is: &Paths) -> Vec<Shifted> {
        let (mut before, mut after) = (ByLower::default(), ByLower::default());
        let mut known: HashMap<Sides, Rc<[Pair]>> = HashMap::default();
        for (list, new) in &is.by_list {
            match was.by_list.get(list) {
                Some(old) if self.lists.are_alike(old, new) => {
                    for (number, b) in &new.ways {
                        let a = old.of(*number).unwrap_or(b);
                        if self.same.settings(a, b) {
                            continue;
                        }
                        let pair = Pair {
                            uppers: self.lists.list(*number),
                            before: a.clone(),
                            after: b.clone(),
                            stays: true,
                            detached: false,
                        };
                        self.change(&new.lowers, pair);
                    }
                }
                Some(old) => {
                    let name = (old.name(), new.name());
                    let pairs = known.get(&name).cloned().unwrap_or_else(|| {
                        let (mut a, mut b) = (ByUpper::new(), ByUpper::new());
                        old.by_upper(&self.lists, &mut a);
                        new.by_upper(&self.lists, &mut b);
                        let pairs: Rc<[Pair]> = self.pairs(&a, &b, true).into();
                        known.insert(name, pairs.clone());
                        pairs
                    });
                    for pair in pairs.iter() {
                        self.change(&new.lowers, pair.clone());
                    }
                }
                None => self.spread(new, &mut after),
            }
        }
        for (list, old) in &was.by_list {
            if !is.by_list.contains_key(list) {
                self.spread(old, &mut before);
            }
        }
        self.one_by_one(before, after);
        self.found
    }

    /// Splits a list of route paths that the other side does not share.
    fn spread(&self, through: &Through, paths: &mut ByLower) {
        for lower in through.lowers.iter() {
            through.by_upper(&self.lists, paths.entry(lower.clone()).or_default());
        }
    }

    fn one_by_one(&mut self, mut was: ByLower, is: ByLower) {
        for (lower, after) in is {
            let before = was.remove(&lower);
            let stays = before.is_some();
            let lowers = Lowers::from(vec![lower]);
            for pair in self.pairs(&before.unwrap_or_default(), &after, stays) {
                self.change(&lowers, pair);
            }
        }
        for (lower, before) in was {
            let lowers = Lowers::from(vec![lower]);
            for pair in self.pairs(&before, &ByUpper::new(), false) {
                self.change(&lowers, pair);
            }
        }
    }

    /// The differences on some route paths, by ancestor path.
    fn pairs(&mut self, before: &ByUpper, after: &ByUpper, on_both: bool) -> Vec<Pair> {
        let mut found = Vec::new();
        let detached = is_reached(before) && !after.is_empty() && !is_reached(after);
        let same = &mut self.same;
        let mut note = |upper: &Rc<Upper>, a: &Arc<Effective>, b: &Arc<Effective>, stays| {
            if same.settings(a, b) {
                return;
            }
            found.push(Pair {
                uppers: Rc::from([upper.clone()]),
                before: a.clone(),
                after: b.clone(),
                stays,
                detached,
            });
        };
        let (mut lost, mut won) = (Vec::new(), Vec::new());
        for (upper, a) in before {
            match after.get(upper).or_else(|| for_all(upper, after)) {
                Some(b) => note(upper, a, b, on_both),
                None => lost.push((upper, a)),
            }
        }
        let new = after
            .iter()
            .filter(|(upper, _)| !before.contains_key(*upper));
        for (upper, b) in new {
            match for_all(upper, before) {
                Some(a) => note(upper, a, b, on_both),
                None => won.push((upper, b)),
            }
        }
        // One side is usually empty.
        if !lost.is_empty() && !won.is_empty() {
            // A renamed listener receives the same requests.
            let [had, has] = self.doors;
            let mut doors: Vec<Option<Door>> = won.iter().map(|(upper, _)| has(upper)).collect();
            lost.retain(|(upper, a)| {
                let door = had(upper);
                let renamed = doors.iter().position(|has| door.is_some() && *has == door);
                if let Some(at) = renamed
                    && let Some((upper, b)) = won.get(at)
                {
                    note(upper, a, b, on_both);
                    won.remove(at);
                    doors.remove(at);
                }
                renamed.is_none()
            });
        }
        let (mut lost, mut won) = (lost.into_iter(), won.into_iter());
        loop {
            match (lost.next(), won.next()) {
                // The former ancestor path says more than an empty one.
                (Some((had, a)), Some((has, b))) => {
                    note(if has.steps.is_empty() { had } else { has }, a, b, on_both);
                }
                (Some((upper, a)), None) => {
                    note(upper, a, &self.nothing, on_both && (self.shut)(upper));
                }
                (None, Some((upper, b))) => {
                    note(upper, &self.nothing, b, on_both && (self.shut)(upper));
                }
                (None, None) => return found,
            }
        }
    }

    fn change(&mut self, lowers: &Lowers, pair: Pair) {
        // Either all paths of a list are complete or none.
        let complete = lowers.first().is_some_and(|lower| lower.complete);
        if complete {
            self.found.push(Shifted {
                ends: Ends {
                    uppers: pair.uppers,
                    lowers: lowers.clone(),
                },
                kind: self.kind.clone(),
                before: pair.before,
                after: pair.after,
                stays: pair.stays,
                detached: pair.detached,
            });
        }
    }
}

/// Whether requests arrive by one of these ancestor paths. A route that is not attached has one without steps.
fn is_reached(ways: &ByUpper) -> bool {
    ways.keys().any(|upper| !upper.steps.is_empty())
}

/// Requests from a namespace without an ancestor path of its own take the path for all requests.
fn for_all<'a>(upper: &Upper, side: &'a ByUpper) -> Option<&'a Arc<Effective>> {
    upper.consumer.as_ref()?;
    let all = Upper {
        steps: upper.steps.clone(),
        consumer: None,
    };
    side.get(&all)
}
