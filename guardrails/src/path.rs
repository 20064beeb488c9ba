//! One path to a target, as guardrails see it.

use std::collections::BTreeSet;
use std::sync::Arc;

use attache_engine::effective::PathGroup;
use attache_engine::effective::renames::Renames;
use attache_engine::model::ids::{ObjectKey, Place};
use attache_engine::model::level::{Level, Step};
use attache_engine::topology::{AncestorPath, RoutePath};

/// A path of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardedPath<'a> {
    pub(crate) group: &'a PathGroup,
    ancestors: &'a AncestorPath,
    below: Option<&'a RoutePath>,
}

/// Identifies a path before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PathId {
    listener: Option<Place>,
    consumer: Option<Arc<str>>,
    /// The places from the route to the end: several routes and rules lead to one backend.
    below: Vec<Place>,
}

/// The paths of a group.
pub(crate) fn paths_of(group: &PathGroup) -> impl Iterator<Item = GuardedPath<'_>> {
    group.paths.ancestors.iter().flat_map(move |ancestors| {
        let path = move |below| GuardedPath {
            group,
            ancestors,
            below,
        };
        let alone = group.paths.routes.is_empty().then(|| path(None));
        let below = group.paths.routes.iter();
        alone
            .into_iter()
            .chain(below.map(move |below| path(Some(below))))
    })
}

// === impl PathId ===

impl PathId {
    /// The same path after a change that renames objects.
    pub(crate) fn later(self, renames: &Renames) -> Self {
        if renames.is_empty() {
            return self;
        }
        let later = |place: &Place| renames.later_place(place);
        Self {
            listener: self.listener.as_ref().map(later),
            consumer: self.consumer,
            below: self.below.iter().map(later).collect(),
        }
    }

    /// The section of an object below the listener that the path leads through: the rule of a route.
    pub(crate) fn section_of(&self, object: &ObjectKey) -> Option<&Arc<str>> {
        let mut places = self.below.iter().filter(|place| place.object == *object);
        places.find_map(|place| place.section.as_ref())
    }

    /// The same path through another section of an object.
    pub(crate) fn through_section(&self, section: &Place) -> Self {
        let mut path = self.clone();
        for place in &mut path.below {
            if place.object == section.object && place.section.is_some() {
                *place = section.clone();
            }
        }
        path
    }
}

// === impl GuardedPath ===

impl<'a> GuardedPath<'a> {
    pub(crate) fn id(&self) -> PathId {
        let below = self.below.into_iter().flat_map(|below| &below.steps);
        PathId {
            listener: self.ancestors.last().cloned(),
            consumer: self.ancestors.consumer.clone(),
            below: below.map(|step| step.place.clone()).collect(),
        }
    }

    /// The only namespace whose requests take the path.
    pub(crate) fn consumer(&self) -> Option<&'a Arc<str>> {
        self.ancestors.consumer.as_ref()
    }

    /// Whether requests begin at a listener or at a Service of a mesh, and reach the target through a route where it is
    /// one.
    pub(crate) fn takes_requests(&self) -> bool {
        let calls_service = self.at(Level::Frontend).is_some();
        !self.ancestors.steps.is_empty() && (!calls_service || self.at(Level::Route).is_some())
    }

    /// The effective target.
    pub(crate) fn target(&self) -> Option<&'a Place> {
        let below = self.below.and_then(|below| below.target());
        below.or_else(|| self.ancestors.last())
    }

    /// The steps from the least to the most specific.
    pub(crate) fn steps(&self) -> impl DoubleEndedIterator<Item = &'a Step> + use<'a> {
        let below = self.below.into_iter().flat_map(|below| &below.steps);
        self.ancestors.steps.iter().chain(below)
    }

    /// The place at a level; if routes delegate, that of the last route.
    pub(crate) fn at(&self, level: Level) -> Option<&'a Place> {
        let mut from_the_end = self.steps().rev();
        let step = from_the_end.find(|step| step.level == level)?;
        Some(&step.place)
    }

    /// The Gateway on the path, else the only one of these.
    pub(crate) fn gateway(&self, others: &'a BTreeSet<ObjectKey>) -> Option<&'a ObjectKey> {
        let on_path = self.at(Level::Gateway).map(|place| &place.object);
        on_path.or_else(|| others.first().filter(|_| others.len() == 1))
    }

    /// The beginning of the path, in words, and for a target above the routes the route that it leads to.
    pub(crate) fn through(&self, target: Option<&Place>) -> Option<String> {
        let place = self.ancestors.last()?;
        let begin = match &place.section {
            Some(section) => format!("{} listener {section}", place.object),
            None => place.object.to_string(),
        };
        let mut ancestors = self.ancestors.steps.iter();
        let is_above =
            target.is_some_and(|target| ancestors.any(|step| step.place.object == target.object));
        let route = self.at(Level::Route).filter(|_| is_above);
        Some(match route {
            Some(route) => format!("{begin} to {}", route.object),
            None => begin,
        })
    }
}
