//! What is in force at the effective targets around an object, path by path.
//!
//! Paths that carry the same policies are one: they are folded once and told together.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::attach::{self, Stand};
use super::clash::Clashing;
use super::ids::{ByKey, GroupKind, ObjectKey, Place};
use super::level::{Level, Step};
use super::maps;
use super::merge::{self, Effective, Fate, merged};
use super::object::is_route;
use super::policy::{Policy, TargetRef};
use super::profile::{Class, Profile, ServiceAs};
use super::snapshot::{Snapshot, namespace_key};
use super::topology::{Upper, places};
use super::work::{self, Work};

mod at;
mod bare;
mod ends;
mod entrances;
mod gateway_by_label;
mod group;
mod groups;
mod here;
mod meeting;
mod memo;
mod own;
mod region;
mod routes;
mod shadows;
mod stack;
mod via;
mod ways_on;

pub use bare::BareRoute;
pub use ends::Ends;
pub(super) use gateway_by_label::gateway_before;
pub use groups::follows;
pub use here::Here;
use own::Owns;
use region::{Region, Regions};
pub use routes::Routes;
use shadows::Shadows;
pub use stack::{Stack, StackLevel};
use stack::{Stacks, taking_part};
use ways_on::WaysOn;

/// Paths that carry the same policies of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its ways in, and those on: none where no route is attached.
    pub ends: Ends,
    /// What stands on them.
    pub stack: Rc<Stack>,
    /// What is in force.
    pub effective: Arc<Effective>,
    /// Whether the paths end at effective targets of the kind.
    pub complete: bool,
    /// Whether they begin at a listener or a mesh Service. What lies outside the topology (Secrets,
    /// virtual kinds) has nothing to be attached to.
    pub attached: bool,
}

/// Equal for groups that carry the same and come to the same.
pub type Outcome = (*const Stack, *const Effective);

/// How far the paths of a kind through an object reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Where they end; none where there are no paths.
    end: Option<Level>,
    /// Sections that direct policies tell apart.
    sections: BTreeSet<Arc<str>>,
}

/// Answers what is in force, and looks each place up once.
#[derive(Debug)]
pub struct Survey<'a> {
    snapshot: &'a Snapshot,
    regions: Regions<'a>,
    around: HashMap<ObjectKey, Rc<Region>, ByKey>,
    stacks: Stacks<'a>,
    ways_on: WaysOn,
    owns: Owns,
    shadows: Shadows,
    /// What it may still look at; its parts share it.
    work: Work,
    /// What was asked last, and answered.
    last: Option<(ObjectKey, GroupKind, Shape, Rc<[Group]>)>,
}

// === impl Group ===

impl Group {
    /// What is the same for groups with the same policies and the same result, within one survey.
    pub fn outcome(&self) -> Outcome {
        (Rc::as_ptr(&self.stack), Arc::as_ptr(&self.effective))
    }

    /// How many paths it stands for.
    pub fn paths(&self) -> usize {
        self.ends.uppers.len() * self.ends.lowers.len().max(1)
    }

    /// The places of its first path.
    pub fn path(&self) -> Vec<&Place> {
        let upper = self.ends.uppers.first();
        let lower = self.ends.lowers.first().map(Rc::as_ref);
        upper.map_or_else(Vec::new, |upper| places(upper, lower))
    }

    /// The level of an object on the paths, its sections included; none where it is not on them.
    pub fn level(&self, key: &ObjectKey) -> Option<Level> {
        let is_it = |step: &&Step| step.place.object == *key;
        let Ends { uppers, lowers } = &self.ends;
        let uppers = uppers.iter().flat_map(|u| &u.steps).filter(is_it);
        let lowers = if lowers.may_have(key) {
            lowers
        } else {
            &[][..]
        };
        let lowers = lowers.iter().flat_map(|l| &l.steps).filter(is_it);
        let (above, below) = (uppers.map(|step| step.level), lowers.map(|step| step.level));
        if key.gk.is_core("Namespace") {
            // It takes one place on a path, the higher one (ruling 5).
            above.chain(below).min()
        } else if Level::end_for(&key.gk).is_upper() {
            // There it stands or, where policies are direct, alone.
            above.max().or_else(|| below.max())
        } else {
            above.chain(below).max()
        }
    }
}

