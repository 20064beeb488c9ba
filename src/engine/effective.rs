//! Effective policies around an object, path by path.
//!
//! Paths that carry the same policies form one [`Group`], which is folded and reported once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::attach::{self, Stand};
use super::clash::{Clashes, Clashing};
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
pub(super) use gateway_by_label::{gateway_before, names_same_gateway};
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
    /// The paths; without route paths if no route is attached.
    pub ends: Ends,
    /// The policies attached along the paths.
    pub stack: Rc<Stack>,
    /// The effective policy.
    pub effective: Arc<Effective>,
    /// Whether the paths reach effective targets of the kind.
    pub complete: bool,
    /// Whether the paths begin at a listener or a mesh Service. Objects outside the topology (Secrets, virtual kinds)
    /// have nothing to be attached to.
    pub attached: bool,
}

/// Identity of a group's stack and effective policy: equal for groups with the same policies and the same result.
pub type Outcome = (*const Stack, *const Effective);

/// How far the paths of a kind through an object extend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The level at which the paths end; `None` if there are no paths.
    end: Option<Level>,
    /// Sections that direct policies distinguish.
    sections: BTreeSet<Arc<str>>,
}

/// Resolves effective policies from one snapshot. Looks up each place once.
#[derive(Debug)]
pub struct Survey<'a> {
    snapshot: &'a Snapshot,
    regions: Regions<'a>,
    around: HashMap<ObjectKey, Rc<Region>, ByKey>,
    stacks: Stacks<'a>,
    ways_on: WaysOn,
    owns: Owns,
    shadows: Shadows,
    /// The remaining fuel, shared with its parts.
    work: Work,
    /// The last question and its answer.
    last: Option<(ObjectKey, GroupKind, Shape, Rc<[Group]>)>,
}

// === impl Group ===

impl Group {
    /// Equal for groups with the same policies and the same result, within one [`Survey`].
    pub fn outcome(&self) -> Outcome {
        (Rc::as_ptr(&self.stack), Arc::as_ptr(&self.effective))
    }

    /// The number of paths.
    pub fn paths(&self) -> usize {
        self.ends.uppers.len() * self.ends.lowers.len().max(1)
    }

    /// The places of the first path.
    pub fn path(&self) -> Vec<&Place> {
        let upper = self.ends.uppers.first();
        let lower = self.ends.lowers.first().map(Rc::as_ref);
        upper.map_or_else(Vec::new, |upper| places(upper, lower))
    }

    /// The level of an object, including its sections, on the paths; `None` if the object is not on them.
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
            // A Namespace takes one place on a path, the higher one (ruling 5).
            above.chain(below).min()
        } else if Level::end_for(&key.gk).is_upper() {
            // The object is on the ancestor paths or, for direct policies, forms a path of its own.
            above.max().or_else(|| below.max())
        } else {
            above.chain(below).max()
        }
    }
}

impl Group {
    /// The effective policy of a place's own fields: the result of the policies attached to the place and above it.
    /// Policies on other sections of its object, and below it, are left out.
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

