//! What stands on a path, of one kind, and what comes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::memo;
use crate::engine::attach::{Stand, standing};
use crate::engine::ids::{ByKey, GroupKind, ObjectKey, Place};
use crate::engine::level::{Level, Step};
use crate::engine::maps;
use crate::engine::merge::{Effective, Own, leaves_of, merged};
use crate::engine::policy::Policy;
use crate::engine::profile::{Profile, ServiceAs, With};
use crate::engine::snapshot::Snapshot;

/// Policies of one kind at one place, the established first.
#[derive(Clone, Debug)]
pub struct StackLevel {
    /// The place.
    pub step: Step,
    /// The policies.
    pub policies: Here,
}

/// Policies of one kind at one place; one list for every path that leads there.
pub(super) type Here = Rc<[Arc<Policy>]>;

/// Everything that stands on a path, of one kind, from the least to the most specific.
pub type Stack = Vec<StackLevel>;

/// Looks each place up once and folds equal stacks once.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    snapshot: &'a Snapshot,
    stands: HashMap<ObjectKey, Rc<At>, ByKey>,
    /// Most objects have no policy.
    nobody: Rc<At>,
    /// Kept for as long as this: `folded` knows them by their address.
    named: maps::HashMap<Vec<Name>, Rc<Stack>>,
    /// Lists that were put together for some requests only, so that equal ones are one.
    mixed: maps::HashMap<Vec<*const Policy>, Here>,
    nothing: Rc<Stack>,
    /// What stands at the Namespace that was asked for last, of one kind.
    last: Option<(GroupKind, ObjectKey, Rc<Stack>)>,
    folded: maps::HashMap<(usize, usize), (Rc<Stack>, Arc<Effective>)>,
    /// How many leaves may still be looked at; none where that is not limited.
    left: Option<usize>,
}

/// A level of a stack. Its list is that of one place; only those that are mixed may be of several.
type Name = (Level, *const Arc<Policy>, Option<Place>);

/// What stands at an object.
#[derive(Debug)]
pub(super) struct At {
    stands: Rc<[Stand]>,
    /// The kinds of them, sorted.
    kinds: Vec<GroupKind>,
    /// The same without what is rejected, by section and kind; what stands at every Namespace before what stands
    /// at this one, which is more specific. In the order of the stands.
    places: Vec<Alike>,
    /// Whether some act on requests from their own namespace alone.
    asks: bool,
}

/// What stands at one section of an object, or at the whole of it, of one kind.
#[derive(Debug)]
struct Alike {
    section: Option<Arc<str>>,
    wide: bool,
    policies: Here,
}

/// A path that carries what no other does takes the time of so many leaves, whatever is in force on it.
const OF_A_FOLD: usize = 4;

// === impl At ===

impl At {
    fn new(stands: Vec<Stand>) -> Self {
        let mut places = Vec::new();
        // They are sorted so.
        let runs =
            stands.chunk_by(|a, b| a.wide == b.wide && a.policy.key().gk == b.policy.key().gk);
        for run in runs {
            let mut sections: BTreeMap<Option<&Arc<str>>, Vec<Arc<Policy>>> = BTreeMap::new();
            for stand in run.iter().filter(|stand| stand.rejected.is_none()) {
                let here = sections.entry(stand.section.as_ref()).or_default();
                here.push(stand.policy.clone());
            }
            let wide = run.first().is_some_and(|stand| stand.wide);
            places.extend(sections.into_iter().map(|(section, policies)| Alike {
                section: section.cloned(),
                wide,
                policies: policies.into(),
            }));
        }
        let kinds = stands.chunk_by(|a, b| a.policy.key().gk == b.policy.key().gk);
        let kinds = kinds.filter_map(|run| run.first());
        Self {
            places,
            kinds: kinds.map(|stand| stand.policy.key().gk.clone()).collect(),
            asks: stands.iter().any(|stand| stand.consumer),
            stands: stands.into(),
        }
    }

    /// Whether something of a kind stands at a section.
    pub(super) fn tells_sections(&self, profile: &Profile) -> bool {
        let mut places = self.places.iter();
        places.any(|alike| alike.section.is_some() && alike.is_of(profile))
    }
}

// === impl Alike ===

