//! Objects that have another name after a change than before it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::effective::{PathGroup, PathScope, PathSet, Routes};
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::Step;
use crate::state::snapshot::namespace_key;
use crate::topology::{AncestorPath, ListenerEndpoint, RoutePath, RoutePaths};

mod section_renames;

pub use section_renames::renamed_sections;
pub(super) use section_renames::with_rules;

/// Objects that are the same although their names differ. Paths before the change are compared
/// under the names after it. Renaming a Namespace renames the objects in it.
#[derive(Clone, Debug, Default)]
pub struct Renames {
    later: BTreeMap<ObjectKey, ObjectKey>,
    former: BTreeMap<ObjectKey, ObjectKey>,
    later_sections: BTreeMap<Place, Place>,
    former_sections: BTreeMap<Place, Place>,
}

/// Why two objects cannot be the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// Their kinds differ.
    #[error("{0} and {1} are of different kinds")]
    Kinds(Place, Place),
    /// One of them has a section and the other does not.
    #[error("{0} and {1}: both need a section, or none")]
    Sections(Place, Place),
    /// The object is renamed twice.
    #[error("{0} is given two other names")]
    Twice(Place),
}

// === impl Renames ===

impl Renames {
    /// No object is renamed.
    pub const NONE: &'static Self = &Self {
        later: BTreeMap::new(),
        former: BTreeMap::new(),
        later_sections: BTreeMap::new(),
        former_sections: BTreeMap::new(),
    };

    /// Adds an object or a section with its former and its later name. The name of a section includes that of its
    /// object.
    ///
    /// # Errors
    /// If the names are of different kinds, or one of them is taken.
    pub fn add(&mut self, former: &Place, later: &Place) -> Result<(), RenameError> {
        if former.object.gk != later.object.gk {
            return Err(RenameError::Kinds(former.clone(), later.clone()));
        }
        if former.section.is_some() != later.section.is_some() {
            return Err(RenameError::Sections(former.clone(), later.clone()));
        }
        let pair = (&former.object, &later.object);
        insert(&mut self.later, &mut self.former, pair)
            .map_err(|key| RenameError::Twice(key.whole()))?;
        if former.section.is_some() {
            let (to, from) = (&mut self.later_sections, &mut self.former_sections);
            insert(to, from, (former, later)).map_err(RenameError::Twice)?;
        }
        Ok(())
    }

    /// Whether no object is renamed.
    pub fn is_empty(&self) -> bool {
        self.later.is_empty()
    }

    /// The later name of an object.
    pub fn later(&self, key: &ObjectKey) -> ObjectKey {
        renamed(&self.later, key).unwrap_or_else(|| key.clone())
    }

    /// The former name of an object; `None` if its name belonged to another object before.
    pub fn former(&self, key: &ObjectKey) -> Option<ObjectKey> {
        if self.is_empty() {
            return Some(key.clone());
        }
        let former = renamed(&self.former, key).unwrap_or_else(|| key.clone());
        (self.later(&former) == *key).then_some(former)
    }

    /// The later name of a place.
    pub fn later_place(&self, place: &Place) -> Place {
        let known = self.later_sections.get(place);
        known.cloned().unwrap_or_else(|| Place {
            object: self.later(&place.object),
            section: place.section.clone(),
        })
    }

    /// The former name of a place; `None` if its object had none, or another place had it.
    pub fn former_place(&self, place: &Place) -> Option<Place> {
        if let Some(former) = self.former_sections.get(place) {
            return Some(former.clone());
        }
        let former = Place {
            object: self.former(&place.object)?,
            section: place.section.clone(),
        };
        (self.later_place(&former) == *place).then_some(former)
    }

    /// The later name of a listener endpoint.
    pub fn later_endpoint(&self, (owner, port, hostname): ListenerEndpoint) -> ListenerEndpoint {
        (self.later(&owner), port, hostname)
    }

    /// The former names of routes.
    pub(super) fn former_routes<'a>(&self, routes: &'a Routes) -> Cow<'a, Routes> {
        if self.is_empty() {
            return Cow::Borrowed(routes);
        }
        let former: Vec<ObjectKey> = routes.iter().filter_map(|key| self.former(key)).collect();
        let mut former_routes = Routes::default();
        former_routes.extend(&former);
        Cow::Owned(former_routes)
    }

    /// Paths under the later names.
    pub(super) fn later_paths<'a>(&self, groups: &'a [PathGroup]) -> Cow<'a, [PathGroup]> {
        if self.is_empty() {
            return Cow::Borrowed(groups);
        }
        let renamed = groups.iter().map(|group| PathGroup {
            paths: self.later_set(&group.paths),
            ..group.clone()
        });
        Cow::Owned(renamed.collect())
    }

    /// The extent of paths through an object, given its former name, with the later names of its sections.
    pub(super) fn later_scope(&self, former: &ObjectKey, mut scope: PathScope) -> PathScope {
        if !self.later_sections.is_empty() {
            let places = scope.sections.into_iter().map(|name| former.section(name));
            let names = places.filter_map(|place| self.later_place(&place).section);
            scope.sections = names.collect();
        }
        scope
    }

    /// The reverse of [`Renames::later_scope`], given the later name of the object.
    pub(super) fn former_scope(&self, later: &ObjectKey, mut scope: PathScope) -> PathScope {
        if !self.former_sections.is_empty() {
            let places = scope.sections.into_iter().map(|name| later.section(name));
            let names = places.filter_map(|place| self.former_place(&place)?.section);
            scope.sections = names.collect();
        }
        scope
    }

    fn later_set(&self, paths: &PathSet) -> PathSet {
        if !paths.steps().any(|step| self.concerns(step)) {
            return paths.clone();
        }
        let ancestors = paths.ancestors.iter().map(|path| {
            Rc::new(AncestorPath {
                steps: self.later_steps(&path.steps),
                consumer: path
                    .consumer
                    .as_ref()
                    .map(|name| self.later_namespace(name)),
            })
        });
        let routes = paths.routes.iter().map(|path| {
            Rc::new(RoutePath {
                steps: self.later_steps(&path.steps),
                complete: path.complete,
            })
        });
        PathSet {
            ancestors: ancestors.collect::<Vec<_>>().into(),
            routes: RoutePaths::from(routes.collect::<Vec<_>>()),
        }
    }

    fn later_steps(&self, steps: &[Step]) -> Vec<Step> {
        let renamed = steps.iter().map(|step| Step {
            place: self.later_place(&step.place),
            ..step.clone()
        });
        renamed.collect()
    }

    fn later_namespace(&self, name: &Arc<str>) -> Arc<str> {
        self.later(&namespace_key(name)).name.clone()
    }

    fn concerns(&self, step: &Step) -> bool {
        self.later(&step.place.object) != step.place.object
            || self.later_sections.contains_key(&step.place)
    }
}