    /// The outcome of a policy attached to these paths.
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
    /// A resolver without a limit.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self::with(snapshot, &Work::default())
    }

    fn with(snapshot: &'a Snapshot, work: &Work) -> Self {
        let clashes = Rc::new(Clashes::new(work.is_limited()));
        Self {
            snapshot,
            regions: Regions::new(snapshot, clashes.clone(), work.clone()),
            around: HashMap::default(),
            stacks: Stacks::new(snapshot, clashes, work.clone()),
            work: work.clone(),
            ways_on: WaysOn::default(),
            owns: Owns::default(),
            shadows: Shadows::default(),
            last: None,
        }
    }

    /// A resolver with the fuel of one request. Its cost is the product of settings and distinct paths, and one body
    /// can contain many of both.
    pub fn bounded(snapshot: &'a Snapshot) -> Self {
        Self::with(snapshot, &Work::of_a_request())
    }

    /// A resolver for another snapshot. It shares the route paths of routes that are the same in both snapshots,
    /// because these lists identify paths. It is limited if this one is, with fuel of its own.
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

    /// Whether the fuel is limited.
    pub fn is_limited(&self) -> bool {
        self.work.is_limited()
    }

    /// The remaining fuel.
    pub fn left(&self) -> usize {
        self.work.left()
    }

    /// Charges for work done elsewhere.
    pub fn spend(&self, leaves: usize) {
        self.work.spend(leaves);
    }

    /// Charges for reading a policy's settings, once per policy.
    pub fn read(&self, policy: &Policy) {
        self.work.read(policy);
    }

    /// Whether the fuel is used up. Answers from then on are not valid.
    pub fn is_spent(&self) -> bool {
        self.work.is_spent()
    }

    /// The snapshot that it answers from.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The objects that a target of a policy in namespace `own` names or selects, as [`attach::named`] finds them;
    /// empty once the fuel is used up.
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

    /// The policies attached to an object and its sections.
    pub fn stands(&mut self, key: &ObjectKey) -> Rc<[Stand]> {
        self.stacks.at(key).stands.clone()
    }

    /// The policies attached to an object and its sections. Each comes with the policy for which it is rejected, for
    /// kinds whose policies conflict across sections.
    pub fn stands_and_rivals(&mut self, key: &ObjectKey) -> Vec<(Stand, Option<ObjectKey>)> {
        let at = self.stacks.at(key);
        let each = at.each().map(|(stand, by)| (stand.clone(), by.cloned()));
        each.collect()
    }

    /// The conflict winner: the policy of the same kind for which `policy` is rejected at a place.
    pub fn rival(&mut self, policy: &Policy, place: &Place) -> Option<ObjectKey> {
        self.stacks.rival(policy, place)
    }

    /// Why the policy's controllers reject it at a place because of other objects.
    pub fn clash(&self, policy: &Policy, place: &Place) -> Option<Clashing> {
        self.stacks.clash(policy, place)
    }

    /// The kinds of the policies attached to the paths through an object, at the object or above it; sorted.
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

    /// The Gateways and mesh Services through which requests reach an object; sorted.
    pub fn gateways_of(&mut self, key: &ObjectKey) -> BTreeSet<ObjectKey> {
        let region = self.region(key);
        let ways = region.routes.iter().flat_map(|(_, ways)| ways.iter());
        let steps = ways.chain(&region.uppers).flat_map(|upper| &upper.steps);
        let tops = steps.filter(|s| matches!(s.level, Level::Gateway | Level::Frontend));
        tops.map(|step| step.place.object.clone()).collect()
    }

    /// The listeners and mesh Services at which requests to an object arrive; sorted.
    pub fn entrances(&mut self, key: &ObjectKey) -> BTreeSet<Place> {
        let region = self.region(key);
        let ways = region.routes.iter().flat_map(|(_, ways)| ways.iter());
        let last = ways.chain(&region.uppers).filter_map(|upper| upper.last());
        last.cloned().collect()
    }

    /// The effective policies of a kind on the paths through an object.
    ///
    /// A direct policy acts only on its target, so its paths are the object and the sections of it.
    pub fn through(&mut self, key: &ObjectKey, kind: &GroupKind) -> Vec<Group> {
        let shape = self.shape(key, kind);
        self.shaped(key, kind, &shape)
    }

    /// Like [`Survey::through`], for paths of a given shape. Caches the last answer, because many policies may be
    /// attached to one object.
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

    /// Drops the cached answer, which may be large.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Like [`Survey::again`], without the paths through routes if `routes` contains all routes around the object:
    /// [`Survey::over`] covers these.
    pub fn beside(
        &mut self,
        routes: &Routes,
        key: &ObjectKey,
        kind: &GroupKind,
        shape: &Shape,
    ) -> Rc<[Group]> {
        let region = self.region(key);
        let profile = self.snapshot.profile(kind).cloned();
        // Paths that continue to backends, or begin there, may not lead through a route at all.
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

    /// Like [`Survey::through`], for a shape that may come from another snapshot, so that both can be compared path
    /// by path.
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

    /// The effective policies on all paths of a kind through these routes.
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

    /// The routes whose paths may contain an object; sorted.
    pub fn routes_of(&mut self, key: &ObjectKey) -> Vec<ObjectKey> {
        let region = self.region(key);
        region
            .routes
            .iter()
            .map(|(route, _)| route.key.clone())
            .collect()
    }

    /// The shape of the paths of a kind through an object.
    ///
    /// For a direct kind: the object and those of its sections that have policies. For others, the kind decides where
    /// paths end. A policy on a backend acts there even if no fact says that the kind reaches that far.
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
    /// The level at which the paths end, if there are any.
    pub fn end(&self) -> Option<Level> {
        self.end
    }

    /// A shape that covers the paths of both.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.end = self.end.max(other.end);
        self.sections.extend(other.sections);
        self
    }
}