impl Group {
    /// What comes of the policies at a place and above it: what holds for its own fields. Policies on
    /// other sections of its object and below it are left out.
    pub fn down_to(&self, profile: &Profile, place: &Place) -> Effective {
        let profile = self.facts().unwrap_or(profile);
        let here = self.ends.steps().filter(|step| step.place == *place);
        let Some(level) = here.map(|step| step.level).min() else {
            return Effective::default();
        };
        let whole = place.object.whole();
        let counts = |above: &&StackLevel| {
            let other = &above.step.place;
            let is_here = other == place || *other == whole;
            is_here || (other.object != place.object && above.step.level < level)
        };
        let stack: Stack = self.stack.iter().filter(counts).cloned().collect();
        let levels = taking_part(profile, &stack).map(StackLevel::folded);
        merged(profile, &levels.collect::<Vec<_>>(), None)
    }

    /// What became of a policy that stands on these paths.
    pub fn fate(&self, policy: &Policy) -> Fate {
        let policy = self.as_here(policy);
        let profile = &policy.profile;
        merge::fate(policy, &self.effective, || {
            let levels = taking_part(profile, &self.stack).map(|level| &*level.policies);
            merge::replaced(profile, &levels.collect::<Vec<_>>(), policy)
        })
    }
}

// === impl Survey ===