/// The other name of an object: its own, or that of its Namespace with its name.
fn renamed(names: &BTreeMap<ObjectKey, ObjectKey>, key: &ObjectKey) -> Option<ObjectKey> {
    if names.is_empty() {
        return None;
    }
    if let Some(other) = names.get(key) {
        return Some(other.clone());
    }
    let namespace = names.get(&namespace_key(&key.namespace))?;
    Some(ObjectKey::new(
        key.gk.clone(),
        namespace.name.clone(),
        key.name.clone(),
    ))
}

/// Adds a pair to both maps, unless one of the names is there with another.
fn insert<T: Ord + Clone>(
    later: &mut BTreeMap<T, T>,
    former: &mut BTreeMap<T, T>,
    (from, to): (&T, &T),
) -> Result<(), T> {
    if later.get(from).is_some_and(|known| known != to) {
        return Err(from.clone());
    }
    if former.get(to).is_some_and(|known| known != from) {
        return Err(to.clone());
    }
    later.insert(from.clone(), to.clone());
    former.insert(to.clone(), from.clone());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{RenameError, Renames};
    use crate::model::ids::{GroupKind, ObjectKey};

    fn gateway(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey::new(GroupKind::gateway_api("Gateway"), namespace, name)
    }

    fn namespace(name: &str) -> ObjectKey {
        ObjectKey::new(GroupKind::core("Namespace"), "", name)
    }

    #[test]
    fn a_name_leads_to_the_other_and_back() {
        let (old, new) = (gateway("infra", "old"), gateway("edge", "new"));
        let mut renames = Renames::default();
        renames.add(&old.whole(), &new.whole()).unwrap();
        assert_eq!(renames.later(&old), new);
        assert_eq!(renames.former(&new), Some(old.clone()));
        // No object has the former name any more.
        assert_eq!(renames.former(&old), None);
        let other = gateway("infra", "other");
        assert_eq!(renames.later(&other), other);
        assert_eq!(renames.former(&other), Some(other));
    }

    #[test]
    fn a_section_may_have_another_name_too() {
        let (old, new) = (gateway("infra", "old"), gateway("infra", "new"));
        let mut renames = Renames::default();
        renames
            .add(&old.section("tls"), &new.section("https"))
            .unwrap();
        assert_eq!(
            renames.later_place(&old.section("tls")),
            new.section("https")
        );
        assert_eq!(
            renames.later_place(&old.section("http")),
            new.section("http")
        );
        assert_eq!(
            renames.former_place(&new.section("https")),
            Some(old.section("tls"))
        );
    }

    #[test]
    fn a_namespace_takes_its_objects_along() {
        let mut renames = Renames::default();
        let (stage, prod) = (namespace("stage"), namespace("prod"));
        renames.add(&stage.whole(), &prod.whole()).unwrap();
        assert_eq!(renames.later(&gateway("stage", "a")), gateway("prod", "a"));
        assert_eq!(
            renames.former(&gateway("prod", "a")),
            Some(gateway("stage", "a"))
        );
        assert_eq!(renames.former(&gateway("stage", "a")), None);
    }

    #[test]
    fn one_object_has_one_other_name() {
        let [a, b, c] = ["a", "b", "c"].map(|name| gateway("infra", name));
        let mut renames = Renames::default();
        renames.add(&a.whole(), &b.whole()).unwrap();
        let twice = renames.add(&a.whole(), &c.whole());
        assert_eq!(twice, Err(RenameError::Twice(a.whole())));
        let twice = renames.add(&c.whole(), &b.whole());
        assert_eq!(twice, Err(RenameError::Twice(b.whole())));
        let kinds = renames.add(&c.whole(), &namespace("infra").whole());
        assert!(matches!(kinds, Err(RenameError::Kinds(..))));
    }
}
