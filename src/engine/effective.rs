//! What is in force at the effective targets around an object, path by path.
//!
//! Paths that carry the same policies are one: they are folded once and told together.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::attach::Stand;
use super::ids::{ByKey, GroupKind, ObjectKey, Place};
use super::level::Level;
use super::merge::Effective;
use super::object::is_route;
use super::profile::{Class, Profile, ServiceAs};
use super::snapshot::Snapshot;
use super::topology::{Lower, Upper, places};

mod groups;
mod own;
mod region;
mod stack;

use region::{Region, Regions};
use stack::Stacks;
pub use stack::{Stack, StackLevel, winner};

/// Paths that carry the same policies of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// The ways in; one without steps where the path begins below the listeners.
    pub uppers: Rc<[Rc<Upper>]>,
    /// The ways on; empty where no route is attached.
    pub lowers: Vec<Rc<Lower>>,
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

/// Answers what is in force, and looks each place up once.
#[derive(Debug)]
pub struct Survey<'a> {
    snapshot: &'a Snapshot,
    regions: Regions<'a>,
    around: HashMap<ObjectKey, Rc<Region>, ByKey>,
    stacks: Stacks<'a>,
}

// === impl Group ===

impl Group {
    /// The effective targets.
    pub fn targets(&self) -> impl Iterator<Item = &Place> {
        let last = self.lowers.is_empty().then(|| self.uppers.iter());
        let upper = last.into_iter().flatten().filter_map(|upper| upper.last());
        self.lowers
            .iter()
            .filter_map(|lower| lower.target())
            .chain(upper)
    }

    /// How many paths it stands for.
    pub fn paths(&self) -> usize {
        self.uppers.len() * self.lowers.len().max(1)
    }

    /// The places of its first path.
    pub fn path(&self) -> Vec<&Place> {
        let upper = self.uppers.first();
        let lower = self.lowers.first().map(Rc::as_ref);
        upper.map_or_else(Vec::new, |upper| places(upper, lower))
    }

    /// The level of an object on the paths, its sections included; none where it is not on them.
    pub fn level(&self, key: &ObjectKey) -> Option<Level> {
        let uppers = self.uppers.iter().flat_map(|u| &u.steps);
        let lowers = self.lowers.iter().flat_map(|l| &l.steps);
        let of = uppers.chain(lowers).filter(|s| s.place.object == *key);
        of.map(|step| step.level).max()
    }
}

// === impl Survey ===

impl<'a> Survey<'a> {
    /// Knows nothing yet.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            regions: Regions::new(snapshot),
            around: HashMap::default(),
            stacks: Stacks::new(snapshot),
        }
    }

    /// The snapshot that it answers from.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// What stands at an object and its sections.
    pub fn stands(&mut self, key: &ObjectKey) -> Rc<[Stand]> {
        self.stacks.stands(key)
    }

    /// The kinds of which policies stand on the paths through an object, at it or above; sorted.
    pub fn kinds_over(&mut self, key: &ObjectKey) -> BTreeSet<GroupKind> {
        let region = self.region(key);
        let mut objects: BTreeSet<ObjectKey> = BTreeSet::from([key.clone()]);
        if !key.gk.is_core("Namespace") {
            let ways = region.routes.iter().flat_map(|(_, ways)| ways.iter());
            let mut seen: BTreeSet<*const Upper> = BTreeSet::new();
            for upper in ways.chain(&region.uppers) {
                if seen.insert(Rc::as_ptr(upper)) {
                    let over = upper.steps.iter().map(|step| &step.place.object);
                    objects.extend(over.cloned());
                }
            }
            let reaches_down = Level::end_for(&key.gk) == Level::Port;
            for (route, _) in region
                .routes
                .iter()
                .filter(|_| reaches_down || is_route(&key.gk))
            {
                objects.insert(route.key.clone());
                objects.insert(super::snapshot::namespace_key(&route.key.namespace));
            }
            if reaches_down {
                objects.insert(super::snapshot::namespace_key(&key.namespace));
            }
        }
        let mut kinds = BTreeSet::new();
        for object in &objects {
            let stands = self.stands(object);
            kinds.extend(stands.iter().map(|stand| stand.policy.key().gk.clone()));
        }
        kinds
    }

    /// The Gateways, and Services of a mesh, through which requests come to an object; sorted.
    pub fn gateways_of(&mut self, key: &ObjectKey) -> BTreeSet<ObjectKey> {
        let region = self.region(key);
        let ways = region.routes.iter().flat_map(|(_, ways)| ways.iter());
        let steps = ways.chain(&region.uppers).flat_map(|upper| &upper.steps);
        let tops = steps.filter(|s| matches!(s.level, Level::Gateway | Level::Frontend));
        tops.map(|step| step.place.object.clone()).collect()
    }

    /// What is in force on the paths of a kind through an object.
    ///
    /// Direct policies act on what they name and nothing else: their paths are the object and its
    /// sections.
    pub fn through(&mut self, key: &ObjectKey, kind: &GroupKind) -> Vec<Group> {
        let Some(profile) = self.snapshot.profile(kind).cloned() else {
            return Vec::new();
        };
        if profile.class.value == Class::Direct {
            return self.direct(key, &profile);
        }
        let region = self.region(key);
        let end = self.end(key, &profile);
        let mut groups = Vec::new();
        if end.is_upper() {
            self.ending_above(key, &profile, &region, &mut groups);
        } else {
            self.through_routes(key, &profile, &region, end, &mut groups);
            self.without_routes(key, &profile, &region, end, &mut groups);
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

    /// Where paths of the kind end. A policy on a backend acts there, even where nothing says that
    /// the kind reaches so far.
    fn end(&mut self, key: &ObjectKey, profile: &Profile) -> Level {
        let end = profile.end();
        let is_backend = Level::end_for(&key.gk) == Level::Port && !key.gk.is_core("Namespace");
        if is_backend && !profile.effective.is_said() && profile.service_as == ServiceAs::Backend {
            let stands = self.stands(key);
            if stands
                .iter()
                .any(|stand| stand.policy.key().gk == profile.gk)
            {
                return Level::Port;
            }
        }
        end
    }
}