impl<'a> Survey<'a> {
    /// Knows nothing yet.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self::with(snapshot, &Work::default())
    }

    fn with(snapshot: &'a Snapshot, work: &Work) -> Self {
        Self {
            snapshot,
            regions: Regions::new(snapshot, work.clone()),
            around: HashMap::default(),
            stacks: Stacks::new(snapshot, work.clone()),
            work: work.clone(),
            ways_on: WaysOn::default(),
            owns: Owns::default(),
            shadows: Shadows::default(),
            last: None,
        }
    }

    /// Knows nothing yet, and works out no more than a request may take. What is settled by many leaves
    /// on many different paths is a product, and a body can have both.
    pub fn bounded(snapshot: &'a Snapshot) -> Self {
        Self::with(snapshot, &Work::of_a_request())
    }

    /// Knows nothing yet of another snapshot, but shares the ways through routes that are the same in both: paths
    /// are known by them. What is worked out for it is limited as here.
    pub fn of<'b>(&self, snapshot: &'b Snapshot) -> Survey<'b> {
        let work = if self.is_limited() {
            Work::of_a_request()
        } else {
            Work::default()
        };
        let mut survey = Survey::with(snapshot, &work);
        survey.ways_on = self.ways_on.clone();
        survey
    }

    /// Whether there is an end to what it works out.
    pub fn is_limited(&self) -> bool {
        self.work.is_limited()
    }

    /// How many leaves may still be looked at.
    pub fn left(&self) -> usize {
        self.work.left()
    }

    /// Counts leaves that are looked at elsewhere as its own.
    pub fn spend(&self, leaves: usize) {
        self.work.spend(leaves);
    }

    /// Counts the reading of a policy's settings, once.
    pub fn read(&self, policy: &Policy) {
        self.work.read(policy);
    }

    /// Whether there was more to work out than it does: then what it says from then on counts for nothing.
    pub fn is_spent(&self) -> bool {
        self.work.is_spent()
    }

    /// The snapshot that it answers from.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The objects that a target of a policy in `own` stands for, as [`attach::named`] has them; nothing once all is
    /// spent.
    pub fn named(&self, own: &Arc<str>, target: &TargetRef) -> Vec<ObjectKey> {
        if self.is_spent() {
            return Vec::new();
        }
        if target.selects() {
            self.spend(self.snapshot.count(&target.gk) / work::SCANNED);
        }
        let found = attach::named(self.snapshot, own, target);
        self.spend(found.len() / work::FOUND);
        found
    }

    /// What stands at an object and its sections.
    pub fn stands(&mut self, key: &ObjectKey) -> Rc<[Stand]> {
        self.stacks.at(key).stands.clone()
    }

    /// What stands at an object and its sections, each with the policy for which it is rejected, where that may stand
    /// on another section.
    pub fn stands_and_rivals(&mut self, key: &ObjectKey) -> Vec<(Stand, Option<ObjectKey>)> {
        let at = self.stacks.at(key);
        let each = at.each().map(|(stand, by)| (stand.clone(), by.cloned()));
        each.collect()
    }

    /// The policy of the same kind for which a policy is rejected at a place.
    pub fn rival(&mut self, policy: &Policy, place: &Place) -> Option<ObjectKey> {
        self.stacks.rival(policy, place)
    }

    /// Why the controllers of a policy reject it at a place for what other objects say.
    pub fn clash(&self, policy: &Policy, place: &Place) -> Option<Clashing> {
        self.stacks.clash(policy, place)
    }

    /// The kinds of which policies stand on the paths through an object, at it or above; sorted.
    pub fn kinds_over(&mut self, key: &ObjectKey) -> BTreeSet<GroupKind> {
        let mut kinds = BTreeSet::new();
        let mut seen: HashSet<ObjectKey, ByKey> = HashSet::default();
        self.add_kinds(key, &mut seen, &mut kinds);
        if key.gk.is_core("Namespace") {
            return kinds;
        }
        let region = self.region(key);
        let is_backend = Level::is_of_backend(&key.gk);
        if is_backend {
            self.add_kinds(&namespace_key(&key.namespace), &mut seen, &mut kinds);
        }
        let mut lists: maps::HashSet<*const Rc<Upper>> = maps::HashSet::default();
        for (route, ways) in &region.routes {
            if is_backend || is_route(&key.gk) {
                self.add_kinds(&route.key, &mut seen, &mut kinds);
                self.add_kinds(&namespace_key(&route.key.namespace), &mut seen, &mut kinds);
            }
            if !lists.insert(ways.as_ptr()) {
                continue;
            }
            for step in ways.iter().flat_map(|upper| &upper.steps) {
                self.add_kinds(&step.place.object, &mut seen, &mut kinds);
            }
        }
        for step in region.uppers.iter().flat_map(|upper| &upper.steps) {
            self.add_kinds(&step.place.object, &mut seen, &mut kinds);
        }
        kinds
    }

    fn add_kinds(
        &mut self,
        object: &ObjectKey,
        seen: &mut HashSet<ObjectKey, ByKey>,
        kinds: &mut BTreeSet<GroupKind>,
    ) {
        if seen.contains(object) {
            return;
        }
        seen.insert(object.clone());
        self.stacks.add_kinds(object, kinds);
    }

    /// The Gateways, and Services of a mesh, through which requests come to an object; sorted.
    pub fn gateways_of(&mut self, key: &ObjectKey) -> BTreeSet<ObjectKey> {
        let region = self.region(key);
        let ways = region.routes.iter().flat_map(|(_, ways)| ways.iter());
        let steps = ways.chain(&region.uppers).flat_map(|upper| &upper.steps);
        let tops = steps.filter(|s| matches!(s.level, Level::Gateway | Level::Frontend));
        tops.map(|step| step.place.object.clone()).collect()
    }

    /// The listeners, and Services of a mesh, at which requests to an object come in; sorted.
    pub fn entrances(&mut self, key: &ObjectKey) -> BTreeSet<Place> {
        let region = self.region(key);
        let ways = region.routes.iter().flat_map(|(_, ways)| ways.iter());
        let last = ways.chain(&region.uppers).filter_map(|upper| upper.last());
        last.cloned().collect()
    }

    /// What is in force on the paths of a kind through an object.
    ///
    /// Direct policies act on what they name and nothing else: their paths are the object and its
    /// sections.
    pub fn through(&mut self, key: &ObjectKey, kind: &GroupKind) -> Vec<Group> {
        let shape = self.shape(key, kind);
        self.shaped(key, kind, &shape)
    }

    /// The same for paths of a shape, remembered until something else is asked: many policies may stand at
    /// one object.
    pub fn again(&mut self, key: &ObjectKey, kind: &GroupKind, shape: &Shape) -> Rc<[Group]> {
        if let Some((last, of, known, groups)) = &self.last
            && last == key
            && of == kind
            && known == shape
        {
            return groups.clone();
        }
        let groups: Rc<[Group]> = self.shaped(key, kind, shape).into();
        self.last = Some((key.clone(), kind.clone(), shape.clone(), groups.clone()));
        groups
    }

    /// Forgets what was asked last: it may be much.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// What [`Survey::again`] says, but for those through routes where all routes around the object are among these:
    /// [`Survey::over`] has them.
    pub fn beside(
        &mut self,
        routes: &Routes,
        key: &ObjectKey,
        kind: &GroupKind,
        shape: &Shape,
    ) -> Rc<[Group]> {
        let region = self.region(key);
        let profile = self.snapshot.profile(kind).cloned();
        // Where paths go on to backends, or begin there, those that no route reaches are asked for.
        let ends = |profile: &Arc<Profile>| {
            profile.class.value == Class::Inherited
                && *profile.service_as != ServiceAs::Frontend
                && shape
                    .end
                    .is_some_and(|end| !end.is_upper() && end < Level::Backend)
                && region
                    .routes
                    .iter()
                    .all(|(route, _)| routes.contains(&route.key))
        };
        match (profile.filter(ends), shape.end) {
            (Some(profile), Some(end)) => {
                let mut groups = Vec::new();
                self.without_routes(Some(key), &profile, &region, end, &mut groups);
                groups.into()
            }
            _ => self.again(key, kind, shape),
        }
    }

    /// The same, with paths of a shape that may be another snapshot's, so that the two can be
    /// compared path by path.
    pub fn shaped(&mut self, key: &ObjectKey, kind: &GroupKind, shape: &Shape) -> Vec<Group> {
        let (Some(profile), Some(end)) = (self.snapshot.profile(kind).cloned(), shape.end) else {
            return Vec::new();
        };
        if profile.class.value == Class::Direct {
            return self.direct(key, &profile, &shape.sections);
        }
        let region = self.region(key);
        let mut groups = Vec::new();
        if end.is_upper() {
            self.ending_above(key, &profile, &region, &mut groups);
        } else {
            self.through_routes(Some(key), &profile, &region, end, &mut groups);
            self.without_routes(Some(key), &profile, &region, end, &mut groups);
        }
        groups
    }

    fn region(&mut self, key: &ObjectKey) -> Rc<Region> {
        if let Some(known) = self.around.get(key) {
            return known.clone();
        }
        let region = Rc::new(self.regions.around(key));
        self.around.insert(key.clone(), region.clone());
        region
    }

    /// What is in force on all paths of a kind through these routes.
    pub fn over(&mut self, routes: &Routes, kind: &GroupKind, end: Level) -> Vec<Group> {
        let Some(profile) = self.snapshot.profile(kind).cloned() else {
            return Vec::new();
        };
        let mut groups = Vec::new();
        if profile.class.value == Class::Inherited && !end.is_upper() {
            let region = self.regions.of(routes);
            self.through_routes(None, &profile, &region, end, &mut groups);
        }
        groups
    }

    /// The routes whose paths an object may stand on; sorted.
    pub fn routes_of(&mut self, key: &ObjectKey) -> Vec<ObjectKey> {
        let region = self.region(key);
        region
            .routes
            .iter()
            .map(|(route, _)| route.key.clone())
            .collect()
    }

    /// What paths of a kind through an object look like.
    ///
    /// Those of direct kinds are the object and the sections of it on which policies stand. Others end
    /// where the kind says; a policy on a backend acts there, even where nothing says that the kind
    /// reaches so far.
    pub fn shape(&mut self, key: &ObjectKey, kind: &GroupKind) -> Shape {
        let Some(profile) = self.snapshot.profile(kind).cloned() else {
            return Shape::default();
        };
        let is_direct = profile.class.value == Class::Direct;
        let is_backend = Level::is_of_backend(&key.gk);
        let unsaid = !profile.effective.is_said() && *profile.service_as == ServiceAs::Backend;
        let mut shape = Shape {
            end: (!is_direct).then(|| profile.end()),
            sections: BTreeSet::new(),
        };
        if !(is_direct || (is_backend && unsaid)) {
            return shape;
        }
        let stands = self.stands(key);
        for stand in stands.iter().filter(|s| s.policy.key().gk == profile.gk) {
            shape.end = Some(Level::Port);
            shape.sections.extend(stand.section.clone());
        }
        shape
    }
}

// === impl Shape ===

impl Shape {
    /// Where the paths end, if there are any.
    pub fn end(&self) -> Option<Level> {
        self.end
    }

    /// What takes in the paths of both.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.end = self.end.max(other.end);
        self.sections.extend(other.sections);
        self
    }
}