impl Alike {
    fn is_of(&self, profile: &Profile) -> bool {
        let first = self.policies.first();
        first.is_some_and(|policy| policy.key().gk == profile.gk)
    }

    /// Whether a stand is one of these.
    fn has(&self, profile: &Profile, stand: &Stand) -> bool {
        stand.rejected.is_none()
            && stand.wide == self.wide
            && stand.section == self.section
            && stand.policy.key().gk == profile.gk
    }
}

// === impl Stacks ===

impl<'a> Stacks<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            stands: HashMap::default(),
            nobody: Rc::new(At::new(Vec::new())),
            named: maps::HashMap::default(),
            mixed: maps::HashMap::default(),
            nothing: Rc::default(),
            last: None,
            folded: maps::HashMap::default(),
            left: None,
        }
    }

    /// Looks at so many leaves and no more.
    pub(super) fn limit(&mut self, leaves: usize) {
        self.left = Some(leaves);
    }

    /// Makes room for so many objects in all, which will be asked for.
    pub(super) fn expect(&mut self, objects: usize) {
        let known = self.stands.len();
        self.stands.reserve(objects.saturating_sub(known));
    }

    /// Whether what is looked at is limited.
    pub(super) fn is_limited(&self) -> bool {
        self.left.is_some()
    }

    /// How many leaves may still be looked at.
    pub(super) fn left(&self) -> usize {
        self.left.unwrap_or(usize::MAX)
    }

    /// Whether no more is folded, because it would be too much.
    pub(super) fn is_spent(&self) -> bool {
        self.left == Some(0)
    }

    /// Counts leaves that somebody else looks at.
    pub(super) fn spend(&mut self, leaves: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(leaves);
        }
    }

    /// The stack of a path on which nothing stands.
    pub(super) fn nothing(&self) -> Rc<Stack> {
        self.nothing.clone()
    }

    /// What stands at an object and its sections.
    pub(super) fn stands(&mut self, key: &ObjectKey) -> Rc<[Stand]> {
        self.at(key).stands.clone()
    }

    /// Adds the kinds of what stands at an object and its sections.
    pub(super) fn add_kinds(&mut self, key: &ObjectKey, kinds: &mut BTreeSet<GroupKind>) {
        for kind in &self.at(key).kinds {
            if !kinds.contains(kind) {
                kinds.insert(kind.clone());
            }
        }
    }

    pub(super) fn at(&mut self, key: &ObjectKey) -> Rc<At> {
        if let Some(known) = self.stands.get(key) {
            return known.clone();
        }
        let found = || Some(Rc::new(At::new(standing(self.snapshot, key))));
        let found = if Level::is_above_routes(&key.gk) {
            memo::at(self.snapshot.era(), key, found)
        } else if self.snapshot.standing(key).next().is_none() {
            None
        } else {
            found()
        };
        let found = found.unwrap_or_else(|| self.nobody.clone());
        self.stands.insert(key.clone(), found.clone());
        found
    }

    /// What stands on the steps through a route on whose sections nothing stands. Most routes have no policy of their
    /// own, and those of a Namespace come one after the other: then it is what stands at the Namespace.
    pub(super) fn of_route(
        &mut self,
        profile: &Profile,
        route: &At,
        steps: &[Step],
        consumer: Option<&Arc<str>>,
    ) -> Rc<Stack> {
        let Some(namespace) = steps.first().filter(|_| route.places.is_empty()) else {
            return self.stack(profile, steps, consumer);
        };
        let above = std::slice::from_ref(namespace);
        if consumer.is_some() {
            return self.stack(profile, above, consumer);
        }
        if let Some((kind, last, stack)) = &self.last
            && *last == namespace.place.object
            && *kind == profile.gk
        {
            return stack.clone();
        }
        let stack = self.stack(profile, above, None);
        let key = namespace.place.object.clone();
        self.last = Some((profile.gk.clone(), key, stack.clone()));
        stack
    }

    /// What stands on steps, of one kind; equal stacks are one.
    pub(super) fn stack(
        &mut self,
        profile: &Profile,
        steps: &[Step],
        consumer: Option<&Arc<str>>,
    ) -> Rc<Stack> {
        let mut found: Vec<(&Step, Here)> = Vec::new();
        let mut name: Vec<Name> = Vec::new();
        for step in steps {
            if profile.rank(step.level).is_none() || !plays(step.level, profile) {
                continue;
            }
            let at = self.at(&step.place.object);
            let of_step =
                |alike: &&Alike| alike.section == step.place.section && alike.is_of(profile);
            for alike in at.places.iter().filter(of_step) {
                let policies = if at.asks {
                    let here = at.stands.iter().filter(|stand| alike.has(profile, stand));
                    self.asked_by(here, consumer)
                } else {
                    alike.policies.clone()
                };
                if !policies.is_empty() {
                    let place = at.asks.then(|| step.place.clone());
                    name.push((step.level, policies.as_ptr(), place));
                    found.push((step, policies));
                }
            }
        }
        if found.is_empty() {
            return self.nothing.clone();
        }
        let stacked = || {
            let levels = found.into_iter().map(|(step, policies)| StackLevel {
                step: step.clone(),
                policies,
            });
            Rc::new(levels.collect())
        };
        self.named.entry(name).or_insert_with(stacked).clone()
    }

    /// Those that act on requests from a namespace.
    fn asked_by<'b>(
        &mut self,
        here: impl Iterator<Item = &'b Stand>,
        consumer: Option<&Arc<str>>,
    ) -> Here {
        let acts =
            here.filter(|stand| !stand.consumer || consumer == Some(&stand.policy.key().namespace));
        let policies: Vec<Arc<Policy>> = acts.map(|stand| stand.policy.clone()).collect();
        let name = policies.iter().map(Arc::as_ptr).collect();
        let mixed = self.mixed.entry(name);
        mixed.or_insert_with(|| policies.into()).clone()
    }

    /// Folds a path. An object takes one place on it: a Namespace that holds both the Gateway and the
    /// route counts as the Gateway's (ruling 5).
    pub(super) fn fold(
        &mut self,
        profile: &Profile,
        upper: &Rc<Stack>,
        lower: &Rc<Stack>,
        own: Option<&Own>,
    ) -> (Rc<Stack>, Arc<Effective>) {
        if self.is_spent() {
            return (self.nothing.clone(), Arc::default());
        }
        let id = (Rc::as_ptr(upper) as usize, Rc::as_ptr(lower) as usize);
        if let (None, Some((stack, effective))) = (own, self.folded.get(&id)) {
            return (stack.clone(), effective.clone());
        }
        let mut stack: Stack = (**upper).clone();
        for level in lower.iter() {
            let elsewhere = |above: &StackLevel| {
                above.step.place == level.step.place && above.step.level != level.step.level
            };
            if !stack.iter().any(elsewhere) {
                stack.push(level.clone());
            }
        }
        if !profile.hierarchy.is_empty() {
            stack.sort_by_key(|level| profile.rank(level.step.level));
        }
        let levels = taking_part(profile, &stack);
        if self.is_limited() {
            self.spend(OF_A_FOLD + leaves_of(profile, &levels));
        }
        let effective = if self.is_spent() {
            Arc::default()
        } else {
            Arc::new(merged(profile, &levels, own))
        };
        let answer = (Rc::new(stack), effective);
        if own.is_none() {
            self.folded.insert(id, answer.clone());
        }
        answer
    }
}

/// The levels that are folded. Where the more specific policy decides and merges only with what stands
/// above the routes, the others of the route are overridden.
pub(super) fn taking_part<'a>(profile: &Profile, stack: &'a Stack) -> Vec<&'a [Arc<Policy>]> {
    let passes_over = *profile.merging.with == With::NearestAboveRoutes;
    let last = stack.len().saturating_sub(1);
    let levels = stack.iter().enumerate();
    levels
        .filter(|(i, level)| !passes_over || *i == last || level.step.level.is_upper())
        .map(|(_, level)| &*level.policies)
        .collect()
}

/// Whether policies of the kind on a Service mean this role of it (ruling 22).
fn plays(level: Level, profile: &Profile) -> bool {
    match level {
        Level::Frontend => *profile.service_as == ServiceAs::Frontend,
        Level::Backend | Level::Port => *profile.service_as == ServiceAs::Backend,
        _ => true,
    }
}
